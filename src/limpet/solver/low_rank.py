"""W = B S B^T + diag(own) as it is, never as a matrix: for many rows over few coordinates.

The Newton step solves (K + D_u B S B^T) x = r over the active rows, where K = D_lam + D_u diag(own)
has only the laws' own small blocks. With y = S B^T x this is a system as large as the coordinates
that the active rows act on:

    (I + S C) y = S B^T K^-1 r,    C = B^T K^-1 D_u B,    x = K^-1 (r - D_u B y).

K has an inverse where every contact has a compliance of its own (Problem.regularisation). The row
of a cavity whose walls meet has none: it asks for a velocity whatever its multiplier is. Such rows
border the system, with their own x as further unknowns.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.linalg.reduced_compliance import half_product
from limpet.solver.dense import NewtonSystem
from limpet.solver.laws import solve_block
from limpet.solver.linearised import Linearised
from limpet.solver.problem import FactoredDelassus, Problem

Array = np.ndarray

SINGULAR = 1e-8  # of D_u W in the same row: a smaller K is none


@njit(cache=True, error_model="numpy")
def _blocks(first, column, value, s, start):
    """(b, 3, 3) diagonal blocks of B S B^T; `first` begins B's rows, `start` the blocks'."""
    out = np.zeros((len(start) - 1, 3, 3))
    for b in range(len(out)):
        for i in range(start[b + 1] - start[b]):
            for j in range(i + 1):
                p, q = start[b] + i, start[b] + j
                total = 0.0
                for k in range(first[p], first[p + 1]):
                    line, part = s[column[k]], 0.0
                    for m in range(first[q], first[q + 1]):
                        part += value[m] * line[column[m]]
                    total += value[k] * part
                out[b, i, j] = total
                out[b, j, i] = total
    return out


@njit(cache=True, error_model="numpy")
def _times(first, column, value, y, out):
    """out += B y."""
    for r in range(len(out)):
        for k in range(first[r], first[r + 1]):
            out[r] += value[k] * y[column[k]]


@njit(cache=True, error_model="numpy")
def _transpose_times(first, column, value, x, size):
    """B^T x."""
    out = np.zeros(size)
    for r in range(len(x)):
        if x[r] != 0.0:
            for k in range(first[r], first[r + 1]):
                out[column[k]] += value[k] * x[r]
    return out


@njit(cache=True, error_model="numpy")
def _invert(a, n, out):
    """out[:n, :n] = a[:n, :n]^-1, by Gauss and Jordan with row exchange; a is lost."""
    out[:] = 0.0
    for i in range(n):
        out[i, i] = 1.0
    for c in range(n):
        best = c
        for i in range(c + 1, n):
            if abs(a[i, c]) > abs(a[best, c]):
                best = i
        for j in range(n):
            a[c, j], a[best, j] = a[best, j], a[c, j]
            out[c, j], out[best, j] = out[best, j], out[c, j]
        d = 1.0 / a[c, c]
        for j in range(n):
            a[c, j] *= d
            out[c, j] *= d
        for i in range(n):
            if i != c:
                f = a[i, c]
                for j in range(n):
                    a[i, j] -= f * a[c, j]
                    out[i, j] -= f * out[c, j]


@njit(cache=True, error_model="numpy")
def _step(first, column, value, s, own, blocks, start, phi, d_lam, d_u, active):
    """The full Newton step from the linearised laws; open blocks are eliminated."""
    n, size = len(phi), len(s)
    step = np.zeros(n)
    used = np.zeros(size, np.bool_)
    for r in range(n):
        if active[r]:
            for k in range(first[r], first[r + 1]):
                used[column[k]] = True
        else:
            step[r] = -phi[r]
    index = np.flatnonzero(used)
    m = len(index)
    place = np.full(size, -1, np.int64)
    for i in range(m):
        place[index[i]] = i
    closing = np.zeros(n)  # what the opening contacts do to the others
    _times(first, column, value, s @ _transpose_times(first, column, value, step, size), closing)
    c, right = np.zeros((m, m)), np.zeros(m)
    inner, inverse = np.zeros((3, 3)), np.zeros((3, 3))
    weight, held = np.zeros((n, 3)), np.zeros(n)  # K^-1 D_u and K^-1 r
    bordering, edges = np.empty(len(start), np.int64), 0  # rows without K
    for b in range(len(start) - 1):
        f, e = start[b], start[b + 1]
        if not active[f]:
            continue
        w = e - f
        for i in range(w):
            for j in range(w):
                inner[i, j] = d_lam[f + i, j] + d_u[f + i, j] * own[f + j]
        if w == 1 and abs(inner[0, 0]) < SINGULAR * abs(d_u[f, 0]) * blocks[b, 0, 0]:
            bordering[edges] = f
            edges += 1
            continue
        _invert(inner, w, inverse)
        for i in range(w):
            for j in range(w):
                left = -phi[f + j]
                for k in range(w):
                    weight[f + i, k] += inverse[i, j] * d_u[f + j, k]
                    left -= d_u[f + j, k] * closing[f + k]
                held[f + i] += inverse[i, j] * left
        for i in range(w):
            for k in range(first[f + i], first[f + i + 1]):
                at = place[column[k]]
                line = c[at]
                right[at] += value[k] * held[f + i]
                for j in range(w):
                    factor = value[k] * weight[f + i, j]
                    if factor != 0.0:
                        for q in range(first[f + j], first[f + j + 1]):
                            line[place[column[q]]] += factor * value[q]
    y, moved = np.zeros(size), np.zeros(n)
    if m > 0:
        part = np.empty((m, m))
        for i in range(m):
            line = s[index[i]]
            for j in range(m):
                part[i, j] = line[index[j]]
        matrix, known = np.zeros((m + edges, m + edges)), np.empty(m + edges)
        matrix[:m, :m] = np.dot(part, c)
        known[:m] = np.dot(part, right)
        for i in range(m):
            matrix[i, i] += 1.0
        for e in range(edges):
            r = bordering[e]
            matrix[m + e, m + e] = d_lam[r, 0] + d_u[r, 0] * own[r]
            known[m + e] = -phi[r] - d_u[r, 0] * closing[r]
            for k in range(first[r], first[r + 1]):
                at = place[column[k]]
                matrix[m + e, at] += d_u[r, 0] * value[k]
                for i in range(m):
                    matrix[i, m + e] -= part[i, at] * value[k]
        solved = np.linalg.solve(matrix, known)
        for i in range(m):
            y[index[i]] = solved[i]
        for e in range(edges):
            held[bordering[e]] = solved[m + e]
        _times(first, column, value, y, moved)
    for b in range(len(start) - 1):
        f, e = start[b], start[b + 1]
        if active[f]:
            for i in range(f, e):
                step[i] = held[i]
                for j in range(e - f):
                    step[i] -= weight[i, j] * moved[f + j]
    return step


@njit(cache=True, error_model="numpy")
def _sweep(first, column, value, half, own, blocks, free, kind, start, data, h, lam, y, count):
    """`count` sweeps, in place on lam and y = S B^T lam; half = B S."""
    new, u = np.empty(3), np.empty(3)
    for _ in range(count):
        for b in range(len(kind)):
            s, e = start[b], start[b + 1]
            for r in range(s, e):
                total = free[r] + own[r] * lam[r]
                for k in range(first[r], first[r + 1]):
                    total += value[k] * y[column[k]]
                u[r - s] = total
            solve_block(kind[b], data[b], h, blocks[b], u, lam[s:e], new)
            for r in range(s, e):
                change = new[r - s] - lam[r]
                if change != 0.0:
                    lam[r] = new[r - s]
                    line = half[r]
                    for i in range(len(y)):
                        y[i] += change * line[i]


class LowRankSystem(NewtonSystem):
    """W = B S B^T + diag(own), never written out."""

    def __init__(self, problem: Problem, w: FactoredDelassus) -> None:
        self.problem, self._w = problem, w
        b = w.b_s_b
        self._b, self._s = (b.start, b.column, b.value), b.s
        self._half: Array | None = None  # B S
        self._bare = _blocks(*self._b, b.s, problem.start)
        self.regularise(1.0)

    def regularise(self, factor: float) -> None:
        start = self.problem.start
        self._own = self._w.own + factor * self.problem.regularisation
        self._free = self.problem.free_at(factor)
        self.blocks = self._bare.copy()
        block = np.repeat(np.arange(len(start) - 1), np.diff(start))
        place = np.arange(len(self._own)) - start[block]
        self.blocks[block, place, place] += self._own

    def velocities(self, lam: Array) -> Array:
        u = self._free + self._own * lam
        _times(*self._b, self._moved(lam), u)
        return u

    def _moved(self, lam: Array) -> Array:
        """S B^T lambda"""
        return self._s @ _transpose_times(*self._b, lam, len(self._s))

    def step(self, at: Linearised) -> Array:
        p = self.problem
        laws = at.phi, at.d_lam, at.d_u, at.active
        return _step(*self._b, self._s, self._own, self.blocks, p.start, *laws)

    def sweep(self, lam: Array, count: int) -> Array:
        p, out = self.problem, lam.copy()
        if self._half is None:
            self._half = half_product(*self._b, self._s)
        _sweep(
            *self._b, self._half, self._own, self.blocks, self._free, p.kind, p.start, p.data, p.h,
            out, self._moved(lam), count,
        )  # fmt: skip
        return out
