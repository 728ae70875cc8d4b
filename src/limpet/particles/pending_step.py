"""A step of the particle system on its way: what its parts hand to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.clock import Clock
from limpet.contact.contacts import Contacts
from limpet.particles.constraints import RigidPoses
from limpet.particles.point_pairs import PointPairs
from limpet.particles.sweep import ConstraintRows, Impulses, Velocities

Array = np.ndarray


@dataclass
class PendingStep:
    """A step on its way."""

    clock: Clock
    h: float  # [s] of a solve
    left: int  # solves to come
    x: Array  # (n, 3) [m] the nodes
    poses: RigidPoses
    contacts: tuple[Contacts, Contacts]  # among rigid bodies, and with nodes
    pairs: tuple[PointPairs, PointPairs]  # of each
    points: tuple[Array, Array]  # (k, 3) [m] where their impulses act
    p: Impulses
    overlap: float  # [m] the deepest when the step began, of contacts and of closed surfaces
    outside: tuple[Array, ...]  # [N] on the vertices of each body, or none at all
    rows: ConstraintRows | None = None
    on: Velocities | None = None
    sweeps: int = 0
    residual: float = 0.0  # the largest of all solves
