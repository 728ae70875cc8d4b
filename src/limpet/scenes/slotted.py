"""A ground with a slot for air, so that soft flat bodies do not stick to it."""

from __future__ import annotations

from limpet.model.world import World
from limpet.shapes.boxes import box

# [m] range in y; off-centre, because a vertex of a soft body above a slot would sink into it
SLOT = (0.5e-3, 2.5e-3)


def slotted_ground(world: World, height: float, edge: float) -> None:
    """Two fixed plates whose tops are at z = `height`, under a body of size `edge` [m].

    On a closed plate, the centre of a soft block rises first, so that suction holds the block down.
    """
    for name, side in (("left plate", SLOT[0] - edge / 2.0), ("right plate", SLOT[1] + edge / 2.0)):
        plate = box(1.5 * edge, edge, 0.2 * edge)
        world.add_rigid(plate, 1.0, name=name, position=(0.0, side, height), fixed=True)
