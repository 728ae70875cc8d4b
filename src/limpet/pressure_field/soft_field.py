"""Pressure fields that are bound to the material of a soft body.

Every vertex of the field keeps its pressure and moves with the finite elements that carry it; in
between, pressure and motion are linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from limpet.compiled import njit
from limpet.errors import LimpetError, MeshError, require_positive
from limpet.geometry.bvh import build_tree, closest_points
from limpet.geometry.shape import SoftShape
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.extents import refine_walls
from limpet.pressure_field.fields import check_tets, surface_triangles
from limpet.pressure_field.soft_mesh import BoundTets, bound_tets
from limpet.pressure_field.tree import leaf_order

Array = np.ndarray

RESOLVED = 1.001  # of the thickness: depth to which the vertices under the surface must lie
ALIKE = 0.02  # of the volume: by which the collision surface may differ from the cells


@dataclass(frozen=True)
class FieldLayer:
    """The pressure field of a soft body: rises from 0 on its surface to `modulus`."""

    modulus: float  # [Pa] pressure at the depth `thickness`, and below
    thickness: float | None = None  # [m] None: as deep as the body is

    def __post_init__(self) -> None:
        require_positive("field layer modulus", self.modulus, " Pa")
        if self.thickness is not None:
            require_positive("field layer thickness", self.thickness, " m")


@dataclass(frozen=True)
class SoftField:
    """A layer bound to the nodes of a soft body."""

    points: Array  # (n, 3) [m] at rest
    tets: Array  # (m, 4) int32, sorted for locality
    pressure: Array  # (n,) [Pa] at the vertices, wherever they go
    modulus: float  # [Pa] highest pressure
    steep: float  # [Pa/m] gradient at rest below which most of the volume stays
    nodes: Array  # (k,) int32 of the shape that carry the field
    binding: csr_array  # (n, k) weights


def soft_field(shape: SoftShape, layer: FieldLayer, name: str) -> SoftField:
    """The field of a soft body at rest, on its own cells."""
    if not isinstance(layer, FieldLayer):
        raise LimpetError(
            f"field of '{name}': expected limpet.fields.layer(modulus=...), a soft body has no "
            f"other; got {type(layer).__name__}"
        )
    label = f"field of '{name}'"
    own = bound_tets(shape)
    _check_surface(shape, own, label)
    points, tets = refine_walls(*check_tets(own.points, own.tets, label), label)
    binding = csr_array(_located(own, points) @ own.binding)
    skin = surface_triangles(tets)
    depth = closest_points(build_tree(points, skin), points, skin, points, np.inf)[2]
    depth[skin] = 0.0
    deepest = float(depth.max())
    thickness = deepest if layer.thickness is None else layer.thickness
    under = depth[tets[(depth[tets] == 0.0).any(axis=1)]].max(axis=1)
    if thickness > deepest * (1.0 + 1e-9):
        raise LimpetError(
            f"{label}: thickness = {thickness:g} m, but the body is {deepest:.3g} m deep; expected "
            "at most that"
        )
    if float(np.median(under)) > RESOLVED * thickness:
        raise LimpetError(
            f"{label}: thickness = {thickness:g} m, but the cells under its surface are "
            f"{float(np.median(under)):.3g} m deep; expected at least that, or a finer mesh"
        )
    tets = tets[leaf_order(points[tets].min(axis=1), points[tets].max(axis=1))]
    pressure = layer.modulus * np.minimum(depth / thickness, 1.0)
    nodes = np.unique(binding.indices).astype(np.int32)
    return SoftField(
        points, tets, pressure, layer.modulus, layer.modulus / thickness, nodes,
        csr_array(binding[:, nodes]),
    )  # fmt: skip


def _check_surface(shape: SoftShape, own: BoundTets, label: str) -> None:
    """Refuse a surface that is embedded in cells which reach beyond it."""
    x = shape.collision.positions(shape.points)[shape.collision.triangles]
    inside = float(np.einsum("ij,ij->", x[:, 0], np.cross(x[:, 1], x[:, 2]))) / 6.0
    whole = float(tet_volumes(own.points, own.tets).sum())
    if abs(inside - whole) > ALIKE * whole:
        raise MeshError(
            f"{label}: the surface of the body encloses {inside:.3g} m^3, its cells {whole:.3g} "
            "m^3; expected cells that end at the surface (a mesh of tetrahedra)"
        )


def _located(own: BoundTets, points: Array) -> csr_array:
    """(n, vertices) weights of points within the tets."""
    old = len(own.points)
    tet, weight = _locate(own.points, own.tets, points[old:])
    row = np.concatenate([np.arange(old), old + np.repeat(np.arange(len(tet)), 4)])
    column = np.concatenate([np.arange(old), own.tets[tet].ravel()])
    value = np.concatenate([np.ones(old), weight.ravel()])
    kept = value > 1e-12
    return csr_array((value[kept], (row[kept], column[kept])), shape=(len(points), old))


@njit(cache=True)
def _locate(points: Array, tets: Array, asked: Array) -> tuple[Array, Array]:
    """The tet that each asked point is deepest inside of, and its barycentric coordinates."""
    best = np.full(len(asked), -np.inf)
    tet, weight = np.zeros(len(asked), np.int64), np.zeros((len(asked), 4))
    own = np.empty(4)
    for t in range(len(tets)):
        a, b, c, d = points[tets[t, 0]], points[tets[t, 1]], points[tets[t, 2]], points[tets[t, 3]]
        edges = np.empty((3, 3))
        for k in range(3):
            edges[k, 0], edges[k, 1], edges[k, 2] = b[k] - a[k], c[k] - a[k], d[k] - a[k]
        inverse = np.linalg.inv(edges)
        for i in range(len(asked)):
            total = 0.0
            for k in range(3):
                own[k + 1] = 0.0
                for e in range(3):
                    own[k + 1] += inverse[k, e] * (asked[i, e] - a[e])
                total += own[k + 1]
            own[0] = 1.0 - total
            if own.min() > best[i]:
                best[i], tet[i] = own.min(), t
                weight[i] = own
    return tet, weight
