"""Drake's hydroelastic contact on the same meshes and pressure fields: polygons, area, force.

Needs Drake (https://drake.mit.edu): `pip install drake`. Spheres and boxes use Drake's own meshes;
other meshes are passed to Drake as VTK or OBJ files. All meshes are read back from Drake.
"""

from __future__ import annotations

from dataclasses import replace
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
from limpet.studies.bench.test_objects import Box, RigidMesh, Sphere, TestObject, TetMesh

Array = np.ndarray

MAX_ANGLE = 5.0 / 8.0 * np.pi  # Drake leaves out polygons whose normal is further from a gradient


class DrakePair:
    """Two objects in a Drake diagram: the first can be moved, the second is at the origin."""

    def __init__(self, first: TestObject, second: TestObject) -> None:
        from pydrake.geometry import HydroelasticContactRepresentation
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
        from pydrake.multibody.tree import SpatialInertia
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        self.plant, self.scene = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
        self.objects = (first, second)
        self.bodies, self.ids = [], []
        with TemporaryDirectory() as folder:  # with the meshes, which Drake reads in Finalize
            for k, item in enumerate(self.objects):
                inertia = SpatialInertia.SolidSphereWithMass(1.0, 0.05)
                body = self.plant.AddRigidBody(f"body{k}", inertia)
                self.bodies.append(body)
                self.ids.append(_register(self.plant, body, item, Path(folder)))
            self.plant.Finalize()
            self.diagram = builder.Build()
            self.context = self.diagram.CreateDefaultContext()
        self.polygons = HydroelasticContactRepresentation.kPolygon

    def mesh(self, k: int) -> tuple[Array, Array]:
        """Points and tets (triangles if rigid) that Drake computes with.

        For its margins Drake duplicates a vertex from which no direction leaves all adjacent faces.
        Without a margin the duplicates coincide; they are merged here.
        """
        mesh = self.scene.model_inspector().maybe_get_hydroelastic_mesh(self.ids[k])
        rigid = hasattr(mesh, "triangles")
        elements, corners = (mesh.triangles(), 3) if rigid else (mesh.tetrahedra(), 4)
        points = np.array([mesh.vertex(i) for i in range(mesh.num_vertices())])
        cells = np.array([[e.vertex(c) for c in range(corners)] for e in elements])
        points, merged = np.unique(points, axis=0, return_inverse=True)
        return points, merged.reshape(-1)[cells]

    def body(self, k: int) -> FieldGeometry:
        """The same object in Limpet, on Drake's mesh and with Drake's field."""
        points, cells = self.mesh(k)
        item = self.objects[k]
        if isinstance(item, Sphere):
            extent = np.maximum(1.0 - np.linalg.norm(points, axis=1) / item.radius, 0.0)
            extent[np.unique(surface_triangles(cells))] = 0.0
            return pressure_field(Solid(points, cells, extent), item.modulus)
        if isinstance(item, Box):
            half = 0.5 * np.array(item.sides)
            extent = (half - np.abs(points)).min(axis=1) / half.min()
            return pressure_field(Solid(points, cells, extent), item.modulus)
        if isinstance(item, RigidMesh):
            return rigid_surface(points, cells)
        return pressure_field(distance_extent(points, cells), item.modulus)

    def place(self, pose: Pose) -> Any:
        """Move the first object to a pose; returns Drake's query object."""
        from pydrake.math import RigidTransform, RotationMatrix

        rotation, origin = pose
        context = self.plant.GetMyMutableContextFromRoot(self.context)
        transform = RigidTransform(RotationMatrix(rotation), origin)
        self.plant.SetFreeBodyPose(context, self.bodies[0], transform)
        scene_context = self.scene.GetMyContextFromRoot(self.context)
        return self.scene.get_query_output_port().Eval(scene_context)

    def contact(self, pose: Pose) -> tuple[int, float, Array]:
        """Number of polygons, area [m^2] and force [N] on the first object."""
        found = self.place(pose).ComputeContactSurfaces(self.polygons)
        if not found:
            return 0, 0.0, np.zeros(3)
        (surface,) = found
        mesh, field = surface.poly_mesh_W(), surface.poly_e_MN()
        force = np.zeros(3)
        for face in range(surface.num_faces()):
            p = field.EvaluateCartesian(face, surface.centroid(face))
            force += p * surface.area(face) * mesh.face_normal(face)
        # Drake's normals point out of its second geometry (N) into its first (M)
        sign = 1.0 if surface.id_M() == self.ids[0] else -1.0
        return surface.num_faces(), float(surface.total_area()), sign * force


def _register(plant: Any, body: Any, item: TestObject, folder: Path) -> Any:
    from pydrake import geometry as g
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import CoulombFriction

    properties = g.ProximityProperties()
    g.AddContactMaterial(None, None, CoulombFriction(0.5, 0.5), properties)
    if isinstance(item, RigidMesh):
        g.AddRigidHydroelasticProperties(properties)
    else:
        hint = item.edge if isinstance(item, Sphere) else 1.0  # used for spheres only
        g.AddCompliantHydroelasticProperties(hint, item.modulus, properties)

    def register(shape: Any) -> Any:
        name = f"{body.name()} geometry"
        return plant.RegisterCollisionGeometry(body, RigidTransform(), shape, name, properties)

    if isinstance(item, Sphere):
        return register(g.Sphere(item.radius))
    if isinstance(item, Box):
        return register(g.Box(*item.sides))
    if isinstance(item, TetMesh):
        file = folder / f"{body.name()}.vtk"
        file.write_text(_vtk(item.points, item.tets))
    else:
        file = folder / f"{body.name()}.obj"
        file.write_text(_obj(item.points, item.triangles))
    return register(g.Mesh(str(file)))


def _obj(points: Array, triangles: Array) -> str:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    return "\n".join(lines) + "\n"


def _vtk(points: Array, tets: Array) -> str:
    """Legacy VTK with all digits."""
    lines = ["# vtk DataFile Version 3.0", "tets", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(points)} double"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}"]
    lines += ["4 " + " ".join(map(str, t)) for t in tets.tolist()]
    lines += [f"CELL_TYPES {len(tets)}", *["10"] * len(tets)]
    return "\n".join(lines) + "\n"


def as_drake(surface: ContactSurface, a: FieldGeometry, b: FieldGeometry) -> ContactSurface:
    """The surface without the polygons that Drake leaves out, which face away from a gradient.

    Drake keeps a polygon if its normal is within 5/8 pi of the gradient of every compliant body
    (Elandt et al. 2019 keep all). Limpet's normal points into a: along a's gradient, against b's.
    """
    size = np.linalg.norm(surface.area, axis=1)
    kept = np.ones(len(surface), dtype=bool)
    for body, gradient, sign in ((a, surface.gradient_a, 1.0), (b, surface.gradient_b, -1.0)):
        if isinstance(body, PressureField):
            along = sign * np.einsum("ij,ij->i", surface.area, gradient)
            steep = np.linalg.norm(gradient, axis=1)
            kept &= along > np.cos(MAX_ANGLE) * size * steep
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
