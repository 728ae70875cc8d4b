"""Bernardin et al. 2023 (P) 5, 'Curved Surfaces': the cup lifts cropped cylinders if it seals."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.scenes.custom import refuse_custom_cup
from limpet.scenes.ground import CLEARANCE, CupParameters, cup_over
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.shapes.cups import PROFILES
from limpet.shapes.curved import cropped_cylinder, trough
from limpet.units import Length, Mass, Positive, Speed, Time, show

EDGE = 0.06  # [m] of the block from above; less if the cylinder is narrower
BODY = 0.01  # [m] thickness of the block below its top
MARGIN = 1e-3  # [m] a hollow must be wider than the cup by this, on either side


class CurvedParameters(CupParameters):
    duration: Time = 3.2
    surface: Literal["convex", "concave"] = Field("convex", description="shape of the block's top")
    radius: Positive[Length] = Field(0.08, description="radius of the top")
    # The rim touches at vertices, and a chord between two leaves a gap of chord^2 / (8 radius).
    # 10 sectors, the default, do not seal on 80 mm; 20 seal on 40 mm, 28 on 30 mm.
    sectors: int | None = Field(20, description="sectors; with segments, instead of nodes")
    segments: int | None = Field(4, description="segments of the wall from axis to lip")
    block_mass: Positive[Mass] = Field(0.19, description="mass of the block")
    push: Positive[Length] = Field(
        4e-3, description="downward travel of the stem below the centre line of the top"
    )
    speed: Positive[Speed] = Field(5e-3, description="speed of the rise")
    rise: Positive[Length] = Field(0.01, description="upward travel of the stem")

    _no_custom_cup = field_validator("cup")(refuse_custom_cup)

    @model_validator(mode="after")
    def _the_cup_fits_in(self) -> CurvedParameters:
        if self.profile in PROFILES and self.surface == "concave":
            least = PROFILES[self.profile].radius + MARGIN
            if self.radius < least:
                raise ValueError(
                    f"radius = {show(self.radius, 'm')}: the cup does not fit into the concave "
                    f"surface; expected {show(least, 'm')} or more (convex ones may be smaller)"
                )
        return self

    def block(self) -> RigidShape:
        """The block, with the centre line of its top at z = 0."""
        width = min(EDGE, 1.98 * self.radius)
        drop = self.radius - np.sqrt(self.radius**2 - 0.25 * width**2)
        fine = PROFILES[self.profile].radius + 2e-3
        if self.surface == "convex":
            return cropped_cylinder(self.radius, EDGE, width, BODY + drop, fine=fine)
        return trough(self.radius, EDGE, width, BODY, fine=fine)

    @property
    def touch(self) -> float:
        """[m] Height of the lip at first contact, which is on the sides of a concave top."""
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
    CurvedParameters,
    summary="a cup lifts a block with a convex or concave top, if it seals",
    expect="the block is lifted if its curvature is low; otherwise the cup does not seal",
)
def curved(p: CurvedParameters) -> World:
    """The cup is pushed on a block that stands on the ground, held, then raised."""
    world, rotation, origin = cup_over(p)
    shape = p.block()
    top = origin - rotation @ [0.0, 0.0, p.touch]  # the lip first touches at z = 0
    block = world.add_rigid(shape, p.block_mass, name="block", position=top, rotation=rotation)
    world.add_probe("block", block)
    plate = box(0.2, 0.2, 0.02)
    below = top + rotation @ [0.0, 0.0, shape.points[:, 2].min()]
    world.add_rigid(plate, 1.0, name="ground", position=below, rotation=rotation, fixed=True)
    return world
