"""Rows over two or four nodes made ready for one step: direction, bias, own compliance.

A constraint asks that its function C die away: C' = -beta C, beta = baumgarte/h (C eq 13).
A spring of stiffness k and damper c, taken at the end of the step, is the same row with a
compliance of its own: lambda = -k (C + h u) - c u, so
u + compliance p + bias = 0 with p = h lambda.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import Vec, dot, point
from limpet.particles.bending import BendingModel, Bends, bending_and_tips, wrap_angle
from limpet.particles.distances import Distances

Array = np.ndarray

REDUNDANT = 0.5  # over n^2: share of its own compliance that a row of a chain of n is softened by


class DistanceRows(NamedTuple):
    """Rows of `Distances` at some positions; multipliers are impulses [N s]."""

    nodes: Array  # (k, 2)
    offset: Array  # (k, 3) [m] from i to j, at the start of the solve
    direction: Array  # (k, 3) unit: of the offset, or of where a taut edge points at the end
    length: Array  # (k,) [m]
    rest: Array  # (k,) [m]
    bias: Array  # (k,) [m/s] what u and the row's own compliance must cancel
    compliance: Array  # (k,) [m/s / N s]
    w: Array  # (k,) effective compliance with the row's own, zero where nothing can move
    r: Array  # (k,) its inverse, or zero
    lower: Array  # (k,) [N s]
    upper: Array  # (k,)
    chain: Array  # (t + 1,) int32, chains of rows
    pivot: Array  # (k,) inverse pivots of the chains' matrices, as `factor_chains`
    factor: Array  # (k,) what couples a row to the next in its chain


class BendRows(NamedTuple):
    """Rows of `Bends` at some positions."""

    nodes: Array  # (k, 4)
    tip: Array  # (k, 8) gradients, as `bending_and_tips`: one line of the cache each
    reach: Array  # (k,) largest change of a node's velocity by a unit impulse
    rate: Array  # (k,) [1/s] at which the violation is corrected
    bias: Array  # (k,)
    compliance: Array  # (k,)
    r: Array  # (k,)
    lower: Array  # (k,)
    upper: Array  # (k,)


@inner(error_model="numpy", fastmath={"contract"})
def _spring(stiffness: float, damping: float, baumgarte: float, h: float) -> tuple[float, float]:
    """(rate, compliance): the bias is rate times the violation."""
    if stiffness == np.inf:
        return baumgarte / h, 0.0
    s = h * stiffness + damping
    return stiffness / s, 1.0 / (h * s)


def distance_rows(
    x: Array, of: Distances, inverse_mass: Array, h: float, baumgarte: float
) -> DistanceRows:
    k = len(of.nodes)
    rows = DistanceRows(
        of.nodes, np.empty((k, 3)), np.empty((k, 3)), np.empty(k), of.rest, np.empty(k),
        np.empty(k), np.empty(k), np.empty(k), h * of.lower, h * of.upper, of.chain, np.empty(k),
        np.empty(k),
    )  # fmt: skip
    write_distances(rows, x, of, inverse_mass, h, baumgarte)
    return rows


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def write_distances(
    rows: DistanceRows, x: Array, of: Distances, inverse_mass: Array, h: float, baumgarte: float
) -> None:
    """The rows at positions x (n, 3), in place; their bounds stay."""
    for c in range(len(of.nodes)):
        i, j = of.nodes[c, 0], of.nodes[c, 1]
        d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        size = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        w, s = inverse_mass[i] + inverse_mass[j], 0.0
        if size > 0.0:
            s = 1.0 / size
        else:
            w = 0.0  # nodes that coincide have no direction
        rows.length[c] = size
        rows.offset[c, 0], rows.offset[c, 1], rows.offset[c, 2] = d0, d1, d2
        rows.direction[c, 0], rows.direction[c, 1], rows.direction[c, 2] = s * d0, s * d1, s * d2
        rate, compliance = _spring(of.stiffness[c], of.damping[c], baumgarte, h)
        rows.bias[c], rows.compliance[c] = rate * (size - of.rest[c]), compliance
        rows.w[c] = w + compliance if w > 0.0 else 0.0
        rows.r[c] = 1.0 / rows.w[c] if w > 0.0 else 0.0
    factor_chains(rows, inverse_mass)


@njit(cache=True, error_model="numpy", inline="always")
def softening(n: int) -> float:
    """What the own compliances of a chain of n rows are multiplied by when it is solved together.

    The rows of a straight chain between two held nodes are redundant, those of a shallow one nearly
    so: their matrix is singular and would ask for any tension. It is softened by a tenth of the
    least eigenvalue of a loose chain, w (pi/n)^2/2. The errors are taken anew in each sweep, so the
    solution stays the same.
    """
    return 1.0 + REDUNDANT / (n * n)


@inner(error_model="numpy", fastmath={"contract"})
def factor_chains(rows: DistanceRows, inverse_mass: Array) -> None:
    """LDL^T of each chain's tridiagonal matrix (Thomas), in place: once for all sweeps of a solve.

    Neighbours couple by -(n . n')/m of the node between them; rows that cannot move by nothing.
    """
    n, w, chain = rows.direction, rows.w, rows.chain
    for t in range(len(chain) - 1):
        s, e = chain[t], chain[t + 1]
        soft = softening(e - s)
        before = 0.0
        for c in range(s, e):
            pivot, rows.factor[c] = soft * w[c] if w[c] > 0.0 else 1.0, 0.0
            if c > s and w[c] > 0.0 and w[c - 1] > 0.0:
                back = -inverse_mass[rows.nodes[c, 0]] * (
                    n[c, 0] * n[c - 1, 0] + n[c, 1] * n[c - 1, 1] + n[c, 2] * n[c - 1, 2]
                )
                rows.factor[c - 1] = back * before
                pivot -= back * rows.factor[c - 1]
            before = 1.0 / pivot
            rows.pivot[c] = before


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def bending_gradient(tip: Array, c: int) -> tuple[Vec, Vec, Vec, Vec]:
    """Of row c by its nodes i, j, L, R."""
    l0, l1, l2, r0, r1, r2 = tip[c, 0], tip[c, 1], tip[c, 2], tip[c, 3], tip[c, 4], tip[c, 5]
    s, t = tip[c, 6], tip[c, 7]
    j0, j1, j2 = -s * l0 - t * r0, -s * l1 - t * r1, -s * l2 - t * r2
    return (-l0 - r0 - j0, -l1 - r1 - j1, -l2 - r2 - j2), (j0, j1, j2), (l0, l1, l2), (r0, r1, r2)


@njit(cache=True, inline="always")
def _size(g: Vec) -> float:
    return abs(g[0]) + abs(g[1]) + abs(g[2])


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def bend_rows(x: Array, of: Bends, inverse_mass: Array, h: float, baumgarte: float) -> BendRows:
    k = len(of.nodes)
    tip, rate, reach = np.empty((k, 8)), np.empty(k), np.empty(k)
    bias, compliance, r = np.empty(k), np.empty(k), np.empty(k)
    for c in range(k):
        off = bending_and_tips(x, of.nodes[c], of.model[c], of.size[c], tip[c]) - of.rest[c]
        if of.model[c] == BendingModel.ANGLE.value:
            off = wrap_angle(off)
        i, j, m, n = of.nodes[c, 0], of.nodes[c, 1], of.nodes[c, 2], of.nodes[c, 3]
        wi, wj, wm, wn = inverse_mass[i], inverse_mass[j], inverse_mass[m], inverse_mass[n]
        gi, gj, gm, gn = bending_gradient(tip, c)
        w = wi * dot(gi, gi) + wj * dot(gj, gj) + wm * dot(gm, gm) + wn * dot(gn, gn)
        reach[c] = max(wi * _size(gi), wj * _size(gj), wm * _size(gm), wn * _size(gn))
        rate[c], compliance[c] = _spring(of.stiffness[c], of.damping[c], baumgarte, h)
        bias[c] = rate[c] * off
        r[c] = 1.0 / (w + compliance[c]) if w > 0.0 else 0.0
    return BendRows(of.nodes, tip, reach, rate, bias, compliance, r, h * of.lower, h * of.upper)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def follow_bends(rows: BendRows, v: Array, h: float) -> None:
    """The bias after h with the velocities v (n, 3), the gradients as they are; in place."""
    for c in range(len(rows.r)):
        i, j, m, n = rows.nodes[c, 0], rows.nodes[c, 1], rows.nodes[c, 2], rows.nodes[c, 3]
        gi, gj, gm, gn = bending_gradient(rows.tip, c)
        u = (
            dot(gi, point(v, i))
            + dot(gj, point(v, j))
            + dot(gm, point(v, m))
            + dot(gn, point(v, n))
        )
        rows.bias[c] += rows.rate[c] * h * u
