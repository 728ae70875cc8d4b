"""Pairs of bodies that touch by pressure fields, of which one at least deforms.

As field_contacts for rigid bodies. The first body of a pair deforms, the second may. Only the part
of a field counts that may touch within a step; FieldBodies checks afterwards that this was all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from limpet.geometry.rotation import quaternion_matrix
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.displaced import ConvexCells, convex_cells, displaced, placed
from limpet.pressure_field.field_contacts import LARGE, FieldPair, fixed_shape, fixed_terms
from limpet.pressure_field.fields import HalfSpace, PressureField, shape_gradients
from limpet.pressure_field.packed import pack
from limpet.pressure_field.point_terms import SurfacePoints, surface_points
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.surface import ContactSurface, Pose, contact_surface
from limpet.pressure_field.tree import tet_boxes

Array = np.ndarray

IDENTITY: Pose = (np.eye(3), np.zeros(3))
SQUASHED = 1e-9  # of the volume at rest: a tet below it has no pressure


@dataclass(frozen=True)
class Side:
    """The part of a deforming field that may touch."""

    body: int  # number among the soft bodies
    vertices: Array  # (v,) of the field
    tets: Array  # (t, 4) int32, counting these vertices
    whole: Array  # (t,) their numbers in the field
    pressure: Array  # (v,) [Pa]
    volume: Array  # (t,) [m^3] at rest
    height: Array  # (t,) [m] least height of each at rest
    start: Array  # (v, 3) [m] as the step begins

    def at(self, x: Array) -> PressureField:
        """The field with its vertices at x (v, 3), without tets that are squashed."""
        kept = tet_volumes(x, self.tets) > SQUASHED * self.volume
        tets = self.tets if kept.all() else self.tets[kept]
        shape = shape_gradients(x, tets)
        gradient = np.einsum("ikj,ik->ij", shape, self.pressure[tets])
        boxes = tet_boxes(x[tets], self.pressure[tets], np.inf)
        cells = pack(x, tets, self.pressure, gradient, shape)
        return PressureField(
            points=x, tets=tets, pressure=self.pressure, modulus=float(self.pressure.max()),
            gradient=gradient, smooth_gradient=np.zeros_like(x), cells=cells, boxes=boxes,
        )  # fmt: skip


@dataclass(frozen=True)
class Touch:
    """A pair at one place of both."""

    force_a: Array  # (v, 3) [N] on the vertices of a's side
    force_b: Array  # (v, 3) [N] of b's side, or (4, 3) on the frame of a rigid body
    stored_a: tuple[Array, Array, Array]  # x (v, 3), tets (t, 4) of a's side, their energy (t,) [J]
    stored_b: tuple[Array, Array, Array] | None  # and of b's, if it deforms
    surface: ContactSurface
    points: SurfacePoints | None  # None: there is no surface
    highest: float  # pressure over modulus
    thin: Array  # (t,) [m] least height of each tet of a, then of b

    @property
    def energy(self) -> float:
        """[J] of the first body's field, and of the second's if it deforms."""
        return sum(float(s[2].sum()) for s in (self.stored_a, self.stored_b) if s is not None)


@dataclass(frozen=True)
class ActivePair:
    """A pair in one step."""

    number: int
    pair: FieldPair
    a: Side
    b: Side | None  # None: rigid
    cells: ConvexCells  # of a rigid b, in its frame
    modulus: float  # [Pa] the lower one

    def touch(self, x_a: Array, x_b: Array, pose: Pose) -> Touch:
        """With the vertices at x_a, x_b; of a rigid b, that is its frame, and its field at pose."""
        field_a, thin = self.a.at(x_a), _least_heights(x_a, self.a.tets)
        if self.b is None:
            other = placed(self.cells, pose)
            surface = contact_surface(field_a, IDENTITY, fixed_shape(self.pair.field_b), pose)
            on_b = np.tile(np.arange(4), (len(surface), 1))
        else:
            field_b = self.b.at(x_b)
            other = convex_cells(field_b)
            surface = contact_surface(field_a, IDENTITY, field_b, IDENTITY)
            on_b = field_b.tets[surface.cells[:, 1]]
            thin = np.concatenate([thin, _least_heights(x_b, self.b.tets)])
        force_a, energy = displaced(x_a, field_a.tets, self.a.pressure, self.modulus, other)
        stored_a, stored_b = (x_a, field_a.tets, energy), None
        if self.b is None:
            force_b = _on_frame(x_b, x_a, -force_a)
        else:
            force_b, energy = displaced(
                x_b, field_b.tets, self.b.pressure, self.modulus, convex_cells(field_a)
            )
            stored_b = x_b, field_b.tets, energy
        points, highest = None, 0.0
        if len(surface):
            points = surface_points(
                surface, self.modulus, LARGE, x_a, field_a.tets[surface.cells[:, 0]].astype(int),
                x_b, on_b.astype(int),
            )  # fmt: skip
            highest = float(surface.corner_pressure.max()) / self.modulus
        return Touch(force_a, force_b, stored_a, stored_b, surface, points, highest, thin)


def _least_heights(x: Array, tets: Array) -> Array:
    """(t,) [m]"""
    corners = x[tets]
    edges = corners[:, 1:] - corners[:, :1]
    six = np.abs(np.linalg.det(edges))
    faces = [np.cross(edges[:, i], edges[:, j]) for i, j in ((0, 1), (1, 2), (2, 0))]
    faces.append(np.cross(edges[:, 1] - edges[:, 0], edges[:, 2] - edges[:, 0]))
    return six / np.linalg.norm(faces, axis=2).max(axis=0)


def _on_frame(frame: Array, x: Array, force: Array) -> Array:
    """(4, 3) forces on the corners of a frame, together as forces (n, 3) at x."""
    origin, size = frame[0], float(np.linalg.norm(frame[1] - frame[0]))
    axes = (frame[1:] - origin) / size
    weight = (x - origin) @ axes.T / size
    out = np.empty((4, 3))
    out[1:] = weight.T @ force
    out[0] = force.sum(axis=0) - out[1:].sum(axis=0)
    return out


class SoftContacts:
    """Pairs whose first body deforms; a and b count the soft bodies, or the rigid ones."""

    def __init__(
        self,
        pairs: Sequence[FieldPair],
        fields: Sequence[SoftField],
        rest_centre: Array,  # (b, 3) [m] of the rigid bodies
    ) -> None:
        self.pairs, self.fields, self._rest_centre = pairs, fields, rest_centre
        self._volume = [tet_volumes(f.points, f.tets) for f in fields]
        self._height = [_least_heights(f.points, f.tets) for f in fields]
        self._cells = [None if p.deforms_b else convex_cells(fixed_shape(p.field_b)) for p in pairs]
        self._balls = [_ball(p) for p in pairs]
        fixed = [fixed_terms(p) for p in pairs]
        self.modulus = np.array([row[2] for row in fixed])  # (m,) [Pa]
        self.depth = np.array([row[3] for row in fixed])  # (m,) [m] to the core
        self.friction = np.array([row[4] for row in fixed])
        self.damping = np.array([row[5] for row in fixed])  # (m,) [s/Pa]
        self.points: list[Array] = []  # (n, 3) [m] vertices of each field as a step begins
        self.centre = self.quaternion = np.zeros((0, 3))
        self.gap = np.zeros(len(pairs))  # [m] at least

    def begin(self, nodes: Sequence[Array], centre: Array, quaternion: Array) -> None:
        """From these places of the nodes that carry the fields, and poses of rigid bodies."""
        self.points = [f.binding @ x for f, x in zip(self.fields, nodes)]
        self.centre, self.quaternion = centre, quaternion
        self.gap = np.array([self._gap(k) for k in range(len(self.pairs))])

    def pose(self, k: int, centre: Array, quaternion: Array) -> Pose:
        """Of the field of a rigid second body, from the pose of the body."""
        p = self.pairs[k]
        rotation, shift = p.pose_b
        r = quaternion_matrix(quaternion)
        return r @ rotation, r @ (shift - self._rest_centre[p.b]) + centre

    def _gap(self, k: int) -> float:
        x = self.points[self.pairs[k].a]
        low, high = self._bounds_b(k, self.points, self.centre, self.quaternion)
        if isinstance(self.pairs[k].field_b, HalfSpace):
            return float(self._heights(k, x, self.centre, self.quaternion).min())
        return float(np.maximum(low - x.max(axis=0), x.min(axis=0) - high).max())

    def _heights(self, k: int, x: Array, centre: Array, quaternion: Array) -> Array:
        """[m] of points above a half space."""
        p = self.pairs[k]
        rotation, origin = self.pose(k, centre[p.b], quaternion[p.b])
        space = p.field_b
        assert isinstance(space, HalfSpace)
        return (x - origin) @ (rotation @ space.normal) - space.offset

    def _bounds_b(
        self, k: int, points: Sequence[Array], centre: Array, quaternion: Array
    ) -> tuple[Array, Array]:
        p, cells = self.pairs[k], self._cells[k]
        if cells is None:
            x = points[p.b]
            return x.min(axis=0), x.max(axis=0)
        boxes = placed(cells, self.pose(k, centre[p.b], quaternion[p.b])).boxes
        return boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)

    def near(
        self, k: int, margin: float, points: Sequence[Array], centre: Array, quaternion: Array
    ) -> tuple[Array, Array]:
        """Tets of a and of b (none if rigid) that may come within `margin` [m] of each other."""
        p = self.pairs[k]
        x, tets = points[p.a], self.fields[p.a].tets
        if isinstance(p.field_b, HalfSpace):
            low = self._heights(k, x, centre, quaternion)[tets].min(axis=1)
            return np.flatnonzero(low <= margin), np.zeros(0, int)
        bounds = self._bounds_b(k, points, centre, quaternion)
        of_a = _within(x, tets, *bounds, margin)
        if self._cells[k] is not None:
            rotation, origin = self.pose(k, centre[p.b], quaternion[p.b])
            middle, radius = self._balls[k]
            corners, middle = x[tets[of_a]], rotation @ middle + origin
            away = np.maximum(corners.min(axis=1) - middle, middle - corners.max(axis=1))
            near = np.linalg.norm(np.maximum(away, 0.0), axis=1) <= radius + margin
            return of_a[near], np.zeros(0, int)
        if not len(of_a):
            return of_a, of_a
        own = x[tets[of_a]].reshape(-1, 3)
        other = self.fields[p.b].tets
        of_b = _within(points[p.b], other, own.min(axis=0), own.max(axis=0), margin)
        return of_a, of_b

    def active(self, k: int, margin: float) -> ActivePair | None:
        """A pair with what may touch from where the step begins; None: nothing may."""
        of_a, of_b = self.near(k, margin, self.points, self.centre, self.quaternion)
        p, cells = self.pairs[k], self._cells[k]
        if not len(of_a) or (cells is None and not len(of_b)):
            return None
        b = self._side(p.b, of_b) if cells is None else None
        nothing = ConvexCells(np.zeros((0, 4, 4)), np.zeros((0, 4)), np.zeros(0), np.zeros((0, 6)))
        return ActivePair(
            k, p, self._side(p.a, of_a), b, nothing if cells is None else cells,
            float(self.modulus[k]),
        )  # fmt: skip

    def _side(self, body: int, which: Array) -> Side:
        field = self.fields[body]
        used, number = np.unique(field.tets[which], return_inverse=True)
        return Side(
            body, used, number.reshape(-1, 4).astype(np.int32), which, field.pressure[used],
            self._volume[body][which], self._height[body][which],
            np.ascontiguousarray(self.points[body][used]),
        )  # fmt: skip


def _ball(pair: FieldPair) -> tuple[Array, float]:
    """Centre (3,) and radius [m] of a ball about the field of a rigid second body, in its frame."""
    field = pair.field_b
    if isinstance(field, SoftField | HalfSpace):
        return np.zeros(3), np.inf
    middle = 0.5 * (field.points.min(axis=0) + field.points.max(axis=0))
    return middle, float(np.linalg.norm(field.points - middle, axis=1).max())


def _within(x: Array, tets: Array, low: Array, high: Array, margin: float) -> Array:
    """Tets whose box comes within `margin` of another box."""
    corners = x[tets]
    near = (corners.max(axis=1) >= low - margin) & (corners.min(axis=1) <= high + margin)
    return np.flatnonzero(near.all(axis=1))


def frame_of(centre: Array, size: float) -> Array:
    """(4, 3) [m] a point and its neighbours along the axes: any affine velocity is a mean of
    theirs.
    """
    return np.vstack([centre, centre + size * np.eye(3)])


def side_map(side: Side, field: SoftField, motion: csr_array) -> csr_array:
    """(3 v, n) how the vertices of a side follow n velocities, which move its k nodes by `motion`
    (3 k, n).
    """
    binding = field.binding[side.vertices].tocoo()
    row, at = binding.coords
    rows = (3 * row[:, None] + np.arange(3)).ravel()
    columns = (3 * at[:, None] + np.arange(3)).ravel()
    shape = (3 * len(side.vertices), motion.shape[0])
    spread = csr_array((np.repeat(binding.data, 3), (rows, columns)), shape=shape)
    return csr_array(spread @ motion)


def soft_first(pair: FieldPair) -> FieldPair:
    """The pair with its deforming body first."""
    if isinstance(pair.field_a, SoftField):
        return pair
    one, other = pair.names
    return replace(
        pair, a=pair.b, b=pair.a, field_a=pair.field_b, field_b=pair.field_a, names=(other, one),
        pose_a=pair.pose_b, pose_b=pair.pose_a,
    )  # fmt: skip
