"""Sparse L S L^T, S = diag(+-1), of symmetric block matrices with a fixed pattern.

For a positive definite matrix S = I: Cholesky. For a saddle point (displacements and pressures) the
signs of the pivots are known beforehand: the matrix is quasi-definite and any order is stable.
The pattern is analysed once (`symbolic.py`); every step refactors it panel by panel. At the size of
a cup (some hundred nodes) this is faster than general libraries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from threading import local

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
from limpet.linalg.threads import ALONE, Threads

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


@njit(cache=True, nogil=True)
def _factor_panels(
    values, scatter, stride, height, width, block_start, sign, first, tall, panel_start,
    update_start, update_from, update_to, update_panel, place_start, place, run, fill, front, which,
    fronts, room, panels,
) -> int:  # fmt: skip
    """The panels `which`, right-looking; returns -1, or the unknown whose pivot has the wrong sign.

    fill: panels to begin with; front: that the panels send to, -1 if to none; fronts: those that
    are complete, whose sums are added first. room: scratch for products.
    """
    for s in fill:
        panels[panel_start[s] : panel_start[s + 1]] = 0.0
        for k in range(block_start[s], block_start[s + 1]):
            at = scatter[k]
            if at >= 0:
                for j in range(width[k]):
                    for i in range(height[k]):
                        panels[at + j * stride[k] + i] = values[k, i, j]
    tables = update_start, update_from, update_to, update_panel, place_start, place, run
    if front >= 0:
        for i in range(tall[front]):  # its upper triangle
            row = panel_start[front] + i * tall[front]
            panels[row + i : row + tall[front]] = 0.0
    for s in fronts:
        whole = panels[panel_start[s] : panel_start[s + 1]].reshape(tall[s], tall[s])
        _send(s, whole, tables, tall, panel_start, panels)
    for s in which:
        w, h = first[s + 1] - first[s], tall[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        own = sign[first[s] : first[s + 1]]
        bad = factor_panel(panel, own)
        if bad >= 0:
            return first[s] + bad
        if h > w:
            product = room[: h * h].reshape(h, h)
            minus_square(panel, own, product)
            _send(s, product, tables, tall, panel_start, panels)
    return -1


@inner()
def _send(s, product, tables, tall, panel_start, panels) -> None:
    """Add the upper triangle of the product of panel, or front, s where it belongs."""
    update_start, update_from, update_to, update_panel, place_start, place, run = tables
    for u in range(update_start[s], update_start[s + 1]):
        a, b, t = update_from[u], update_to[u], update_panel[u]
        rows, runs = place[place_start[u] : place_start[u + 1]], run[place_start[u] :]
        target = panels[panel_start[t] : panel_start[t + 1]].reshape(-1, tall[t])
        for i in range(a, b):
            j = i - a
            line = target[rows[j]]
            while j < len(rows):  # row by row this would take a sixth of the factor's time
                some, source = line[rows[j] : rows[j] + runs[j]], product[i, a + j :]
                for k in range(len(some)):
                    some[k] += source[k]
                j += runs[j]


_OF_THREAD = local()


def _room(size: int) -> Array:
    """Scratch of this thread: a new array for each task would not be in the processor's cache."""
    known: Array | None = getattr(_OF_THREAD, "room", None)
    if known is None or len(known) < size:
        known = _OF_THREAD.room = np.empty(size)
    return known


def factorise(
    symbolic: SymbolicFactor, values: Array, reuse: Factor | None = None, threads: Threads = ALONE
) -> Factor:
    """Numeric factorisation of the pattern's blocks `values` (nnz, 3, 3).

    A block of nodes with fewer unknowns uses its upper left corner. The array of `reuse`, an
    earlier factor that is no longer needed, is overwritten.
    """
    s = symbolic
    known = reuse is not None and reuse.symbolic is s
    panels = reuse.panels if reuse is not None and known else np.empty(s.panel_start[-1])

    tallest = int(s.tall.max())

    def factor(fill: Array, front: int, which: Array, fronts: Array) -> int:
        return _factor_panels(
            values, s.scatter, s.stride, s.height, s.width, s.block_start, s.sign, s.first, s.tall,
            s.panel_start, s.update_start, s.update_from, s.update_to, s.update_panel,
            s.place_start, s.place, s.run, fill, front, which, fronts,
            _room(tallest * tallest), panels,
        )  # fmt: skip

    fronts = np.arange(len(s.first) - 1, len(s.tall), dtype=np.int32)
    if not s.subtrees:
        bad = [factor(s.top, -1, s.top, fronts)]
    else:
        first, *others = s.subtrees
        tasks = [partial(factor, np.append(first, s.top), -1, first, fronts[:0])]
        tasks += [partial(factor, t, int(f), t, fronts[:0]) for t, f in zip(others, fronts)]
        bad = threads.run(tasks)
        if max(bad) < 0:
            bad.append(factor(s.top[:0], -1, s.top, fronts))
    if max(bad) >= 0:
        lowest = min(b for b in bad if b >= 0)
        raise NotPositiveError(int(np.searchsorted(s.offset, lowest, side="right")) - 1)
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
