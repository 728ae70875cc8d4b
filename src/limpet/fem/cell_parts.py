"""The cells of a body in parts that threads assemble at the same time.

A part has blocks of its own wherever an earlier part writes, too; they are added afterwards, one
part after the other. The cells of a part follow each other in the order of elimination, which keeps
neighbours together, so there are few such blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.compiled import njit
from limpet.fem.elements.block import CellBlock

Array = np.ndarray

COST = 7.5e5  # of a part, at least: 0.15 ms
MOST = 8  # parts of a body


@dataclass(frozen=True)
class CellPart:
    """Some cells of one kind."""

    block: CellBlock
    slots: Array  # (m, k, k) int32: where their blocks go, as `corotational.assemble` takes it
    pressure_cells: Array  # (m, c) int32, of shared pressures
    compliance: Array  # (m, c, c) of these
    pivot: Array  # (m, c, c)


@dataclass(frozen=True)
class CellParts:
    """All cells of a body."""

    parts: Sequence[CellPart]
    shared: Array  # (e,) int64: the blocks to which those behind the pattern's are added

    @property
    def extra(self) -> int:
        """Blocks behind those of the pattern."""
        return len(self.shared)

    def add_shared(self, values: Array) -> None:
        """Add the blocks that parts have of their own."""
        _add_shared(values, self.shared)


def divide(kinds: Sequence[CellPart], blocks: int) -> CellParts:
    """Divide the cells of each kind; `blocks`: of the pattern."""
    cost = [_cost(kind.block) for kind in kinds]
    count = min(MOST, int(sum(cost) / COST))
    if count < 2:
        return CellParts(kinds, np.zeros(0, np.int64))
    parts: list[CellPart] = []
    for kind, own in zip(kinds, cost):
        order = np.argsort(kind.block.cells.min(axis=1), kind="stable")
        pieces = max(1, min(round(count * own / sum(cost)), len(order)))
        parts += [_some(kind, which) for which in np.array_split(order, pieces)]
    owner = np.full(blocks, -1)
    shared = [np.zeros(0, np.int64)]
    used = blocks
    for i, part in enumerate(parts):
        slots = np.where(part.slots >= 0, part.slots, -1 - part.slots)
        touched = np.unique(slots)
        own = touched[owner[touched] < 0]
        owner[own] = i
        others = touched[owner[touched] < i]
        place = np.arange(blocks)
        place[others] = used + np.arange(len(others))
        moved = place[slots]
        parts[i] = replace(
            part, slots=np.where(part.slots >= 0, moved, -1 - moved).astype(np.int32)
        )
        shared.append(others)
        used += len(others)
    return CellParts(parts, np.concatenate(shared))


def _cost(block: CellBlock) -> float:
    """Of assembling the cells: outer products at their points, and what a point costs besides."""
    m, q, k, _ = block.gradients.shape
    return float(m * q * (9 * k * k + 1500))


def _some(kind: CellPart, which: Array) -> CellPart:
    """Some of the cells, in an order of their own."""
    b = kind.block
    block = replace(
        b, cells=b.cells[which], gradients=b.gradients[which], weights=b.weights[which],
        laplace=b.laplace[which], mass=b.mass[which], lumped=b.lumped[which],
        pressure_mass=b.pressure_mass[which], pressure_root=b.pressure_root[which],
        stiffness=b.stiffness[which],
    )  # fmt: skip
    return CellPart(
        block, kind.slots[which], kind.pressure_cells[which], kind.compliance[which],
        kind.pivot[which],
    )  # fmt: skip


@njit(cache=True)
def _add_shared(values: Array, shared: Array) -> None:
    first = len(values) - len(shared)
    for e in range(len(shared)):
        for i in range(3):
            for j in range(3):
                values[shared[e], i, j] += values[first + e, i, j]
