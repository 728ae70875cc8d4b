"""Elandt et al. 2019 (F), figure 4: a pencil in a pinch grasp turns while the grasp is loosened."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.pressure_field.catalogue import rigid
from limpet.rigid.rigid_body import mass_properties
from limpet.scenes.pinch import pinch
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.objects import pencil as pencil_shape
from limpet.units import Force, Length, Mass, NotNegative, Positive, Pressure, Time

WIDTH = 7e-3  # [m] of the pencil
PAD = 0.015, 0.01, 0.015  # [m] along the pencil, across it, and up
CHANGE = 0.02  # [s] for loosening and for tightening


class PencilParameters(SceneParameters):
    h: Time = 0.002
    duration: Time = 0.7
    mass: Positive[Mass] = Field(6e-3, description="mass of the pencil")
    off_centre: Length = Field(0.03, description="distance from the pinch to the centre of mass")
    pad: Positive[Pressure] = Field(7e5, description="modulus of the pads")
    friction: float = Field(0.5, ge=0.0, description="friction between pencil and pads")
    dissipation: NotNegative[Time] = Field(0.01, description="dissipation of the pads (F eq 3)")
    tight: Positive[Force] = Field(1.7, description="grip force of the pads when tight")
    loose: Positive[Force] = Field(0.25, description="grip force of the pads when loose")
    loosened: Positive[Time] = Field(0.2, description="time at which the pads loosen")
    tightened: Positive[Time] = Field(0.4, description="time at which they tighten")


@scene(
    "pencil",
    PencilParameters,
    summary="a pencil in a pinch grasp rotates when the pads loosen and stops when they tighten",
    expect="held level; loosened it turns about the pinch without falling; tightened it stops",
)
def pencil(p: PencilParameters) -> World:
    """Two pads pinch a pencil with a force, off its centre of mass, so that its weight rotates it.

    The friction torque over the patches holds it. Loosened pads let it rotate but still carry it;
    tightened pads stop it.
    """
    world = World(friction=p.friction)
    shape = rigid(pencil_shape(width=WIDTH))
    (middle, _, _), _ = mass_properties(shape.points, shape.triangles, 1.0)
    body = world.add_rigid(shape, p.mass, name="pencil", position=(p.off_centre - middle, 0.0, 0.0))
    force = [
        (0.0, p.tight), (p.loosened, p.tight), (p.loosened + CHANGE, p.loose),
        (p.tightened, p.loose), (p.tightened + CHANGE, p.tight),
    ]  # fmt: skip
    pinch(world, body, "pad", PAD, p.pad, 0.5 * WIDTH, force, p.dissipation)
    world.add_probe("pencil", body)
    return world
