"""The order of rows: the one place that stacks the rows of all constraint sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from limpet.dynamics.constraint_set import ConstraintSet, RowBlock
from limpet.dynamics.warm_start import WarmStart
from limpet.linalg.rows import Rows
from limpet.solver.laws import ELIMINATED

Array = np.ndarray


@dataclass(frozen=True)
class RowLayout:
    """The rows of all sets, one set after the other; those that are eliminated come last."""

    names: tuple[str, ...]  # of the sets
    blocks: tuple[RowBlock, ...]
    first: Array  # (sets + 1,) where the rows of each set begin
    jacobian: Rows  # of all sets
    solved: int  # rows that the laws are solved for; the others are eliminated

    @staticmethod
    def stack(sets: Sequence[ConstraintSet]) -> RowLayout:
        found = [(s.name, s.rows()) for s in sets]
        found.sort(key=lambda one: _eliminated(one[1]))  # stable
        blocks = [block for _, block in found]
        first = np.cumsum([0, *map(len, blocks)])
        solved = sum(len(block) for block in blocks if not _eliminated(block))
        jacobian = Rows.stack([block.jacobian for block in blocks]) if blocks else Rows.none()
        return RowLayout(tuple(n for n, _ in found), tuple(blocks), first, jacobian, solved)

    def __len__(self) -> int:
        return int(self.first[-1])

    def of(self, name: str, values: Array) -> Array:
        """The part of values (r,) that belongs to a set."""
        i = self.names.index(name)
        return values[self.first[i] : self.first[i + 1]]

    def join(self, name: str) -> Array:
        """One field of all blocks."""
        return np.concatenate([np.zeros(0), *(getattr(block, name) for block in self.blocks)])

    def laws(self) -> tuple[Array, Array, Array]:
        """kind (b,), start (b + 1,) and data (b, DATA) of the rows that laws are solved for."""
        own = [block for block in self.blocks if not _eliminated(block)] or [RowBlock.none()]
        ends = np.cumsum([0, *map(len, own)])
        starts = [block.start[1:] + end for block, end in zip(own, ends)]
        return (
            np.concatenate([block.kind for block in own]),
            np.concatenate([np.zeros(1, np.int32), *starts]).astype(np.int32),
            np.concatenate([block.data for block in own]),
        )


def _eliminated(block: RowBlock) -> bool:
    return len(block.kind) > 0 and block.kind[0] == ELIMINATED


@dataclass(frozen=True)
class SolverMemory:
    """What the solver knows from the last step: multipliers by set, and what it took."""

    sets: Mapping[str, WarmStart] = field(default_factory=dict)
    level: int = 0  # which continuation factor led Newton to the end

    def recall(self, layout: RowLayout) -> Array:
        """(r,) a guess of the multipliers that laws are solved for."""
        parts = [np.zeros(0)]
        for name, block in zip(layout.names, layout.blocks):
            if not _eliminated(block):
                known = self.sets.get(name)
                if known is None:
                    parts.append(np.zeros(len(block)))
                else:
                    parts.append(known.recall(block.keys, block.frames).ravel())
        return np.concatenate(parts)

    @staticmethod
    def of(layout: RowLayout, multipliers: Array, level: int) -> SolverMemory:
        sets = {}
        for name, block in zip(layout.names, layout.blocks):
            if not _eliminated(block):
                size = 1 if block.frames is None else 3
                own = layout.of(name, multipliers).reshape(-1, size)
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
