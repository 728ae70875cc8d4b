"""Bernardin et al. 2023 (P), section 5.2, 'Different Masses': what one cup cannot lift, two can."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters, add_ground
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, Positive, Speed, Time

EDGE = 0.09  # [m] of the cube
APART = 0.042  # [m] the axes of two cups: pressed flat they are 38 mm wide


class MassesParameters(LiftParameters):
    duration: Time = 8.0
    # Slow, because a faster pull leaves the lip less time to buckle: see `ground`.
    speed: Positive[Speed] = Field(2e-3, description="speed of the pull")
    rise: Positive[Length] = Field(0.012, description="upward travel of the stem")
    block_mass: Positive[Mass] = Field(2.5, description="mass of the cube")
    cups: int = Field(1, ge=1, le=2, description="1 above the centre, or 2 side by side")


@scene(
    "masses",
    MassesParameters,
    summary="one cup or two cups lift heavy cubes, up to their limit",
    expect="one cup lifts 1.25 and 2.5 kg and fails at 5 kg, which two lift",
)
def masses(p: MassesParameters) -> World:
    """Cups are pushed on a cube that stands on the ground, held, then raised together."""
    at = [(0.0, 0.0)] if p.cups == 1 else [(-0.5 * APART, 0.0), (0.5 * APART, 0.0)]
    world, rotation, origin = cup_over(p, at)
    cube = box(EDGE, EDGE, EDGE)
    body = world.add_rigid(cube, p.block_mass, name="cube", position=origin, rotation=rotation)
    world.add_probe("cube", body)
    add_ground(world, origin + rotation @ [0.0, 0.0, -EDGE], rotation)
    return world
