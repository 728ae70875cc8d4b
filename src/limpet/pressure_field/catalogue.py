"""Shapes that bring a pressure field along: `limpet.fields`.

    ball = world.add_rigid(limpet.fields.sphere(0.05, modulus=1e6), mass=0.2, position=(0, 0, 0.1))
    world.add_rigid(limpet.fields.floor(), mass=1.0, fixed=True)

A modulus [Pa] is the pressure at the deepest point of a body: the stiffness of what it is made of,
for a layer as thick as the body is deep. Shapes without one are rigid: of two that touch, one at
least has a field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.shape import RigidShape
from limpet.meshing.tetrahedra import fill
from limpet.pressure_field import primitives
from limpet.pressure_field.extents import distance_extent, laplace_extent, refine_walls
from limpet.pressure_field.fields import (
    FieldGeometry,
    half_space,
    pressure_field,
    rigid_surface,
    surface_triangles,
)
from limpet.shapes.boxes import box as plain_box

Array = np.ndarray

EXTENTS: dict[str, Callable[..., primitives.Solid]] = {
    "laplace": laplace_extent,
    "distance": distance_extent,
}


@dataclass(frozen=True)
class FieldShape(RigidShape):
    """A rigid shape and what it brings to contacts by pressure fields, both in one frame."""

    field: FieldGeometry


def sphere(radius: float, modulus: float, *, edge: float | None = None) -> FieldShape:
    """A ball of `radius` [m] about the origin, in facets of about `edge` [m]."""
    return of_solid("sphere", primitives.sphere(radius, edge or 0.25 * radius), modulus)


def box(length: float, width: float, height: float, modulus: float) -> FieldShape:
    """A box about the origin, its sides [m] along x, y and z."""
    return of_solid("box", primitives.box(length, width, height), modulus)


def cylinder(
    radius: float, length: float, modulus: float, *, edge: float | None = None
) -> FieldShape:
    """A cylinder about z, its middle at the origin, its mantle in facets of about `edge` [m]."""
    solid = primitives.cylinder(radius, length, edge or 0.3 * radius)
    return of_solid("cylinder", solid, modulus)


def capsule(
    radius: float, length: float, modulus: float, *, edge: float | None = None
) -> FieldShape:
    """A cylinder about z of `length` [m] between two half balls, its middle at the origin."""
    return of_solid("capsule", primitives.capsule(radius, length, edge or 0.3 * radius), modulus)


def mesh(
    shape: RigidShape, modulus: float, *, size: float | None = None, extent: str = "laplace"
) -> FieldShape:
    """Any closed surface, filled with tetrahedra of about `size` [m], where it stands.

    extent: "laplace" (F VI-A2), or "distance" to the surface over the largest there is. A wall
    without a vertex inside is split until it has one.
    """
    require_positive(f"{shape.name} modulus", modulus, " Pa")
    if extent not in EXTENTS:
        raise LimpetError(f"extent = '{extent}'{suggest(extent, EXTENTS)}")
    filled = fill(shape.points, shape.triangles, size=size, name=shape.name)
    points, tets = refine_walls(*filled, shape.name)
    return of_solid(shape.name, EXTENTS[extent](points, tets, name=shape.name), modulus)


def rigid(shape: RigidShape) -> FieldShape:
    """A shape that meets the fields of others and has none itself."""
    field = rigid_surface(shape.points, shape.triangles, shape.name)
    return FieldShape(shape.name, shape.points, shape.triangles, field)


def floor(
    size: float = 1.0, modulus: float | None = None, thickness: float | None = None
) -> FieldShape:
    """All that lies below z = 0, rigid, or compliant with a modulus [Pa] and a thickness [m].

    It is shown as a slab of `size` [m].
    """
    slab = plain_box(size, size, 0.1 * size)
    field = half_space((0.0, 0.0, 1.0), 0.0, modulus, thickness)
    return FieldShape("floor", slab.points, slab.triangles, field)


def of_solid(name: str, solid: primitives.Solid, modulus: float) -> FieldShape:
    """A tetrahedral mesh with an extent at each vertex, as a shape."""
    field = pressure_field(solid, modulus, name=name)
    triangles = surface_triangles(field.tets)
    used, number = np.unique(triangles, return_inverse=True)
    points = np.ascontiguousarray(field.points[used])
    return FieldShape(name, points, number.reshape(-1, 3).astype(np.int32), field)
