"""The complementarity problem of one step, as the solvers see it: blocks of rows, laws by kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.linalg.reduced_compliance import ReducedCompliance

Array = np.ndarray


@dataclass(frozen=True)
class FactoredDelassus:
    """W = B S B^T + diag(own) of many rows over few coordinates."""

    b_s_b: ReducedCompliance
    own: Array  # (r,) compliance of each row by itself

    def dense(self) -> Array:
        w = self.b_s_b.dense()
        w.reshape(-1)[:: len(w) + 1] += self.own
        return w


@dataclass(frozen=True)
class Problem:
    """Find lambda so that every law holds for u = free + (W + diag(regularisation)) lambda."""

    w: Array | FactoredDelassus  # (r, r) compliance, h H A^-1 H^T
    # (r,) compliance of each row by itself, so that redundant rows share their load
    regularisation: Array
    free: Array  # (r,) u without any multiplier
    kind: Array  # (b,) int32
    start: Array  # (b + 1,) int32, rows of block b: start[b]:start[b+1]
    data: Array  # (b, DATA)
    h: float  # [s]
