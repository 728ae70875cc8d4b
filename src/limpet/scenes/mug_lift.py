"""Suction and pressure-field contact in one world: a cup lifts a mug out of the box it sits in."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold, Mesh64
from pydantic import Field

from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.shape import RigidShape
from limpet.geometry.union import arrays
from limpet.model.world import World
from limpet.pressure_field.catalogue import mesh, rigid
from limpet.rigid.rigid_body import mass_properties
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters
from limpet.scenes.registry import scene
from limpet.shapes.objects import compartment_box, mug
from limpet.units import Length, Mass, NotNegative, Positive, Pressure, Speed, Time

RADIUS, HEIGHT, WALL = 0.04, 0.09, 5e-3  # [m] of the mug
HANDLE = 0.033  # [m] by which the handle projects
LINING = 0.01  # [m] thickness of the box
GAP = 5e-3  # [m] between mug and box, and handle and box, along x
HOLE = 0.02  # [m] radius of the hole in the box's floor


class MugLiftParameters(LiftParameters):
    duration: Time = 3.2
    speed: Positive[Speed] = Field(0.03, description="speed of the pull")
    rise: Positive[Length] = Field(0.065, description="upward travel of the stem")
    block_mass: Positive[Mass] = Field(0.3, description="mass of the mug")
    squeeze: NotNegative[Length] = Field(
        3e-4, lt=0.2 * LINING, description="overlap of box and mug on either side"
    )
    depth: Positive[Length] = Field(0.05, description="depth of the box, inside")
    foam: Positive[Pressure] = Field(4e5, description="modulus of the box's walls and floor")
    foam_size: Positive[Length] = Field(0.015, description="size of the tetrahedra in the box")
    wall_friction: float = Field(0.3, ge=0.0, description="friction between mug and box")
    dissipation: NotNegative[Time] = Field(0.05, description="dissipation of the foam (F eq 3)")


@scene(
    "mug-lift",
    MugLiftParameters,
    summary="a cup lifts a mug out of a foam box that holds it by pressure-field contact",
    expect="the walls rub while the mug slides up between them, then it hangs free from the cup",
)
def mug_lift(p: MugLiftParameters) -> World:
    """A mug stands upside down in a foam box, squeezed by walls on two of its sides.

    A hole in the floor of the box lets air into the mug. The cup is pressed on the mug's bottom,
    over the centre of mass, held, and raised. Cup and mug have point contact
    with air in between, mug and box pressure-field contact.
    """
    world, rotation, origin = cup_over(p)
    vessel = _upside_down(mug(RADIUS, HEIGHT, WALL))
    (aside, _, _), _ = mass_properties(vessel.points, vessel.triangles, 1.0)
    body = world.add_rigid(
        rigid(vessel), p.block_mass, name="mug",
        position=origin + rotation @ [-aside, 0.0, 0.0], rotation=rotation,
    )  # fmt: skip
    box = world.add_rigid(
        mesh(_foam_box(p.depth, p.squeeze), p.foam, size=p.foam_size, extent="distance"), 0.1,
        name="box", fixed=True,
        position=origin + rotation @ [-aside, 0.0, -HEIGHT], rotation=rotation,
    )  # fmt: skip
    world.set_contact(body, box, "pressure fields", p.dissipation)
    world.set_friction(body, box, p.wall_friction)
    world.add_probe("mug", body)
    return world


def _upside_down(vessel: RigidShape) -> RigidShape:
    """The mug rotated so that its bottom is at z = 0."""
    rotation = rotation_matrix(np.array([1.0, 0.0, 0.0]), np.pi)
    return RigidShape(vessel.name, vessel.points @ rotation.T, vessel.triangles)


def _foam_box(depth: float, squeeze: float) -> RigidShape:
    """The box for a mug with its rim at z = 0; the handle has clearance along x."""
    inside = 2.0 * (RADIUS + GAP) + HANDLE, 2.0 * (RADIUS - squeeze)  # [m] along x, y
    outside = inside[0] + 2.0 * LINING, inside[1] + 2.0 * LINING
    shell = compartment_box(*outside, depth + LINING, (1, 1), LINING)
    solid = Manifold(Mesh64(shell.points, shell.triangles.astype(np.uint64)))
    hole = Manifold.cylinder(2.0 * LINING, HOLE, HOLE, 24)
    solid = solid.translate((0.5 * HANDLE, 0.0, -LINING))
    return RigidShape("box", *arrays(solid - hole.translate((0.0, 0.0, -1.5 * LINING))))
