"""Sparse L S L^T, S = diag(+-1), of symmetric block matrices with a fixed pattern.

For a positive definite matrix S = I: Cholesky. For a saddle point (displacements and pressures) the
signs of the pivots are known beforehand: the matrix is quasi-definite and any order is stable.
The pattern is analysed once (`symbolic.py`); every step refactors it panel by panel. At the size of
a cup (some hundred nodes) this is faster than general libraries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import inner, njit
from limpet.linalg.panel_kernels import (
    FAST,
    factor_panel,
    minus_square,
    send_rows,
    solve_rows,
)
from limpet.linalg.symbolic import SymbolicFactor

Array = np.ndarray


@dataclass(frozen=True)
class Factor:
    """A = L S L^T: dense panels."""

    symbolic: SymbolicFactor
    panels: Array

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        """As the kernels take it."""
        s = self.symbolic
        return s.first, s.row_start, s.rows, s.panel_start, self.panels


class NotPositiveError(ArithmeticError):
    """The matrix has a pivot of the wrong sign; `node` says where."""

    def __init__(self, node: int) -> None:
        super().__init__(f"pivot of node {node} is not positive")
        self.node = node


@inner()
def longest(start: Array) -> int:
    """The most entries that any of the ranges start[i] : start[i + 1] has."""
    most = 0
    for i in range(len(start) - 1):
        most = max(most, start[i + 1] - start[i])
    return most


@njit(cache=True)
def _factorise(
    values, scatter, stride, height, width, sign, first, row_start, panel_start,
    update_start, update_from, update_to, update_panel, place_start, place, panels,
) -> int:  # fmt: skip
    """Right-looking over panels; returns -1, or the unknown whose pivot has the wrong sign."""
    panels[:] = 0.0
    room = np.empty(longest(row_start) ** 2)  # scratch for products
    for s in range(len(scatter)):
        at = scatter[s]
        if at >= 0:
            for j in range(width[s]):
                for i in range(height[s]):
                    panels[at + j * stride[s] + i] = values[s, i, j]
    for s in range(len(first) - 1):
        w, h = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        own = sign[first[s] : first[s + 1]]
        bad = factor_panel(panel, own)
        if bad >= 0:
            return first[s] + bad
        if h == w:
            continue
        product = room[: h * h].reshape(h, h)
        minus_square(panel, own, product)
        for u in range(update_start[s], update_start[s + 1]):
            a, b, t = update_from[u], update_to[u], update_panel[u]
            rows = place[place_start[u] : place_start[u + 1]]
            tall = row_start[t + 1] - row_start[t]
            target = panels[panel_start[t] : panel_start[t + 1]].reshape(-1, tall)
            for i in range(a, b):
                line, source, below = target[rows[i - a]], product[i, i:], rows[i - a :]
                for j in range(len(below)):
                    line[below[j]] += source[j]
    return -1


def factorise(symbolic: SymbolicFactor, values: Array, reuse: Factor | None = None) -> Factor:
    """Numeric factorisation of the pattern's blocks `values` (nnz, 3, 3).

    A block of nodes with fewer unknowns uses its upper left corner. The array of `reuse`, an
    earlier factor that is no longer needed, is overwritten.
    """
    s = symbolic
    known = reuse is not None and reuse.symbolic is s
    panels = reuse.panels if reuse is not None and known else np.empty(s.panel_start[-1])
    bad = _factorise(
        values, s.scatter, s.stride, s.height, s.width, s.sign, s.first, s.row_start,
        s.panel_start, s.update_start, s.update_from, s.update_to, s.update_panel,
        s.place_start, s.place, panels,
    )  # fmt: skip
    if bad >= 0:
        raise NotPositiveError(int(np.searchsorted(s.offset, bad, side="right")) - 1)
    return Factor(s, panels)


@njit(cache=True, fastmath=FAST)
def forward(first, row_start, rows, panel_start, panels, y) -> None:
    """y <- L^-1 y for one right-hand side."""
    room = np.empty(longest(row_start))
    for s in range(len(first) - 1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        own, sent = room[:w], room[w:h]
        for i in range(w):
            own[i] = y[a + i]
        for i in range(h - w):
            sent[i] = 0.0
        k = 0
        while k + 3 <= w:  # three columns at a time
            p, q, r = panel[k], panel[k + 1], panel[k + 2]
            f = own[k] / p[k]
            g = (own[k + 1] - f * p[k + 1]) / q[k + 1]
            e = (own[k + 2] - f * p[k + 2] - g * q[k + 2]) / r[k + 2]
            own[k], own[k + 1], own[k + 2] = f, g, e
            left, p_own, q_own, r_own = own[k + 3 :], p[k + 3 : w], q[k + 3 : w], r[k + 3 : w]
            for j in range(len(left)):
                left[j] -= f * p_own[j] + g * q_own[j] + e * r_own[j]
            p, q, r = p[w:], q[w:], r[w:]
            for j in range(len(sent)):
                sent[j] += f * p[j] + g * q[j] + e * r[j]
            k += 3
        while k < w:
            p = panel[k]
            f = own[k] / p[k]
            own[k] = f
            for j in range(k + 1, w):
                own[j] -= f * p[j]
            p = p[w:]
            for j in range(len(sent)):
                sent[j] += f * p[j]
            k += 1
        for i in range(w):
            y[a + i] = own[i]
        for i in range(h - w):
            y[rows[row_start[s] + w + i]] -= sent[i]


@njit(cache=True, fastmath=FAST)
def backward(first, row_start, rows, panel_start, panels, y) -> None:
    """y <- L^-T y for one right-hand side."""
    room = np.empty(longest(row_start))
    for s in range(len(first) - 2, -1, -1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        for i in range(h):
            room[i] = y[rows[row_start[s] + i]]
        for k in range(w - 1, -1, -1):
            line, known = panel[k, k + 1 :], room[k + 1 : h]
            t = room[k]
            for j in range(len(line)):
                t -= line[j] * known[j]
            room[k] = y[a + k] = t / panel[k, k]


def solve(factor: Factor, b: Array) -> Array:
    """A^-1 b; b has one entry for each unknown, in any shape."""
    y = np.array(b, dtype=float).ravel()
    forward(*factor.arrays, y)
    y *= factor.symbolic.sign
    backward(*factor.arrays, y)
    return y.reshape(b.shape)


@njit(cache=True)
def _forward_many(first, row_start, rows, panel_start, panels, y) -> None:
    """Y <- L^-1 Y, skipping the panels before the first nonzero row."""
    begin, ones = 0, np.ones(longest(first))
    while begin < len(first) - 2 and not np.any(y[first[begin] : first[begin + 1]]):
        begin += 1
    for s in range(begin, len(first) - 1):
        w, h = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        solve_rows(panel, y, first[s], 0, y.shape[1], ones)
        below = rows[row_start[s] : row_start[s + 1]]
        send_rows(panel, y, first[s], 0, y.shape[1], below, 0, ones)


@njit(cache=True, fastmath=FAST)
def _backward_many(first, row_start, rows, panel_start, panels, y) -> None:
    """Y <- L^-T Y."""
    m = y.shape[1]
    for s in range(len(first) - 2, -1, -1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        for k in range(w - 1, -1, -1):
            line = y[a + k]
            for r in range(k + 1, h):
                f, source = panel[k, r], y[rows[row_start[s] + r]]
                for c in range(m):
                    line[c] -= f * source[c]
            f = 1.0 / panel[k, k]
            for c in range(m):
                line[c] *= f


def solve_many(factor: Factor, b: Array) -> Array:
    """A^-1 B for B (unknowns, m)."""
    y = np.array(b, dtype=float)
    if not y.size:
        return y
    _forward_many(*factor.arrays, y)
    y *= factor.symbolic.sign[:, None]
    _backward_many(*factor.arrays, y)
    return y
