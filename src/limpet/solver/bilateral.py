"""Bilateral rows hold in every solution, so they are solved for before all laws that may not.

With rows c (laws) and b (bilateral) of W = B S B^T, u_b = f_b + W_bc lam_c + W_bb lam_b = 0 gives
lam_b. What is left for the laws is B_c S' B_c^T with S' = S - S B_b^T W_bb^-1 B_b S: the same
problem, on bodies that are tied together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from limpet.bodies.reduced import Reduced, half_product, rows_times_columns, transpose_times

Array = np.ndarray


@dataclass(frozen=True)
class Eliminated:
    """What the bilateral rows leave, and how to get their multipliers back."""

    compliance: Reduced  # of the c rows of the laws
    free: Array  # (c,)
    _inverse: Array  # W_bb^-1 B_b S (b, q)
    _inverse_free: Array  # W_bb^-1 f_b (b,)

    def complete(self, multipliers: Array) -> Array:
        """(c,) of the laws -> (c + b,) of all rows."""
        r = self.compliance
        pushed = transpose_times(r.start, r.column, r.value, multipliers, len(r.s))
        return np.concatenate([multipliers, -(self._inverse_free + self._inverse @ pushed)])


def eliminate(w: Reduced, free: Array, c: int) -> Eliminated:
    """Take the rows from c on, which must hold with equality, out of the problem."""
    laws = Reduced(w.start[: c + 1], w.column, w.value, w.s)
    ties = w.start[c:] - w.start[c], w.column[w.start[c] :], w.value[w.start[c] :]
    half = half_product(*ties, w.s)  # B_b S
    factor = cho_factor(rows_times_columns(*ties, half), lower=True, check_finite=False)
    solved = cho_solve(factor, np.column_stack([half, free[c:]]), check_finite=False)
    inverse, inverse_free = np.ascontiguousarray(solved[:, :-1]), solved[:, -1].copy()
    s = w.s - half.T @ inverse
    moved = rows_times_columns(laws.start, laws.column, laws.value, (half.T @ inverse_free)[None])
    tied = Reduced(laws.start, laws.column, laws.value, 0.5 * (s + s.T))
    return Eliminated(tied, free[:c] - moved[0], inverse, inverse_free)
