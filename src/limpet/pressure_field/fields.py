"""Pressure fields of nominally rigid bodies (F III, VI-A): the geometry of a body for contact.

A body is compliant (PressureField: tetrahedra with a pressure at each vertex, zero on the surface),
rigid (RigidSurface: the limit of an infinite pressure gradient), or a HalfSpace of either kind. All
are in the frame of the body and computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from limpet.errors import LimpetError, MeshError, require_positive
from limpet.geometry.shape import outer_faces
from limpet.meshing.check import check_surface
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.packed import CELL, pack, pack_half_space, pack_triangles
from limpet.pressure_field.primitives import Solid
from limpet.pressure_field.smooth_gradient import vertex_gradients
from limpet.pressure_field.tree import Boxes, leaf_order, tet_boxes, triangle_boxes

Array = np.ndarray

MIN_VOLUME = 1e-12  # least volume of a tet over the cube of its longest edge


FIELD, RIGID, SOFT_SPACE, RIGID_SPACE = range(4)


class FieldData(NamedTuple):
    """A body's geometry as kernels take it, one type for all kinds."""

    kind: int
    points: Array  # (n, 3) [m]
    corners: Array  # (m, 4) int32 of tets, (m, 3) of the triangles of a rigid surface
    cells: Array  # (m, CELL) see packed.py
    boxes: Boxes
    normal: Array  # (3,) of a half space
    offset: float  # [m] of a half space
    smooth: Array  # (n, 3) [Pa/m] smoothed gradients at the points, if dissipation takes them


@dataclass(frozen=True)
class PressureField:
    """A compliant body: piecewise linear pressure on tetrahedra."""

    points: Array  # (n, 3) [m]
    tets: Array  # (m, 4) int32, of positive volume, sorted for locality
    pressure: Array  # (n,) [Pa]
    modulus: float  # [Pa] pressure at extent 1
    gradient: Array  # (m, 3) [Pa/m]
    smooth_gradient: Array  # (n, 3) [Pa/m] mean over the tets of a vertex, weighted by volume
    cells: Array  # (m, CELL) packed data of each tet (see packed.py)
    boxes: Boxes
    smooth: bool = False  # dissipation takes the smoothed gradient (F VI-A)

    @cached_property
    def data(self) -> FieldData:
        """For kernels."""
        smooth = self.smooth_gradient if self.smooth else np.zeros((0, 3))
        return FieldData(
            FIELD, self.points, self.tets, self.cells, self.boxes, np.zeros(3), 0.0, smooth
        )


@dataclass(frozen=True)
class RigidSurface:
    """A rigid body: a closed surface."""

    points: Array  # (n, 3) [m]
    triangles: Array  # (m, 3) int32, outward
    cells: Array  # (m, CELL) packed data of each triangle, for the search
    boxes: Boxes

    @cached_property
    def data(self) -> FieldData:
        """For kernels."""
        return FieldData(
            RIGID, self.points, self.triangles, self.cells, self.boxes, np.zeros(3), 0.0,
            np.zeros((0, 3)),
        )  # fmt: skip


@dataclass(frozen=True)
class HalfSpace:
    """The half space normal . x <= offset; if compliant, p = stiffness * depth."""

    normal: Array  # (3,) unit, outward
    offset: float  # [m]
    stiffness: float  # [Pa/m] inf: rigid
    thickness: float  # [m] depth at which the extent is 1; inf if rigid
    cell: Array  # (1, CELL) as the cells of a field; (0, CELL) if rigid

    @property
    def modulus(self) -> float:
        """[Pa] pressure at extent 1."""
        return self.stiffness * self.thickness

    @cached_property
    def data(self) -> FieldData:
        """For kernels."""
        kind = SOFT_SPACE if is_compliant(self) else RIGID_SPACE
        none = Boxes(np.zeros((1, 1, 8)), np.zeros((1, 2), np.int32), np.zeros(1), np.inf)
        points, corners = np.zeros((0, 3)), np.zeros((0, 4), np.int32)
        return FieldData(kind, points, corners, self.cell, none, self.normal, self.offset, points)


FieldGeometry = PressureField | RigidSurface | HalfSpace


def is_compliant(body: FieldGeometry) -> bool:
    """Whether it has a pressure field."""
    return isinstance(body, PressureField) or (
        isinstance(body, HalfSpace) and np.isfinite(body.stiffness)
    )


