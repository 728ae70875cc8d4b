"""Shapes with a pressure field: `limpet.fields`.

    ball = world.add_rigid(limpet.fields.sphere(0.05, modulus=1e6), mass=0.2, position=(0, 0, 0.1))
    world.add_rigid(limpet.fields.floor(), mass=1.0, fixed=True)

The modulus [Pa] is the pressure at the deepest point of a body: the modulus of its material, for
a layer as thick as the body is deep. A shape without a modulus is rigid. At least one of two
bodies in contact must have a pressure field.

The pressure is the modulus times min(e / core, 1)^power, e being the penetration extent: 0 on the
surface, 1 at the deepest point. `power` above 1 makes a body soft at first and stiff at depth;
`core` below 1 is the share of the depth that is compliant, around a rigid core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.shape import RigidShape
from limpet.meshing.tetrahedra import fill
from limpet.pressure_field import primitives
from limpet.pressure_field.extents import distance_extent, laplace_extent, refine_walls
from limpet.pressure_field.fields import (
    FieldGeometry,
    PressureField,
    half_space,
    pressure_field,
    rigid_surface,
    surface_triangles,
)
from limpet.pressure_field.layers import nonlinear
from limpet.pressure_field.soft_field import FieldLayer
from limpet.shapes.boxes import box as plain_box

Array = np.ndarray

FINE = 1.0 / 15.0  # of a ball's radius: facets by default. Force to 0.4 % at 1 % of depth.
ROUND = 0.1  # of the radius of a cylinder

EXTENTS: dict[str, Callable[..., primitives.Solid]] = {
    "laplace": laplace_extent,
    "distance": distance_extent,
}


@dataclass(frozen=True)
class FieldShape(RigidShape):
    """A rigid shape with its geometry for pressure-field contact, in the same frame."""

    field: FieldGeometry


def sphere(
    radius: float, modulus: float, *, edge: float | None = None, power: float = 1.0,
    core: float = 1.0,
) -> FieldShape:  # fmt: skip
    """A ball of `radius` [m] around the origin, with facets of about `edge` [m]."""
    solid = primitives.sphere(radius, edge or FINE * radius)
    return of_solid("sphere", nonlinear(solid, power, core), modulus)


def box(
    length: float, width: float, height: float, modulus: float, *, power: float = 1.0,
    core: float = 1.0,
) -> FieldShape:  # fmt: skip
    """A box around the origin; its sides [m] are along x, y and z."""
    solid = primitives.box(length, width, height)
    return of_solid("box", nonlinear(solid, power, core), modulus)


def cylinder(
    radius: float, length: float, modulus: float, *, edge: float | None = None, power: float = 1.0,
    core: float = 1.0,
) -> FieldShape:  # fmt: skip
    """A cylinder along z, centred at the origin, with facets of about `edge` [m]."""
    solid = primitives.cylinder(radius, length, edge or ROUND * radius)
    return of_solid("cylinder", nonlinear(solid, power, core), modulus)


def capsule(
    radius: float, length: float, modulus: float, *, edge: float | None = None, power: float = 1.0,
    core: float = 1.0,
) -> FieldShape:  # fmt: skip
    """A cylinder along z of `length` [m] between two half balls, centred at the origin."""
    solid = primitives.capsule(radius, length, edge or ROUND * radius)
    return of_solid("capsule", nonlinear(solid, power, core), modulus)


def mesh(
    shape: RigidShape, modulus: float, *, size: float | None = None, extent: str = "laplace",
    power: float = 1.0, core: float = 1.0,
) -> FieldShape:  # fmt: skip
    """A closed surface, filled with tetrahedra of about `size` [m].

    extent: "laplace" (F VI-A2), or "distance" to the surface over the largest distance. A wall
    without an interior vertex is refined until it has one.
    """
    require_positive(f"{shape.name} modulus", modulus, " Pa")
    if extent not in EXTENTS:
        raise LimpetError(f"extent = '{extent}'{suggest(extent, EXTENTS)}")
    filled = fill(shape.points, shape.triangles, size=size, name=shape.name)
    points, tets = refine_walls(*filled, shape.name)
    solid = nonlinear(EXTENTS[extent](points, tets, name=shape.name), power, core)
    return of_solid(shape.name, solid, modulus)


def rigid(shape: RigidShape) -> FieldShape:
    """A rigid shape without a field, for contact with the fields of others."""
    field = rigid_surface(shape.points, shape.triangles, shape.name)
    return FieldShape(shape.name, shape.points, shape.triangles, field)


def layer(modulus: float, *, thickness: float | None = None) -> FieldLayer:
    """The field of a soft body, for `World.add_soft`; it moves with the material.

    The pressure rises from 0 on the surface to `modulus` [Pa] at the depth `thickness` [m], and
    stays there below: the deepest point of the body if not given. It is linear in tetrahedra of the
    body's own cells, so a thickness below a cell is refused.
    """
    return FieldLayer(modulus, thickness)


def floor(
    size: float = 1.0, modulus: float | None = None, thickness: float | None = None
) -> FieldShape:
    """The half space z < 0, rigid, or compliant with a modulus [Pa] and a thickness [m].

    It is displayed as a slab of `size` [m].
    """
    slab = plain_box(size, size, 0.1 * size)
    field = half_space((0.0, 0.0, 1.0), 0.0, modulus, thickness)
    return FieldShape("floor", slab.points, slab.triangles, field)


def smoothed(shape: FieldShape) -> FieldShape:
    """The same shape, whose dissipation takes the smoothed gradient of its field (F VI-A).

    Pressure and friction stay as they are. A shape without a field stays what it is.
    """
    if not isinstance(shape, FieldShape):
        raise LimpetError("smoothed: expected a shape of limpet.fields")
    field = shape.field
    if isinstance(field, PressureField):
        return replace(shape, field=replace(field, smooth=True))
    return shape


def of_solid(name: str, solid: primitives.Solid, modulus: float) -> FieldShape:
    """A shape from a tetrahedral mesh with an extent at each vertex."""
    field = pressure_field(solid, modulus, name=name)
    triangles = surface_triangles(field.tets)
    used, number = np.unique(triangles, return_inverse=True)
    points = np.ascontiguousarray(field.points[used])
    return FieldShape(name, points, number.reshape(-1, 3).astype(np.int32), field)
