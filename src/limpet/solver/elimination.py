"""Bilateral rows hold in every solution, so they are solved for before all laws that may not.

With rows c (laws) and b (bilateral) of W = B S B^T, u_b = f_b + W_bc lam_c + W_bb lam_b = 0 gives
lam_b. What is left for the laws is B_c S' B_c^T with S' = S - S B_b^T W_bb^-1 B_b S: the same
problem, on bodies that are tied together. Where the laws have fewer rows than there are coordinates
the rows themselves serve as coordinates: B_c = I, S = W_cc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from limpet.linalg.reduced_compliance import (
    ReducedCompliance,
    half_product,
    rows_times_columns,
    transpose_times,
)

Array = np.ndarray


@dataclass(frozen=True)
class Eliminated:
    """What the bilateral rows leave, and how to get their multipliers back."""

    compliance: ReducedCompliance  # of the c rows of the laws
    free: Array  # (c,)
    _lower: Array  # L of W_bb = L L^T
    _half: Array  # L^-1 B_b S (b, q)
    _half_free: Array  # L^-1 f_b (b,)

    def complete(self, multipliers: Array) -> Array:
        """(c,) of the laws -> (c + b,) of all rows."""
        r = self.compliance
        pushed = transpose_times(r.start, r.column, r.value, multipliers, len(r.s))
        held = self._half_free + self._half @ pushed
        joints = solve_triangular(self._lower, held, lower=True, trans="T", check_finite=False)
        return np.concatenate([multipliers, -joints])


def eliminate(w: ReducedCompliance, free: Array, c: int) -> Eliminated:
    """Take the rows from c on, which must hold with equality, out of the problem."""
    if c < len(w.s):
        full = w.dense()
        s, product, own = full[:c, :c], full[c:, :c], full[c:, c:]
        start = np.arange(c + 1, dtype=np.int32)
        laws = ReducedCompliance(start, start[:-1], np.ones(c), s)
    else:
        laws = ReducedCompliance(w.start[: c + 1], w.column, w.value, w.s)
        joints = w.start[c:] - w.start[c], w.column[w.start[c] :], w.value[w.start[c] :]
        s, product = w.s, half_product(*joints, w.s)  # B_b S
        own = rows_times_columns(*joints, product)
    lower = cholesky(own, lower=True, check_finite=False)
    right = np.column_stack([product, free[c:]])
    solved = solve_triangular(lower, right, lower=True, check_finite=False)
    half, half_free = np.ascontiguousarray(solved[:, :-1]), solved[:, -1].copy()
    tied = ReducedCompliance(laws.start, laws.column, laws.value, s - half.T @ half)
    moved = rows_times_columns(laws.start, laws.column, laws.value, (half.T @ half_free)[None])
    return Eliminated(tied, free[:c] - moved[0], lower, half, half_free)
