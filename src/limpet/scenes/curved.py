"""P section 5, 'Curved Surfaces': the cup lifts cropped cylinders on which it can seal."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.scenes.ground import CLEARANCE, CupParameters, cup_over
from limpet.scenes.own import OwnCup
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.shapes.cups import PROFILES
from limpet.shapes.curved import cropped_cylinder, trough
from limpet.units import Length, Mass, Positive, Speed, Time, show

EDGE = 0.06  # [m] of the block seen from above, or less where its mantle ends before
BODY = 0.01  # [m] of the block under the lowest line of its top
MARGIN = 1e-3  # [m] a hollow must be wider than the cup by this, on either side


class CurvedParameters(CupParameters):
    duration: Time = 3.2
    surface: Literal["convex", "concave"] = Field("convex", description="the block's top")
    radius: Positive[Length] = Field(0.08, description="of the cylinder that the top is part of")
    # The rim touches at vertices, and a chord between two of them leaves a gap, chord^2 / 8 radius.
    # The usual mesh of 10 sectors does not seal even on 80 mm; 20 do on 40 mm, 28 on 30 mm.
    sectors: int | None = Field(20, description="round the axis; with segments, instead of nodes")
    segments: int | None = Field(4, description="of the wall from axis to lip")
    block_mass: Positive[Mass] = Field(0.19, description="mass of the block")
    push: Positive[Length] = Field(
        4e-3, description="how far the stem goes down once the lip is level with the top's middle"
    )
    speed: Positive[Speed] = Field(5e-3, description="of the rise")
    rise: Positive[Length] = Field(0.01, description="how far the stem goes up; then it rests")

    @field_validator("cup")
    @classmethod
    def _is_of_a_known_profile(cls, value: OwnCup | None) -> OwnCup | None:
        if value is not None:
            raise ValueError("expected none here; the scenes ground and lift take one")
        return value

    @model_validator(mode="after")
    def _the_cup_fits_in(self) -> CurvedParameters:
        if self.profile in PROFILES and self.surface == "concave":
            least = PROFILES[self.profile].radius + MARGIN
            if self.radius < least:
                raise ValueError(
                    f"radius = {show(self.radius, 'm')}: a concave surface that the cup does not "
                    f"fit into; expected {show(least, 'm')} or more (convex ones may be smaller)"
                )
        return self

    def block(self) -> RigidShape:
        """The block, the line of its top under the cup's axis at z = 0."""
        width = min(EDGE, 1.98 * self.radius)
        drop = self.radius - np.sqrt(self.radius**2 - 0.25 * width**2)
        fine = PROFILES[self.profile].radius + 2e-3
        if self.surface == "convex":
            return cropped_cylinder(self.radius, EDGE, width, BODY + drop, fine=fine)
        return trough(self.radius, EDGE, width, BODY, fine=fine)

    @property
    def touch(self) -> float:
        """[m] height of the lip's plane when it first touches: on the sides of a hollow."""
        if self.surface == "convex":
            return 0.0
        return float(self.radius - np.sqrt(self.radius**2 - PROFILES[self.profile].radius ** 2))

    def stroke(self) -> list[tuple[float, float]]:
        """(time, height) of the stem: down, hold, up by the rise."""
        bottom = -(CLEARANCE + self.touch + self.push)
        start = self.push_time + self.hold
        up = (start + self.rise / self.speed, bottom + self.rise)
        return [(0.0, 0.0), (self.push_time, bottom), (start, bottom), up]


@scene(
    "curved",
    "a cup lifts a block with a convex or concave top, if it can seal on it",
    CurvedParameters,
    expect="lifted while the curvature is low; if it is high the ring stays open, the block down",
)
def curved(p: CurvedParameters) -> World:
    """The cup is pushed on a block that stands on the ground, held, then raised."""
    world, turn, place = cup_over(p)
    shape = p.block()
    top = place - turn @ [0.0, 0.0, p.touch]  # the cup's place is given by where it first touches
    block = world.add_rigid(shape, p.block_mass, name="block", position=top, rotation=turn)
    world.add_probe("block", block)
    plate = box(0.2, 0.2, 0.02)
    below = top + turn @ [0.0, 0.0, shape.points[:, 2].min()]
    world.add_rigid(plate, 1.0, name="ground", position=below, rotation=turn, fixed=True)
    return world
