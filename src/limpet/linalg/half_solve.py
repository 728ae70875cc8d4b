"""Compliance of points from the factor of their body's matrix: C A^-1 C^T = Y^T S Y.

Half-solves, Y = L^-1 C^T, are all that it takes, and they are kept as long as the factor is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from limpet.compiled import njit
from limpet.linalg.block_cholesky import Factor, forward, longest
from limpet.linalg.panel_kernels import LANES, send_rows, solve_rows, subtract_square
from limpet.linalg.threads import ALONE, Threads

Array = np.ndarray

COLUMNS = 96  # of Y that are solved at a time, about: fewer make rows too short
BLOCK = 256  # of Y^T Y, about: smaller ones cost more than they save


@njit(cache=True)
def _columns_seen(first, row_start, rows, begin, lo, hi) -> None:
    """Which columns of Y each panel sees: lo[first[s]] to hi[first[s]], whole vectors.

    With its columns sorted by the node they start from, a panel of the post-ordered elimination
    tree sees only its own subtree's columns, and those are contiguous.
    """
    for s in range(begin, len(first) - 1):
        a, w = first[s], first[s + 1] - first[s]
        c0, c1 = lo[a], hi[a]
        for k in range(a, a + w):
            c0, c1 = min(c0, lo[k]), max(c1, hi[k])
        if c0 < c1:
            c0, c1 = c0 - c0 % LANES, c1 + (-c1) % LANES  # zeros, but whole vectors
            for r in range(row_start[s] + w, row_start[s + 1]):
                lo[rows[r]] = min(lo[rows[r]], c0)
                hi[rows[r]] = max(hi[rows[r]], c1)
        lo[a], hi[a] = c0, c1


@njit(cache=True, nogil=True)
def _solve_columns(
    first, row_start, rows, panel_start, panels, begin, lo, hi, left, right, y
) -> None:
    """Columns left:right of Y <- L^-1 Y from panel `begin` on, whose rows are the first of Y."""
    shift, ones = first[begin], np.ones(longest(first))
    for s in range(begin, len(first) - 1):
        c0, c1 = max(lo[first[s]], left), min(hi[first[s]], right)
        if c0 >= c1:
            continue
        w, h, a = first[s + 1] - first[s], row_start[s + 1] - row_start[s], first[s] - shift
        panel = panels[panel_start[s] : panel_start[s + 1]].reshape(w, h)
        solve_rows(panel, y, a, c0, c1, ones)
        send_rows(panel, y, a, c0, c1, rows[row_start[s] : row_start[s + 1]], shift, ones)


@njit(cache=True)
def _add_narrow(first, minus, begin, lo, hi, y, gram) -> int:
    """gram += Y^T S Y, S = -minus, of the first panels; returns the first row of Y left out.

    The last panels see nearly all columns: their part is one dense product.
    """
    shift, dense = first[begin], gram.shape[0] // 2
    for s in range(begin, len(first) - 1):
        a, w, c0, c1 = first[s], first[s + 1] - first[s], lo[first[s]], hi[first[s]]
        if c1 - c0 >= dense:
            return a - shift
        if c0 < c1:
            subtract_square(y, a - shift, w, minus[a : a + w], c0, c1, gram)
    return y.shape[0]


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


def half_solve(
    factor: Factor, start: Array, nodes: Array, weights: Array, threads: Threads = ALONE
) -> HalfSolved:
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
    _columns_seen(s.first, s.row_start, s.rows, begin, lo, hi)
    threads.run(
        [
            partial(_solve_columns, *factor.arrays, begin, lo, hi, left, right, y)
            for left, right in _pieces(columns, COLUMNS)
        ]
    )
    full = _add_narrow(s.first, -s.sign, begin, lo, hi, y, gram)
    _add_dense(y[full:], s.sign[tail + full :], gram, threads)
    _mirror(gram)
    return HalfSolved(tail, y[:, : 3 * t], gram[: 3 * t, : 3 * t])


def _pieces(count: int, size: int) -> list[tuple[int, int]]:
    """0 to `count` in pieces of about `size`, whole vectors; of one length but for the last."""
    number = max(1, round(count / size))
    step = -(-count // number)
    step += -step % LANES
    return [(left, min(left + step, count)) for left in range(0, count, step)]


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


def _add_dense(y: Array, sign: Array, gram: Array, threads: Threads) -> None:
    """gram += Y^T S Y, in its upper triangle at least."""
    signed = y if (sign > 0.0).all() else sign[:, None] * y
    pieces = _pieces(len(gram), BLOCK)

    def add(i: int, j: int) -> None:
        (a, b), (c, d) = pieces[i], pieces[j]
        gram[a:b, c:d] += y[:, a:b].T @ signed[:, c:d]

    threads.run([partial(add, i, j) for j in range(len(pieces)) for i in range(j + 1)])


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
