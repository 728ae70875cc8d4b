"""Objects for contact queries, described so that other simulators can build them too."""

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
class Sphere:
    radius: float  # [m]
    edge: float  # [m] of its facets
    modulus: float  # [Pa]


@dataclass(frozen=True)
class Box:
    sides: tuple[float, float, float]  # [m]
    modulus: float  # [Pa]


@dataclass(frozen=True)
class TetMesh:
    """Any tetrahedra; the extent is the distance to the surface over its maximum."""

    points: Array  # (n, 3) [m]
    tets: Array  # (m, 4)
    modulus: float  # [Pa]


@dataclass(frozen=True)
class RigidMesh:
    points: Array  # (n, 3) [m]
    triangles: Array  # (m, 3)


TestObject = Sphere | Box | TetMesh | RigidMesh


def build_field(item: TestObject) -> FieldGeometry:
    """The object on a mesh of Limpet."""
    if isinstance(item, Sphere):
        return pressure_field(sphere(item.radius, item.edge, inscribed=True), item.modulus)
    if isinstance(item, Box):
        return pressure_field(box(*item.sides), item.modulus)
    if isinstance(item, TetMesh):
        return pressure_field(distance_extent(item.points, item.tets), item.modulus)
    return rigid_surface(item.points, item.triangles)


def rigid_mug(vertices: int) -> RigidMesh:
    """A mug with the given number of vertices and triangles of nearly equal size."""
    shape = mug()
    whole = Manifold(Mesh64(shape.points, shape.triangles.astype(np.uint64)))
    length = 0.5 * np.sqrt(2.3 * whole.surface_area() / vertices)  # half of the final edge length
    mesh = whole.refine_to_length(min(length, 0.002)).to_mesh64()
    points, triangles = np.array(mesh.vert_properties[:, :3]), np.array(mesh.tri_verts)
    return RigidMesh(*coarsen(points, triangles.astype(np.int32), vertices, "mug"))


def soft_mug(vertices: int, modulus: float) -> TetMesh:
    """The mug filled with tetrahedra, with a layer of vertices inside its wall."""
    shell = rigid_mug(vertices)
    filled = fill(shell.points, shell.triangles, name="mug")
    return TetMesh(*refine_walls(*filled, name="mug"), modulus)
