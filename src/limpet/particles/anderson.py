"""Anderson's acceleration of a fixed-point iteration q <- g(q) (Anderson 1965; Walker and Ni 2011).

Partitioned solvers that load each other converge so in a few turns, where the plain iteration needs
hundreds: the last turns show how g answers in the directions that matter.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

RANK = 1e-8  # of the largest singular value: turns that say the same


class Anderson:
    """The turns of one fixed point."""

    def __init__(self, weight: Array) -> None:
        """weight: of each number in the residual; those of weight 0 follow the others."""
        self.weight = weight
        self._values: list[Array] = []  # g(q)
        self._residuals: list[Array] = []  # weight (g(q) - q)

    def next(self, q: Array, value: Array) -> Array:
        """Where to go from q, with g(q) = value."""
        residual = (self.weight * (value - q)).ravel()
        out = value
        if self._residuals:
            change = np.stack([residual - r for r in self._residuals], axis=1)
            share = np.linalg.lstsq(change, residual, rcond=RANK)[0]
            out = value - sum(s * (value - v) for s, v in zip(share, self._values))
        self._values.append(value)
        self._residuals.append(residual)
        return out
