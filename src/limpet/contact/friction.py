"""Coulomb's coefficient of friction by pairs of bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.errors import LimpetError

Array = np.ndarray


class FrictionTable:
    """One coefficient for all pairs of bodies, except those that have their own; by name."""

    def __init__(self, default: float = 0.5) -> None:
        self.default = _checked(default)
        self._pairs: dict[frozenset[str], float] = {}

    def set(self, one: str, other: str, mu: float) -> None:
        self._pairs[frozenset((one, other))] = _checked(mu)

    def between(self, one: str, other: str) -> float:
        return self._pairs.get(frozenset((one, other)), self.default)

    def matrix(self, names: Sequence[str]) -> Array:
        """(n, n) of all pairs of these bodies."""
        rows = [[self.between(a, b) for b in names] for a in names]
        return np.reshape(np.array(rows, float), (len(names), len(names)))


def _checked(mu: float) -> float:
    if not 0.0 <= mu < np.inf:
        raise LimpetError(f"friction = {mu:g}: expected 0 or more")
    return float(mu)
