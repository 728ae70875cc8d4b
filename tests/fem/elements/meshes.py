"""Reference cells and meshes for the tests of all elements."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

from limpet.meshing.grids import HEXAHEDRON_TETS, structured

SIZE = 0.01  # [m] of a cell


def is_quadratic(element):
    return len(element.cell.nodes) > 8


def corners_of(cell):
    """Number of corners; the nodes behind them are midsides."""
    return {4: 4, 10: 4, 6: 6, 15: 6, 8: 8, 20: 8}[len(cell.nodes)]


def midsides(cell):
    """(k - corners, 2): the corners that each midside lies between."""
    n = corners_of(cell)
    pairs = [(a, b) for b in range(n) for a in range(b)]
    middle = np.array([0.5 * (cell.nodes[a] + cell.nodes[b]) for a, b in pairs])
    return np.array(
        [
            pairs[int(np.flatnonzero(np.all(np.abs(middle - p) < 1e-12, axis=1))[0])]
            for p in cell.nodes[n:]
        ],
        dtype=int,
    ).reshape(-1, 2)


def monomials(degree):
    return [
        (a, b, c)
        for a in range(degree + 1)
        for b in range(degree + 1 - a)
        for c in range(degree + 1 - a - b)
    ]


def integral(cell, powers):
    """Exact integral of x^a y^b z^c over the reference cell."""
    a, b, c = powers
    line = [2.0 / (n + 1) if n % 2 == 0 else 0.0 for n in powers]
    if corners_of(cell) == 4:
        return factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3)
    if corners_of(cell) == 6:
        return factorial(a) * factorial(b) / factorial(a + b + 2) * line[2]
    return line[0] * line[1] * line[2]


# How a hexahedron is cut into cells, by their number of corners.
CUTS = {
    4: HEXAHEDRON_TETS,
    6: np.array([[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]),
    8: np.arange(8)[None],
}


def mesh(element, divisions, move: Callable = lambda x: x):
    """(points, cells) of straight cells that fill the unit cube; `move` displaces the corners."""
    corners = corners_of(element.cell)
    points, bricks = structured("hex8", divisions)
    points = move(points)
    cells = bricks[:, CUTS[corners]].reshape(-1, corners)
    between = midsides(element.cell)
    if len(between):
        pairs = np.sort(cells[:, between].reshape(-1, 2), axis=1)
        ends, number = np.unique(pairs, axis=0, return_inverse=True)
        cells = np.hstack([cells, len(points) + number.reshape(len(cells), -1)])
        points = np.concatenate([points, points[ends].mean(axis=1)])
    return points, cells.astype(np.int32)


def distorted_box(element, divisions, rng, shake=0.15):
    """A box of `divisions` bricks of SIZE, its inner corners moved about: (points, cells)."""
    n = np.array(divisions)

    def move(x):
        inner = np.all((x > 1e-9) & (x < 1.0 - 1e-9), axis=1)
        return SIZE * (x * n + shake * rng.uniform(-1, 1, size=x.shape) * inner[:, None])

    return mesh(element, divisions, move)


def on_boundary(points):
    """Which points of a box lie on its surface."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.any((points < low + 1e-9) | (points > high - 1e-9), axis=1)


def fit(element, values):
    """The element's coefficients of a field with these `values` (k, ...) at its nodes.

    The same for most; a control point of a Bernstein-Bezier form is not what the field is there.
    """
    return np.linalg.solve(element.shape(element.cell.nodes), values)


def coefficients(element, points, cells, field):
    """`fit` over a mesh of straight cells: (n, ...) from a field of positions."""
    nodal = field(points)
    out = nodal.copy()
    out[cells] = np.einsum(
        "ab,mb...->ma...", np.linalg.inv(element.shape(element.cell.nodes)), nodal[cells]
    )
    return out
