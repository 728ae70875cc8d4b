"""The last step's multipliers as the next step's guess, contact by contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.constraints.rows import contact_forces, tangents

Array = np.ndarray


@dataclass(frozen=True)
class Memory:
    """What was found last: contact forces in world axes and pressures by cavity."""

    keys: Array  # (k,) int64, sorted
    forces: Array  # (k, 3) [N]
    cavities: Array  # (c,) int64
    pressures: Array  # (c,) [Pa] relative to the atmosphere
    line: int = 0  # of Newton's stages that led there

    @staticmethod
    def empty() -> Memory:
        none = np.zeros(0, np.int64)
        return Memory(none, np.zeros((0, 3)), none, np.zeros(0))

    @staticmethod
    def of(
        keys: Array, normal: Array, cavities: Array, multipliers: Array, line: int = 0
    ) -> Memory:
        k = len(keys)
        force = contact_forces(normal, multipliers)
        order = np.argsort(keys, kind="stable")
        return Memory(keys[order], force[order], cavities, multipliers[3 * k :].copy(), line)

    def recall(self, keys: Array, normal: Array, cavities: Array) -> Array:
        """Multipliers for the present rows: zero where nothing is remembered."""
        k = len(keys)
        lam = np.zeros((k, 3))
        if len(self.keys) and k:
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            known = self.keys[place] == keys
            force = np.where(known[:, None], self.forces[place], 0.0)
            first, second = tangents(normal)
            lam[:, 0] = np.maximum(0.0, np.einsum("ki,ki->k", force, normal))
            lam[:, 1] = np.einsum("ki,ki->k", force, first)
            lam[:, 2] = np.einsum("ki,ki->k", force, second)
        pressure = np.zeros(len(cavities))
        for i, c in enumerate(cavities):
            match = np.flatnonzero(self.cavities == c)
            if len(match):
                pressure[i] = self.pressures[match[0]]
        return np.concatenate([lam.ravel(), pressure])
