"""The contact surface of two bodies: where their pressures are equal (F III-3, VI-B, algorithm 1).

This module combines the phases in polygons.py for each kind of pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.errors import LimpetError
from limpet.pressure_field.crossing_pairs import (
    crossing_tets,
    crossing_triangles,
    moved,
    relative,
)
from limpet.pressure_field.fields import (
    FIELD,
    RIGID_SPACE,
    SOFT_SPACE,
    FieldData,
    FieldGeometry,
    HalfSpace,
    is_compliant,
)
from limpet.pressure_field.polygons import (
    AREA,
    CENTROID,
    OF_HOST,
    OF_PROBE,
    PRESSURE,
    Batch,
    Found,
    append_to,
    clip_to_host,
    empty_batch,
    equal_pressure_slices,
    measured,
    plane_slices,
    rigid_triangles,
)
from limpet.pressure_field.tree import Boxes, near_pairs, near_plane

Array = np.ndarray
Pose = tuple[Array, Array]  # rotation (3, 3) and translation (3,) [m], from body to world

BLOCK = 512  # polygons that are clipped at a time: few enough for the cache
TOUCH = 1e-12  # of the size of a body: a polygon within this distance lies in a plane


@dataclass(frozen=True)
class ContactSurface:
    """Convex polygons in the world frame. Normals point from body b to body a."""

    area: Array  # (k, 3) [m^2] normal times area
    centroid: Array  # (k, 3) [m]
    pressure: Array  # (k,) [Pa] at the centroid, equal to the mean
    gradient_a: Array  # (k, 3) [Pa/m] of body a's pressure; 0 if a is rigid
    gradient_b: Array  # (k, 3) [Pa/m] of body b's pressure; 0 if b is rigid
    cells: Array  # (k, 2) int32, tet (triangle if rigid, -1 for a half space) of a and of b
    start: Array  # (k + 1,) int32, polygon i has the corners start[i]:start[i + 1]
    corners: Array  # (v, 3) [m] counter-clockwise about the normal
    corner_pressure: Array  # (v,) [Pa]

    def __len__(self) -> int:
        return len(self.pressure)

    def triangles(self) -> tuple[Array, Array, Array]:
        """Points (v + k, 3), their pressure, and triangles (v, 3): fans from the centroids."""
        v, k = len(self.corners), len(self)
        owner = np.repeat(np.arange(k), np.diff(self.start))
        after = np.arange(1, v + 1)
        after[self.start[1:] - 1] = self.start[:-1]
        fans = np.stack([np.arange(v), after, v + owner], axis=1).astype(np.int32)
        points = np.vstack([self.corners, self.centroid])
        return points, np.append(self.corner_pressure, self.pressure), fans


def joined_triangles(surfaces: Sequence[ContactSurface]) -> tuple[Array, Array, Array]:
    """The triangles of several surfaces as one mesh: points, their pressure, triangles."""
    points, pressure, triangles = [np.zeros((0, 3))], [np.zeros(0)], [np.zeros((0, 3), np.int32)]
    first = 0
    for surface in surfaces:
        x, p, t = surface.triangles()
        points.append(x)
        pressure.append(p)
        triangles.append(t + np.int32(first))
        first += len(x)
    return np.concatenate(points), np.concatenate(pressure), np.concatenate(triangles)


def check_pair(a: FieldGeometry, b: FieldGeometry) -> None:
    """Raise an error if two bodies cannot have a contact surface."""
    if not (is_compliant(a) or is_compliant(b)):
        raise LimpetError(
            "both bodies are rigid: expected at least one with a pressure field; give one a modulus"
        )
    if isinstance(a, HalfSpace) and isinstance(b, HalfSpace):
        raise LimpetError(
            "both bodies are half spaces: expected at most one, the other of finite size"
        )


class Candidates(NamedTuple):
    """Pairs of cells that may share a pressure while the probe is near a pose."""

    pairs: Array  # (k, 2) int32, cell of the host and of the probe
    r: Array  # (3, 3) from the frame of the probe to that of the host
    t: Array  # (3,) [m]
    slack: float  # [m] that points of the probe may move by; negative: nowhere


@njit(cache=True)
def no_candidates() -> Candidates:
    return Candidates(np.zeros((0, 2), np.int32), np.zeros((3, 3)), np.zeros(3), -1.0)


@inner()
def in_order(pairs: Array) -> Array:
    """The pairs sorted, so that sums over them do not depend on when they were searched for."""
    key = np.empty(len(pairs), np.int64)
    for k in range(len(pairs)):
        key[k] = (np.int64(pairs[k, 0]) << 32) | pairs[k, 1]
    key.sort()
    out = np.empty_like(pairs)
    for k in range(len(key)):
        out[k, 0], out[k, 1] = key[k] >> 32, key[k] & 0xFFFFFFFF
    return out


def contact_surface(
    a: FieldGeometry, pose_a: Pose, b: FieldGeometry, pose_b: Pose
) -> ContactSurface:
    """The surface on which the pressures of a and b are equal; empty if they do not overlap."""
    check_pair(a, b)
    found, _, swapped = equal_pressure_near(a.data, *pose_a, b.data, *pose_b, no_candidates(), 0.0)
    return as_surface(*found, swapped)


def as_surface(
    rows: Array, cells: Array, start: Array, corners: Array, swapped: bool
) -> ContactSurface:
    """From what equal_pressure_near finds: see polygons.measured."""
    of_a, of_b = (OF_HOST, OF_PROBE) if swapped else (OF_PROBE, OF_HOST)
    area, centroid = rows[:, AREA : AREA + 3].copy(), rows[:, CENTROID : CENTROID + 3].copy()
    gradient_a, gradient_b = rows[:, of_a : of_a + 3].copy(), rows[:, of_b : of_b + 3].copy()
    return ContactSurface(
        area, centroid, rows[:, PRESSURE].copy(), gradient_a, gradient_b, cells, start,
        corners[:, :3].copy(), corners[:, 3].copy(),
    )  # fmt: skip


@njit(cache=True)
def equal_pressure_near(
    a: FieldData, ra: Array, ta: Array, b: FieldData, rb: Array, tb: Array, known: Candidates,
    slack: float,
) -> tuple[Found, Candidates, bool]:  # fmt: skip
    """Polygons of contact_surface, the candidates for them, and whether a is the host.

    Candidates are searched again, `slack` [m] around the pose, if the bodies have left the known
    ones.

    The choice of the host does not change the surface; the tree of the larger body is not moved.
    """
    swapped = _rank(a) > _rank(b)
    host, probe = (a, b) if swapped else (b, a)
    rh, th, rp, tp = (ra, ta, rb, tb) if swapped else (rb, tb, ra, ta)
    if probe.kind == RIGID_SPACE:
        found = field_on_plane(
            host.cells, host.boxes, probe.normal, probe.offset, rh, th, rp, tp, swapped
        )
    elif host.kind == SOFT_SPACE and probe.kind == FIELD:
        found = half_space_field(
            host.cells, host.normal, host.offset, probe.points, probe.corners, probe.cells,
            probe.boxes, rh, th, rp, tp, swapped,
        )  # fmt: skip
    elif host.kind == SOFT_SPACE:
        found = half_space_rigid(
            host.cells, host.normal, host.offset, probe.points, probe.corners, probe.boxes,
            rh, th, rp, tp, swapped,
        )  # fmt: skip
    elif probe.kind == FIELD:
        found, known = field_field(
            host.cells, host.boxes, probe.points, probe.corners, probe.cells, probe.boxes,
            rh, th, rp, tp, swapped, known, slack,
        )  # fmt: skip
    else:
        found, known = field_rigid(
            host.cells, host.boxes, probe.points, probe.corners, probe.cells, probe.boxes,
            rh, th, rp, tp, swapped, known, slack,
        )  # fmt: skip
    return found, known, swapped


@inner()
def _rank(body: FieldData) -> float:
    """The body with the higher rank is the host: compliant half space, then number of tets."""
    if body.kind == FIELD:
        return float(len(body.cells))
    return np.inf if body.kind == SOFT_SPACE else 0.0


@inner()
def field_field(
    cells_h: Array, boxes_h: Boxes, points: Array, tets: Array, cells_p: Array, boxes_p: Boxes,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool, known: Candidates, slack: float,
) -> tuple[Found, Candidates]:  # fmt: skip
    """Tets of both."""
    r, t = relative(rh, th, rp, tp)
    x, touch = moved(points, r, t), TOUCH * _size(boxes_h)
    if _travel(boxes_p, known, r, t) > known.slack:
        pairs = near_pairs(boxes_h, cells_h, boxes_p, cells_p, r, t, slack)
        pairs = crossing_tets(pairs, cells_h, cells_p, tets, x, r, touch, slack)
        known = Candidates(in_order(pairs) if slack > 0.0 else pairs, r, t, slack)
    pairs = known.pairs
    if len(pairs) <= BLOCK:
        batch = equal_pressure_slices(pairs, cells_h, cells_p, tets, x, r)
        clip_to_host(batch, cells_h, touch)
        return measured(batch, cells_h, cells_p, rp, rh, th, swapped), known
    whole, used = empty_batch(len(pairs)), 0
    for first in range(0, len(pairs), BLOCK):
        batch = equal_pressure_slices(pairs[first : first + BLOCK], cells_h, cells_p, tets, x, r)
        clip_to_host(batch, cells_h, touch)
        used = append_to(whole, used, batch)
    whole = Batch(whole.pairs[:used], whole.corners[:used], whole.sides[:used], whole.normal[:used])
    return measured(whole, cells_h, cells_p, rp, rh, th, swapped), known


@inner()
def field_rigid(
    cells_h: Array, boxes_h: Boxes, points: Array, triangles: Array, cells_p: Array, boxes_p: Boxes,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool, known: Candidates, slack: float,
) -> tuple[Found, Candidates]:  # fmt: skip
    """Tets of the host, triangles of a rigid probe."""
    r, t = relative(rh, th, rp, tp)
    x, touch = moved(points, r, t), TOUCH * _size(boxes_h)
    if _travel(boxes_p, known, r, t) > known.slack:
        pairs = near_pairs(boxes_h, cells_h, boxes_p, cells_p, r, t, slack)
        pairs = crossing_triangles(pairs, cells_h, triangles, x, touch, slack)
        known = Candidates(in_order(pairs) if slack > 0.0 else pairs, r, t, slack)
    batch = rigid_triangles(known.pairs, triangles, x)
    clip_to_host(batch, cells_h, touch)
    return measured(batch, cells_h, cells_h[:0], rp, rh, th, swapped), known


@inner()
def half_space_field(
    cell: Array, normal: Array, offset: float,
    points: Array, tets: Array, cells_p: Array, boxes_p: Boxes,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """A compliant half space, tets of the probe."""
    r, t = relative(rh, th, rp, tp)
    pairs = _below(boxes_p, normal, offset, r, t)
    batch = equal_pressure_slices(pairs, cell, cells_p, tets, moved(points, r, t), r)
    clip_to_host(batch, cell, TOUCH * _size(boxes_p))
    return _without_cell(measured(batch, cell, cells_p, rp, rh, th, swapped), not swapped)


@inner()
def half_space_rigid(
    cell: Array, normal: Array, offset: float, points: Array, triangles: Array, boxes_p: Boxes,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """A compliant half space, triangles of a rigid probe."""
    r, t = relative(rh, th, rp, tp)
    batch = rigid_triangles(_below(boxes_p, normal, offset, r, t), triangles, moved(points, r, t))
    clip_to_host(batch, cell, TOUCH * _size(boxes_p))
    return _without_cell(measured(batch, cell, cell[:0], rp, rh, th, swapped), not swapped)


@inner()
def field_on_plane(
    cells_h: Array, boxes_h: Boxes, normal: Array, offset: float,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """Tets of the host on a rigid half space."""
    r, t = relative(rh, th, rp, tp)
    nx, ny, nz = _rotated(r, normal)
    d = offset + (nx * t[0] + ny * t[1] + nz * t[2])
    cells = near_plane(boxes_h, nx, ny, nz, d, True)
    pairs = np.zeros((len(cells), 2), np.int32)
    for k in range(len(cells)):
        pairs[k, 0] = cells[k]
    batch = plane_slices(pairs, cells_h, nx, ny, nz, d)
    return _without_cell(measured(batch, cells_h, cells_h[:0], rp, rh, th, swapped), swapped)


@njit(cache=True)
def _below(boxes_p: Boxes, normal: Array, offset: float, r: Array, t: Array) -> Array:
    """Pairs (k, 2) of the cell of a half space and the cells of the probe that reach into it."""
    nx, ny, nz = _rotated(r.T, normal)  # in the probe's frame
    d = offset - (normal[0] * t[0] + normal[1] * t[1] + normal[2] * t[2])
    cells = near_plane(boxes_p, nx, ny, nz, d, False)
    pairs = np.zeros((len(cells), 2), np.int32)
    for k in range(len(cells)):
        pairs[k, 1] = cells[k]
    return pairs


@inner()
def _rotated(r: Array, n: Array) -> tuple[float, float, float]:
    return (
        r[0, 0] * n[0] + r[0, 1] * n[1] + r[0, 2] * n[2],
        r[1, 0] * n[0] + r[1, 1] * n[1] + r[1, 2] * n[2],
        r[2, 0] * n[0] + r[2, 1] * n[1] + r[2, 2] * n[2],
    )


@inner()
def _without_cell(found: Found, second: bool) -> Found:
    """Set the cell index of a half space to -1."""
    cells = found[1]
    for k in range(len(cells)):
        cells[k, 1 if second else 0] = -1
    return found


@inner()
def _travel(boxes: Boxes, known: Candidates, r: Array, t: Array) -> float:
    """[m] by which points of the probe have moved at most since candidates were found."""
    if known.slack < 0.0:
        return np.inf
    shift, turn, radius = 0.0, 0.0, 0.0
    for i in range(3):
        moved_by = t[i] - known.t[i]
        for k in range(3):
            change = r[i, k] - known.r[i, k]
            moved_by += change * boxes.boxes[0, 0, k]
            turn += change * change
        shift += moved_by * moved_by
        radius += boxes.boxes[0, 0, 3 + i] ** 2
    return np.sqrt(shift) + np.sqrt(turn * radius)


@njit(cache=True)
def _size(boxes: Boxes) -> float:
    """[m] size of a body."""
    return boxes.boxes[0, 0, 3] + boxes.boxes[0, 0, 4] + boxes.boxes[0, 0, 5]
