"""W as a dense matrix: what Newton and its sweeps ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from math import isfinite

import numpy as np
from scipy.linalg import lapack

from limpet.compiled import inner, njit
from limpet.solver.gauss_seidel import add_columns, sweep
from limpet.solver.linearised import Linearised, linearise_laws
from limpet.solver.problem import Problem

Array = np.ndarray

FALLS = 0.1  # of the last residual: the matrix of an earlier step will do
LARGE = 120  # closed rows: with fewer, a new LU is cheaper than the further steps of an old one
ALIKE = 0.1  # of a row of the linearised laws
EXACT = 1e-2  # of the tolerance: where steps with such a matrix end, as full ones do


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
def _closed_matrix(w, start, d_lam, d_u, index):
    """The matrix of the Newton step over the closed rows, from the linearised laws.

    index (m,): the closed rows.
    """
    m = len(index)
    place = np.full(len(d_u), -1, np.int64)
    for i in range(m):
        place[index[i]] = i
    matrix = np.zeros((m, m))
    for b in range(len(start) - 1):
        s, e = start[b], start[b + 1]
        if place[s] < 0:
            continue
        for i in range(e - s):
            line = matrix[place[s + i]]
            for j in range(e - s):
                f = d_u[s + i, j]
                if f != 0.0:
                    row = w[s + j]
                    for k in range(m):
                        line[k] += f * row[index[k]]
                line[place[s + j]] += d_lam[s + i, j]
    return matrix


@njit(cache=True, error_model="numpy")
def _closed_right(w, start, d_u, active, phi, step):
    """The right-hand side of the closed rows; step <- that of the open ones, eliminated."""
    n = len(phi)
    for r in range(n):
        step[r] = 0.0 if active[r] else -phi[r]
    closing = np.zeros(n)
    add_columns(w, step, closing)  # what the opening contacts do to the others
    right, used = np.empty(n), 0
    for b in range(len(start) - 1):
        s, e = start[b], start[b + 1]
        if not active[s]:
            continue
        for i in range(e - s):
            total = -phi[s + i]
            for j in range(e - s):
                total -= d_u[s + i, j] * closing[s + j]
            right[used] = total
            used += 1
    return right[:used]


@njit(cache=True, error_model="numpy")
def _linearised_alike(active, d_lam, d_u, other_active, other_lam, other_u):
    """Whether the same laws look at u, and none is on another branch."""
    for r in range(len(active)):
        if active[r] != other_active[r]:
            return False
    return _alike(d_lam, other_lam) and _alike(d_u, other_u)


@inner()
def _alike(one, other):
    """Whether each row of (r, 3) differs by little."""
    for r in range(len(one)):
        change, size = 0.0, 0.0
        for i in range(3):
            change = max(change, abs(one[r, i] - other[r, i]))
            size = max(size, abs(one[r, i]))
        if not change <= ALIKE * size:
            return False
    return True


@dataclass(frozen=True)
class _Factored:
    """The matrix of a Newton step, which serves others whose laws are linearised alike."""

    active: Array  # (r,) bool
    closed: Array  # (m,)
    d_lam: Array  # (r, 3)
    d_u: Array
    lu: Array  # (m, m) of the transpose
    pivots: Array

    def serves(self, at: Linearised) -> bool:
        return len(self.closed) >= LARGE and bool(
            _linearised_alike(self.active, self.d_lam, self.d_u, at.active, at.d_lam, at.d_u)
        )

    def step(self, w: Array, start: Array, phi: Array) -> Array:
        step = np.empty(len(phi))
        right = _closed_right(w, start, self.d_u, self.active, phi, step)
        if len(right):
            step[self.closed] = lapack.dgetrs(self.lu, self.pivots, right, trans=1)[0]
        if not isfinite(float(step.sum())):
            raise np.linalg.LinAlgError("the matrix is singular, or not finite")
        return step


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

    def about(self, problem: Problem) -> NewtonSystem:
        """Of a problem that differs in its free velocities only."""
        other = copy(self)
        other.problem = problem
        other.regularise(1.0)
        return other

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
        if at.residual <= enough or not isfinite(at.residual):
            return at.residual, lam
        return at.residual, lam + self.step(at)


class DenseSystem(NewtonSystem):
    """W as a dense matrix.

    Near the solution the matrix of a Newton step hardly changes. As long as the residual falls fast
    with that of an earlier step, it is not made and factorised anew.
    """

    def __init__(self, problem: Problem, w: Array) -> None:
        self.problem, self._w = problem, w.copy()
        self._own, self._factor = w.diagonal().copy(), np.nan
        self._factored: _Factored | None = None
        self.regularise(1.0)

    def regularise(self, factor: float) -> None:
        self._residual, self._kept = np.inf, False  # of the last iterate; its step had an old LU
        if factor == self._factor:
            return
        self._factor, self._factored = factor, None
        self._w.reshape(-1)[:: len(self._w) + 1] = self._own + factor * self.problem.regularisation
        self._free = self.problem.free_at(factor)
        self.blocks = _blocks(self._w, self.problem.start)

    def about(self, problem: Problem) -> DenseSystem:
        """Of a problem that differs in its free velocities only."""
        other = copy(self)
        other.problem, other._free = problem, problem.free_at(self._factor)
        return other

    def iterate(self, lam: Array, enough: float) -> tuple[float, Array]:
        at, last = self.linearise(lam), self._residual
        self._residual, falls = at.residual, at.residual <= FALLS * last
        if self._kept and falls:
            enough *= EXACT
        if at.residual <= enough or not isfinite(at.residual):
            return at.residual, lam
        known = self._factored
        self._kept = falls and known is not None and known.serves(at)
        if known is not None and self._kept:
            return at.residual, lam + known.step(self._w, self.problem.start, at.phi)
        return at.residual, lam + self.step(at)

    @property
    def matrix(self) -> Array:
        """(r, r) W with the rows' own compliance."""
        return self._w

    def velocities(self, lam: Array) -> Array:
        u = self._free.copy()
        add_columns(self._w, lam, u)
        return u

    def step(self, at: Linearised) -> Array:
        start, closed = self.problem.start, np.flatnonzero(at.active)
        matrix = _closed_matrix(self._w, start, at.d_lam, at.d_u, closed)
        lu, pivots = matrix, np.zeros(0, np.int32)
        if len(closed):
            lu, pivots, info = lapack.dgetrf(matrix.T, overwrite_a=1)
            if info > 0:
                raise np.linalg.LinAlgError("the matrix is singular")
        self._factored = _Factored(at.active, closed, at.d_lam, at.d_u, lu, pivots)
        return self._factored.step(self._w, start, at.phi)

    def sweep(self, lam: Array, count: int) -> Array:
        p, out = self.problem, lam.copy()
        sweep(self._w, p.kind, p.start, p.data, p.h, out, self.velocities(lam), count)
        return out
