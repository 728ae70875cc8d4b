"""Sparse L S L^T, S = diag(+-1), of symmetric block matrices with a fixed pattern.

For a positive definite matrix S = I: Cholesky. For a saddle point (displacements and pressures) the
signs of the pivots are known beforehand: the matrix is quasi-definite and any order is stable.
The pattern is analysed once (`symbolic.py`); every step refactors it panel by panel. At the size of
a cup (some hundred nodes) this is faster than general libraries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from limpet.compiled import copy, copy_rows, inner, njit
from limpet.linalg.symbolic import SymbolicFactor

Array = np.ndarray

# The dense kernels may reorder sums and fuse multiply-adds.
FAST = {"reassoc", "contract"}


@dataclass(frozen=True)
class Factor:
    """A = L S L^T: dense panels, and the inverse of the diagonal block of each panel."""

    symbolic: SymbolicFactor
    panels: Array
    inverses: Array


class NotPositiveError(ArithmeticError):
    """The matrix has a pivot of the wrong sign; `node` says where."""

    def __init__(self, node: int) -> None:
        super().__init__(f"pivot of node {node} is not positive")
        self.node = node


@inner(fastmath=FAST)
def _triangle(a: Array, sign: Array) -> int:
    """Lower factor L of a = L S L^T, in place, zero above; -1, or the row whose pivot fails."""
    n = len(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k] * sign[k]
            if i == j:
                if not s * sign[i] > 0.0:
                    return i
                a[i, i] = np.sqrt(s * sign[i])
            else:
                a[i, j] = s * sign[j] / a[j, j]
        for j in range(i + 1, n):
            a[i, j] = 0.0
    return -1


@inner(fastmath=FAST)
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


@inner()
def _longest(start: Array) -> int:
    """The most entries that any of the ranges start[i] : start[i + 1] has."""
    most = 0
    for i in range(len(start) - 1):
        most = max(most, start[i + 1] - start[i])
    return most


@njit(cache=True)
def _factorise(
    values, scatter, stride, height, width, sign, first, row_start, panel_start, inverse_start,
    update_start, update_from, update_to, update_panel, place_start, place, panels, inverses,
) -> int:  # fmt: skip
    """Right-looking over panels; returns -1, or the unknown whose pivot has the wrong sign."""
    panels[:] = 0.0
    room = np.empty((2, _longest(panel_start)))  # scratch for products
    for s in range(len(scatter)):
        at = scatter[s]
        if at >= 0:
            for i in range(height[s]):
                for j in range(width[s]):
                    panels[at + i * stride[s] + j] = values[s, i, j]
    for s in range(len(first) - 1):
        w, h = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        own = sign[first[s] : first[s + 1]]
        top = panel[:w]
        bad = _triangle(top, own)
        if bad >= 0:
            return first[s] + bad
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        _invert_triangle(top, inverse)
        if h == w:
            continue
        signed = room[0, : (h - w) * w].reshape(h - w, w)
        np.dot(panel[w:], inverse.T, signed)  # L21 S
        copy_rows(signed, panel, w)
        for k in range(w):
            if own[k] < 0.0:
                for i in range(w, h):
                    panel[i, k] = -panel[i, k]
        for u in range(update_start[s], update_start[s + 1]):
            a, b = update_from[u], update_to[u]
            columns = b - a
            product = room[1, : (h - a) * columns].reshape(h - a, columns)
            np.dot(panel[a:], signed[a - w : b - w].T, product)
            t = update_panel[u]
            target, stretch = panel_start[t], first[t + 1] - first[t]
            rows = place[place_start[u] : place_start[u + 1]]
            # a target's own columns are its first rows; what falls above its diagonal is not read
            c = rows[0]
            if rows[columns - 1] - c == columns - 1:  # side by side in the target
                for i in range(len(rows)):
                    at = target + rows[i] * stretch + c
                    for j in range(columns):
                        panels[at + j] -= product[i, j]
            else:
                for i in range(len(rows)):
                    at = target + rows[i] * stretch
                    for j in range(columns):
                        panels[at + rows[j]] -= product[i, j]
    return -1


def factorise(symbolic: SymbolicFactor, values: Array, reuse: Factor | None = None) -> Factor:
    """Numeric factorisation of the pattern's blocks `values` (nnz, 3, 3).

    A block of nodes with fewer unknowns uses its upper left corner. The arrays of `reuse`, an
    earlier factor that is no longer needed, are overwritten.
    """
    s = symbolic
    if reuse is not None and reuse.symbolic is s:
        panels, inverses = reuse.panels, reuse.inverses
    else:
        panels, inverses = np.empty(s.panel_start[-1]), np.empty(s.inverse_start[-1])
    bad = _factorise(
        values, s.scatter, s.stride, s.height, s.width, s.sign, s.first, s.row_start,
        s.panel_start, s.inverse_start, s.update_start, s.update_from, s.update_to,
        s.update_panel, s.place_start, s.place, panels, inverses,
    )  # fmt: skip
    if bad >= 0:
        raise NotPositiveError(int(np.searchsorted(s.offset, bad, side="right")) - 1)
    return Factor(s, panels, inverses)


@njit(cache=True, fastmath=FAST)
def _forward(first, row_start, rows, panel_start, inverse_start, panels, inverses, y) -> None:
    """y <- L^-1 y for one right-hand side."""
    own = np.empty(_longest(first))
    for s in range(len(first) - 1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        for i in range(w):
            t = 0.0
            for k in range(i + 1):
                t += inverse[i, k] * y[a + k]
            own[i] = t
        copy(own[:w], y[a:])
        for r in range(w, h):
            t = 0.0
            for k in range(w):
                t += panel[r, k] * own[k]
            y[rows[row_start[s] + r]] -= t


@njit(cache=True, fastmath=FAST)
def _backward(first, row_start, rows, panel_start, inverse_start, panels, inverses, y) -> None:
    """y <- L^-T y for one right-hand side."""
    own = np.empty(_longest(first))
    for s in range(len(first) - 2, -1, -1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        copy(y[a : a + w], own)
        for r in range(w, h):
            f = y[rows[row_start[s] + r]]
            for k in range(w):
                own[k] -= panel[r, k] * f
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
    """A^-1 b; b has one entry for each unknown, in any shape."""
    y = np.array(b, dtype=float).ravel()
    _forward(*_arrays(factor), y)
    y *= factor.symbolic.sign
    _backward(*_arrays(factor), y)
    return y.reshape(b.shape)


@njit(cache=True)
def _forward_many(first, row_start, rows, panel_start, inverse_start, panels, inverses, y) -> None:
    """Y <- L^-1 Y, skipping the panels before the first nonzero row."""
    begin = 0
    while begin < len(first) - 2 and not np.any(y[first[begin] : first[begin + 1]]):
        begin += 1
    for s in range(begin, len(first) - 1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        own = np.dot(inverse, y[a : a + w])
        copy_rows(own, y, a)
        if h > w:
            sent = np.dot(panel[w:], own)
            for r in range(w, h):
                line, source = y[rows[row_start[s] + r]], sent[r - w]
                for c in range(len(source)):
                    line[c] -= source[c]


@njit(cache=True)
def _backward_many(first, row_start, rows, panel_start, inverse_start, panels, inverses, y) -> None:
    """Y <- L^-T Y."""
    m = y.shape[1]
    room = np.empty((_longest(row_start), m))
    for s in range(len(first) - 2, -1, -1):
        a, w, h = first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        if h > w:
            later = room[: h - w]
            for r in range(w, h):
                source, line = y[rows[row_start[s] + r]], later[r - w]
                for c in range(m):
                    line[c] = source[c]
            sent = np.dot(panel[w:].T, later)
            for k in range(w):
                for c in range(m):
                    y[a + k, c] -= sent[k, c]
        copy_rows(np.dot(inverse.T, y[a : a + w]), y, a)


def solve_many(factor: Factor, b: Array) -> Array:
    """A^-1 B for B (unknowns, m)."""
    y = np.array(b, dtype=float)
    if not y.size:
        return y
    _forward_many(*_arrays(factor), y)
    y *= factor.symbolic.sign[:, None]
    _backward_many(*_arrays(factor), y)
    return y


@njit(cache=True)
def _half_solve(
    first, row_start, rows, panel_start, inverse_start, panels, inverses,
    sign, begin, y, lo, hi, gram, dense,
) -> int:  # fmt: skip
    """Y <- L^-1 Y from panel `begin` on, and gram += Y^T S Y; returns the first row left out of it.

    Y has the rows of the panels from `begin` on. With its columns sorted by the node they start
    from, a panel of the post-ordered elimination tree sees only its own subtree's columns, and
    those are contiguous: [lo, hi) of each unknown. The last panels see nearly all columns;
    their part of Y^T S Y is one dense product, which the caller computes.
    """
    shift, last = first[begin], begin
    for s in range(begin, len(first) - 1):
        w, h = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        c0, c1 = lo[first[s]], hi[first[s]]
        for k in range(first[s], first[s + 1]):
            c0, c1 = min(c0, lo[k]), max(c1, hi[k])
        if c0 >= c1:
            last = s + 1 if last == s else last
            continue
        a, b = first[s] - shift, first[s + 1] - shift
        inverse = inverses[inverse_start[s] : inverse_start[s + 1]].reshape(w, w)
        own = np.dot(inverse, np.ascontiguousarray(y[a:b, c0:c1]))
        copy_rows(own, y[:, c0:c1], a)
        if c1 - c0 < dense and last == s:
            last = s + 1
            signed = own.copy()
            for k in range(w):
                if sign[first[s] + k] < 0.0:
                    for c in range(c1 - c0):
                        signed[k, c] = -signed[k, c]
            square = np.dot(signed.T, own)
            for i in range(c1 - c0):
                for j in range(i, c1 - c0):
                    gram[c0 + i, c0 + j] += square[i, j]
        if h == w:
            continue
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(h, w)
        sent = np.dot(panel[w:], own)
        for r in range(w, h):
            i = rows[row_start[s] + r]
            lo[i] = min(lo[i], c0)
            hi[i] = max(hi[i], c1)
            line, source = y[i - shift], sent[r - w]
            for c in range(c1 - c0):
                line[c0 + c] -= source[c]
    return first[last] - shift


@njit(cache=True)
def _place_points(start, nodes, weights, offset, tail, y, lo, hi) -> None:
    """Columns 3 i + d of Y: a unit force along axis d on point i, shared among its nodes."""
    for i in range(len(start) - 1):
        for k in range(start[i], start[i + 1]):
            for d in range(3):
                row = offset[nodes[k]] + d
                lo[row] = min(lo[row], 3 * i)
                hi[row] = max(hi[row], 3 * i + 3)
                y[row - tail, 3 * i + d] += weights[k]


@dataclass(frozen=True)
class HalfSolved:
    """Y = L^-1 B^T for unit forces on t points: column 3 i + d is point i, axis d."""

    tail: int  # unknowns before it are zero in all columns
    y: Array  # (size - tail, 3 t)
    gram: Array  # (3 t, 3 t) Y^T S Y = B A^-1 B^T


def half_solve(factor: Factor, start: Array, nodes: Array, weights: Array) -> HalfSolved:
    """Point i = sum of weights * nodes over start[i]:start[i+1], nodes of three unknowns.

    The points are best sorted by their first node.
    """
    s, t = factor.symbolic, len(start) - 1
    gram = np.zeros((3 * t, 3 * t))
    if not len(nodes):
        return HalfSolved(s.size, np.zeros((0, 3 * t)), gram)
    begin = int(np.searchsorted(s.first, s.offset[nodes.min()], side="right")) - 1
    tail = int(s.first[begin])
    y = np.zeros((s.size - tail, 3 * t))
    lo, hi = np.full(s.size, 3 * t, np.int32), np.zeros(s.size, np.int32)
    _place_points(start, nodes, weights, s.offset, tail, y, lo, hi)
    full = _half_solve(*_arrays(factor), s.sign, begin, y, lo, hi, gram, (3 * t) // 2)
    gram += _signed_gram(y[full:], s.sign[tail + full :])
    _mirror(gram)
    return HalfSolved(tail, y, gram)


def compliance(factor: Factor, half: HalfSolved, points: Array, extra: Array) -> Array:
    """C A^-1 C^T for C = unit forces on some of the half-solved points, then rows `extra`.

    points (t,): which. extra (e, ...): an entry for each unknown. Result (3 t + e, 3 t + e),
    symmetric; row 3 i + d is the i-th of the points, axis d.
    """
    s, n, e = factor.symbolic, 3 * len(points), len(extra)
    columns = (3 * points[:, None] + np.arange(3)).ravel()
    out = np.empty((n + e, n + e))
    out[:n, :n] = half.gram[columns[:, None], columns]
    if e:
        z = np.array(extra, dtype=float).reshape(e, s.size)
        for row in z:
            _forward(*_arrays(factor), row)
        signed = z * s.sign
        out[n:, :n] = (signed[:, half.tail :] @ half.y)[:, columns]
        out[:n, n:] = out[n:, :n].T
        out[n:, n:] = signed @ z.T
    return out


def _signed_gram(y: Array, sign: Array) -> Array:
    """Upper triangle of Y^T S Y."""
    minus = sign < 0.0
    if not minus.any():
        return blas.dsyrk(1.0, y.T, lower=0) if len(y) else np.zeros((y.shape[1], y.shape[1]))
    plus = blas.dsyrk(1.0, y[~minus].T, lower=0)
    return blas.dsyrk(-1.0, y[minus].T, lower=0, beta=1.0, c=plus, overwrite_c=1)


@njit(cache=True)
def _mirror(upper: Array) -> None:
    """Write the upper triangle below the diagonal, in place."""
    n = len(upper)
    for i in range(n):
        for j in range(i, n):
            upper[j, i] = upper[i, j]
