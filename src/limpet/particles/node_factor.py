"""M + J^T D J over the nodes of a particle system, factored by block Cholesky.

A rigid body counts as two nodes, its translation and its rotation. Contacts come and go and are
left to `tangent.py`; all other rows couple the same nodes in every step, so the pattern is analysed
once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import njit
from limpet.linalg import block_cholesky as chol
from limpet.linalg import half_solve
from limpet.linalg.symbolic import (
    BlockPattern,
    SymbolicFactor,
    analyse,
    block_pattern,
    elimination_order,
)
from limpet.particles.constraints import ParticleConstraints

Array = np.ndarray


@dataclass(frozen=True)
class NodePattern:
    """Which nodes are coupled; `new` numbers them in the order of elimination."""

    new: Array  # (n,) int32
    order: Array  # (n,) int32: the other way
    pattern: BlockPattern
    symbolic: SymbolicFactor

    @staticmethod
    def of(constraints: ParticleConstraints, nodes: int, bodies: int) -> NodePattern:
        n = nodes + 2 * bodies
        body = nodes + 2 * np.arange(bodies)
        couples = [np.stack([body, body + 1], axis=1)]
        for each in (constraints.distances.nodes, constraints.bends.nodes):
            k = each.shape[1]
            couples += [each[:, [a, b]] for a in range(k) for b in range(a)]
        for anchors in (constraints.rigid_held, constraints.held):
            sides = [np.where(anchors.node >= 0, anchors.node, -1)]
            for side in range(2):
                rigid = anchors.rigid[:, side]
                sides += [np.where(rigid >= 0, nodes + 2 * rigid + part, -1) for part in (0, 1)]
            couples += [np.stack([a, b], axis=1)[(a >= 0) & (b >= 0)] for a in sides for b in sides]
        pairs = np.concatenate(couples).astype(np.int32)
        i, j = pairs[:, 0], pairs[:, 1]
        order = elimination_order(n, i, j)
        new = np.empty(n, np.int32)
        new[order] = np.arange(n, dtype=np.int32)
        pattern = block_pattern(n, new[i], new[j])
        return NodePattern(new, order, pattern, analyse(pattern, n))


class NodeFactor:
    """The factor of one matrix. Vectors are (n, 3), in the order of the nodes."""

    def __init__(self, of: NodePattern, mass: Array, start: Array, node: Array, vector: Array,
                 stiffness: Array) -> None:  # fmt: skip
        """mass (n, 3, 3); rows start (r + 1,), node (k,), vector (k, 3), stiffness (r,)."""
        self._of = of
        values = np.zeros((len(of.pattern.rows), 3, 3))
        values[of.pattern.start[:-1]] = mass[of.order]
        _assemble(start, of.new[node], vector, stiffness, of.pattern.start, of.pattern.rows, values)
        self._factor = chol.factorise(of.symbolic, values)
        self._known = np.zeros(0, np.int64)  # nodes, ascending by `new`
        self._half: half_solve.HalfSolved | None = None

    def solve(self, right: Array) -> Array:
        """A^-1 b, (n, 3)."""
        return chol.solve(self._factor, right[self._of.order])[self._of.new]

    def inverse(self, nodes: Array) -> Array:
        """(3 t, 3 t) of A^-1, at the nodes (t,), each once."""
        place = self._of.new[nodes]
        if self._half is None or not np.isin(place, self._known).all():
            self._known = np.union1d(self._known, place)
            unit = np.arange(len(self._known) + 1, dtype=np.int32)
            self._half = half_solve.half_solve(
                self._factor, unit, self._known.astype(np.int32), np.ones(len(self._known))
            )
        at = 3 * np.searchsorted(self._known, place)[:, None] + np.arange(3)
        return self._half.gram[np.ix_(at.ravel(), at.ravel())]


@njit(cache=True)
def _assemble(
    start: Array, node: Array, vector: Array, stiffness: Array, column_start: Array, rows: Array,
    values: Array,
) -> None:  # fmt: skip
    """values += sum of d v v^T, blocks of the lower triangle."""
    for r in range(len(stiffness)):
        for a in range(start[r], start[r + 1]):
            for b in range(start[r], start[r + 1]):
                i, j = node[a], node[b]
                if i < j:
                    continue
                lo, hi = column_start[j], column_start[j + 1]
                slot = lo + np.searchsorted(rows[lo:hi], i)
                for p in range(3):
                    s = stiffness[r] * vector[a, p]
                    for q in range(3):
                        values[slot, p, q] += s * vector[b, q]
