"""A ground with a slot for air, so that soft flat bodies do not stick to it."""

from __future__ import annotations

import numpy as np

from limpet.cavity.gas.exchange import AirExchange
from limpet.model.world import World
from limpet.shapes.boxes import box

# [m] range in y; off-centre, because a vertex of a soft body above a slot would sink into it
SLOT = (0.5e-3, 2.5e-3)

# Pockets may still form on one plate. A ground is rough: it fills one of 1 mm^3 within 0.01 ms.
ROUGH = AirExchange(conductance=1e-7)


def slotted_ground(
    world: World, top: np.ndarray, edge: float, rotation: np.ndarray | None = None
) -> None:
    """Two fixed plates with the middle of their tops at `top` [m], under a body of size `edge` [m].

    On a closed plate, the centre of a soft block rises first, so that suction holds the block down.
    """
    for name, side in (("left plate", SLOT[0] - edge / 2.0), ("right plate", SLOT[1] + edge / 2.0)):
        plate = box(1.5 * edge, edge, 0.2 * edge)
        place = top + (np.eye(3) if rotation is None else rotation) @ [0.0, side, 0.0]
        body = world.add_rigid(plate, 1.0, name=name, position=place, rotation=rotation, fixed=True)
        world.set_air_exchange(body, ROUGH)
