"""Static equilibrium of one soft body: where it comes to rest under gravity, without swinging there.

An implicit step from rest solves (M/h^2 + (1 + b/h) K) dx = f + M g. At a long h that is Newton's
step for the equilibrium. As the stiffness is kept positive (elements/corotational.py) it may be
taken in full: the force left over falls by a half or more from step to step near the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.bodies.soft import SoftBody
from limpet.errors import DivergedError, LimpetError
from limpet.geometry.shapes import Array

LONG = 10.0  # [s] a step in which inertia plays no part
STEADIER = 0.1  # a step that failed is taken again, so much shorter,
BOLDER = 2.0  # and those after it are longer again, so much each
SHORTEST = 1e-4  # [s] shorter steps are not the cure
STANDARD_GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Settled:
    """How a body came to rest. Not converging is a value, not an exception."""

    steps: int
    residual: float  # what is out of balance: force of the weight, or volume of the whole
    converged: bool


def settle(
    body: SoftBody,
    gravity: Array,
    *,
    tolerance: float = 1e-7,
    most: int = 300,
    time: float = 0.0,
) -> Settled:
    """Bring `body` to rest, its driven nodes where they are at `time` [s]; it ends without speed.

    `tolerance`: root of the summed squares of the forces left at the free nodes, of the weight.
    """
    d = body.fem
    if d.n_free == len(body.x):
        raise LimpetError(f"'{body.name}': nothing holds it, so it falls; hold a region first")
    gravity = np.asarray(gravity, dtype=float)
    weight = body.mass * (float(np.linalg.norm(gravity)) or STANDARD_GRAVITY)
    h, residual = LONG, np.inf
    good = body.get_state()
    for step in range(most + 1):
        body.v = np.zeros_like(body.v)
        residual = _out_of_balance(body, gravity, weight, h, time)
        if residual <= tolerance or step == most:
            break
        try:
            if not np.isfinite(residual):
                raise DivergedError(f"'{body.name}': positions left the finite")
            start = body.get_state()
            body.free_velocity(h, gravity, time - h)
            body.advance(h)
            good, h = start, min(BOLDER * h, LONG)
        except DivergedError:
            if h <= SHORTEST:
                raise
            body.set_state(good)
            h *= STEADIER
    body.v = np.zeros_like(body.v)
    return Settled(step, residual, bool(residual <= tolerance))


def _out_of_balance(body: SoftBody, gravity: Array, weight: float, h: float, time: float) -> float:
    """The larger of the forces left, of the weight, and of the volumes not met, of the whole."""
    d = body.fem
    system = d.assemble(body.x, body.p, h)
    left = (system.force + d.node_mass[:, None] * gravity)[: d.n_free]
    volume = float(np.abs(system.excess).sum()) / d.volume
    away = 0.0
    if body.motion is not None:  # driven nodes that are not yet in their place, of the body's size
        place = body.motion.place(d.rest[d.n_free :], time)
        away = float(np.abs(place - body.x[d.n_free :]).max()) / float(np.ptp(d.rest, axis=0).max())
    return max(float(np.linalg.norm(left)) / weight, volume, away)
