"""The cup of `ground` lifts a free rigid block, if it can."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.model.world import World
from limpet.scenes.custom import BlockParameters
from limpet.scenes.ground import CupParameters, cup_over
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, Positive, Time

GROUND = 0.1  # [m] half the edge of the plate under the block


class LiftParameters(CupParameters):
    duration: Time = 3.6
    block_mass: Positive[Mass] = Field(0.19, description="mass of the block")
    rise: Positive[Length] = Field(0.012, description="upward travel of the stem")

    def stroke(self) -> list[tuple[float, float]]:
        """As in `ground`, but the pull ends after the rise."""
        *down, (start, bottom) = super().stroke()[:3]
        return [*down, (start, bottom), (start + self.rise / self.speed, bottom + self.rise)]


class LiftSceneParameters(LiftParameters, BlockParameters):
    """Parameters of the scene `lift`; other scenes have their own objects."""


def add_ground(world: World, top: np.ndarray, rotation: np.ndarray | None = None) -> None:
    """Add a fixed plate with the centre of its upper face at `top` [m]."""
    plate = box(2 * GROUND, 2 * GROUND, 0.02)
    world.add_rigid(plate, 1.0, name="ground", position=top, rotation=rotation, fixed=True)


@scene(
    "lift",
    LiftSceneParameters,
    summary="a cup lifts a rigid block, or lets go if it is too heavy",
    expect="the block is lifted and hangs; if it is too heavy, the cup lets go",
)
def lift(p: LiftSceneParameters) -> World:
    """The cup is pushed on a block that stands on the ground, held, then raised."""
    world, rotation, origin = cup_over(p)
    block = p.block_from_file() or box(0.06, 0.06, 0.03)
    body = world.add_rigid(block, p.block_mass, name="block", position=origin, rotation=rotation)
    world.add_probe("block", body)
    add_ground(world, origin + rotation @ [0.0, 0.0, block.points[:, 2].min()], rotation)
    return world
