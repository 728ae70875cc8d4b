"""Rows over two or four nodes made ready for one step: direction, bias, own compliance.

A constraint asks that its function C die away: C' = -beta C, beta = baumgarte/h (C eq 13).
A spring of stiffness k and damper c, taken at the end of the step, is the same row with a
compliance of its own: lambda = -k (C + h u) - c u, so
u + compliance p + bias = 0 with p = h lambda.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from limpet.particles.bending import BendingModel, Bends, bending_and_gradient, wrap_angle
from limpet.particles.distances import Distances

Array = np.ndarray


class DistanceRows(NamedTuple):
    """Rows of `Distances` at some positions; multipliers are impulses [N s]."""

    nodes: Array  # (k, 2)
    direction: Array  # (k, 3) unit, from i to j
    length: Array  # (k,) [m]
    rest: Array  # (k,) [m]
    bias: Array  # (k,) [m/s] what u and the row's own compliance must cancel
    compliance: Array  # (k,) [m/s / N s]
    w: Array  # (k,) effective compliance with the row's own, zero where nothing can move
    r: Array  # (k,) its inverse, or zero
    lower: Array  # (k,) [N s]
    upper: Array  # (k,)
    chain: Array  # (t + 1,) int32, chains of rows


class BendRows(NamedTuple):
    """Rows of `Bends` at some positions."""

    nodes: Array  # (k, 4)
    gradient: Array  # (k, 4, 3)
    rate: Array  # (k,) [1/s] at which the violation is corrected
    bias: Array  # (k,)
    compliance: Array  # (k,)
    r: Array  # (k,)
    lower: Array  # (k,)
    upper: Array  # (k,)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
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
        of.nodes, np.empty((k, 3)), np.empty(k), of.rest, np.empty(k), np.empty(k), np.empty(k),
        np.empty(k), h * of.lower, h * of.upper, of.chain,
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
        rows.direction[c, 0], rows.direction[c, 1], rows.direction[c, 2] = s * d0, s * d1, s * d2
        rate, compliance = _spring(of.stiffness[c], of.damping[c], baumgarte, h)
        rows.bias[c], rows.compliance[c] = rate * (size - of.rest[c]), compliance
        rows.w[c] = w + compliance if w > 0.0 else 0.0
        rows.r[c] = 1.0 / rows.w[c] if w > 0.0 else 0.0


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def bend_rows(x: Array, of: Bends, inverse_mass: Array, h: float, baumgarte: float) -> BendRows:
    k = len(of.nodes)
    gradient, rate = np.empty((k, 4, 3)), np.empty(k)
    bias, compliance, r = np.empty(k), np.empty(k), np.empty(k)
    for c in range(k):
        g = gradient[c]
        off = bending_and_gradient(x, of.nodes[c], of.model[c], of.size[c], g) - of.rest[c]
        if of.model[c] == BendingModel.ANGLE.value:
            off = wrap_angle(off)
        w = 0.0
        for a in range(4):
            w += inverse_mass[of.nodes[c, a]] * (g[a, 0] ** 2 + g[a, 1] ** 2 + g[a, 2] ** 2)
        rate[c], compliance[c] = _spring(of.stiffness[c], of.damping[c], baumgarte, h)
        bias[c] = rate[c] * off
        r[c] = 1.0 / (w + compliance[c]) if w > 0.0 else 0.0
    return BendRows(of.nodes, gradient, rate, bias, compliance, r, h * of.lower, h * of.upper)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def follow_bends(rows: BendRows, v: Array, h: float) -> None:
    """The bias after h with the velocities v (n, 3), the gradients as they are; in place."""
    g = rows.gradient
    for c in range(len(rows.r)):
        u = 0.0
        for a in range(4):
            i = rows.nodes[c, a]
            u += g[c, a, 0] * v[i, 0] + g[c, a, 1] * v[i, 1] + g[c, a, 2] * v[i, 2]
        rows.bias[c] += rows.rate[c] * h * u