def pressure_field(
    solid: Solid | tuple[Array, Array, Array],
    modulus: float,
    mapping: Callable[[Array], Array] | None = None,
    name: str = "field",
) -> PressureField:
    """The field of a solid (points, tets, extent): modulus [Pa] times the extent.

    `mapping` maps extents to extents at the vertices, linear in between. A power above 1 makes a
    body soft at first and stiff at depth (F III-2), with the resolution of its layers.
    """
    require_positive(f"{name} modulus", modulus, " Pa", "a rigid body is a RigidSurface")
    points, tets, extent = solid
    points, tets = check_tets(points, tets, name)
    tets = tets[leaf_order(points[tets].min(axis=1), points[tets].max(axis=1))]
    pressure = modulus * np.asarray(extent if mapping is None else mapping(extent), dtype=float)
    if pressure.shape != (len(points),):
        raise LimpetError(
            f"{name} extent has shape {pressure.shape}: expected one number for each of the "
            f"{len(points)} vertices"
        )
    if not np.isfinite(pressure).all() or pressure.min() < 0.0:
        raise LimpetError(f"{name} extent: expected finite numbers of at least 0 at all vertices")
    if pressure.max() == 0.0:
        raise MeshError(
            f"{name} has extent 0 at every vertex, so no pressure: expected interior vertices; "
            "refine it (refine_walls)"
        )
    shape = shape_gradients(points, tets)
    gradient = np.einsum("ikj,ik->ij", shape, pressure[tets])
    smooth = vertex_gradients(tets, gradient, tet_volumes(points, tets), len(points))
    corners, at = points[tets], pressure[tets]
    loaded = (pressure[surface_triangles(tets)] > 0.0).any()
    steepest = np.inf if loaded else float(np.linalg.norm(gradient, axis=1).max())
    boxes = tet_boxes(corners, at, steepest)
    cells = pack(points, tets, pressure, gradient, shape)
    return PressureField(points, tets, pressure, float(modulus), gradient, smooth, cells, boxes)


def rigid_surface(points: Array, triangles: Array, name: str = "surface") -> RigidSurface:
    """A rigid body from its closed, outward surface."""
    check_surface(points, triangles, name)
    corners = np.asarray(points)[triangles]
    triangles = np.asarray(triangles)[leaf_order(corners.min(axis=1), corners.max(axis=1))]
    points = np.ascontiguousarray(points, dtype=np.float64)
    triangles = np.ascontiguousarray(triangles, dtype=np.int32)
    cells = pack_triangles(points, triangles)
    return RigidSurface(points, triangles, cells, triangle_boxes(points[triangles]))


def half_space(
    normal: Array | tuple[float, float, float],
    offset: float,
    modulus: float | None = None,  # [Pa] None: rigid
    thickness: float | None = None,  # [m] of the compliant layer
) -> HalfSpace:
    """The half space normal . x <= offset [m], compliant if it has a modulus and a thickness."""
    direction = np.asarray(normal, dtype=float)
    size = np.linalg.norm(direction)
    if direction.shape != (3,) or not 0.0 < size < np.inf:
        raise LimpetError(f"half space normal = {normal!r}: expected three numbers, not all zero")
    if (modulus is None) != (thickness is None):
        raise LimpetError(
            f"half space modulus = {modulus}, thickness = {thickness}: expected both (compliant) "
            "or none (rigid)"
        )
    if modulus is None or thickness is None:
        return HalfSpace(direction / size, offset, np.inf, np.inf, np.empty((0, CELL)))
    require_positive("half space modulus", modulus, " Pa")
    require_positive("half space thickness", thickness, " m")
    stiffness = modulus / thickness
    cell = pack_half_space(direction / size, offset, stiffness, thickness)
    return HalfSpace(direction / size, offset, stiffness, thickness, cell)


def surface_triangles(tets: Array) -> Array:
    """The outward boundary faces (k, 3) int32."""
    return outer_faces("tet4", {"tet4": tets})[0].astype(np.int32)


def check_tets(points: Array, tets: Array, name: str) -> tuple[Array, Array]:
    """The mesh as contiguous arrays; an error if a tet has no positive volume."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    tets = np.ascontiguousarray(tets, dtype=np.int32)
    if points.ndim != 2 or points.shape[1] != 3 or tets.ndim != 2 or tets.shape[1] != 4:
        raise MeshError(
            f"{name} has points of shape {points.shape} and tets of shape {tets.shape}: expected "
            "(n, 3) and (m, 4)"
        )
    if tets.size == 0 or tets.min() < 0 or tets.max() >= len(points):
        raise MeshError(f"{name} tets: expected some, of vertices 0 to {len(points) - 1}")
    if not np.isfinite(points).all():
        raise MeshError(f"{name} points: expected finite coordinates")
    volume, corners = tet_volumes(points, tets), points[tets]
    longest = np.ptp(corners, axis=1).max(axis=1)
    bad = np.flatnonzero(volume <= MIN_VOLUME * longest**3)
    if len(bad):
        raise MeshError(
            f"{name} tet {bad[0]} has volume {volume[bad[0]]:.3g} m^3, {len(bad)} such: expected "
            "positive volumes; swap two vertices of inverted tets, remove flat ones"
        )
    return points, tets


def shape_gradients(points: Array, tets: Array) -> Array:
    """(m, 4, 3) [1/m] gradients of the barycentric coordinates."""
    corners = points[tets]
    inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1])  # columns: gradients of 1, 2, 3
    rest = inverse.transpose(0, 2, 1)
    return np.concatenate([-rest.sum(axis=1, keepdims=True), rest], axis=1)
