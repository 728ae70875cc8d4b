"""Bilateral rows hold in every solution, so they are solved for before all laws that may not.

With rows c (laws) and b (bilateral), u_b = f_b + W_bc lam_c + W_bb lam_b = 0 gives lam_b, and what
is left for the laws is W_cc - W_cb W_bb^-1 W_bc and f_c - W_cb W_bb^-1 f_b: the same problem, on
bodies that are tied together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Array = np.ndarray


@dataclass(frozen=True)
class Eliminated:
    """What the bilateral rows leave, and how to get their multipliers back."""

    w: Array  # (c, c)
    free: Array  # (c,)
    _inverse_w: Array  # W_bb^-1 W_bc (b, c)
    _inverse_free: Array  # W_bb^-1 f_b (b,)

    def complete(self, multipliers: Array) -> Array:
        """(c,) of the laws -> (c + b,) of all rows."""
        bound = -(self._inverse_free + self._inverse_w @ multipliers)
        return np.concatenate([multipliers, bound])


def eliminate(w: Array, free: Array, c: int) -> Eliminated:
    """Take the rows from c on, which must hold with equality, out of the problem."""
    try:
        factor = cho_factor(w[c:, c:], lower=True, check_finite=False)
    except LinAlgError:
        raise LinAlgError("ties contradict or repeat each other") from None
    solved = cho_solve(factor, np.column_stack([w[c:, :c], free[c:]]), check_finite=False)
    reduced = w[:c, :c] - w[:c, c:] @ solved[:, :-1]
    return Eliminated(
        0.5 * (reduced + reduced.T),
        free[:c] - w[:c, c:] @ solved[:, -1],
        solved[:, :-1],
        solved[:, -1],
    )
