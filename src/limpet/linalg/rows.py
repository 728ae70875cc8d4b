"""Sparse rows of a constraint Jacobian H over points: (H v)_r = sum of vector . v[point]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.compiled import njit

Array = np.ndarray


@dataclass(frozen=True)
class Rows:
    """r rows; row i has the entries start[i]:start[i+1]."""

    start: Array  # (r + 1,) int32
    point: Array  # (k,) int32
    vector: Array  # (k, 3)

    def __len__(self) -> int:
        return len(self.start) - 1

    def times(self, v: Array) -> Array:
        """H v, (r,), for v (n, 3) of the points."""
        return _times(self.start, self.point, self.vector, v)

    def transpose_times(self, multipliers: Array, n: int) -> Array:
        """H^T multipliers as (n, 3) vectors on the points."""
        return _transpose_times(self.start, self.point, self.vector, multipliers, n)

    def select(self, local: Array) -> tuple[Array, Rows]:
        """The rows that act on some of the points, renumbered: (row numbers, rows).

        local (n,) int32: the new number of each point, -1 where it is left out.
        """
        index, *rows = _select(self.start, self.point, self.vector, local)
        return index, Rows(*rows)

    @staticmethod
    def stack(parts: Sequence[Rows]) -> Rows:
        """One after the other."""
        if len(parts) == 1:
            return parts[0]
        starts, end = [np.zeros(1, np.int32)], 0
        for part in parts:
            starts.append(part.start[1:] + end)
            end += int(part.start[-1])
        return Rows(
            np.concatenate(starts).astype(np.int32),
            np.concatenate([p.point for p in parts]).astype(np.int32),
            np.concatenate([p.vector for p in parts]),
        )

    @staticmethod
    def none() -> Rows:
        return Rows(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)))


@njit(cache=True)
def _times(start: Array, point: Array, vector: Array, v: Array) -> Array:
    out = np.empty(len(start) - 1)
    for r in range(len(out)):
        s = 0.0
        for k in range(start[r], start[r + 1]):
            i = point[k]
            s += vector[k, 0] * v[i, 0] + vector[k, 1] * v[i, 1] + vector[k, 2] * v[i, 2]
        out[r] = s
    return out


@njit(cache=True)
def _transpose_times(start: Array, point: Array, vector: Array, multiplier: Array, n: int) -> Array:
    out = np.zeros((n, 3))
    for r in range(len(multiplier)):
        m = multiplier[r]
        if m != 0.0:
            for k in range(start[r], start[r + 1]):
                i = point[k]
                out[i, 0] += m * vector[k, 0]
                out[i, 1] += m * vector[k, 1]
                out[i, 2] += m * vector[k, 2]
    return out


@njit(cache=True)
def _select(start: Array, point: Array, vector: Array, local: Array):
    r = len(start) - 1
    index = np.empty(r, np.int32)
    sub_start = np.zeros(r + 1, np.int32)
    sub_point = np.empty(len(point), np.int32)
    sub_vector = np.empty((len(point), 3))
    rows, used = 0, 0
    for i in range(r):
        before = used
        for k in range(start[i], start[i + 1]):
            if local[point[k]] >= 0:
                sub_point[used] = local[point[k]]
                sub_vector[used] = vector[k]
                used += 1
        if used > before:
            index[rows] = i
            rows += 1
            sub_start[rows] = used
    return index[:rows], sub_start[: rows + 1], sub_point[:used], sub_vector[:used]
