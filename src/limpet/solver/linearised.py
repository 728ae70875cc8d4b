"""All laws linearised at one iterate: what a Newton step is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import njit
from limpet.solver.laws import error, natural_map

Array = np.ndarray


@dataclass(frozen=True)
class Linearised:
    """phi(lambda, u) and its derivatives; a block's rows use as many columns as it has rows."""

    phi: Array  # (r,)
    d_lam: Array  # (r, 3)
    d_u: Array  # (r, 3)
    active: Array  # (r,) bool, False where u does not enter: open contacts
    residual: float  # the largest error over all blocks


@njit(cache=True, error_model="numpy")
def linearise_laws(blocks, kind, start, data, h, lam, u):
    """phi, d_lam, d_u, active and residual of `Linearised`, at (lambda, u).

    blocks (b, 3, 3): W's diagonal blocks, which scale the maps.
    """
    n = len(lam)
    phi, active = np.zeros(n), np.zeros(n, np.bool_)
    d_lam, d_u = np.zeros((n, 3)), np.zeros((n, 3))
    p3, l3, u3 = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    largest = 0.0
    for b in range(len(kind)):
        s, e = start[b], start[b + 1]
        on = natural_map(kind[b], data[b], h, blocks[b], u[s:e], lam[s:e], p3, l3, u3)
        worst = error(kind[b], data[b], h, blocks[b], u[s:e], lam[s:e], p3)
        if not worst <= largest:
            largest = worst if worst == worst else np.inf  # a NaN is no solution
        for i in range(e - s):
            phi[s + i] = p3[i]
            active[s + i] = on
            for j in range(e - s):
                d_lam[s + i, j] = l3[i, j]
                d_u[s + i, j] = u3[i, j]
    return phi, d_lam, d_u, active, largest
