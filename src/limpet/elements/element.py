"""What every element says about itself: cell, shape functions, integration points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limpet.geometry.cells import Cell

Array = np.ndarray


@dataclass(frozen=True)
class Element:
    """A reference element. A new one is this record and nothing else."""

    cell: Cell
    points: Array  # (q, 3) integration points for the stiffness
    weights: Array  # (q,) their weights
    mass_points: Array  # (p, 3) integration points exact enough for volume and mass
    mass_weights: Array  # (p,)
    shape: Callable[[Array], Array]  # (..., 3) -> (..., k)
    gradient: Callable[[Array], Array]  # (..., 3) -> (..., k, 3)

    @property
    def name(self) -> str:
        return self.cell.name


def gauss(n: int) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights on [-1, 1]."""
    points, weights = np.polynomial.legendre.leggauss(n)
    return points, weights


def gauss_cube(n: int) -> tuple[Array, Array]:
    """The n x n x n product rule on [-1, 1]^3."""
    p, w = gauss(n)
    x, y, z = np.meshgrid(p, p, p, indexing="ij")
    a, b, c = np.meshgrid(w, w, w, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1), (a * b * c).ravel()


def gauss_wedge(triangle: int, line: int) -> tuple[Array, Array]:
    """Triangle rule (3 or 6 points, degree 2 or 4) times a Gauss rule along the wedge's axis."""
    if triangle == 3:
        t = np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]])
        tw = np.full(3, 1 / 6)
    else:
        a, b = 0.445948490915965, 0.091576213509771
        t = np.array(
            [[a, a], [1 - 2 * a, a], [a, 1 - 2 * a], [b, b], [1 - 2 * b, b], [b, 1 - 2 * b]]
        )
        tw = 0.5 * np.array([0.223381589678011] * 3 + [0.109951743655322] * 3)
    p, w = gauss(line)
    points = np.array([[s[0], s[1], z] for z in p for s in t])
    weights = np.array([a * b for b in w for a in tw])
    return points, weights
