"""Sparse Cholesky of symmetric matrices of 3x3 blocks (a block a node) with a fixed pattern.

The pattern is analysed once (`symbolic.py`); every step refactors it panel by panel. For the sizes
of a cup (some hundred nodes) this beats the general libraries, which spend their time elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.linalg import blas

from limpet.linalg.symbolic import SymbolicFactor

Array = np.ndarray

# Sums may be reordered and multiply-adds fused in the dense kernels: they are plain dot products.
FAST = {"reassoc", "contract"}


@dataclass(frozen=True)
class Factor:
    """A = L L^T: dense panels, and the inverse of each panel's triangle."""

    symbolic: SymbolicFactor
    panels: Array
    inverses: Array


class NotPositiveError(ArithmeticError):
    """The matrix has a pivot that is not positive; `node` says where."""

    def __init__(self, node: int) -> None:
        super().__init__(f"pivot of node {node} is not positive")
        self.node = node


@njit(cache=True, fastmath=FAST)
def _triangle(a: Array) -> int:
    """Lower Cholesky factor of a, in place, zero above; -1, or the row whose pivot fails."""
    n = len(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            if i == j:
                if not s > 0.0:
                    return i
                a[i, i] = np.sqrt(s)
            else:
                a[i, j] = s / a[j, j]
        for j in range(i + 1, n):
            a[i, j] = 0.0
    return -1


@njit(cache=True, fastmath=FAST)
def _invert_triangle(l: Array, out: Array) -> None:
    """out = l^-1 for lower triangular l, row by row."""
    n = len(l)
    out[:] = 0.0
    for i in range(n):
        d = 1.0 / l[i, i]
        for k in range(i):
            f = l[i, k]
            for j in range(k + 1):
                out[i, j] -= f * out[k, j]
        for j in range(i):
            out[i, j] *= d
        out[i, i] = d


@njit(cache=True)
def _factorise(
    values, scatter, stride, first, row_start, panel_start, inverse_start,
    update_start, update_from, update_to, update_panel, place_start, place, panels, inverses,
) -> int:  # fmt: skip
    """Right-looking over panels; returns -1, or the node whose pivot is not positive."""
    panels[:] = 0.0
    for s in range(len(scatter)):
        at = scatter[s]
        if at >= 0:
            for i in range(3):
                for j in range(3):
                    panels[at + i * stride[s] + j] = values[s, i, j]
    for s in range(len(first) - 1):
        w = 3 * (first[s + 1] - first[s])
        h = 3 * (row_start[s + 1] - row_start[s])
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        top = panel[:w]
        bad = _triangle(top)
        if bad >= 0:
            return first[s] + bad // 3
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        _invert_triangle(top, inverse)
        if h == w:
            continue
        panel[w:] = np.dot(panel[w:], inverse.T)
        for u in range(update_start[s], update_start[s + 1]):
            a, b = update_from[u], update_to[u]
            product = np.dot(panel[3 * a :], panel[3 * a : 3 * b].T)
            t = update_panel[u]
            width = 3 * (first[t + 1] - first[t])
            target = panels[panel_start[t] : panel_start[t + 1]].reshape(-1, width)
            rows = place[place_start[u] : place_start[u + 1]]
            # a target's own columns are its first rows; what falls above its diagonal is not read
            run = rows[b - a - 1] - rows[0] == b - a - 1
            for i in range(len(rows)):
                for d in range(3):
                    line, source = target[3 * rows[i] + d], product[3 * i + d]
                    if run:
                        c = 3 * rows[0]
                        for j in range(3 * (b - a)):
                            line[c + j] -= source[j]
                    else:
                        for j in range(b - a):
                            c = 3 * rows[j]
                            line[c] -= source[3 * j]
                            line[c + 1] -= source[3 * j + 1]
                            line[c + 2] -= source[3 * j + 2]
    return -1


def factorise(symbolic: SymbolicFactor, values: Array) -> Factor:
    """Numeric factorisation of the pattern's blocks `values` (nnz, 3, 3)."""
    s = symbolic
    panels, inverses = np.empty(s.panel_start[-1]), np.empty(s.inverse_start[-1])
    bad = _factorise(
        values, s.scatter, s.stride, s.first, s.row_start, s.panel_start, s.inverse_start,
        s.update_start, s.update_from, s.update_to, s.update_panel, s.place_start, s.place,
        panels, inverses,
    )  # fmt: skip
    if bad >= 0:
        raise NotPositiveError(bad)
    return Factor(s, panels, inverses)


@njit(cache=True, fastmath=FAST)
def _forward(first, row_start, rows, panel_start, inverse_start, panels, inverses, y) -> None:
    """y <- L^-1 y for one right-hand side (3 n,)."""
    own = np.empty(3 * np.max(np.diff(first)))
    for s in range(len(first) - 1):
        a, w = 3 * first[s], 3 * (first[s + 1] - first[s])
        h = row_start[s + 1] - row_start[s]
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(3 * h, w)
        for i in range(w):
            t = 0.0
            for k in range(i + 1):
                t += inverse[i, k] * y[a + k]
            own[i] = t
        y[a : a + w] = own[:w]
        for r in range(w // 3, h):
            node = rows[row_start[s] + r]
            for d in range(3):
                t = 0.0
                for k in range(w):
                    t += panel[3 * r + d, k] * own[k]
                y[3 * node + d] -= t


@njit(cache=True, fastmath=FAST)
def _backward(first, row_start, rows, panel_start, inverse_start, panels, inverses, y) -> None:
    """y <- L^-T y for one right-hand side (3 n,)."""
    own = np.empty(3 * np.max(np.diff(first)))
    for s in range(len(first) - 2, -1, -1):
        a, w = 3 * first[s], 3 * (first[s + 1] - first[s])
        h = row_start[s + 1] - row_start[s]
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(3 * h, w)
        own[:w] = y[a : a + w]
        for r in range(w // 3, h):
            node = rows[row_start[s] + r]
            for d in range(3):
                f = y[3 * node + d]
                for k in range(w):
                    own[k] -= panel[3 * r + d, k] * f
        y[a : a + w] = 0.0
        for i in range(w):
            f = own[i]
            for k in range(i + 1):
                y[a + k] += inverse[i, k] * f


def _arrays(factor: Factor) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    s = factor.symbolic
    return (
        s.first, s.row_start, s.rows, s.panel_start, s.inverse_start, factor.panels, factor.inverses
    )  # fmt: skip


def solve(factor: Factor, b: Array) -> Array:
    """A^-1 b for b (n, 3)."""
    y = np.array(b, dtype=float, order="C").reshape(-1)
    _forward(*_arrays(factor), y)
    _backward(*_arrays(factor), y)
    return y.reshape(-1, 3)


@njit(cache=True)
def _half_solve(
    first,
    row_start,
    rows,
    panel_start,
    inverse_start,
    panels,
    inverses,
    begin,
    y,
    lo,
    hi,
    gram,
    dense,
) -> int:
    """Y <- L^-1 Y from panel `begin` on, and gram += Y^T Y; returns the first row left out of it.

    Y has the rows of the panels from `begin` on. With its columns sorted by the node they start
    from, a panel of the post-ordered elimination tree sees only its own subtree's columns, and
    those stand side by side: [lo, hi) of each node. The last panels see nearly all columns; their
    share of Y^T Y is one dense product and left to the caller.
    """
    shift, last = 3 * first[begin], begin
    for s in range(begin, len(first) - 1):
        w, h = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        c0, c1 = lo[first[s]], hi[first[s]]
        for k in range(first[s], first[s + 1]):
            c0, c1 = min(c0, lo[k]), max(c1, hi[k])
        if c0 >= c1:
            last = s + 1 if last == s else last
            continue
        a, b = 3 * first[s] - shift, 3 * first[s + 1] - shift
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(3 * w, 3 * w)
        own = np.dot(inverse, np.ascontiguousarray(y[a:b, c0:c1]))
        y[a:b, c0:c1] = own
        if c1 - c0 < dense and last == s:
            last = s + 1
            square = np.dot(own.T, own)
            for i in range(c1 - c0):
                for j in range(i, c1 - c0):
                    gram[c0 + i, c0 + j] += square[i, j]
        if h == w:
            continue
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(3 * h, 3 * w)
        sent = np.dot(panel[3 * w :], own)
        for r in range(w, h):
            node = rows[row_start[s] + r]
            lo[node] = min(lo[node], c0)
            hi[node] = max(hi[node], c1)
            for d in range(3):
                line, source = y[3 * node + d - shift], sent[3 * (r - w) + d]
                for c in range(c1 - c0):
                    line[c0 + c] -= source[c]
    return 3 * first[last] - shift


@njit(cache=True)
def _place_points(start, nodes, weights, tail, y, lo, hi) -> None:
    """Columns 3 i + d of Y: a unit force along axis d on point i, shared among its nodes."""
    for i in range(len(start) - 1):
        for k in range(start[i], start[i + 1]):
            node = nodes[k]
            lo[node] = min(lo[node], 3 * i)
            hi[node] = max(hi[node], 3 * i + 3)
            for d in range(3):
                y[3 * node + d - tail, 3 * i + d] += weights[k]


def compliance(factor: Factor, start: Array, nodes: Array, weights: Array, extra: Array) -> Array:
    """B A^-1 B^T for B = unit forces on t points that ride on nodes, then dense rows `extra`.

    Point i = sum of weights * nodes over start[i]:start[i+1]; points are best sorted by their first
    node. extra (e, n, 3). Result (3 t + e, 3 t + e), symmetric; row 3 i + d is point i, axis d.
    """
    s, t, e = factor.symbolic, len(start) - 1, len(extra)
    out = np.zeros((3 * t + e, 3 * t + e))
    tail = 3 * s.n
    y = np.zeros((0, 3 * t))
    if len(nodes):
        begin = int(np.searchsorted(s.first, nodes.min(), side="right")) - 1
        tail = 3 * s.first[begin]
        y = np.zeros((3 * s.n - tail, 3 * t))
        lo, hi = np.full(s.n, 3 * t, np.int32), np.zeros(s.n, np.int32)
        _place_points(start, nodes, weights, tail, y, lo, hi)
        gram = np.zeros((3 * t, 3 * t))
        full = _half_solve(*_arrays(factor), begin, y, lo, hi, gram, (3 * t) // 2)
        if full < len(y):
            gram += blas.dsyrk(1.0, y[full:].T, lower=0)
        _mirror(gram, out)
    if e:
        z = np.array(extra, dtype=float).reshape(e, 3 * s.n)
        for row in z:
            _forward(*_arrays(factor), row)
        out[3 * t :, : 3 * t] = z[:, tail:] @ y
        out[: 3 * t, 3 * t :] = out[3 * t :, : 3 * t].T
        out[3 * t :, 3 * t :] = z @ z.T
    return out


@njit(cache=True)
def _mirror(upper: Array, out: Array) -> None:
    """Write the symmetric matrix whose upper triangle is given into the corner of `out`."""
    n = len(upper)
    for i in range(n):
        for j in range(i, n):
            out[i, j] = upper[i, j]
            out[j, i] = upper[i, j]
