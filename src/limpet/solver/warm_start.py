"""What the last two steps found as the next step's guess, contact by contact.

Forces change little by little, so they are guessed to change once more as they did. That saves a
fifth of Newton's steps on a cup that is pulled, and a third on a bunny that hangs on one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.contact.rows import contact_forces, tangents

Array = np.ndarray


@dataclass(frozen=True)
class WarmStart:
    """What was found last: contact forces in world axes and pressures by cavity."""

    keys: Array  # (k,) int64, sorted
    forces: Array  # (k, 3) [N]
    cavities: Array  # (c,) int64
    pressures: Array  # (c,) [Pa] relative to the atmosphere
    change: Array  # (k, 3) [N] of the forces in the last step, zero where nothing was known before
    pressure_change: Array  # (c,) [Pa]
    level: int = 0  # which softening led Newton there

    @staticmethod
    def empty() -> WarmStart:
        none = np.zeros(0, np.int64)
        return WarmStart(none, np.zeros((0, 3)), none, np.zeros(0), np.zeros((0, 3)), np.zeros(0))

    @staticmethod
    def of(
        keys: Array, normal: Array, cavities: Array, multipliers: Array, level: int = 0
    ) -> WarmStart:
        k = len(keys)
        force = contact_forces(normal, multipliers)
        order = np.argsort(keys, kind="stable")
        pressures = multipliers[3 * k :].copy()
        return WarmStart(
            keys[order], force[order], cavities, pressures,
            np.zeros((k, 3)), np.zeros(len(pressures)), level,
        )  # fmt: skip

    def after(self, last: WarmStart) -> WarmStart:
        """What was found in a step that began with `last`: with how it changed in it.

        Where Newton had to be led, the load's division is hardly unique and wanders: nothing to go
        on from.
        """
        if self.level > 0:
            return self
        place, known = last._find(self.keys)
        change = np.zeros_like(self.forces)
        change[known] = self.forces[known] - last.forces[place[known]]
        was, there = last._pressures_of(self.cavities, last.pressures)
        return replace(
            self, change=change, pressure_change=np.where(there, self.pressures - was, 0.0)
        )

    def recall(self, keys: Array, normal: Array, cavities: Array) -> Array:
        """Multipliers for the present rows: zero where nothing is remembered."""
        lam = np.zeros((len(keys), 3))
        place, known = self._find(keys)
        if known.any():
            force = np.where(known[:, None], (self.forces + self.change)[place], 0.0)
            first, second = tangents(normal)
            lam[:, 0] = np.maximum(0.0, np.einsum("ki,ki->k", force, normal))
            lam[:, 1] = np.einsum("ki,ki->k", force, first)
            lam[:, 2] = np.einsum("ki,ki->k", force, second)
        pressure, _ = self._pressures_of(cavities, self.pressures + self.pressure_change)
        return np.concatenate([lam.ravel(), pressure])

    def _find(self, keys: Array) -> tuple[Array, Array]:
        """Where keys (k,) stand, and whether they do."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return place, self.keys[place] == keys

    def _pressures_of(self, cavities: Array, pressures: Array) -> tuple[Array, Array]:
        """Of some cavities (c,), zero where unknown; and whether they are known."""
        match = cavities[:, None] == self.cavities
        return match @ pressures, match.any(axis=1)
