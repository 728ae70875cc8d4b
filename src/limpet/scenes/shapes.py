"""Bernardin et al. 2023 (P) 5.2, 'Different Shapes': cups that deform their top to expel air."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from limpet.model.world import World
from limpet.scenes.custom import refuse_custom_cup
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters, add_ground
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.shapes.suckers import sucker
from limpet.units import Length, Positive, Speed, Time

EDGE = 0.05  # [m] of the cube


class ShapesParameters(LiftParameters):
    duration: Time = 2.6
    shape: Literal["plunger", "octopus", "shop"] = Field(
        "plunger", description="plunger, octopus (with a flange) or shop (a stiff lip)"
    )
    nodes: int = Field(500, gt=0, description="approximate number of nodes of the cup")
    push: Positive[Length] = Field(
        4e-3, description="downward travel of the top after the rim touches"
    )
    speed: Positive[Speed] = Field(0.01, description="speed of the rise")
    rise: Positive[Length] = Field(0.016, description="upward travel of the top")

    @field_validator("profile")
    @classmethod
    def _is_named_by_shape(cls, value: str) -> str:
        if value != "standard":
            raise ValueError("not valid here; choose the cup with shape")
        return value

    _no_custom_cup = field_validator("cup")(refuse_custom_cup)


@scene(
    "shapes",
    ShapesParameters,
    summary="a plunger, an octopus sucker or a commercial cup lifts a block by its top",
    expect="the top is pushed in and drives air out, the cube is lifted and hangs",
)
def shapes(p: ShapesParameters) -> World:
    """The middle of the top is pushed in on a cube that stands on the ground, then raised."""
    cup = sucker(p.shape, element=p.element, nodes=p.nodes, sectors=p.sectors, segments=p.segments)
    world, rotation, origin = cup_over(p, shape=cup)
    cube = box(EDGE, EDGE, EDGE)
    body = world.add_rigid(cube, p.block_mass, name="cube", position=origin, rotation=rotation)
    world.add_probe("cube", body)
    add_ground(world, origin + rotation @ [0.0, 0.0, -EDGE], rotation)
    return world
