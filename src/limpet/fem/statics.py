"""Static equilibrium of one soft body: where it comes to rest under gravity, without swinging.

An implicit step from rest solves (M/h^2 + (1 + b/h) K) dx = f + M g: with a growing h it turns from
a cautious move along the forces into Newton's step for the equilibrium. As the stiffness is kept
positive (elements/corotational.py) steps may be taken in full, but the last ones converge linearly:
near the end they are extrapolated from the ones before (Anderson's mixing).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from threadpoolctl import ThreadpoolController

from limpet.errors import DivergedError, LimpetError
from limpet.fem.material import RUBBER_LAWS
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import Array

LONG = 10.0  # [s] a step in which inertia plays no part
SHORT = 1e-3  # [s]
NEAR = 1e-2  # of the weight: with less left over, steps are extrapolated
KEPT = 6  # steps that are remembered for it
LOST = 10.0  # a force this many times the least so far says that it was wrong: begin again
STANDARD_GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class StepControl:
    """How the steps grow: `hasty` always, else only while the force left over falls."""

    first: float  # [s]
    longer: float
    hasty: bool


# Nearly incompressible cells bounce and come back. The rubber laws have other places of rest, with
# cells that are inside out, and must not be thrown there on the way.
HASTY, CAREFUL = StepControl(0.05, 2.0, True), StepControl(0.01, 1.5, False)


@dataclass(frozen=True)
class StaticSolution:
    """How a body came to rest. Not converging is a value, not an exception."""

    steps: int
    residual: float  # what is out of balance: force, of the weight, or volume, of the whole
    converged: bool


def static_equilibrium(
    body: SoftBody, gravity: Array, *, tolerance: float = 1e-7, most: int = 300, time: float = 0.0
) -> StaticSolution:
    """Bring `body` to rest, its driven nodes where they are at `time` [s]; it ends without speed.

    `tolerance`: root of the summed squares of the forces left at the free nodes, of the weight.
    """
    if body.fem.n_free == len(body.x):
        raise LimpetError(f"'{body.name}': nothing holds it, so it falls; hold a region first")
    pace = CAREFUL if body.fem.material.law in RUBBER_LAWS else HASTY
    with ThreadpoolController().limit(limits=1, user_api="blas"):  # more slow small matrices down
        outcome = _approach(body, np.asarray(gravity, float), pace, tolerance, most, time)
    body.stop()
    return outcome


def _approach(
    body: SoftBody, gravity: Array, pace: StepControl, tolerance: float, most: int, time: float
) -> StaticSolution:
    """Steps at one pace, until it rests, or is lost."""
    h, before, least = pace.first, np.inf, np.inf
    mixing = _Mixing(body.x.size)
    for step in range(most + 1):
        body.stop()
        residual = _out_of_balance(body, gravity, h, time)
        if residual <= tolerance or step == most or not np.isfinite(residual):
            break
        if residual > NEAR or residual > LOST * least:
            mixing = _Mixing(body.x.size)
        longer = pace.hasty or residual < before or residual < 1.0
        h = min(pace.longer * h, LONG) if longer else max(0.5 * h, SHORT)
        before, least = residual, min(residual, least)
        here = np.concatenate([body.x.ravel(), body.p])
        body.forget()  # steps as long as these need the matrix of the moment
        try:
            body.compute_free_velocity(h, gravity, time - h)
        except DivergedError:
            break
        body.advance(h)
        if residual <= NEAR:
            move = np.concatenate([body.x.ravel(), body.p]) - here
            there = mixing.next(here, move)
            n = body.x.size
            body.x, body.p = there[:n].reshape(body.x.shape), there[n:]
    return StaticSolution(step, float(residual), bool(residual <= tolerance))


class _Mixing:
    """Anderson's mixing: the combination of the last steps that leaves least to go."""

    def __init__(self, positions: int) -> None:
        self.positions = positions  # the first so many unknowns are lengths, which are compared
        self.points: deque[Array] = deque(maxlen=KEPT)
        self.moves: deque[Array] = deque(maxlen=KEPT)

    def next(self, point: Array, move: Array) -> Array:
        """Where to go from `point`, whose own step is `move`."""
        self.points.append(point)
        self.moves.append(move)
        if len(self.points) == 1:
            return point + move
        d_point = np.diff(np.array(self.points), axis=0).T
        d_move = np.diff(np.array(self.moves), axis=0).T
        n = self.positions
        share = np.linalg.lstsq(d_move[:n], move[:n], rcond=1e-10)[0]
        return point + move - (d_point + d_move) @ share


def _out_of_balance(body: SoftBody, gravity: Array, h: float, time: float) -> float:
    """Forces left, of the weight; or volumes not met, of the whole; or ways to go, of the size."""
    d = body.fem
    loads = d.loads(body.x, body.p, h)
    weight = body.mass * (float(np.linalg.norm(gravity)) or STANDARD_GRAVITY)
    left = (loads.force + d.node_mass[:, None] * gravity)[: d.n_free]
    parts = [float(np.linalg.norm(left)) / weight, float(np.abs(loads.excess).sum()) / d.volume]
    if body.motion is not None:
        away = body.motion.place(d.rest[d.n_free :], time) - body.x[d.n_free :]
        parts.append(float(np.abs(away).max()) / float(np.ptp(d.rest, axis=0).max()))
    return max(parts)
