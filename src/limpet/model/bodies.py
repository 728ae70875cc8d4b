"""The implicit bodies of a world: made from their specifications, by which rule they are stepped,
and which of them are attached to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from limpet.cavity.mesh import CavityFaces
from limpet.dynamics.body import Body
from limpet.dynamics.relinearisation import ONCE
from limpet.errors import LimpetError
from limpet.fem.attachments import AttachedBodies, Attachment
from limpet.fem.soft_body import SoftBody
from limpet.geometry.facet_normals import FacetNormals
from limpet.geometry.shape import face_patches
from limpet.geometry.surface import Surface, surface_topology, with_points
from limpet.geometry.tessellate import Tessellation, tessellated
from limpet.linalg.threads import Threads
from limpet.meshing.check import check_apart, check_surface
from limpet.model.air import check_lines
from limpet.model.settings import Settings
from limpet.model.specs import AnchorPoints, RigidSpec, SoftSpec, Spec
from limpet.model.world import World
from limpet.rigid.joints import Joints
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


CHORD = 0.25  # of the sealing distance: rigid facets are no further from their smooth surface


class ImplicitBodies(NamedTuple):
    """The bodies of the world's specifications and what joins them."""

    bodies: list[SoftBody | RigidBody]
    surfaces: list[Surface]  # of each
    facets: dict[str, FacetNormals]  # of those that were tessellated
    joints: Joints
    attachments: list[Attachment]


def implicit_bodies(
    world: World, settings: Settings, once: Set[str], theta: Mapping[str, float], threads: Threads
) -> ImplicitBodies:
    """Markers stand behind the vertices of each body's surface."""
    bodies: list[SoftBody | RigidBody] = []
    surfaces: list[Surface] = []
    placed: list[tuple[str, Array, Array]] = []
    facets: dict[str, FacetNormals] = {}
    anchors = AnchorPoints(world.joints)
    for spec in world.specs.values():
        region, motion = world.motions.get(spec.name, (None, None))
        points, triangles = spec.surface()
        surface = check_surface(points, triangles, f"surface of '{spec.name}'")
        if fine := _tessellated(world, settings, spec, surface):
            facets[spec.name], points = fine.facets, fine.points
            surface = surface_topology(fine.triangles, len(points))
        placed.append((spec.name, points, surface.triangles))
        if isinstance(spec, SoftSpec):
            nodes = spec.shape.region(region.name) if region and region.name else None
            anchors.check_apart(spec.name, nodes)
            carrying = None if spec.field is None else spec.field.nodes
            faces = None
            if settings.cavity_faces is CavityFaces.CURVED:
                faces = face_patches(spec.shape.cells, spec.shape.collision)
            marked = 0 if carrying is None else len(carrying)
            marked += 0 if faces is None else len(faces.used_nodes())
            surface = with_points(surface, anchors.count(spec.name) + marked)
            bodies.append(
                SoftBody(
                    spec.name, spec.shape, spec.material, spec.mass, nodes, motion, spec.fem,
                    anchors.nodes(spec.name), surface, carrying, faces,
                    ONCE if spec.name in once else settings.relinearisation, theta[spec.name],
                    threads,
                )
            )  # fmt: skip
        else:
            framed = spec.field is not None or spec.name in world.actuators
            surface = with_points(surface, anchors.count(spec.name) + 4 * framed)
            shape = replace(spec.shape, points=points, triangles=surface.triangles)
            bodies.append(
                RigidBody(
                    spec.name, shape, spec.mass, spec.fixed, motion,
                    anchors.points(spec.name), framed, surface, theta[spec.name],
                )
            )  # fmt: skip
        surfaces.append(surface)
    check_apart(placed, world.contact_table.by_points)
    check_lines(world, placed)
    joined = anchors.place([b.name for b in bodies], surfaces)
    return ImplicitBodies(bodies, surfaces, facets, *joined)


def _tessellated(
    world: World, settings: Settings, spec: Spec, surface: Surface
) -> Tessellation | None:
    """A rigid body that soft ones may touch, with as many triangles as its smooth surface needs."""
    if isinstance(spec, SoftSpec) or not any(
        isinstance(other, SoftSpec) and world.contact_table.by_points(spec.name, other.name)
        for other in world.specs.values()
    ):
        return None
    tolerance = CHORD * settings.sealing_distance
    return tessellated(spec.shape.points, surface.triangles, spec.crease, tolerance)


def given_corners(world: World, name: str) -> int | None:
    """How many vertices a rigid body has in the shape that the user gave; None for others."""
    spec = world.specs.get(name)
    return len(spec.shape.points) if isinstance(spec, RigidSpec) else None


def thetas(world: World, staggered: bool) -> dict[str, float]:
    """By body: 1/2, the implicit midpoint rule, which keeps energy, or 1, backward Euler.

    Bodies that are attached to each other have one rule. Where other solvers share the step, and
    with joints and actuators, all have backward Euler.
    """
    names = list(world.specs)
    joined = any(t.nodes is None for t in world.joints) or len(world.actuators) > 0
    if staggered or joined:
        for one in names:
            if world.specs[one].integrator == "midpoint":
                raise LimpetError(
                    f"integrator = 'midpoint' of '{one}': not with joints, actuators, particle "
                    "bodies or pressure fields in the same world; leave it out"
                )
            for other in names:
                if world.contact_table.restitution.between(one, other) > 0.0:
                    raise LimpetError(
                        f"restitution of '{one}' and '{other}': not with joints, actuators, "
                        "particle bodies or pressure fields in the same world; leave it out"
                    )
        return dict.fromkeys(names, 1.0)
    group = {n: n for n in names}
    for t in world.joints:
        old, new = group[t.other], group[t.one]
        group = {n: new if g == old else g for n, g in group.items()}
    bounces = {
        one
        for one, spec in world.specs.items()
        if isinstance(spec, RigidSpec) and spec.integrator is None
        and any(world.contact_table.restitution.between(one, n) > 0.0 for n in names)
    }  # fmt: skip
    keeps = {group[n] for n, spec in world.specs.items() if spec.midpoint or n in bounces}
    return {n: 0.5 if group[n] in keeps else 1.0 for n in names}


def attached_bodies(
    own: Sequence[SoftBody | RigidBody], attachments: Sequence[Attachment]
) -> tuple[list[Body], list[int]]:
    """The bodies with those that are attached to each other as one, and each member's body."""
    group = list(range(len(own)))
    for a in attachments:
        low, high = sorted((group[a.soft], group[a.carrier]))
        group = [low if g == high else g for g in group]
    bodies: list[Body] = []
    number = {g: k for k, g in enumerate(dict.fromkeys(group))}
    for g in number:
        which = [i for i, name in enumerate(group) if name == g]
        if len(which) == 1:
            bodies.append(own[which[0]])
            continue
        place = {i: k for k, i in enumerate(which)}
        its = [
            replace(a, soft=place[a.soft], carrier=place[a.carrier])
            for a in attachments
            if group[a.soft] == g
        ]
        parts = [own[i] for i in which]
        soft = {k: b for k, b in enumerate(parts) if isinstance(b, SoftBody)}
        carriers = {k: b for k, b in enumerate(parts) if isinstance(b, RigidBody)}
        bodies.append(AttachedBodies(parts, soft, carriers, its))
    return bodies, [number[g] for g in group]
