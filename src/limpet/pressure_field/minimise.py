"""Newton's method with a line search on the slope: velocities that minimise a potential.

    1/2 (v - v0)^T M (v - v0) + U(q + h v) + h D(v)

U is smooth but not convex, and its value suffers from cancellation, so only its gradient is used:
the line search looks for a point along the Newton direction where the slope has fallen by half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg.lapack import dposv

Array = np.ndarray

TOLERANCE = 1e-6  # of the impulses at work: what may be left of the gradient
ROUND_OFF = 32.0 * np.finfo(float).eps
MAX_ITERATIONS = 100
MAX_TRIALS = 400  # of one line search; fast bodies take many small ones
FALLEN = 0.5  # of the slope at the start: accepted
SHORT = 1e-9  # of a Newton step: where no trial may go further than this, a search ends
STALLED = 1e-12  # of the velocities: a smaller change leads nowhere


@dataclass(frozen=True)
class Terms:
    """Potential and dissipation at some velocities (n,)."""

    velocity: Array  # (n,)
    impulse: Array  # (n,) [N s] less the gradient of h D + U
    stiffness: Array  # (n, n) of the impulse, positive semidefinite; or none
    round_off: Array  # (n,) [N s] to which the impulse is known; or none


T = TypeVar("T", bound=Terms)


@dataclass(frozen=True)
class Minimum(Generic[T]):
    """The last iterate."""

    terms: T
    residual: float  # of the gradient, over what is tolerated: 1 or less is converged
    iterations: int

    @property
    def converged(self) -> bool:
        return self.residual <= 1.0


@dataclass(frozen=True)
class Objective(Generic[T]):
    """The potential of some velocities."""

    mass: Array  # (n, n)
    mobility: Array  # (n, n) its inverse
    free: Array  # (n,) v0
    before: Array  # (n,) velocities as the step began
    evaluate: Callable[[Array], T]
    # (terms, its residual) -> change of velocity towards the minimum
    newton_step: Callable[[T, float], Array]
    # (terms, change of velocity) -> the largest share of the change that the terms can be trusted
    # for: beyond it, bodies might have passed through each other unseen
    reach: Callable[[T, Array], float]

    def gradient(self, terms: T) -> Array:
        return self.mass @ (terms.velocity - self.free) - terms.impulse

    def residual(self, terms: T) -> float:
        """The gradient over what is tolerated, both in the norm of the inverse mass."""
        change = self.mass @ (terms.velocity - self.free)
        gradient = change - terms.impulse
        driven = self.mass @ (self.free - self.before)
        moving = self.mass @ terms.velocity
        allowed = TOLERANCE * (self._size(terms.impulse) + self._size(change) + self._size(driven))
        allowed += ROUND_OFF * self._size(moving)
        if len(terms.round_off):
            allowed += self._size(terms.round_off)
        return self._size(gradient) / allowed if allowed > 0.0 else 0.0

    def _size(self, impulse: Array) -> float:
        return float(np.sqrt(max(impulse @ self.mobility @ impulse, 0.0)))


def minimise(objective: Objective[T], start: T, until: float = 1.0) -> Minimum[T]:
    """From terms at which every body is where it may be; `until` the residual is below that."""
    terms = start
    for iteration in range(MAX_ITERATIONS):
        residual = objective.residual(terms)
        if residual <= until:
            return Minimum(terms, residual, iteration)
        before, terms = terms, search(objective, terms, objective.newton_step(terms, residual))
        moved = np.abs(terms.velocity - before.velocity).max(initial=0.0)
        if moved <= STALLED * np.abs(terms.velocity).max(initial=0.0):
            return Minimum(terms, objective.residual(terms), iteration + 1)
    return Minimum(terms, objective.residual(terms), MAX_ITERATIONS)


def search(objective: Objective[T], terms: T, change: Array) -> T:
    """Terms along `change` where the slope is less than half of that at its start."""
    slope0 = float(objective.gradient(terms) @ change)
    if not slope0 < 0.0:
        return terms
    low, at_low, slope_low = 0.0, terms, slope0
    high, slope_high = np.inf, np.inf
    trial = 1.0
    for _ in range(MAX_TRIALS):
        reach = objective.reach(at_low, change)
        if reach < SHORT:
            return at_low
        trial = min(trial, low + reach)
        found = objective.evaluate(terms.velocity + trial * change)
        slope = float(objective.gradient(found) @ change)
        if abs(slope) <= FALLEN * abs(slope0):
            return found
        if slope < 0.0:
            low, at_low, slope_low = trial, found, slope
        else:
            high, slope_high = trial, slope
        if high == np.inf:
            trial = 2.0 * low
            continue
        if high - low <= 1e-12 * high:
            break
        secant = low - slope_low * (high - low) / (slope_high - slope_low)
        margin = 0.1 * (high - low)
        trial = min(max(secant, low + margin), high - margin)
    return at_low if low > 0.0 else found


def solve_positive(a: Array, b: Array) -> Array:
    """x of a x = b, for a symmetric and positive definite (n, n)."""
    _, x, failed = dposv(a, b, lower=1)
    return np.linalg.solve(a, b) if failed else x
