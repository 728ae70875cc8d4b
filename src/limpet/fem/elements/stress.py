"""Von Mises stress at the nodes, for pictures.

It depends on the deviatoric stress only, not on the pressure. At a point the deviatoric stress is
2 mu dev(e), e = sym(R^T F) - I, for the corotational law, and mu (1 - 1/(I + 1)) dev(F F^T)/J with
I = |F|^2 for the neo-Hookean law (neo_hookean.py). For Mooney's and Rivlin's it is the deviator of
2/J (psi_1 B + psi_2 (I1 B - B^2)), B = F F^T, psi_1 and psi_2 the slopes of psi (mooney_rivlin.py).
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.fem.elements import neo_hookean
from limpet.fem.elements.block import CellBlock
from limpet.fem.elements.corotational import deform
from limpet.fem.elements.mooney_rivlin import Constants, slopes, square
from limpet.fem.elements.neo_hookean import _cofactor, _gradient
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


@njit(cache=True, error_model="numpy")
def _von_mises_rubber(
    x: Array, cells: Array, gradients: Array, weights: Array, stiffness: Array, c: Constants,
    total: Array, volume: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    f, cofactor = np.empty((3, 3)), np.empty((3, 3))
    left, s = np.empty((3, 3)), np.empty((3, 3))
    for e in range(m):
        stress, room = 0.0, 0.0
        for g in range(q):
            _gradient(x, cells[e], gradients[e, g], f)
            _cofactor(f, cofactor)
            i1, j = square(f), det3(f)
            p = slopes(i1, square(cofactor), j, c)
            for a in range(3):
                for b in range(3):
                    left[a, b] = f[a, 0] * f[b, 0] + f[a, 1] * f[b, 1] + f[a, 2] * f[b, 2]
            for a in range(3):
                for b in range(3):
                    again = left[a, 0] * left[0, b] + left[a, 1] * left[1, b]
                    again += left[a, 2] * left[2, b]
                    s[a, b] = p[0] * left[a, b] + p[1] * (i1 * left[a, b] - again)
            third = (s[0, 0] + s[1, 1] + s[2, 2]) / 3.0
            for a in range(3):
                s[a, a] -= third
            stress += weights[e, g] * np.sqrt(1.5 * square(s)) * 2.0 / abs(j)
            room += weights[e, g] / stiffness[e]
        for a in range(k):
            total[cells[e, a]] += stress
            volume[cells[e, a]] += room


def von_mises(
    blocks: list[CellBlock], x: Array, mu: float, lam: float, rotation: int, law: str,
    constants: Constants | None = None,
) -> Array:  # fmt: skip
    """(n,) [Pa] at nodes x (n, 3): the mean over the adjacent cells, which smooths peaks.

    `constants`: of the law of Mooney and Rivlin, which takes neither mu nor lam.
    """
    rubber = law == "neo-hookean"
    shear = neo_hookean.moduli(mu, lam)[0] if rubber else mu
    total, volume = np.zeros(len(x)), np.zeros(len(x))
    for b in blocks:
        if constants is not None:
            _von_mises_rubber(
                x, b.cells, b.gradients, b.weights, b.stiffness, constants, total, volume
            )  # fmt: skip
            continue
        _von_mises(
            x, b.cells, b.gradients, b.weights, b.stiffness, rotation, shear, rubber, total, volume
        )  # fmt: skip
    return total / volume
