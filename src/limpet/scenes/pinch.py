"""Two compliant boxes that grip an object: pads, jaws or fingers."""

from __future__ import annotations

from collections.abc import Callable

from limpet.dynamics.motion import Motion
from limpet.model.world import RigidSpec, World
from limpet.pressure_field.catalogue import box

SIDES = ((-1.0, "left"), (1.0, "right"))  # of the plane y = 0


def pinch(
    world: World, held: RigidSpec, name: str, size: tuple[float, float, float], modulus: float,
    reach: float, motion: Callable[[float], Motion], dissipation: float, height: float = 0.0,
) -> None:  # fmt: skip
    """Boxes of `size` [m] on either side of y = 0, their inner faces at +-reach [m].

    motion: of the box on side -1 or 1. The contact is by pressure fields (F).
    """
    for side, which in SIDES:
        at = 0.0, side * (reach + 0.5 * size[1]), height
        pad = world.add_rigid(box(*size, modulus), 0.1, name=f"{which} {name}", position=at)
        world.prescribe_motion(pad, motion(side))
        world.set_contact(held, pad, "pressure fields", dissipation)
