"""Drake's hydroelastic contact as a peer: the same meshes and fields in both, faces, area, force.

Limpet does not need Drake (https://drake.mit.edu); `pip install drake` puts it beside. Spheres and
boxes are Drake's own, with its meshes; others are meshes of ours, given to Drake as VTK or OBJ and
read back from it.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from limpet.pressure_field.extents import distance_extent
from limpet.pressure_field.fields import (
    FieldGeometry,
    PressureField,
    pressure_field,
    rigid_surface,
    surface_triangles,
)
from limpet.pressure_field.primitives import Solid
from limpet.pressure_field.surface import ContactSurface, Pose
from limpet.studies.bench.test_objects import Ball, Brick, RigidMesh, Tets, Thing

Array = np.ndarray

HALF_TURN_OF = 5.0 / 8.0  # Drake leaves out polygons whose normal is further than this times pi


def available() -> bool:
    return find_spec("pydrake") is not None


class DrakePair:
    """Two things in a Drake diagram, the first free to be placed, the second at the origin."""

    def __init__(self, one: Thing, two: Thing) -> None:
        from pydrake.geometry import HydroelasticContactRepresentation
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
        from pydrake.multibody.tree import SpatialInertia
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        self.plant, self.scene = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
        self.things = (one, two)
        self.bodies, self.ids = [], []
        with TemporaryDirectory() as folder:  # of meshes, which Drake reads at the end
            for k, thing in enumerate(self.things):
                inertia = SpatialInertia.SolidSphereWithMass(1.0, 0.05)
                body = self.plant.AddRigidBody(f"body{k}", inertia)
                self.bodies.append(body)
                self.ids.append(_register(self.plant, body, thing, Path(folder)))
            self.plant.Finalize()
            self.diagram = builder.Build()
            self.context = self.diagram.CreateDefaultContext()
        self.polygons = HydroelasticContactRepresentation.kPolygon

    def mesh(self, k: int) -> tuple[Array, Array]:
        """Points and tets (triangles if rigid) that Drake computes with.

        Where no direction leads out of all faces about a vertex Drake gives some tets a copy of it,
        for its margins; without a margin the copies stand in one place, and are merged here.
        """
        mesh = self.scene.model_inspector().maybe_get_hydroelastic_mesh(self.ids[k])
        rigid = hasattr(mesh, "triangles")
        elements, corners = (mesh.triangles(), 3) if rigid else (mesh.tetrahedra(), 4)
        points = np.array([mesh.vertex(i) for i in range(mesh.num_vertices())])
        cells = np.array([[e.vertex(c) for c in range(corners)] for e in elements])
        points, merged = np.unique(points, axis=0, return_inverse=True)
        return points, merged.reshape(-1)[cells]

    def body(self, k: int) -> FieldGeometry:
        """The same thing as a body of ours, on Drake's mesh and with Drake's field."""
        points, cells = self.mesh(k)
        thing = self.things[k]
        if isinstance(thing, Ball):
            extent = np.maximum(1.0 - np.linalg.norm(points, axis=1) / thing.radius, 0.0)
            extent[np.unique(surface_triangles(cells))] = 0.0
            return pressure_field(Solid(points, cells, extent), thing.modulus)
        if isinstance(thing, Brick):
            half = 0.5 * np.array(thing.sides)
            extent = (half - np.abs(points)).min(axis=1) / half.min()
            return pressure_field(Solid(points, cells, extent), thing.modulus)
        if isinstance(thing, RigidMesh):
            return rigid_surface(points, cells)
        return pressure_field(distance_extent(points, cells), thing.modulus)

    def place(self, pose: Pose) -> Any:
        """Put the first thing there; returns what answers queries about it."""
        from pydrake.math import RigidTransform, RotationMatrix

        rotation, origin = pose
        context = self.plant.GetMyMutableContextFromRoot(self.context)
        there = RigidTransform(RotationMatrix(rotation), origin)
        self.plant.SetFreeBodyPose(context, self.bodies[0], there)
        scene_context = self.scene.GetMyContextFromRoot(self.context)
        return self.scene.get_query_output_port().Eval(scene_context)

    def contact(self, pose: Pose) -> tuple[int, float, Array]:
        """Faces, area [m^2] and force [N] on the first thing."""
        found = self.place(pose).ComputeContactSurfaces(self.polygons)
        if not found:
            return 0, 0.0, np.zeros(3)
        (surface,) = found
        mesh, field = surface.poly_mesh_W(), surface.poly_e_MN()
        force = np.zeros(3)
        for face in range(surface.num_faces()):
            p = field.EvaluateCartesian(face, surface.centroid(face))
            force += p * surface.area(face) * mesh.face_normal(face)
        # the normals of Drake point out of its second geometry, N, into its first, M
        sign = 1.0 if surface.id_M() == self.ids[0] else -1.0
        return surface.num_faces(), float(surface.total_area()), sign * force


def _register(plant: Any, body: Any, thing: Thing, folder: Path) -> Any:
    from pydrake import geometry as g
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import CoulombFriction

    properties = g.ProximityProperties()
    g.AddContactMaterial(None, None, CoulombFriction(0.5, 0.5), properties)
    if isinstance(thing, RigidMesh):
        g.AddRigidHydroelasticProperties(properties)
    else:
        hint = thing.edge if isinstance(thing, Ball) else 1.0  # unused but for round things
        g.AddCompliantHydroelasticProperties(hint, thing.modulus, properties)

    def register(shape: Any) -> Any:
        name = f"{body.name()} geometry"
        return plant.RegisterCollisionGeometry(body, RigidTransform(), shape, name, properties)

    if isinstance(thing, Ball):
        return register(g.Sphere(thing.radius))
    if isinstance(thing, Brick):
        return register(g.Box(*thing.sides))
    if isinstance(thing, Tets):
        file = folder / f"{body.name()}.vtk"
        file.write_text(_vtk(thing.points, thing.tets))
    else:
        file = folder / f"{body.name()}.obj"
        file.write_text(_obj(thing.points, thing.triangles))
    return register(g.Mesh(str(file)))


def _obj(points: Array, triangles: Array) -> str:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    return "\n".join(lines) + "\n"


def _vtk(points: Array, tets: Array) -> str:
    """Legacy VTK, all digits."""
    lines = ["# vtk DataFile Version 3.0", "tets", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(points)} double"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}"]
    lines += ["4 " + " ".join(map(str, t)) for t in tets.tolist()]
    lines += [f"CELL_TYPES {len(tets)}", *["10"] * len(tets)]
    return "\n".join(lines) + "\n"


def as_drake(surface: ContactSurface, a: FieldGeometry, b: FieldGeometry) -> ContactSurface:
    """Without the polygons that Drake leaves out: those that face away from a gradient.

    Drake keeps a polygon if its normal is within 5/8 pi of the gradient of every compliant body (F
    keeps all). For us the normal points into a, so along a's gradient and against b's.
    """
    size = np.linalg.norm(surface.area, axis=1)
    kept = np.ones(len(surface), dtype=bool)
    for body, gradient, sign in ((a, surface.gradient_a, 1.0), (b, surface.gradient_b, -1.0)):
        if isinstance(body, PressureField):
            along = sign * np.einsum("ij,ij->i", surface.area, gradient)
            steep = np.linalg.norm(gradient, axis=1)
            kept &= along > np.cos(HALF_TURN_OF * np.pi) * size * steep
    counts = np.diff(surface.start)
    corner = np.repeat(kept, counts)
    return replace(
        surface,
        area=surface.area[kept],
        centroid=surface.centroid[kept],
        pressure=surface.pressure[kept],
        gradient_a=surface.gradient_a[kept],
        gradient_b=surface.gradient_b[kept],
        cells=surface.cells[kept],
        start=np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32),
        corners=surface.corners[corner],
        corner_pressure=surface.corner_pressure[corner],
    )
