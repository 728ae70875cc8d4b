"""The record of an element: cell, shape functions, integration points, pressure space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from limpet.geometry.cells import Cell

Array = np.ndarray


@dataclass(frozen=True)
class PressureSpace:
    """How a mixed element (M 3.2) interpolates its pressure.

    A shared pressure has its values at the corners, common to all cells there. Another one belongs
    to the cell and is eliminated by static condensation. A pressure of the same order as the
    displacements (`as_rich`) violates the inf-sup condition and is stabilised (mixed.py).
    """

    count: int
    shape: Callable[[Array], Array]  # (..., 3) -> (..., count)
    shared: bool
    as_rich: bool = False


@dataclass(frozen=True)
class Element:
    """A reference element; a new element is one such record."""

    name: str
    cell: Cell
    points: Array  # (q, 3) integration points for the stiffness
    weights: Array  # (q,) their weights
    mass_points: Array  # (p, 3) integration points for volume and mass
    mass_weights: Array  # (p,)
    shape: Callable[[Array], Array]  # (..., 3) -> (..., k)
    gradient: Callable[[Array], Array]  # (..., 3) -> (..., k, 3)
    pressure: PressureSpace | None = None  # None: displacements only

    @cached_property
    def shared_pressure(self) -> bool:
        return self.pressure is not None and self.pressure.shared


def _one(xi: Array) -> Array:
    return np.ones((*xi.shape[:-1], 1))


def _linear(xi: Array) -> Array:
    return np.concatenate([_one(xi), xi], axis=-1)


# Gradients of the barycentric coordinates of a tetrahedron.
BARYCENTRIC_SLOPE = np.array(
    [[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
)


def barycentric(xi: Array) -> Array:
    """(..., 3) -> (..., 4) of a tetrahedron."""
    return np.concatenate([1.0 - xi.sum(axis=-1, keepdims=True), xi], axis=-1)


CONSTANT = PressureSpace(1, _one, shared=False)
LINEAR = PressureSpace(4, _linear, shared=False)
CORNERS = PressureSpace(4, barycentric, shared=True)  # of a tetrahedron


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


def tetrahedron_rule(degree: int) -> tuple[Array, Array]:
    """Points and positive weights on the unit tetrahedron, exact to degree 1, 2 or 5."""
    if degree == 1:
        return np.full((1, 3), 0.25), np.array([1.0 / 6.0])
    if degree == 2:
        a, b = (5.0 - np.sqrt(5.0)) / 20.0, (5.0 + 3.0 * np.sqrt(5.0)) / 20.0
        return a + (b - a) * np.eye(4)[:, 1:], np.full(4, 1.0 / 24.0)
    # Walkington's 14 points: two orbits of four, one of six
    orbits = ((0.3108859192633006, 0.11268792571801585), (0.09273525031089123, 0.07349304311636195))
    points = [np.full((4, 4), a) + (1.0 - 4.0 * a) * np.eye(4) for a, _ in orbits]
    weights = [w for _, w in orbits for _ in range(4)]
    c = 0.04550370412564965
    pairs = [(i, j) for i in range(4) for j in range(i)]
    edge = np.full((6, 4), c)
    for row, pair in zip(edge, pairs):
        row[list(pair)] = 0.5 - c
    weights += [0.04254602077708147] * 6
    return np.concatenate([*points, edge])[:, 1:], np.array(weights) / 6.0
