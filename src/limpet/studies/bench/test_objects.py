"""Things to put in contact with each other, for Limpet and for its peers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from manifold3d import Manifold, Mesh64

from limpet.meshing.tetrahedra import coarsen, fill
from limpet.pressure_field.extents import distance_extent, refine_walls
from limpet.pressure_field.fields import FieldGeometry, pressure_field, rigid_surface
from limpet.pressure_field.primitives import box, sphere
from limpet.shapes.objects import mug

Array = np.ndarray


@dataclass(frozen=True)
class Ball:
    radius: float  # [m]
    edge: float  # [m] of its facets
    modulus: float  # [Pa]


@dataclass(frozen=True)
class Brick:
    sides: tuple[float, float, float]  # [m]
    modulus: float  # [Pa]


@dataclass(frozen=True)
class Tets:
    """Any tetrahedra, with the distance to the surface over the largest one as extent."""

    points: Array  # (n, 3) [m]
    tets: Array  # (m, 4)
    modulus: float  # [Pa]


@dataclass(frozen=True)
class RigidMesh:
    points: Array  # (n, 3) [m]
    triangles: Array  # (m, 3)


Thing = Ball | Brick | Tets | RigidMesh


def own_body(thing: Thing) -> FieldGeometry:
    """The thing on a mesh of ours."""
    if isinstance(thing, Ball):
        return pressure_field(sphere(thing.radius, thing.edge), thing.modulus)
    if isinstance(thing, Brick):
        return pressure_field(box(*thing.sides), thing.modulus)
    if isinstance(thing, Tets):
        return pressure_field(distance_extent(thing.points, thing.tets), thing.modulus)
    return rigid_surface(thing.points, thing.triangles)


def rigid_mug(vertices: int) -> RigidMesh:
    """A mug with so many vertices, its triangles about even."""
    shape = mug()
    whole = Manifold(Mesh64(shape.points, shape.triangles.astype(np.uint64)))
    length = 0.5 * np.sqrt(2.3 * whole.surface_area() / vertices)  # half of the triangles' own
    mesh = whole.refine_to_length(min(length, 0.002)).to_mesh64()
    points, triangles = np.array(mesh.vert_properties[:, :3]), np.array(mesh.tri_verts)
    return RigidMesh(*coarsen(points, triangles.astype(np.int32), vertices, "mug"))


def soft_mug(vertices: int, modulus: float) -> Tets:
    """The same, filled: a layer of vertices within its wall."""
    shell = rigid_mug(vertices)
    filled = fill(shell.points, shell.triangles, name="mug")
    return Tets(*refine_walls(*filled, name="mug"), modulus)
