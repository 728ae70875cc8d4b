"""Projected block Gauss-Seidel (P algorithm 2): sweep the blocks, each solved by its own law."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.compiled import njit
from limpet.errors import LimpetError
from limpet.solver.laws import error, natural_map, project, solve_block
from limpet.solver.problem import FactoredDelassus, Problem

Array = np.ndarray


@dataclass(frozen=True)
class GaussSeidelSettings:
    """Projected Gauss-Seidel alone (P algorithm 2), instead of Newton's method."""

    tolerance: float = 1e-6  # of the residual (constraints.problem.error)
    max_sweeps: int = 20000  # P takes 50, A 100
    relaxation: float = 1.0  # of each block's change: above 1 over-relaxed, as in A III-A; below 2

    def __post_init__(self) -> None:
        if not 0.0 < self.relaxation < 2.0:
            raise LimpetError(
                f"relaxation = {self.relaxation:g}: expected above 0 and below 2 "
                "(1 is plain Gauss-Seidel; sweeps diverge from 2 on)"
            )

    def solve(self, problem: Problem, guess: Array, level: int) -> Solution:
        return solve_by_sweeps(problem, guess, self)

    def solve_about(self, problem: Problem, found: Solution) -> Solution:
        """From the solution of a problem that differs in `before` only."""
        return solve_by_sweeps(problem, found.multipliers, self)


@dataclass(frozen=True)
class Solution:
    multipliers: Array  # (r,)
    residual: float
    converged: bool
    sweeps: int
    iterations: int  # of Newton
    level: int = 0  # which softening led Newton to the end
    system: object = None  # of Newton, for a problem that hardly differs

    def after(self, first: Solution) -> Solution:
        """The same, with what the first solve took as well."""
        return replace(
            self, sweeps=first.sweeps + self.sweeps, iterations=first.iterations + self.iterations
        )


@njit(cache=True, error_model="numpy")
def add_columns(w: Array, lam: Array, u: Array) -> None:
    """u += W lam; open contacts carry nothing, so most rows can be passed over."""
    for r in range(len(lam)):
        f = lam[r]
        if f != 0.0:
            row = w[r]  # W is symmetric: its row is its column
            for i in range(len(u)):
                u[i] += f * row[i]


@njit(cache=True, error_model="numpy")
def sweep(
    w: Array, kind: Array, start: Array, data: Array, h: float, lam: Array, u: Array, count: int,
    relaxation: float = 1.0,
) -> None:  # fmt: skip
    """`count` sweeps, in place on lam and u = free + W lam.

    relaxation: how much of each block's change is made; what leaves its law's cone is put back.
    """
    new = np.empty(3)
    for _ in range(count):
        for b in range(len(kind)):
            s, e = start[b], start[b + 1]
            solve_block(kind[b], data[b], h, w[s:e, s:e], u[s:e], lam[s:e], new)
            if relaxation != 1.0:
                for r in range(s, e):
                    new[r - s] = lam[r] + relaxation * (new[r - s] - lam[r])
                project(kind[b], data[b], new)
            for r in range(s, e):
                change = new[r - s] - lam[r]
                if change != 0.0:
                    lam[r] = new[r - s]
                    row = w[r]  # W is symmetric: its row is its column
                    for i in range(len(u)):
                        u[i] += change * row[i]


@njit(cache=True, error_model="numpy")
def residual(
    w: Array, kind: Array, start: Array, data: Array, h: float, lam: Array, u: Array
) -> float:
    """The largest error over all blocks."""
    phi, d_lam, d_u = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    largest = 0.0
    for b in range(len(kind)):
        s, e = start[b], start[b + 1]
        block = w[s:e, s:e]
        natural_map(kind[b], data[b], h, block, u[s:e], lam[s:e], phi, d_lam, d_u)
        worst = error(kind[b], data[b], h, block, u[s:e], lam[s:e], phi)
        if not worst <= largest:
            largest = worst if worst == worst else np.inf  # a NaN is no solution
    return largest


@njit(cache=True, error_model="numpy")
def _until(w, free, kind, start, data, h, lam, tolerance, max_sweeps, relaxation):
    done, left = 0, 1.0
    u = free + w @ lam
    while done < max_sweeps:
        count = min(10, max_sweeps - done)
        sweep(w, kind, start, data, h, lam, u, count, relaxation)
        done += count
        if done % 200 == 0:
            u = free + w @ lam  # round-off of the running update
        left = residual(w, kind, start, data, h, lam, u)
        if not left > tolerance:  # a NaN ends it, too
            break
    return done, left


def solve_by_sweeps(problem: Problem, guess: Array, settings: GaussSeidelSettings) -> Solution:
    """Sweep until the residual is below the tolerance, or the number of sweeps is used up.

    Sweeps settle on one of the ways to share a load among redundant rows, and need no help with it:
    the rows' own compliance, which Newton does need, would only slow them down.
    """
    lam = guess.copy()
    p = problem
    sweeps, left = _until(
        p.w.dense() if isinstance(p.w, FactoredDelassus) else p.w, p.free, p.kind, p.start, p.data,
        p.h, lam, settings.tolerance, settings.max_sweeps, settings.relaxation,
    )  # fmt: skip
    return Solution(lam, left, left <= settings.tolerance, sweeps, 0)
