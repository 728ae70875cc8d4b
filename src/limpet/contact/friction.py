"""Coefficients of friction (Coulomb) and of restitution (Newton) by pairs of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

import numpy as np

from limpet.errors import LimpetError

Array = np.ndarray


class PairTable:
    """One coefficient for all pairs of bodies, except those that have their own; by name."""

    def __init__(self, label: str, default: float, most: float = np.inf) -> None:
        self._label, self._most = label, most
        self.default = self._checked(default)
        self._pairs: dict[frozenset[str], float] = {}

    def set(self, one: str, other: str, value: float) -> None:
        self._pairs[frozenset((one, other))] = self._checked(value)

    def between(self, one: str, other: str) -> float:
        return self._pairs.get(frozenset((one, other)), self.default)

    def matrix(self, names: Sequence[str]) -> Array:
        """(n, n) of all pairs of these bodies."""
        rows = [[self.between(a, b) for b in names] for a in names]
        return np.reshape(np.array(rows, float), (len(names), len(names)))

    def _checked(self, value: float) -> float:
        if not isinstance(value, Real):
            raise LimpetError(f"{self._label} = {value!r}: expected a number")
        if not 0.0 <= value <= self._most or value == np.inf:
            expected = "0 or more" if self._most == np.inf else f"0 to {self._most:g}"
            raise LimpetError(f"{self._label} = {float(value):g}: expected {expected}")
        return float(value)


class FrictionTable(PairTable):
    def __init__(self, default: float = 0.5) -> None:
        super().__init__("friction", default)


class RestitutionTable(PairTable):
    """The share of the speed with which two bodies part after an impact."""

    def __init__(self, default: float = 0.0) -> None:
        super().__init__("restitution", default, most=1.0)
