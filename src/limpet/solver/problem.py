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
    """Find lambda so that every law holds for u = free + W lambda + the regularisation.

    That is diag(r) lambda; about other multipliers lambda_0 it is diag(r) (lambda - lambda_0). A
    problem that is solved again about its own solution has next to none, but shares a load among
    redundant rows in the same way.
    """

    w: Array | FactoredDelassus  # (r, r) compliance, h H A^-1 H^T
    # (r,) compliance of each row by itself, so that redundant rows share their load
    regularisation: Array
    free: Array  # (r,) u without any multiplier
    kind: Array  # (b,) int32
    start: Array  # (b + 1,) int32, rows of block b: start[b]:start[b+1]
    data: Array  # (b, DATA)
    h: float  # [s]
    proximal: Array | None = None  # (r,) the part of r that is about lambda_0; None: none of it
    before: Array | None = None  # (r,) lambda_0; None: zero

    def free_at(self, factor: float) -> Array:
        """(r,) u without any multiplier, with the regularisation times `factor`."""
        if self.proximal is None or self.before is None:
            return self.free
        return self.free - factor * self.proximal * self.before

    def sunk(self, multipliers: Array) -> float:
        """[m] by which the regularisation lets a row give way, at most."""
        if self.proximal is None:
            return 0.0
        away = multipliers if self.before is None else multipliers - self.before
        gives = self.proximal * away
        first = self.start[:-1][np.diff(self.start) == 3]
        sliding = np.hypot(gives[first + 1], gives[first + 2])  # whatever axes the tangents have
        gives[first + 1] = gives[first + 2] = 0.0
        return self.h * float(max(np.abs(gives).max(initial=0.0), sliding.max(initial=0.0)))
