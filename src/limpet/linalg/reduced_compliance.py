"""The Delassus operator of a body in factored form: H A^-1 H^T = B S B^T.

The rows of a fine collision mesh act on few points, whose number bounds the rank. S is the
compliance of these points, B the action of each row on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.compiled import njit

Array = np.ndarray


@dataclass(frozen=True)
class ReducedCompliance:
    """B S B^T, with B as sparse rows."""

    start: Array  # (r + 1,) int32
    column: Array  # (k,) int32
    value: Array  # (k,)
    s: Array  # (q, q) symmetric

    def __len__(self) -> int:
        return len(self.start) - 1

    def times(self, factor: float) -> ReducedCompliance:
        return self if factor == 1.0 else replace(self, s=factor * self.s)

    def dense(self) -> Array:
        """(r, r)"""
        return _sandwich(self.start, self.column, self.value, self.s)

    def diagonal(self) -> Array:
        """(r,)"""
        return _diagonal(self.start, self.column, self.value, self.s)


@njit(cache=True)
def half_product(start: Array, column: Array, value: Array, s: Array) -> Array:
    """B S, (r, q)."""
    n, size = len(start) - 1, len(s)
    out = np.zeros((n, size))
    for r in range(n):
        line = out[r]
        for k in range(start[r], start[r + 1]):
            f, source = value[k], s[column[k]]
            for j in range(size):
                line[j] += f * source[j]
    return out


@njit(cache=True)
def rows_times_columns(start: Array, column: Array, value: Array, lines: Array) -> Array:
    """lines B^T, (l, r), for lines (l, q)."""
    out = np.empty((len(lines), len(start) - 1))
    for i in range(len(lines)):
        for r in range(out.shape[1]):
            total = 0.0
            for k in range(start[r], start[r + 1]):
                total += value[k] * lines[i, column[k]]
            out[i, r] = total
    return out


@njit(cache=True)
def transpose_times(start: Array, column: Array, value: Array, x: Array, q: int) -> Array:
    """B^T x, (q,), for x (r,)."""
    out = np.zeros(q)
    for r in range(len(start) - 1):
        for k in range(start[r], start[r + 1]):
            out[column[k]] += value[k] * x[r]
    return out


@njit(cache=True)
def _sandwich(start: Array, column: Array, value: Array, s: Array) -> Array:
    half = half_product(start, column, value, s)
    n = len(half)
    out = np.empty((n, n))
    for q in range(n):
        line = half[q]
        for r in range(q + 1):
            total = 0.0
            for k in range(start[r], start[r + 1]):
                total += value[k] * line[column[k]]
            out[q, r] = total
            out[r, q] = total
    return out


@njit(cache=True)
def _diagonal(start: Array, column: Array, value: Array, s: Array) -> Array:
    out = np.zeros(len(start) - 1)
    for r in range(len(out)):
        for k in range(start[r], start[r + 1]):
            line = s[column[k]]
            for q in range(start[r], start[r + 1]):
                out[r] += value[k] * value[q] * line[column[q]]
    return out


@njit(cache=True)
def sparse_rows(
    start: Array, vertex: Array, vector: Array, place: Array, extra_column: Array
) -> tuple[Array, Array, Array]:
    """B of rows over vertices: vertex v has columns 3 place[v] on; or one unit entry instead."""
    n = len(start) - 1
    out_start = np.zeros(n + 1, np.int32)
    column, value = np.empty(3 * len(vertex) + n, np.int32), np.empty(3 * len(vertex) + n)
    used = 0
    for r in range(n):
        if extra_column[r] >= 0:
            column[used], value[used] = extra_column[r], 1.0
            used += 1
        else:
            for k in range(start[r], start[r + 1]):
                for d in range(3):
                    if vector[k, d] != 0.0:
                        column[used], value[used] = 3 * place[vertex[k]] + d, vector[k, d]
                        used += 1
        out_start[r + 1] = used
    return out_start, column[:used], value[:used]


@njit(cache=True)
def _spread_rows(
    index: Array, start: Array, column: Array, value: Array, shift: int, fill: Array,
    out_column: Array, out_value: Array,
) -> None:  # fmt: skip
    for i in range(len(index)):
        at = fill[index[i]]
        for k in range(start[i], start[i + 1]):
            out_column[at], out_value[at] = column[k] + shift, value[k]
            at += 1
        fill[index[i]] = at


def join(parts: list[tuple[Array, ReducedCompliance]], n: int, factor: float) -> ReducedCompliance:
    """Join the parts of the bodies, each with its row indices among n; S is scaled by `factor`."""
    count = np.zeros(n, np.int32)
    for index, part in parts:
        count[index] += np.diff(part.start)
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    column, value = np.empty(start[-1], np.int32), np.empty(start[-1])
    size = sum(len(part.s) for _, part in parts)
    s, shift, fill = np.zeros((size, size)), 0, start[:-1].copy()
    for index, part in parts:
        _spread_rows(index, part.start, part.column, part.value, shift, fill, column, value)
        end = shift + len(part.s)
        s[shift:end, shift:end] = factor * part.s
        shift = end
    return ReducedCompliance(start, column, value, s)
