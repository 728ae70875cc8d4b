"""Semi-smooth Newton on the natural maps of all laws together, after a few sweeps.

Gauss-Seidel needs hundreds of sweeps where a cup slides; Newton takes three or four steps. Blocks
whose law does not look at u (open contacts) are eliminated, so the dense system is only as large as
what touches. Full steps; when they lead nowhere, back to the best iterate, sweep, and try again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.constraints.problem import Problem, error, natural_map
from limpet.solver.gauss_seidel import Solution, sweep

Array = np.ndarray


@dataclass(frozen=True)
class NewtonSettings:
    tolerance: float = 1e-10  # of the residual (constraints.problem.error)
    first_sweeps: int = 10
    max_steps: int = 12  # before falling back to sweeps
    rounds: int = 40  # of sweeps and Newton


@njit(cache=True)
def _newton_step(w, kind, start, data, h, lam, u, tolerance):  # type: ignore[no-untyped-def]
    """(residual at lam, the full Newton step); no step when the residual is small enough."""
    n = len(lam)
    phi = np.zeros(n)
    d_lam = np.zeros((n, 3))
    d_u = np.zeros((n, 3))
    active = np.zeros(n, np.bool_)
    p3, l3, u3 = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    largest = 0.0
    for b in range(len(kind)):
        s, e = start[b], start[b + 1]
        block = w[s:e, s:e]
        on = natural_map(kind[b], data[b], h, block, u[s:e], lam[s:e], p3, l3, u3)
        largest = max(largest, error(kind[b], data[b], h, block, u[s:e], lam[s:e], p3))
        for i in range(e - s):
            phi[s + i] = p3[i]
            active[s + i] = on
            for j in range(e - s):
                d_lam[s + i, j] = l3[i, j]
                d_u[s + i, j] = u3[i, j]
    step = np.zeros(n)
    if largest <= tolerance:
        return largest, step
    index = np.flatnonzero(active)
    m = len(index)
    for r in range(n):
        if not active[r]:
            step[r] = -phi[r]
    if m == 0:
        return largest, step
    place = np.full(n, -1, np.int64)
    for i in range(m):
        place[index[i]] = i
    matrix = np.zeros((m, m))
    right = np.empty(m)
    closing = w @ step  # what the opening contacts do to the others
    for b in range(len(kind)):
        s, e = start[b], start[b + 1]
        if not active[s]:
            continue
        for i in range(e - s):
            line = matrix[place[s + i]]
            total = -phi[s + i]
            for j in range(e - s):
                f = d_u[s + i, j]
                if f != 0.0:
                    total -= f * closing[s + j]
                    row = w[s + j]
                    for k in range(m):
                        line[k] += f * row[index[k]]
                line[place[s + j]] += d_lam[s + i, j]
            right[place[s + i]] = total
    solved = np.linalg.solve(matrix, right)
    for i in range(m):
        step[index[i]] = solved[i]
    return largest, step


def solve_by_newton(problem: Problem, guess: Array, settings: NewtonSettings) -> Solution:
    """Newton with sweeps in front and as a fall-back."""
    p = problem
    lam = guess.copy()
    best, best_residual = lam, np.inf
    sweeps = steps = 0
    for attempt in range(settings.rounds):
        count = settings.first_sweeps * (1 + attempt // 4)
        u = p.free + p.w @ lam
        sweep(p.w, p.kind, p.start, p.data, p.h, lam, u, count)
        sweeps += count
        for _ in range(settings.max_steps):
            u = p.free + p.w @ lam
            try:
                left, step = _newton_step(
                    p.w, p.kind, p.start, p.data, p.h, lam, u, settings.tolerance
                )
            except np.linalg.LinAlgError:
                break
            if left < best_residual:
                best, best_residual = lam, left
            if left <= settings.tolerance:
                return Solution(lam, left, True, sweeps, steps)
            lam = lam + step
            steps += 1
            if not np.all(np.isfinite(lam)):
                break
        lam = best.copy()
    return Solution(best, best_residual, False, sweeps, steps)
