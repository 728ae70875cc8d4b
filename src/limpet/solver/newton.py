"""Semi-smooth Newton on the natural maps of all laws together, from the last step's multipliers.

Gauss-Seidel needs hundreds of sweeps where a cup slides; Newton takes three or four steps. Blocks
whose law does not look at u (open contacts) are eliminated, so a step's system is only as large as
what touches: over the rows (dense.py), or over what carries them where that is less (low_rank.py).

Where many contacts carry one load, full steps can wander from one set of active contacts to the
next. Then the rows are given more compliance of their own, which makes the load's division unique,
and this is taken back little by little. If that fails, an interior-point method leads near the
solution (interior_point.py); if even that fails, sweeps and steps take turns from the best iterate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.solver.dense import DenseSystem, NewtonSystem
from limpet.solver.gauss_seidel import Solution
from limpet.solver.interior_point import interior_points
from limpet.solver.low_rank import LowRankSystem
from limpet.solver.problem import FactoredDelassus, Problem

Array = np.ndarray

DEEPEST, SHALLOWEST = 6.0, 1.05  # cuts of the softening from one to the next
AT_REST = 1e-3  # of the tolerance: a guess so good is what was found before, and nothing moves
ROUGHLY = 1e5  # times the tolerance will do on the way
WORTH = 2e8  # products of one row with another that sweeps of one round may take


@dataclass(frozen=True)
class NewtonSettings:
    """A semi-smooth Newton method, from the last step's multipliers; the default solver."""

    tolerance: float = 1e-10  # of the residual (constraints.problem.error)
    max_steps: int = 15  # full steps with one compliance
    # factors on the rows' own compliance to begin with, tried one after the other
    continuation_factors: tuple[float, ...] = (1.0, 1e2, 1e3)
    sweeps: int = 10  # before the second of them; the first starts from the guess itself
    fallback_sweeps: int = 200  # when none leads to the end, then full steps again,
    fallback_rounds: int = 4  # so often, each round with three times the sweeps of the last

    def solve(self, problem: Problem, guess: Array, level: int) -> Solution:
        """level: which of `continuation_factors` to begin with."""
        return solve_by_newton(problem, guess, self, level)

    def solve_about(self, problem: Problem, found: Solution) -> Solution:
        """From the solution of a problem that differs in `before` only."""
        system = found.system.about(problem) if isinstance(found.system, NewtonSystem) else None
        return solve_by_newton(problem, found.multipliers, self, found.level, system)


@dataclass(frozen=True)
class _Path:
    """Where full steps led."""

    last: Array
    residual: float  # of the last
    steps: int
    best: Array
    best_residual: float


def _newton(system: NewtonSystem, lam: Array, tolerance: float, max_steps: int) -> _Path:
    """Full steps from lam, until the tolerance is met.

    A guess that just meets it would err the same way in every step; one step of Newton's makes it
    exact. So it must be better than that.
    """
    best, best_residual = lam, np.inf
    for count in range(max_steps + 1):
        enough = tolerance if count else AT_REST * tolerance
        residual, after = system.iterate(lam, np.inf if count == max_steps else enough)
        if residual < best_residual:
            best, best_residual = lam, residual
        if after is lam:
            break
        lam = after
    return _Path(lam, residual, count, best, best_residual)


def _system(problem: Problem) -> NewtonSystem:
    w = problem.w
    return LowRankSystem(problem, w) if isinstance(w, FactoredDelassus) else DenseSystem(problem, w)


