"""P section 5.2, 'Low Friction': a slippery cube slides under the cup until it drops."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters, add_ground
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, Positive, Speed, Time


class LowFrictionParameters(LiftParameters):
    h: Time = 0.005
    duration: Time = 1.6
    friction: float = Field(0.005, ge=0.0, description="between cup and cube")
    ground_friction: float = Field(0.5, ge=0.0, description="between cube and ground")
    off_centre: Length = Field(
        0.5e-3, description="how far the cup stands from the cube's middle, along x and along y"
    )
    block_mass: Positive[Mass] = Field(0.5, description="mass of the cube")
    edge: Positive[Length] = Field(0.05, description="of the cube")
    # Fast, because sliding takes only two or three tenths of a second; so is the time step.
    speed: Positive[Speed] = Field(0.1, description="of the pull")
    rise: Positive[Length] = Field(0.04, description="how far the stem goes up; then it rests")


@scene(
    "low-friction",
    "a slippery cube is lifted off-centre, slides to a corner and drops",
    LowFrictionParameters,
    expect="lifts the cube, slides to one of its corners, the cavity breaks, the cube drops",
)
def low_friction(p: LowFrictionParameters) -> World:
    """The cup lifts the cube beside its middle.

    So the cube hangs askew, and its top slopes away from where the cup is: what friction does not
    hold slides down, the cup comes still further from the middle, and the slope grows.
    """
    world, turn, place = cup_over(p, [(-p.off_centre, -p.off_centre)])
    cube = box(p.edge, p.edge, p.edge)
    body = world.add_rigid(cube, p.block_mass, name="cube", position=place, rotation=turn)
    world.add_probe("cube", body)
    add_ground(world, place + turn @ [0.0, 0.0, -p.edge], turn)
    world.set_friction(body, world.specs["ground"], p.ground_friction)
    return world
