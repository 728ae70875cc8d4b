"""Semi-smooth Newton on the natural maps of all laws together, from the last step's multipliers.

Gauss-Seidel needs hundreds of sweeps where a cup slides; Newton takes three or four steps. Blocks
whose law does not look at u (open contacts) are eliminated, so the dense system is only as large as
what touches.

Where many contacts carry one load, full steps can wander from one set of active contacts to the
next. Then the rows are given more compliance of their own, which makes the load's division unique,
and this is taken back in stages; if even that fails, sweeps go on from the best iterate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.constraints.problem import Problem, error, natural_map
from limpet.solver.gauss_seidel import Solution, add_columns, residual, sweep

Array = np.ndarray


@dataclass(frozen=True)
class NewtonSettings:
    tolerance: float = 1e-10  # of the residual (constraints.problem.error)
    sweeps: int = 10  # before the second line of stages; the first starts from the guess itself
    max_steps: int = 15  # full steps at each stage
    # factors on the rows' own compliance, tried one line after the other
    stages: tuple[tuple[float, ...], ...] = (
        (1.0,),
        (1e2, 1e1, 1.0),
        (1e3, 3e2, 1e2, 3e1, 1e1, 3.0, 1.0),
    )
    last_sweeps: int = 500  # when no line succeeds


@njit(cache=True, error_model="numpy")
def _step(w, kind, start, data, h, lam, u, phi, d_lam, d_u, active):
    """The full Newton step from the linearised laws; open blocks are eliminated."""
    n = len(lam)
    step = np.zeros(n)
    for r in range(n):
        if not active[r]:
            step[r] = -phi[r]
    index = np.flatnonzero(active)
    m = len(index)
    if m == 0:
        return step
    place = np.full(n, -1, np.int64)
    for i in range(m):
        place[index[i]] = i
    closing = np.zeros(n)
    add_columns(w, step, closing)  # what the opening contacts do to the others
    matrix = np.zeros((m, m))
    right = np.empty(m)
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
    return step


@njit(cache=True, error_model="numpy")
def _newton(w, free, kind, start, data, h, lam, tolerance, max_steps):
    """Full steps from lam: (last iterate, its residual, steps, best iterate, its residual)."""
    n = len(lam)
    phi, active = np.zeros(n), np.zeros(n, np.bool_)
    d_lam, d_u = np.zeros((n, 3)), np.zeros((n, 3))
    p3, l3, u3 = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    best, best_residual = lam.copy(), np.inf
    for count in range(max_steps + 1):
        u = free.copy()
        add_columns(w, lam, u)
        largest = 0.0
        for b in range(len(kind)):
            s, e = start[b], start[b + 1]
            block = w[s:e, s:e]
            on = natural_map(kind[b], data[b], h, block, u[s:e], lam[s:e], p3, l3, u3)
            worst = error(kind[b], data[b], h, block, u[s:e], lam[s:e], p3)
            if not worst <= largest:
                largest = worst if worst == worst else np.inf  # a NaN is no solution
            for i in range(e - s):
                phi[s + i] = p3[i]
                active[s + i] = on
                for j in range(e - s):
                    d_lam[s + i, j] = l3[i, j]
                    d_u[s + i, j] = u3[i, j]
        if largest < best_residual:
            best[:] = lam
            best_residual = largest
        if largest <= tolerance or count == max_steps or not np.isfinite(largest):
            break
        lam = lam + _step(w, kind, start, data, h, lam, u, phi, d_lam, d_u, active)
    return lam, largest, count, best, best_residual


def solve_by_newton(
    problem: Problem, guess: Array, settings: NewtonSettings, first: int = 0
) -> Solution:
    """Newton from the guess, softened stages when it wanders, and sweeps as a fall-back.

    first: the line of stages to begin with; the one that succeeded in the last step is likely to
    succeed again.
    """
    p, tolerance = problem, settings.tolerance
    w, own = p.w.copy(), p.w.diagonal().copy()
    diagonal = w.reshape(-1)[:: len(w) + 1]
    start = guess.copy()
    sweeps = steps = 0
    best, best_residual = start, np.inf
    for number in range(min(first, len(settings.stages) - 1), len(settings.stages)):
        if number > 0 and sweeps == 0:  # the guess alone is not good enough
            diagonal[:] = own + p.give
            u = p.free + w @ start
            sweep(w, p.kind, p.start, p.data, p.h, start, u, settings.sweeps)
            sweeps += settings.sweeps
        lam = start
        for factor in settings.stages[number]:
            diagonal[:] = own + factor * p.give
            enough = tolerance if factor == 1.0 else 1e6 * tolerance
            try:
                lam, left, count, found, found_residual = _newton(
                    w, p.free, p.kind, p.start, p.data, p.h, lam, enough, settings.max_steps
                )
            except np.linalg.LinAlgError:  # two rows that are one: leave them to the next line
                break
            steps += count
            if factor == 1.0 and found_residual < best_residual:
                best, best_residual = found, found_residual
            if not left <= enough:
                break
        if best_residual <= tolerance:
            return Solution(best, best_residual, True, sweeps, steps, number)
    lam = best.copy()
    diagonal[:] = own + p.give
    sweep(w, p.kind, p.start, p.data, p.h, lam, p.free + w @ lam, settings.last_sweeps)
    left = residual(w, p.kind, p.start, p.data, p.h, lam, p.free + w @ lam)
    if not left <= best_residual:
        lam, left = best, best_residual
    return Solution(lam, left, left <= tolerance, sweeps + settings.last_sweeps, steps)
