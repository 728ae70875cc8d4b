"""The matrix of a soft body's step, made once and kept while the body has hardly changed.

A (P eq 1) says how the forces will change over a step; the forces themselves are those of the
moment in every step. So an A that is a few steps old errs by a share of what a step changes, and
not at all where the body comes to rest. In a slender body that share is large, as stretching is so
much stiffer than bending: A must not be older than a turn by a third of a degree. Keeping it saves
the assembly and the factor, and what was solved with it: the response of a point is computed when
it is first touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.fem.discretisation import Discretisation
from limpet.fem.surface_map import free_entries
from limpet.linalg import block_cholesky as chol
from limpet.linalg import half_solve

Array = np.ndarray

CROWDED = 2  # times as many points known as asked for: forget the others


@dataclass(frozen=True)
class BoundPoints:
    """Points that ride on nodes, as a Binding says; counted in the order of elimination."""

    order: Array  # (t,) int: the point that comes first, second, ...
    start: Array  # (t + 1,) by point
    nodes: Array
    weights: Array


@dataclass(frozen=True)
class Known:
    """Half-solves for unit forces on some points."""

    points: BoundPoints
    index: Array  # (k,) ascending: which, by their place in the order
    half: half_solve.HalfSolved


@dataclass(frozen=True)
class MadeAt:
    """Where a matrix is made: it can be made again from this, to the bit."""

    x: Array  # (n, 3) [m]
    p: Array  # [Pa] shared pressures
    h: float  # [s]

    def same(self, other: MadeAt) -> bool:
        """To the bit."""
        equal = np.array_equal(self.x, other.x) and np.array_equal(self.p, other.p)
        return self.h == other.h and equal

    def serves(self, fem: Discretisation, x: Array, p: Array, h: float) -> bool:
        """Whether the matrix may stand for that at x, p and h."""
        limit = fem.fem.reuse
        if h != self.h or limit == 0.0:
            return False
        if len(p) and not np.abs(p - self.p).max() <= limit * fem.mu:
            return False
        return not fem.changed(x - self.x, limit)


class Tangent:
    """A, factorised."""

    def __init__(
        self, fem: Discretisation, at: MadeAt, old: Tangent | None,
        theta: float = 1.0, exact: bool = False,
    ) -> None:  # fmt: skip
        """`old` is no longer needed: its arrays are written over. Raises NotPositiveError.

        exact: with the true derivative of the forces, as long as A is positive definite with it.
        """
        self._fem, self.at = fem, at
        self._known: Known | None = None
        memory = old.factor if old else None
        if exact:
            try:
                self._factorise(theta, memory, exact)
                return
            except chol.NotPositiveError:
                pass
        self._factorise(theta, memory, False)

    def _factorise(self, theta: float, memory: chol.Factor | None, exact: bool) -> None:
        at = self.at
        self.values, self.loads = self._fem.assemble(at.x, at.p, at.h, theta, exact)
        self.factor: chol.Factor = chol.factorise(
            self._fem.symbolic, self.values, memory, self._fem.threads
        )

    def solve(self, right: Array) -> Array:
        """A^-1 of the free part, zero at the driven nodes; both by unknown (u, 3)."""
        n, entries = self._fem.free_unknowns, self._fem.entries
        out = np.zeros_like(right)
        out[:n].reshape(-1)[entries] = chol.solve(self.factor, right[:n].reshape(-1)[entries])
        return out

    def solve_many(self, right: Array) -> Array:
        """As `solve`, for m right-hand sides (u, 3, m)."""
        n, entries, m = self._fem.free_unknowns, self._fem.entries, right.shape[2]
        out = np.zeros_like(right)
        free = right[:n].reshape(3 * n, m)[entries]
        out[:n].reshape(3 * n, m)[entries] = chol.solve_many(self.factor, free)
        return out

    def compliance(self, points: BoundPoints, index: Array, extra: Array) -> Array:
        """C A^-1 C^T for unit forces on points, three rows each, then rows `extra` (e, unknowns).

        index (k,) ascending: the points, by their place in their order.
        """
        known = self._known
        if known is None or known.points is not points:
            known = self._half_solve(points, index)
        place = np.searchsorted(known.index, index)
        if not np.array_equal(np.append(known.index, -1)[place], index):  # some are new
            both = np.union1d(known.index, index)
            known = self._half_solve(points, index if len(both) > CROWDED * len(index) else both)
            place = np.searchsorted(known.index, index)
        self._known = known
        return half_solve.compliance(self.factor, known.half, place, extra)

    @property
    def known(self) -> Known | None:
        """What `compliance` has half-solved for: results depend on it in their last bits."""
        return self._known

    def recall(self, points: BoundPoints, index: Array) -> None:
        """Half-solve for these points, as `known` was."""
        self._known = self._half_solve(points, index)

    def forget(self) -> None:
        """Half-solve anew when it is asked."""
        self._known = None

    def _half_solve(self, points: BoundPoints, index: Array) -> Known:
        start, nodes, weights = free_entries(
            points.order[index], points.start, points.nodes, points.weights, self._fem.n_free
        )
        unknowns = self._fem.node_unknown[nodes]
        half = half_solve.half_solve(self.factor, start, unknowns, weights, self._fem.threads)
        return Known(points, index, half)
