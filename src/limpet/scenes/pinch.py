"""Jaws that press an object between them with a force: pads, boxes, sticks."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from limpet.dynamics.motion import HOLD, Motion
from limpet.errors import LimpetError
from limpet.model.world import RigidSpec, World
from limpet.pressure_field.catalogue import FieldShape, box
from limpet.pressure_field.surface import Pose, contact_surface
from limpet.pressure_field.wrench import wrench
from limpet.rigid.actuators import DriveForce

Array = np.ndarray

SIDES = ((-1.0, "left"), (1.0, "right"))  # of the plane y = 0
CLOSING_SPEED = 0.1  # [m/s] of a jaw that touches nothing
JAW_MASS = 0.1  # [kg]


def press_jaw(
    world: World, held: RigidSpec, jaw: FieldShape, name: str, side: float, pose: Pose,
    force: DriveForce, dissipation: float, motion: Motion = HOLD,
) -> None:  # fmt: skip
    """A jaw that `force` [N] presses against `held` along y, and that else follows `motion`.

    side: -1 or 1, that of y = 0 on which it stands. A damper limits the speed at which it closes;
    never does it press with more than its largest force.
    The contact is by pressure fields (F).
    """
    rotation, position = pose
    body = world.add_rigid(jaw, JAW_MASS, name=name, position=position, rotation=rotation)
    strongest = force if isinstance(force, float) else max(f for _, f in force)
    world.actuate(
        body, (0.0, -side, 0.0), motion=motion, damping=strongest / CLOSING_SPEED, force=force,
        max_force=strongest,
    )  # fmt: skip
    world.set_contact(held, body, "pressure fields", dissipation)


def overlap_under(
    force: float, held: RigidSpec, jaw: FieldShape, pose: Pose, side: float, most: float
) -> float:
    """[m] by which a jaw overlaps with what it presses along y with `force` [N], at rest.

    pose: of the jaw that just touches; most [m]: that it may overlap.
    """
    assert held.field is not None
    field, (rotation, position) = held.field, pose

    def pressed(overlap: float) -> float:
        at = rotation, position - [0.0, side * overlap, 0.0]
        surface = contact_surface(field, held.field_pose, jaw.field, at)
        return abs(float(wrench(surface, np.zeros(3)).force[1])) - force

    if not pressed(most) > 0.0:
        raise LimpetError(
            f"force = {force:g} N presses the jaws more than {1e3 * most:g} mm into "
            f"'{held.name}'; expected less force, or a higher modulus"
        )
    return brentq(pressed, 0.0, most, xtol=1e-12)


def pinch(
    world: World, held: RigidSpec, name: str, size: tuple[float, float, float], modulus: float,
    half_width: float, force: DriveForce, dissipation: float, motion: Motion = HOLD,
) -> None:  # fmt: skip
    """Two boxes of `size` [m] that hold an object of width 2 half_width [m] at y = z = 0.

    They begin where they press with the first of the forces.
    """
    jaw, at_first = box(*size, modulus), force if isinstance(force, float) else force[0][1]
    for side, which in SIDES:
        touching = np.eye(3), np.array([0.0, side * (half_width + 0.5 * size[1]), 0.0])
        overlap = overlap_under(at_first, held, jaw, touching, side, 0.2 * size[1])
        pose = np.eye(3), touching[1] - [0.0, side * overlap, 0.0]
        press_jaw(world, held, jaw, f"{which} {name}", side, pose, force, dissipation, motion)
