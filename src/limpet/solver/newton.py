"""Semi-smooth Newton on the natural maps of all laws together, from the last step's multipliers.

Gauss-Seidel needs hundreds of sweeps where a cup slides; Newton takes three or four steps. Blocks
whose law does not look at u (open contacts) are eliminated, so a step's system is only as large as
what touches: over the rows (dense.py), or over what carries them where that is less (low_rank.py).

Where many contacts carry one load, full steps can wander from one set of active contacts to the
next. Then the rows are given more compliance of their own, which makes the load's division unique,
and this is taken back in stages; if even that fails, sweeps and steps take turns from the best
iterate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.constraints.problem import LowRank, Problem
from limpet.solver.dense import DenseSystem
from limpet.solver.gauss_seidel import Solution
from limpet.solver.linearised import linearise
from limpet.solver.low_rank import LowRankSystem

Array = np.ndarray


@dataclass(frozen=True)
class NewtonSettings:
    """A semi-smooth Newton method, from the last step's multipliers; the default solver."""

    tolerance: float = 1e-10  # of the residual (constraints.problem.error)
    sweeps: int = 10  # before the second line of stages; the first starts from the guess itself
    max_steps: int = 15  # full steps at each stage
    # factors on the rows' own compliance, tried one line after the other
    stages: tuple[tuple[float, ...], ...] = (
        (1.0,),
        (1e2, 1e1, 1.0),
        (1e3, 3e2, 1e2, 3e1, 1e1, 3.0, 1.0),
    )
    last_sweeps: int = 200  # when no line succeeds, then full steps again,
    last_rounds: int = 4  # so often


@dataclass(frozen=True)
class _Path:
    """Where full steps led."""

    last: Array
    residual: float  # of the last
    steps: int
    best: Array
    best_residual: float


def _newton(
    system: DenseSystem | LowRankSystem, lam: Array, tolerance: float, max_steps: int
) -> _Path:
    """Full steps from lam, until the tolerance is met."""
    best, best_residual = lam, np.inf
    for count in range(max_steps + 1):
        at = linearise(system.problem, system.blocks, lam, system.velocities(lam))
        if at.residual < best_residual:
            best, best_residual = lam, at.residual
        if at.residual <= tolerance or count == max_steps or not np.isfinite(at.residual):
            break
        lam = lam + system.step(at)
    return _Path(lam, at.residual, count, best, best_residual)


def _system(problem: Problem) -> DenseSystem | LowRankSystem:
    w = problem.w
    return LowRankSystem(problem, w) if isinstance(w, LowRank) else DenseSystem(problem, w)


def solve_by_newton(
    problem: Problem, guess: Array, settings: NewtonSettings, first: int = 0
) -> Solution:
    """Newton from the guess, softened stages when it wanders, and sweeps as a fall-back.

    first: the line of stages to begin with; the one that succeeded in the last step is likely to
    succeed again.
    """
    tolerance, system = settings.tolerance, _system(problem)
    start = guess
    sweeps = steps = 0
    best, best_residual = start, np.inf
    for number in range(min(first, len(settings.stages) - 1), len(settings.stages)):
        if number > 0 and sweeps == 0:  # the guess alone is not good enough
            system.soften(1.0)
            start = system.sweep(start, settings.sweeps)
            sweeps += settings.sweeps
        lam = start
        for factor in settings.stages[number]:
            system.soften(factor)
            enough = tolerance if factor == 1.0 else 1e6 * tolerance
            try:
                found = _newton(system, lam, enough, settings.max_steps)
            except np.linalg.LinAlgError:  # two rows that are one: leave them to the next line
                break
            steps += found.steps
            lam = found.last
            if factor == 1.0 and found.best_residual < best_residual:
                best, best_residual = found.best, found.best_residual
            if not found.residual <= enough:
                break
        if best_residual <= tolerance:
            return Solution(best, best_residual, True, sweeps, steps, number)
    for _ in range(settings.last_rounds):
        system.soften(1.0)
        lam = system.sweep(best, settings.last_sweeps)
        sweeps += settings.last_sweeps
        try:
            found = _newton(system, lam, tolerance, settings.max_steps)
        except np.linalg.LinAlgError:
            break
        steps += found.steps
        if found.best_residual < best_residual:
            best, best_residual = found.best, found.best_residual
        if best_residual <= tolerance:
            break
    return Solution(best, best_residual, best_residual <= tolerance, sweeps, steps)
