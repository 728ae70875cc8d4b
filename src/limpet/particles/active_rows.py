"""Rows of a particle system as a sparse Jacobian over nodes.

A rigid body counts as two nodes behind all others, its translation and its rotation. All rows are
counted as their multipliers in `flat_impulses`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import dot, point
from limpet.linalg.rows import Rows
from limpet.particles.rows import BendRows, DistanceRows, bending_gradient
from limpet.particles.sweep import ConstraintRows, Impulses
from limpet.particles.sweep_lines import distance_error
from limpet.particles.sweep_points import PointConstraints, Velocities, relative_velocities

Array = np.ndarray

STICKS = 1.0 - 1e-9  # share of mu times the normal impulse up to which friction is no bound


class RowsOfNodes(NamedTuple):
    """r rows: sum of vector . v[node] over the entries start[i]:start[i+1]."""

    start: Array  # (r + 1,) int32
    node: Array  # (k,) int32
    vector: Array  # (k, 3)
    place: Array  # (r,) int32: of the multiplier among all, `flat_impulses`
    own: Array  # (r,) [1/kg] J M^-1 J^T of each row by itself
    compliance: Array  # (r,) of the row

    @property
    def jacobian(self) -> Rows:
        return Rows(self.start, self.node, self.vector)


def flat_impulses(p: Impulses) -> Array:
    """All multipliers in a row, a copy."""
    return np.concatenate([q.ravel() for q in p])


def set_impulses(p: Impulses, flat: Array) -> None:
    """The other way, in place."""
    at = 0
    for q in p:
        q.reshape(-1)[:] = flat[at : at + q.size]
        at += q.size


def held_rows(rows: ConstraintRows, p: Impulses) -> Array:
    """(size,) bool: springs, of edges and of bending, within their bounds, and held points."""
    lines = [
        (of.r > 0.0) & (of.compliance > 0.0) & (of.lower < q) & (q < of.upper)
        for of, q in ((rows.distances, p.distances), (rows.bends, p.bends))
    ]
    none, some = (np.zeros(q.size, bool) for q in (p.rigid_contacts, p.contacts))
    held, rigid_held = (np.repeat(c.w[:, 0, 0] > 0.0, 3) for c in (rows.held, rows.rigid_held))
    return np.concatenate([rigid_held, none, *lines, held, some])


def contact_rows(rows: ConstraintRows, p: Impulses) -> Array:
    """(size,) bool: contacts of which something can move."""
    out = [np.zeros(q.size, bool) for q in p]
    out[1] = np.repeat(rows.rigid_contacts.w[:, 0, 0] > 0.0, 3)
    out[5] = np.repeat(rows.contacts.w[:, 0, 0] > 0.0, 3)
    return np.concatenate(out)


def pressing_rows(p: Array, friction: Array) -> Array:
    """(3 k,) bool: of contacts with impulses p (k, 3), normals that press, tangents that stick."""
    press = p[:, 0] > 0.0
    stick = press & (np.hypot(p[:, 1], p[:, 2]) < STICKS * friction * p[:, 0])
    return np.stack([press, stick, stick], axis=1).ravel()


@njit(cache=True, error_model="numpy")
def rows_of_nodes(rows: ConstraintRows, mask: Array, nodes: int) -> RowsOfNodes:
    """The rows of a mask (size,), in the order of their multipliers; there are `nodes` nodes."""
    most = 12 * len(mask)
    for points in (rows.rigid_held, rows.rigid_contacts, rows.held, rows.contacts):
        most += 3 * len(points.pairs.node)
    start, place = np.zeros(len(mask) + 1, np.int32), np.empty(len(mask), np.int32)
    own, compliance = np.empty(len(mask)), np.zeros(len(mask))
    node, vector = np.empty(most, np.int32), np.empty((most, 3))
    r, k, at = 0, 0, 0
    for points in (rows.rigid_held, rows.rigid_contacts):
        r, k, at = _write_points(points, mask, nodes, start, place, own, node, vector, r, k, at)
    d, b = rows.distances, rows.bends
    for c in range(len(d.r)):
        if mask[at + c]:
            for side in range(2):
                node[k] = d.nodes[c, side]
                for i in range(3):
                    vector[k, i] = d.direction[c, i] if side else -d.direction[c, i]
                k += 1
            place[r], compliance[r] = at + c, d.compliance[c]
            own[r] = d.w[c] - d.compliance[c]
            r += 1
            start[r] = k
    at += len(d.r)
    for c in range(len(b.r)):
        if mask[at + c]:
            gradient = bending_gradient(b.tip, c)
            for a in range(4):
                node[k] = b.nodes[c, a]
                vector[k, 0], vector[k, 1], vector[k, 2] = gradient[a]
                k += 1
            place[r], compliance[r] = at + c, b.compliance[c]
            own[r] = 1.0 / b.r[c] - b.compliance[c]
            r += 1
            start[r] = k
    at += len(b.r)
    for points in (rows.held, rows.contacts):
        r, k, at = _write_points(points, mask, nodes, start, place, own, node, vector, r, k, at)
    return RowsOfNodes(start[: r + 1], node[:k], vector[:k], place[:r], own[:r], compliance[:r])


@inner(error_model="numpy")
def _write_points(
    points: PointConstraints, mask: Array, nodes: int, start: Array, place: Array, own: Array,
    node: Array, vector: Array, r: int, k: int, at: int,
) -> tuple[int, int, int]:  # fmt: skip
    """From row r and entry k on, of multipliers from `at` on; returns where they end."""
    pairs = points.pairs
    for c in range(len(points.bias)):
        n = pairs.frame[c, 0]
        tilts = pairs.rigid[c, 0] < 0 and pairs.rigid[c, 1] < 0
        for i in range(3):
            if not mask[at + 3 * c + i]:
                continue
            f = pairs.frame[c, i]
            for e in range(pairs.start[c], pairs.start[c + 1]):
                g = pairs.tilt[e]
                along = f[0] * g[0] + f[1] * g[1] + f[2] * g[2] if tilts else 0.0
                node[k] = pairs.node[e]
                for a in range(3):
                    vector[k, a] = pairs.weight[e] * f[a] + along * n[a]
                k += 1
            for side in range(2):
                body, sign = pairs.rigid[c, side], 1.0 - 2.0 * side
                if body >= 0:
                    arm = pairs.arm[c, side]
                    node[k], node[k + 1] = nodes + 2 * body, nodes + 2 * body + 1
                    for a in range(3):
                        a1, a2 = (a + 1) % 3, (a + 2) % 3
                        vector[k, a] = sign * f[a]
                        vector[k + 1, a] = sign * (arm[a1] * f[a2] - arm[a2] * f[a1])
                    k += 2
            place[r], own[r] = at + 3 * c + i, points.w[c, i, i]
            r += 1
            start[r] = k
    return r, k, at + 3 * len(points.bias)


def row_errors(rows: ConstraintRows, p: Impulses, on: Velocities, h: float) -> Array:
    """(size,) [m/s] what all rows still ask for, were they active."""

    def of_points(points: PointConstraints) -> Array:
        u = relative_velocities(points.pairs, on)
        return (np.einsum("cij,cj->ci", points.pairs.frame, u) + points.bias).ravel()

    return np.concatenate([
        of_points(rows.rigid_held), of_points(rows.rigid_contacts),
        _distance_errors(rows.distances, p.distances, h, on.v),
        _bend_errors(rows.bends, p.bends, on.v),
        of_points(rows.held), of_points(rows.contacts),
    ])  # fmt: skip


@njit(cache=True, error_model="numpy")
def _distance_errors(rows: DistanceRows, p: Array, h: float, v: Array) -> Array:
    out = np.empty(len(p))
    for c in range(len(p)):
        out[c] = distance_error(rows, c, p, h, v)
    return out


@njit(cache=True, error_model="numpy")
def _bend_errors(rows: BendRows, p: Array, v: Array) -> Array:
    out = np.empty(len(p))
    for c in range(len(p)):
        u = rows.bias[c] + rows.compliance[c] * p[c]
        gradient = bending_gradient(rows.tip, c)
        for a in range(4):
            u += dot(gradient[a], point(v, rows.nodes[c, a]))
        out[c] = u
    return out
