"""The order of rows: the one place that stacks the rows of all constraint sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.dynamics.constraint_set import ConstraintSet, RowBlock
from limpet.linalg.rows import Rows
from limpet.solver.laws import ELIMINATED
from limpet.solver.problem import FactoredDelassus

Array = np.ndarray


@dataclass(frozen=True)
class RowLayout:
    """The rows of all sets, one set after the other; those that are eliminated come last."""

    blocks: Mapping[str, RowBlock]  # by set; of the rows that laws are solved for
    part: Mapping[str, slice]  # the rows of each set, the eliminated ones included
    jacobian: Rows  # r rows
    bias: Array  # (r,)
    compliance: Array  # (s,) of each row itself, and below: of the rows that laws are solved for
    kind: Array  # (b,) int32
    start: Array  # (b + 1,) int32
    data: Array  # (b, DATA)

    @staticmethod
    def of(name: str, block: RowBlock) -> RowLayout:
        """The rows of one set alone."""
        return RowLayout(
            {name: block}, {name: slice(0, len(block))}, block.jacobian, block.bias,
            block.compliance, block.kind, block.start, block.data,
        )  # fmt: skip

    def coupled(self, w: Array | FactoredDelassus, sign: float = 1.0) -> Array | FactoredDelassus:
        """W with the coupling of rows added, or taken away; written out if there is any."""
        found = [(self.part[n], b.coupling) for n, b in self.blocks.items()]
        for own, coupling in found:
            if coupling is not None:
                w = w.dense() if isinstance(w, FactoredDelassus) else w.copy()
                w[own, own] += sign * coupling
        return w

    @staticmethod
    def stack(sets: Sequence[ConstraintSet]) -> RowLayout:
        found = {s.name: s.rows() for s in sets}
        last = {n: b for n, b in found.items() if len(b.kind) and b.kind[0] == ELIMINATED}
        solved = {n: b for n, b in found.items() if n not in last}
        part, end = {}, 0
        for name, block in (solved | last).items():
            part[name] = slice(end, end + len(block.bias))
            end = part[name].stop
        own = list(solved.values()) or [RowBlock.none()]
        rows = [*own, *last.values()]
        shifts = np.cumsum([0, *(len(b.bias) for b in own)])
        starts = [b.start[1:] + shift for b, shift in zip(own, shifts)]
        return RowLayout(
            solved, part, Rows.stack([b.jacobian for b in rows]),
            np.concatenate([b.bias for b in rows]),
            np.concatenate([b.compliance for b in own]),
            np.concatenate([b.kind for b in own]),
            np.concatenate([NONE, *starts]).astype(np.int32),
            np.concatenate([b.data for b in own]),
        )  # fmt: skip


NONE = np.zeros(1, np.int32)
