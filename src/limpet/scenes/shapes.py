"""P section 5.2, 'Different Shapes': cups that empty their cavity by deforming their top."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from limpet.model.world import World
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters, add_ground
from limpet.scenes.own import OwnCup
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.shapes.suckers import sucker
from limpet.units import Length, Positive, Speed, Time

EDGE = 0.05  # [m] of the cube


class ShapesParameters(LiftParameters):
    duration: Time = 2.6
    shape: Literal["plunger", "octopus", "shop"] = Field(
        "plunger", description="plunger, octopus (a sucker with a flange) or shop (a stiff lip)"
    )
    nodes: int = Field(500, gt=0, description="nodes of the cup's mesh, about")
    push: Positive[Length] = Field(
        4e-3, description="how far the top goes down after the rim touches"
    )
    speed: Positive[Speed] = Field(0.01, description="of the rise")
    rise: Positive[Length] = Field(0.016, description="how far the top goes up; then it rests")

    @field_validator("profile")
    @classmethod
    def _is_named_by_shape(cls, value: str) -> str:
        if value != "standard":
            raise ValueError("expected none here; choose the cup with shape")
        return value

    @field_validator("cup")
    @classmethod
    def _is_none_of_these(cls, value: OwnCup | None) -> OwnCup | None:
        if value is not None:
            raise ValueError("expected none here; the scenes ground and lift take one")
        return value


@scene(
    "shapes",
    "a plunger, an octopus sucker or a shop cup lifts a block by its top",
    ShapesParameters,
    expect="the rim stays, the top is pushed in and drives air out, the cube is lifted and hangs",
)
def shapes(p: ShapesParameters) -> World:
    """The middle of the top is pushed in on a cube that stands on the ground, then raised."""
    cup = sucker(p.shape, element=p.element, nodes=p.nodes, sectors=p.sectors, segments=p.segments)
    world, turn, place = cup_over(p, shape=cup)
    cube = box(EDGE, EDGE, EDGE)
    body = world.add_rigid(cube, p.block_mass, name="cube", position=place, rotation=turn)
    world.add_probe("cube", body)
    add_ground(world, place + turn @ [0.0, 0.0, -EDGE], turn)
    return world
