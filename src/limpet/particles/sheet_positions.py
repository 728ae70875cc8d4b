"""Position errors of sheets, taken back in positions: lengths of edges and overlap in contact.

Baumgarte's velocities would be kept as motion. A sheet is light and may be taut: when it is pulled
back to its size or pushed out of a body, it gains the work of its tension in every step. A flat
cloth held at its corners, or a hammock with a ball, would gain energy without bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.contact.pipeline import JoinedSheets
from limpet.particles.body import ParticleBody
from limpet.particles.distances import Distances
from limpet.particles.rows import DistanceRows
from limpet.particles.sweep import ConstraintRows
from limpet.particles.sweep_lines import softening
from limpet.particles.sweep_points import PointConstraints, Velocities

Array = np.ndarray


@dataclass(frozen=True)
class SheetPositions:
    """Which nodes and edges are corrected so, and by how much."""

    sheet: Array  # (n,) bool: nodes of sheets
    edges: Array  # (k,) bool: inextensible edges of sheets, among all distances
    share: float  # of the error, in each solve

    @staticmethod
    def of(
        soft: list[ParticleBody], distances: Distances, share: float, exact: bool = True
    ) -> SheetPositions:
        """exact: contacts are; averaged ones (C 4.3) correct all errors in velocities."""
        which = (np.full(b.n_points, exact and not b.mesh.closed) for b in soft)
        sheet = np.concatenate([np.zeros(0, bool), *which])
        edges = sheet[distances.nodes[:, 0]] & np.isinf(distances.stiffness)
        return SheetPositions(sheet, edges, share)

    def release(self, rows: ConstraintRows) -> None:
        """Take the velocities that would do the same out of the rows."""
        rows.distances.bias[self.edges] = 0.0
        _release(rows.contacts, self.sheet)

    def arrive(
        self, x: Array, rows: ConstraintRows, on: Velocities, h: float, joined: JoinedSheets | None
    ) -> tuple[Array, int]:
        """(n, 3) [m] where nodes at x go within h, and how many sheets had to be stopped.

        Velocities change only where sheets would pass through each other.
        """
        y = x + h * on.v
        if self.edges.any():
            restore_lengths(rows.distances, self.edges, y, on.inverse_mass, self.share)
        if self.sheet.any():
            push_out(rows.contacts, self.sheet, x, y, on, h, self.share)
        if joined is None:
            return y, 0
        u = (y - x) / h
        stopped, impacts = joined.stop(x, u, on.inverse_mass, h)
        on.v[:] += stopped - u
        return x + h * stopped, impacts


@njit(cache=True, error_model="numpy")
def _release(points: PointConstraints, sheet: Array) -> None:
    for c in range(len(points.bias)):
        if points.bias[c, 0] < 0.0 and sheet[points.pairs.node[points.pairs.start[c]]]:
            points.bias[c, 0] = 0.0


@njit(cache=True, error_model="numpy")
def push_out(
    points: PointConstraints, sheet: Array, x: Array, y: Array, on: Velocities, h: float,
    share: float,
) -> None:  # fmt: skip
    """Take a share of the overlap of sheets back, in the positions y (n, 3) that nodes x go to.

    Of the nodes alone, not of rigid bodies.
    """
    pairs = points.pairs
    for c in range(len(points.bias)):
        first, last = pairs.start[c], pairs.start[c + 1]
        if not sheet[pairs.node[first]]:
            continue
        n, gap, w = pairs.frame[c, 0], pairs.gap[c, 0], 0.0
        for e in range(first, last):
            i, s = pairs.node[e], pairs.weight[e]
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
            move = -share * gap * pairs.weight[e] * on.inverse_mass[i] / w
            for k in range(3):
                y[i, k] += move * n[k]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def restore_lengths(
    rows: DistanceRows, which: Array, x: Array, inverse_mass: Array, share: float
) -> None:
    """Take a share of the error of the rows `which` (k,) back, in positions x (n, 3), in place.

    Chain by chain, as the sweeps.
    """
    nodes, chain = rows.nodes, rows.chain
    m = len(rows.rest)
    n, factor, change = np.empty((m, 3)), np.empty(m), np.empty(m)
    for t in range(len(chain) - 1):
        s, e = chain[t], chain[t + 1]
        soft = softening(e - s)
        before, last = 0.0, 0.0
        for c in range(s, e):
            i, j = nodes[c, 0], nodes[c, 1]
            d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            size = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
            w, pivot, right, back = inverse_mass[i] + inverse_mass[j], 1.0, 0.0, 0.0
            n[c, 0] = n[c, 1] = n[c, 2] = 0.0
            if size > 0.0 and w > 0.0 and which[c]:
                n[c, 0], n[c, 1], n[c, 2] = d0 / size, d1 / size, d2 / size
                pivot, right = soft * w, -share * (size - rows.rest[c])
                if (right < 0.0 and rows.lower[c] == 0.0) or (right > 0.0 and rows.upper[c] == 0.0):
                    right = 0.0  # it does not resist this
            if c > s:
                back = -inverse_mass[i] * (
                    n[c, 0] * n[c - 1, 0] + n[c, 1] * n[c - 1, 1] + n[c, 2] * n[c - 1, 2]
                )
                factor[c - 1] = back * before
                pivot -= back * factor[c - 1]
                right -= back * last
            before = 1.0 / pivot
            last = right * before
            change[c] = last
        for c in range(e - 2, s - 1, -1):
            change[c] -= factor[c] * change[c + 1]
        for c in range(s, e):
            i, j = nodes[c, 0], nodes[c, 1]
            a, b = change[c] * inverse_mass[i], change[c] * inverse_mass[j]
            for k in range(3):
                x[i, k] -= a * n[c, k]
                x[j, k] += b * n[c, k]
