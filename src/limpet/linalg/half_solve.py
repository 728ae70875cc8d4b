"""Compliance of points from the factor of their body's matrix: C A^-1 C^T = Y^T S Y.

Half-solves, Y = L^-1 C^T, are all that it takes, and they are kept as long as the factor is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from limpet.compiled import njit
from limpet.linalg.block_cholesky import Factor, forward, longest
from limpet.linalg.panel_kernels import LANES, send_rows, solve_rows, subtract_square

Array = np.ndarray


@njit(cache=True)
def _half_solve(
    first, row_start, rows, panel_start, panels, sign, begin, y, lo, hi, gram, dense
) -> int:
    """Y <- L^-1 Y from panel `begin` on, and gram += Y^T S Y; returns the first row left out of it.

    Y has the rows of the panels from `begin` on. With its columns sorted by the node they start
    from, a panel of the post-ordered elimination tree sees only its own subtree's columns, and
    those are contiguous: [lo, hi) of each unknown. The last panels see nearly all columns;
    their part of Y^T S Y is one dense product, which the caller computes.
    """
    shift, last, ones = first[begin], begin, np.ones(longest(first))
    for s in range(begin, len(first) - 1):
        w, h = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
        c0, c1 = lo[first[s]], hi[first[s]]
        for k in range(first[s], first[s + 1]):
            c0, c1 = min(c0, lo[k]), max(c1, hi[k])
        if c0 >= c1:
            last = s + 1 if last == s else last
            continue
        c0, c1 = c0 - c0 % LANES, c1 + (-c1) % LANES  # zeros, but whole vectors
        a = first[s] - shift
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        solve_rows(panel, y, a, c0, c1, ones)
        if c1 - c0 < dense and last == s:
            last = s + 1
            subtract_square(y, a, w, -sign[first[s] : first[s + 1]], c0, c1, gram)
        below = rows[row_start[s] : row_start[s + 1]]
        for r in range(w, h):
            lo[below[r]] = min(lo[below[r]], c0)
            hi[below[r]] = max(hi[below[r]], c1)
        send_rows(panel, y, a, c0, c1, below, shift, ones)
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
    columns = 3 * t + -3 * t % LANES  # the last ones are zero
    if not len(nodes):
        return HalfSolved(s.size, np.zeros((0, 3 * t)), np.zeros((3 * t, 3 * t)))
    gram = np.zeros((columns, columns))
    begin = int(np.searchsorted(s.first, s.offset[nodes.min()], side="right")) - 1
    tail = int(s.first[begin])
    y = np.zeros((s.size - tail, columns))
    lo, hi = np.full(s.size, columns, np.int32), np.zeros(s.size, np.int32)
    _place_points(start, nodes, weights, s.offset, tail, y, lo, hi)
    full = _half_solve(*factor.arrays, s.sign, begin, y, lo, hi, gram, (3 * t) // 2)
    gram += _signed_gram(y[full:], s.sign[tail + full :])
    _mirror(gram)
    return HalfSolved(tail, y[:, : 3 * t], gram[: 3 * t, : 3 * t])


def compliance(factor: Factor, half: HalfSolved, points: Array, extra: Array) -> Array:
    """C A^-1 C^T for C = unit forces on some of the half-solved points, then rows `extra`.

    points (t,): which. extra (e, ...): an entry for each unknown. Result (3 t + e, 3 t + e),
    symmetric; row 3 i + d is the i-th of the points, axis d.
    """
    s, n, e = factor.symbolic, 3 * len(points), len(extra)
    out = np.empty((n + e, n + e))
    _pick(half.gram, points, out)
    if e:
        z = np.array(extra, dtype=float).reshape(e, s.size)
        for row in z:
            forward(*factor.arrays, row)
        signed = z * s.sign
        columns = (3 * points[:, None] + np.arange(3)).ravel()
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
def _pick(gram: Array, points: Array, out: Array) -> None:
    """The rows and columns of some points, three each, into the corner of `out`."""
    for i in range(len(points)):
        for d in range(3):
            source, line = gram[3 * points[i] + d], out[3 * i + d]
            for j in range(len(points)):
                for c in range(3):
                    line[3 * j + c] = source[3 * points[j] + c]


@njit(cache=True)
def _mirror(upper: Array) -> None:
    """Write the upper triangle below the diagonal, in place."""
    n = len(upper)
    for i in range(n):
        for j in range(i, n):
            upper[j, i] = upper[i, j]
