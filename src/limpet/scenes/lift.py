"""The cup of `ground` lifts a free rigid block, if it can."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.model.world import World
from limpet.scenes.ground import CupParameters, cup_over
from limpet.scenes.own import BlockParameters
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, Positive, Time

GROUND = 0.1  # [m] half the edge of the plate that the block stands on


class LiftParameters(CupParameters):
    duration: Time = 3.6
    block_mass: Positive[Mass] = Field(0.19, description="mass of the block")
    rise: Positive[Length] = Field(0.012, description="how far the stem goes up; then it rests")

    def stroke(self) -> list[tuple[float, float]]:
        """As `ground`, but the pull ends after the rise."""
        *down, (start, bottom) = super().stroke()[:3]
        return [*down, (start, bottom), (start + self.rise / self.speed, bottom + self.rise)]


class LiftSceneParameters(LiftParameters, BlockParameters):
    """The scene `lift` itself; others lift things of their own."""


def add_ground(world: World, top: np.ndarray, turn: np.ndarray | None = None) -> None:
    """A fixed plate, the middle of its upper face at `top` [m]."""
    plate = box(2 * GROUND, 2 * GROUND, 0.02)
    world.add_rigid(plate, 1.0, name="ground", position=top, rotation=turn, fixed=True)


@scene(
    "lift",
    "a cup lifts a rigid block, or lets go when it is too heavy",
    LiftSceneParameters,
    expect="the block leaves the ground and hangs; a block too heavy stays, the cup lets go",
)
def lift(p: LiftSceneParameters) -> World:
    """The cup is pushed on a block that stands on the ground, held, then raised."""
    world, turn, place = cup_over(p)
    block = p.own_block() or box(0.06, 0.06, 0.03)
    body = world.add_rigid(block, p.block_mass, name="block", position=place, rotation=turn)
    world.add_probe("block", body)
    add_ground(world, place + turn @ [0.0, 0.0, block.points[:, 2].min()], turn)
    return world
