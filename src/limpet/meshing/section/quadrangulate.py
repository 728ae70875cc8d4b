"""A polygon divided from corner to corner into quadrilaterals, by dynamic programming.

best[i, j] is the least cost of the piece cut off by the chord from corner i to corner j. Its last
cell is a quadrilateral (i, a, b, j) or a triangle (i, a, j); what is left are pieces behind its
other sides. Pieces that all turn counter-clockwise and have a simple polygon as their common
outline do not overlap, so no chord has to be checked against the outline.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

Array = np.ndarray

MOST = 60  # corners
TRIANGLE = 6.0  # cost of a triangle beyond that of its angles: that of a bad quadrilateral
WORST = 0.25  # sine of an angle: cells with less are left to Netgen
LONGEST = 2.2  # sizes: so are those with a longer chord, where the part is thick


def quadrangulate(x: Array, size: float) -> tuple[list[list[int]], list[list[int]]]:
    """Good cells, by corners (n, 2) of a counter-clockwise polygon, and the cells that are not."""
    n = len(x)
    if not 3 <= n <= MOST:
        return [], [list(range(n))]
    cells = _pieces(x)
    good: list[list[int]] = []
    bad: list[list[int]] = []
    for cell in cells:
        p = x[cell]
        sides = np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1)
        chords = [
            length for length, a, b in zip(sides, cell, [*cell[1:], cell[0]]) if (b - a) % n != 1
        ]
        fits = len(cell) == 4 and max(chords, default=0.0) <= LONGEST * size
        (good if fits and _sines(p).min() > WORST else bad).append(cell)
    return (good, bad) if cells else ([], [list(range(n))])


def _pieces(x: Array) -> list[list[int]]:
    """The cells of least cost in all; none if there are no cells that turn the right way."""
    n = len(x)
    best = np.full((n, n), np.inf)
    choice: dict[tuple[int, int], list[int]] = {}
    for i in range(n - 1):
        best[i, i + 1] = 0.0
    for gap in range(2, n):
        for i in range(n - gap):
            j = i + gap
            inner = np.arange(i + 1, j)
            cost = best[i, inner] + best[inner, j] + TRIANGLE
            cost = cost + _cost(x[i], x[inner], x[j])
            k = int(cost.argmin())
            least, cell = float(cost[k]), [int(inner[k])]
            if gap > 2:
                a, b = np.triu_indices(gap - 1, 1)
                a, b = inner[a], inner[b]
                cost = best[i, a] + best[a, b] + best[b, j]
                near = np.flatnonzero(cost < least)
                if len(near):
                    a, b = a[near], b[near]
                    cost = cost[near] + _cost(x[i], x[a], x[b], x[j])
                    k = int(cost.argmin())
                    if cost[k] < least:
                        least, cell = float(cost[k]), [int(a[k]), int(b[k])]
            best[i, j] = least
            if np.isfinite(least):
                choice[i, j] = cell
    if not np.isfinite(best[0, n - 1]):
        return []
    cells, left = [], [(0, n - 1)]
    while left:
        i, j = left.pop()
        corners = [i, *choice[i, j], j]
        cells.append(corners)
        left += [(a, b) for a, b in pairwise(corners) if b > a + 1]
    return cells


def _cost(*corners: Array) -> Array:
    """(k,) of cells with corners (k, 2) or (2,): 0 for a rectangle, infinite if one is concave."""
    p = np.stack(np.broadcast_arrays(*corners), axis=1)  # (k, 4 or 3, 2)
    sines = _sines(p)
    with np.errstate(divide="ignore", over="ignore"):
        cost = np.sum(1.0 / np.maximum(sines, 1e-9) ** 2 - 1.0, axis=1)
    # rounded, so that cells of equal form keep their order at any scale
    return np.where(sines.min(axis=1) > 0.02, np.round(cost, 6), np.inf)


def _sines(p: Array) -> Array:
    """Of the angles at the corners (..., m, 2), negative where it is concave."""
    d = np.roll(p, -1, axis=-2) - p
    d = d / np.maximum(np.linalg.norm(d, axis=-1), 1e-300)[..., None]
    e = np.roll(d, 1, axis=-2)
    return np.asarray(e[..., 0] * d[..., 1] - e[..., 1] * d[..., 0])


def outlines(cells: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """The directed sides of cells that no other one has the other way round."""
    sides = {(a, b) for c in cells for a, b in zip(c, [*c[1:], c[0]])}
    return {(a, b) for a, b in sides if (b, a) not in sides}
