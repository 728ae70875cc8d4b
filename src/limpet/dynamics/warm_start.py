"""What the last step found as the next step's guess, block by block.

Multipliers are kept by key and in world axes, so that they survive a change of order and of frame.
They change little by little, so they are guessed to change once more as they did: that saves a
fifth of the Newton iterations of a cup that is pulled, and a third of a bunny's that hangs on one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from limpet.compiled import njit
from limpet.dynamics.constraint_set import RowBlock

Array = np.ndarray

NO_FRAMES = np.zeros((0, 3, 3))


@dataclass(frozen=True)
class WarmStart:
    """Multipliers of the last step: forces [N], impulses [N s] or pressures [Pa]."""

    keys: Array  # (k,) int64, sorted
    values: Array  # (k, 3) in world axes, or (k, 1) of scalars
    change: Array  # of the values in the last step, zero where nothing was known before

    @staticmethod
    def none(size: int = 3) -> WarmStart:
        empty = np.zeros((0, size))
        return WarmStart(np.zeros(0, np.int64), empty, empty)

    @staticmethod
    def of(keys: Array, multipliers: Array, frames: Array | None) -> WarmStart:
        """multipliers (k, 3) along the axes of their frames (k, 3, 3), or (k, 1) scalars."""
        order = np.argsort(keys, kind="stable")
        values = multipliers if frames is None else _in_world(multipliers, frames)
        values = values[order]
        return WarmStart(keys[order], values, np.zeros_like(values))

    def after(self, last: WarmStart) -> WarmStart:
        """The same, with how it changed since `last`."""
        if len(last.keys) == 0 or len(self.keys) == 0:
            return self
        place = np.minimum(np.searchsorted(last.keys, self.keys), len(last.keys) - 1)
        known = last.keys[place] == self.keys
        change = np.where(known[:, None], self.values - last.values[place], 0.0)
        return replace(self, change=change)

    def recall(self, keys: Array, frames: Array | None) -> Array:
        """(k, 3) along the frames' axes, or (k, 1): zero where unknown; a contact never pulls."""
        out = np.zeros((len(keys), 1 if frames is None else 3))
        if len(self.keys) and len(keys):
            axes = NO_FRAMES if frames is None else frames
            _recall(self.keys, self.values, self.change, keys, axes, out)
        return out


@njit(cache=True)
def _recall(
    known: Array, values: Array, change: Array, keys: Array, frames: Array, out: Array
) -> None:
    """Write out (k, 3) or (k, 1); without frames values are taken as they are."""
    place, last = 0, len(known) - 1
    for c in range(len(keys)):
        place = min(place + 1, last)  # most often they come in the same order
        if known[place] != keys[c]:
            place = min(np.searchsorted(known, keys[c]), last)
            if known[place] != keys[c]:
                continue
        if len(frames) == 0:
            out[c, 0] = values[place, 0] + change[place, 0]
            continue
        for a in range(3):
            for i in range(3):
                out[c, a] += (values[place, i] + change[place, i]) * frames[c, a, i]
        out[c, 0] = max(out[c, 0], 0.0)


@njit(cache=True)
def _in_world(p: Array, frames: Array) -> Array:
    out = np.empty((len(p), 3))
    for c in range(len(p)):
        f = frames[c]
        for i in range(3):
            out[c, i] = p[c, 0] * f[0, i] + p[c, 1] * f[1, i] + p[c, 2] * f[2, i]
    return out


@dataclass(frozen=True)
class SolverMemory:
    """What the solver knows from the last step: multipliers by set, and what it took."""

    sets: Mapping[str, WarmStart] = field(default_factory=dict)
    level: int = 0  # which continuation factor led Newton to the end

    def recall(self, blocks: Mapping[str, RowBlock]) -> Array:
        """(s,) a guess of the multipliers of some sets' rows."""
        parts = [np.zeros(0)]
        for name, block in blocks.items():
            known = self.sets.get(name)
            if known is None:
                parts.append(np.zeros(len(block.bias)))
            else:
                parts.append(known.recall(block.keys, block.frames).ravel())
        return np.concatenate(parts)

    @staticmethod
    def of(
        blocks: Mapping[str, RowBlock], part: Mapping[str, slice], multipliers: Array, level: int
    ) -> SolverMemory:
        """part: the rows of each set."""
        sets = {}
        for name, block in blocks.items():
            own = multipliers[part[name]].reshape(-1, 1 if block.frames is None else 3)
            sets[name] = WarmStart.of(block.keys, own, block.frames)
        return SolverMemory(sets, level)

    def after(self, last: SolverMemory) -> SolverMemory:
        """What a step found that began with `last`: with how it changed in it.

        Where Newton had to be led, the load's division is hardly unique and wanders: nothing to
        extrapolate from.
        """
        if self.level > 0:
            return self
        none = WarmStart.none()
        sets = {name: known.after(last.sets.get(name, none)) for name, known in self.sets.items()}
        return SolverMemory(sets, self.level)
