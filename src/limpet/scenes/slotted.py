"""A ground that soft flat bodies do not stick to: air gets under them through a slot."""

from __future__ import annotations

from limpet.geometry.shapes import box
from limpet.world import World

SLOT = 4e-3  # [m] between the two plates, along x


def slotted_ground(world: World, height: float, edge: float) -> None:
    """Two fixed plates whose tops are at z = `height`, under a body of size `edge` [m].

    On one closed plate a soft block, whose middle rises first, traps air below and is held down.
    """
    for name, side in (("left plate", -0.5), ("right plate", 0.5)):
        world.add_rigid(
            box(1.5 * edge, edge, 0.2 * edge), 1.0,
            name=name, position=(0.0, side * (edge + SLOT), height), fixed=True,
        )  # fmt: skip
