"""W as a dense matrix: what Newton and its sweeps ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from limpet.compiled import njit
from limpet.solver.gauss_seidel import add_columns, sweep
from limpet.solver.linearised import Linearised, linearise_laws
from limpet.solver.problem import Problem

Array = np.ndarray


@njit(cache=True, error_model="numpy")
def _blocks(w, start):
    """(b, 3, 3): the diagonal blocks, in the corner where they are smaller."""
    out = np.zeros((len(start) - 1, 3, 3))
    for b in range(len(out)):
        s, e = start[b], start[b + 1]
        for i in range(e - s):
            for j in range(e - s):
                out[b, i, j] = w[s + i, s + j]
    return out


@njit(cache=True, error_model="numpy")
def _closed_rows(w, start, phi, d_lam, d_u, active):
    """The system of the Newton step from the linearised laws; open blocks are eliminated.

    Returns the step of the open rows, the closed ones, their matrix and right-hand side.
    """
    n = len(phi)
    step = np.zeros(n)
    for r in range(n):
        if not active[r]:
            step[r] = -phi[r]
    index = np.flatnonzero(active)
    m = len(index)
    place = np.full(n, -1, np.int64)
    for i in range(m):
        place[index[i]] = i
    closing = np.zeros(n)
    add_columns(w, step, closing)  # what the opening contacts do to the others
    matrix = np.zeros((m, m))
    right = np.empty(m)
    for b in range(len(start) - 1):
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
    return step, index, matrix, right


class NewtonSystem(ABC):
    """u of a Problem with its regularisation times a factor, in some form of W."""

    problem: Problem
    blocks: Array  # (b, 3, 3) diagonal blocks of the matrix

    @abstractmethod
    def regularise(self, factor: float) -> None:
        """Set the factor."""

    @abstractmethod
    def velocities(self, lam: Array) -> Array:
        """u (s,)"""

    @abstractmethod
    def step(self, at: Linearised) -> Array:
        """The full Newton step from the linearised laws."""

    @abstractmethod
    def sweep(self, lam: Array, count: int) -> Array:
        """lambda after `count` sweeps."""

    def linearise(self, lam: Array) -> Linearised:
        """All laws at lambda and its velocities."""
        p, u = self.problem, self.velocities(lam)
        return Linearised(*linearise_laws(self.blocks, p.kind, p.start, p.data, p.h, lam, u))

    def iterate(self, lam: Array, enough: float) -> tuple[float, Array]:
        """The residual at lambda, and lambda after a full step if the residual is not `enough`."""
        at = self.linearise(lam)
        if at.residual <= enough or not np.isfinite(at.residual):
            return at.residual, lam
        return at.residual, lam + self.step(at)


class DenseSystem(NewtonSystem):
    """W as a dense matrix."""

    def __init__(self, problem: Problem, w: Array) -> None:
        self.problem, self._w = problem, w.copy()
        self._own = w.diagonal().copy()
        self.regularise(1.0)

    def regularise(self, factor: float) -> None:
        self._w.reshape(-1)[:: len(self._w) + 1] = self._own + factor * self.problem.regularisation
        self._free = self.problem.free_at(factor)
        self.blocks = _blocks(self._w, self.problem.start)

    @property
    def matrix(self) -> Array:
        """(r, r) W with the rows' own compliance."""
        return self._w

    def velocities(self, lam: Array) -> Array:
        u = self._free.copy()
        add_columns(self._w, lam, u)
        return u

    def step(self, at: Linearised) -> Array:
        laws = (at.phi, at.d_lam, at.d_u, at.active)
        step, closed, matrix, right = _closed_rows(self._w, self.problem.start, *laws)
        step[closed] = np.linalg.solve(matrix, right)
        if not np.isfinite(step).all():
            raise np.linalg.LinAlgError("the matrix is singular, or not finite")
        return step

    def sweep(self, lam: Array, count: int) -> Array:
        p, out = self.problem, lam.copy()
        sweep(self._w, p.kind, p.start, p.data, p.h, out, self.velocities(lam), count)
        return out
