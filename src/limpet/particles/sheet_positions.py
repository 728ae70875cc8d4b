"""Position errors of sheets, taken back in positions: lengths of edges and overlap in contact.

Baumgarte's velocities would be kept as motion. A sheet is light and may be taut: when it is pulled
back to its size or pushed out of a body, it gains the work of its tension in every step. A flat
cloth held at its corners, or a hammock with a ball, would gain energy without bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.pipeline import JoinedSheets
from limpet.particles.body import ParticleBody
from limpet.particles.distances import Distances
from limpet.particles.rows import DistanceRows
from limpet.particles.sweep import ConstraintRows
from limpet.particles.sweep_points import PointConstraints, Velocities

Array = np.ndarray


@dataclass(frozen=True)
class SheetPositions:
    """Which nodes and edges are corrected so, and by how much."""

    sheet: Array  # (n,) bool: nodes of sheets
    given: Array  # (n,) bool: nodes whose positions are not for the sweeps to correct
    edges: Array  # (k,) bool: inextensible edges of sheets, among all distances
    share: float  # of the error, in each solve
    any_sheet: bool
    each: bool  # edge by edge: chains of a taut sheet, held at both ends, cannot be shortened

    @staticmethod
    def of(
        soft: list[ParticleBody], distances: Distances, share: float, exact: bool = True,
        each: bool = False,
    ) -> SheetPositions:  # fmt: skip
        """exact: contacts are; averaged ones (C 4.3) correct all errors in velocities."""
        none = np.zeros(0, bool)
        which = (np.full(b.n_points, exact and b.is_sheet) for b in soft)
        sheet = np.concatenate([none, *which])
        given = np.concatenate([none, *(np.full(b.n_points, b.proxy) for b in soft)])
        edges = sheet[distances.nodes[:, 0]] & np.isinf(distances.stiffness)
        return SheetPositions(sheet, given, edges, share, bool(sheet.any()), each)

    def release(self, rows: ConstraintRows) -> None:
        """Take the velocities that would do the same out of the rows."""
        if self.any_sheet:
            _release(rows.distances.bias, rows.contacts, self.sheet, self.edges)

    def arrive(
        self, x: Array, rows: ConstraintRows, on: Velocities, h: float, joined: JoinedSheets | None
    ) -> tuple[Array, int]:
        """(n, 3) [m] where nodes at x go within h, and how many sheets had to be stopped.

        Velocities change only where sheets would pass through each other.
        """
        if not self.any_sheet:
            return x + h * on.v, 0
        y = _corrected(
            x, rows.distances, rows.contacts, on, self.sheet, self.given, self.edges, h,
            self.share, self.each,
        )  # fmt: skip
        if joined is None:
            return y, 0
        u = (y - x) / h
        stopped, impacts = joined.stop(x, u, on.inverse_mass, h)
        on.v[:] += stopped - u
        return x + h * stopped, impacts


@njit(cache=True, error_model="numpy")
def _release(bias: Array, points: PointConstraints, sheet: Array, edges: Array) -> None:
    for c in range(len(bias)):
        if edges[c]:
            bias[c] = 0.0
    for c in range(len(points.bias)):
        if points.bias[c, 0] < 0.0 and sheet[points.pairs.node[points.pairs.start[c]]]:
            points.bias[c, 0] = 0.0


@njit(cache=True, error_model="numpy")
def _corrected(
    x: Array, distances: DistanceRows, contacts: PointConstraints, on: Velocities, sheet: Array,
    given: Array, edges: Array, h: float, share: float, each: bool,
) -> Array:  # fmt: skip
    """(n, 3) [m] x + h v, with a share of both errors taken back."""
    y = np.empty_like(x)
    for i in range(len(x)):
        for k in range(3):
            y[i, k] = x[i, k] + h * on.v[i, k]
    if each:
        restore_each(distances, edges, y, on.inverse_mass, share)
    else:
        restore_lengths(distances, edges, y, on.inverse_mass, share)
    push_out(contacts, sheet, given, x, y, on, h, share)
    return y


@inner(error_model="numpy")
def push_out(
    points: PointConstraints, sheet: Array, given: Array, x: Array, y: Array, on: Velocities,
    h: float, share: float,
) -> None:  # fmt: skip
    """Take a share of the overlap of sheets back, in the positions y (n, 3) that nodes x go to.

    Of the nodes alone, not of rigid bodies nor of nodes that are `given`.
    """
    pairs = points.pairs
    for c in range(len(points.bias)):
        first, last = pairs.start[c], pairs.start[c + 1]
        if not sheet[pairs.node[first]]:
            continue
        n, gap, w = pairs.frame[c, 0], pairs.gap[c, 0], 0.0
        for e in range(first, last):
            i, s = pairs.node[e], pairs.weight[e]
            if not given[i]:
                w += s * s * on.inverse_mass[i]
            for k in range(3):
                gap += s * n[k] * (y[i, k] - x[i, k])
        for side in range(2):
            body, sign = pairs.rigid[c, side], 1.0 - 2.0 * side
            if body >= 0:
                v, r = on.rigid_v[body], pairs.arm[c, side]
                gap += sign * h * (
                    n[0] * (v[0] + v[4] * r[2] - v[5] * r[1])
                    + n[1] * (v[1] + v[5] * r[0] - v[3] * r[2])
                    + n[2] * (v[2] + v[3] * r[1] - v[4] * r[0])
                )  # fmt: skip
        if gap >= 0.0 or w == 0.0:
            continue
        for e in range(first, last):
            i = pairs.node[e]
            if given[i]:
                continue
            move = -share * gap * pairs.weight[e] * on.inverse_mass[i] / w
            for k in range(3):
                y[i, k] += move * n[k]


@inner(error_model="numpy", fastmath={"contract"})
def restore_lengths(
    rows: DistanceRows, which: Array, x: Array, inverse_mass: Array, share: float
) -> None:
    """Take a share of the error of the rows `which` (k,) back, in positions x (n, 3), in place.

    Chain by chain, as the sweeps, along the directions at the start of the solve: those at x differ
    little, and the rest is for the next solve. All rows of a chain are of one body.
    """
    nodes, n, w, rest = rows.nodes, rows.direction, rows.w, rows.rest
    chain, pivot, factor = rows.chain, rows.pivot, rows.factor
    change = np.empty(len(rest))
    for t in range(len(chain) - 1):
        s, e = chain[t], chain[t + 1]
        if e == s or not which[s]:
            continue
        last = 0.0
        for c in range(s, e):
            i, j = nodes[c, 0], nodes[c, 1]
            d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            right = share * (rest[c] - np.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
            if (
                w[c] == 0.0
                or (right < 0.0 and rows.lower[c] == 0.0)
                or (right > 0.0 and rows.upper[c] == 0.0)
            ):
                right = 0.0  # it cannot move, or does not resist this
            last = right - factor[c - 1] * last if c > s else right
            change[c] = last
        last = 0.0
        for c in range(e - 1, s - 1, -1):
            last = change[c] * pivot[c] - factor[c] * last
            i, j = nodes[c, 0], nodes[c, 1]
            a, b = last * inverse_mass[i], last * inverse_mass[j]
            for k in range(3):
                x[i, k] -= a * n[c, k]
                x[j, k] += b * n[c, k]


@inner(error_model="numpy", fastmath={"contract"})
def restore_each(
    rows: DistanceRows, which: Array, x: Array, inverse_mass: Array, share: float
) -> None:
    """As `restore_lengths`, edge by edge and along their directions at x."""
    for c in range(len(rows.rest)):
        i, j = rows.nodes[c, 0], rows.nodes[c, 1]
        w = inverse_mass[i] + inverse_mass[j]
        if not which[c] or w == 0.0:
            continue
        d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        size = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        off = size - rows.rest[c]
        if (off > 0.0 and rows.lower[c] < 0.0) or (off < 0.0 and rows.upper[c] > 0.0):
            s = share * off / (size * w)
            a, b = s * inverse_mass[i], s * inverse_mass[j]
            x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + a * d0, x[i, 1] + a * d1, x[i, 2] + a * d2
            x[j, 0], x[j, 1], x[j, 2] = x[j, 0] - b * d0, x[j, 1] - b * d1, x[j, 2] - b * d2
