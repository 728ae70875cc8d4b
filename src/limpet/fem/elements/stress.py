"""Von Mises stress at the nodes, for pictures.

It depends on the deviatoric stress only, not on the pressure. At a point the deviatoric stress is
2 mu dev(e), e = sym(R^T F) - I, for the corotational law, and mu (1 - 1/(I + 1)) dev(F F^T)/J with
I = |F|^2 for the neo-Hookean law (neo_hookean.py).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.fem.elements import neo_hookean
from limpet.fem.elements.block import CellBlock
from limpet.fem.elements.corotational import deform
from limpet.geometry.rotation import det3

Array = np.ndarray


@njit(cache=True, error_model="numpy")
def _von_mises(
    x: Array, cells: Array, gradients: Array, weights: Array, stiffness: Array, rotation: int,
    mu: float, rubber: bool, total: Array, volume: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    f, r, trace = np.empty((q, 3, 3)), np.empty((q, 3, 3)), np.empty(q)
    s = np.empty((3, 3))
    for e in range(m):
        deform(x, cells[e], gradients[e], rotation, f, r, trace)
        stress, room = 0.0, 0.0
        for g in range(q):
            fg, rg, square = f[g], r[g], 1.0
            for i in range(3):
                for j in range(3):
                    square += fg[i, j] * fg[i, j]
                    s[i, j] = 0.0
                    for l in range(3):
                        s[i, j] += fg[i, l] * fg[j, l] if rubber else rg[l, i] * fg[l, j]
            factor = mu * (1.0 - 1.0 / square) / det3(fg) if rubber else 2.0 * mu
            third = (s[0, 0] + s[1, 1] + s[2, 2]) / 3.0
            size = 0.0
            for i in range(3):
                for j in range(3):
                    d = 0.5 * (s[i, j] + s[j, i]) - (third if i == j else 0.0)
                    size += d * d
            stress += weights[e, g] * abs(factor) * np.sqrt(1.5 * size)
            room += weights[e, g] / stiffness[e]
        for a in range(k):
            total[cells[e, a]] += stress
            volume[cells[e, a]] += room


def von_mises(
    blocks: list[CellBlock], x: Array, mu: float, lam: float, rotation: int, law: str
) -> Array:
    """(n,) [Pa] at nodes x (n, 3): the mean over the adjacent cells, which smooths peaks."""
    rubber = law == "neo-hookean"
    shear = neo_hookean.moduli(mu, lam)[0] if rubber else mu
    total, volume = np.zeros(len(x)), np.zeros(len(x))
    for b in blocks:
        _von_mises(
            x, b.cells, b.gradients, b.weights, b.stiffness, rotation, shear, rubber, total, volume
        )  # fmt: skip
    return total / volume