def _continuation(
    system: NewtonSystem, lam: Array, first_factor: float, s: NewtonSettings
) -> _Path:
    """Newton with the rows softened, and with less and less of that down to none.

    A cut that is too deep is tried again by its root. Returns where it led without softening,
    and all steps.
    """
    steps, best, best_residual = 0, lam, np.inf
    factor, cut, solved = (
        first_factor,
        DEEPEST,
        np.inf,
    )  # solved: the least factor that was solved for
    while True:
        system.regularise(factor)
        enough = s.tolerance if factor == 1.0 else ROUGHLY * s.tolerance
        found = _newton(system, lam, enough, s.max_steps)
        steps += found.steps
        if factor == 1.0 and found.best_residual < best_residual:
            best, best_residual = found.best, found.best_residual
        if found.residual <= enough:
            solved, lam, cut = factor, found.last, min(cut**1.5, DEEPEST)
        else:
            cut = cut**0.5
        if solved == 1.0 or solved == np.inf or cut < SHALLOWEST:
            return _Path(lam, found.residual, steps, best, best_residual)
        factor = max(1.0, solved / cut)


class _Search:
    """The best multipliers so far, and what they took."""

    def __init__(
        self, problem: Problem, guess: Array, settings: NewtonSettings, system: NewtonSystem | None
    ) -> None:
        self.problem, self.guess, self.settings = problem, guess, settings
        self.system = system or _system(problem)
        self.best, self.residual = guess, np.inf
        self.sweeps = self.steps = 0

    def take(self, found: _Path) -> bool:
        """Whether a path has led to the solution."""
        self.steps += found.steps
        if found.best_residual < self.residual:
            self.best, self.residual = found.best, found.best_residual
        return self.residual <= self.settings.tolerance

    def sweep(self, lam: Array, count: int) -> Array:
        self.system.regularise(1.0)
        self.sweeps += count
        return self.system.sweep(lam, count)

    def newton(self, lam: Array) -> bool:
        self.system.regularise(1.0)
        s = self.settings
        return self.take(_newton(self.system, lam, s.tolerance, s.max_steps))

    def newton_from_guess(self) -> bool:
        try:
            return self.newton(self.guess)
        except np.linalg.LinAlgError:
            return False

    def continuation(self, first: int) -> int | None:
        """Which of `continuation_factors`, from the first on, leads to the solution."""
        s, start = self.settings, self.guess
        for number in range(first, len(s.continuation_factors)):
            if number > 0 and self.sweeps == 0:  # the guess alone is not good enough
                start = self.sweep(start, s.sweeps)
            try:
                found = _continuation(self.system, start, s.continuation_factors[number], s)
            except np.linalg.LinAlgError:  # two rows that are one: leave them to the next
                continue
            if self.take(found):
                return number
        return None

    def interior_point(self) -> bool:
        try:
            return any(self.newton(lam) for lam in interior_points(self.problem, self.guess))
        except np.linalg.LinAlgError:
            return False

    def sweeps_and_steps(self) -> bool:
        s = self.settings
        affordable = int(WORTH / max(len(self.guess), 1) ** 2)
        for number in range(s.fallback_rounds):
            count = max(s.fallback_sweeps, min(s.fallback_sweeps * 3**number, affordable))
            try:
                if self.newton(self.sweep(self.best, count)):
                    return True
            except np.linalg.LinAlgError:
                return False
        return False

    def solution(self, converged: bool, level: int = 0) -> Solution:
        taken = self.sweeps, self.steps
        return Solution(self.best, self.residual, converged, *taken, level, self.system)


def solve_by_newton(
    problem: Problem, guess: Array, settings: NewtonSettings, first: int = 0,
    system: NewtonSystem | None = None,
) -> Solution:  # fmt: skip
    """Newton from the guess, with softened rows when it wanders; then what else there is.

    first: which of `continuation_factors` to begin with, or their number for the interior-point
    method; the one that converged in the last step is likely to do so again. system: of the
    problem, if it is known.
    """
    search = _Search(problem, guess, settings, system)
    if first > 0 and search.newton_from_guess():  # a step that is solved again hardly changes
        return search.solution(True, first)
    level = search.continuation(first)
    if level is not None:
        return search.solution(True, level)
    if search.interior_point():
        return search.solution(True, len(settings.continuation_factors))
    if first > 0:  # what was not tried
        level = search.continuation(0)
        if level is not None:
            return search.solution(True, level)
    return search.solution(search.sweeps_and_steps())
