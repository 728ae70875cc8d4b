"""What the step asks of every body, and the sparse rows it asks about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from limpet.linalg.reduced_compliance import ReducedCompliance

Array = np.ndarray


@dataclass(frozen=True)
class Rows:
    """Constraint rows H over surface vertices: (H v)_r = sum over entries of vector . v[vertex]."""

    start: Array  # (r + 1,) int32
    vertex: Array  # (k,) int32
    vector: Array  # (k, 3)

    def __len__(self) -> int:
        return len(self.start) - 1


class Body(Protocol):
    """A body integrates itself, answers for its compliance, and takes impulses. Nothing else."""

    name: str
    n_points: int  # vertices of its collision surface
    mass: float  # [kg]
    mass_damping: float  # [1/s] drag on its momentum
    movable: bool  # whether impulses change its velocity at all

    def positions(self) -> Array:
        """(n_points, 3) [m], world frame."""
        ...

    def velocities(self) -> Array:
        """(n_points, 3) [m/s] of the velocity last computed."""
        ...

    def compute_free_velocity(self, h: float, gravity: Array, time: float) -> None:
        """Integrate the velocity over h as if the body were alone (P eq 1)."""
        ...

    def compliance(self, rows: Rows) -> ReducedCompliance:
        """H A^-1 H^T (r, r) for rows over its own surface vertices (P eq 7, 10), as B S B^T."""
        ...

    def apply_impulse(self, impulse: Array) -> None:
        """Velocity <- free velocity + A^-1 J^T impulse; impulse (n_points, 3) [N s] (P eq 3)."""
        ...

    def advance(self, h: float) -> None:
        """x <- x + h v."""
        ...

    def momentum(self) -> Array:
        """(3,) [kg m/s]"""
        ...

    def reaction(self, h: float) -> Array:
        """(6,) [N, N m] the wrench that its drive or fixture exerted over the last step."""
        ...

    def get_state(self) -> dict[str, Array]:
        """All that the next step depends on; nothing later changes these arrays."""
        ...

    def set_state(self, state: dict[str, Array]) -> None: ...


@njit(cache=True)
def rows_times(start: Array, vertex: Array, vector: Array, v: Array) -> Array:
    """H v, (r,)."""
    out = np.empty(len(start) - 1)
    for r in range(len(out)):
        s = 0.0
        for k in range(start[r], start[r + 1]):
            i = vertex[k]
            s += vector[k, 0] * v[i, 0] + vector[k, 1] * v[i, 1] + vector[k, 2] * v[i, 2]
        out[r] = s
    return out


@njit(cache=True)
def rows_transpose_times(
    start: Array, vertex: Array, vector: Array, multiplier: Array, n: int
) -> Array:
    """H^T multiplier as (n, 3) vectors on the surface vertices."""
    out = np.zeros((n, 3))
    for r in range(len(multiplier)):
        m = multiplier[r]
        if m != 0.0:
            for k in range(start[r], start[r + 1]):
                i = vertex[k]
                out[i, 0] += m * vector[k, 0]
                out[i, 1] += m * vector[k, 1]
                out[i, 2] += m * vector[k, 2]
    return out


@njit(cache=True)
def _select(start: Array, vertex: Array, vector: Array, lo: int, hi: int):
    r = len(start) - 1
    index = np.empty(r, np.int32)
    sub_start = np.zeros(r + 1, np.int32)
    sub_vertex = np.empty(len(vertex), np.int32)
    sub_vector = np.empty((len(vertex), 3))
    rows, used = 0, 0
    for i in range(r):
        before = used
        for k in range(start[i], start[i + 1]):
            if lo <= vertex[k] < hi:
                sub_vertex[used] = vertex[k] - lo
                sub_vector[used] = vector[k]
                used += 1
        if used > before:
            index[rows] = i
            rows += 1
            sub_start[rows] = used
    return index[:rows], sub_start[: rows + 1], sub_vertex[:used], sub_vector[:used]


def select_rows(rows: Rows, lo: int, hi: int) -> tuple[Array, Rows]:
    """The rows that touch vertices lo..hi-1, with vertices counted from lo: (row numbers, rows)."""
    index, start, vertex, vector = _select(rows.start, rows.vertex, rows.vector, lo, hi)
    return index, Rows(start, vertex, vector)
