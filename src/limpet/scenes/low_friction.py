"""Bernardin et al. 2023 (P) 5.2, 'Low Friction': a slippery cube slides and drops."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters, add_ground
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, Positive, Speed, Time


class LowFrictionParameters(LiftParameters):
    h: Time = 0.0025
    duration: Time = 1.6
    friction: float = Field(0.005, ge=0.0, description="friction between cup and cube")
    ground_friction: float = Field(0.5, ge=0.0, description="friction between cube and ground")
    off_centre: Length = Field(
        0.5e-3, description="distance of the cup from the cube's centre, to the left (-x)"
    )
    block_mass: Positive[Mass] = Field(0.5, description="mass of the cube")
    edge: Positive[Length] = Field(0.05, description="edge of the cube")
    # Fast, because sliding takes only 0.2 to 0.3 s, and the cube must leave the ground before: at
    # 50 mm/s its lower corner comes down on it. Hence the small time step: sliding grows by an
    # instability, whose rate depends on it. After a faster push the cup lets go at 0.36, 0.38, 0.41
    # and 0.42 s at h = 10, 5, 2.5 and 1 ms.
    speed: Positive[Speed] = Field(0.1, description="speed of the pull")
    rise: Positive[Length] = Field(0.04, description="upward travel of the stem")


@scene(
    "low-friction",
    LowFrictionParameters,
    summary="a slippery cube is lifted off-centre, slides to its edge and drops",
    expect="lifts the cube, slides to the edge on its left, the cavity breaks, the cube drops",
)
def low_friction(p: LowFrictionParameters) -> World:
    """The cup lifts the cube off-centre.

    The cube hangs tilted, and its top slopes away from the cup. With little friction the cup slides
    further from the centre, and the slope grows.
    """
    world, rotation, origin = cup_over(p, [(-p.off_centre, 0.0)])
    cube = box(p.edge, p.edge, p.edge)
    body = world.add_rigid(cube, p.block_mass, name="cube", position=origin, rotation=rotation)
    world.add_probe("cube", body)
    add_ground(world, origin + rotation @ [0.0, 0.0, -p.edge], rotation)
    world.set_friction(body, world.specs["ground"], p.ground_friction)
    return world
