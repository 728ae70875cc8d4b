"""Quadrature over a polygon: a fan of triangles about its centroid, three points each.

Exact to degree 2, and the points move continuously with the bodies even as edges vanish (F figure
5).
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit

Array = np.ndarray

# of the centroid, a corner and the next one, at each of the three points
WEIGHTS = ((2 / 3, 1 / 6, 1 / 6), (1 / 6, 2 / 3, 1 / 6), (1 / 6, 1 / 6, 2 / 3))


@njit(cache=True, inline="always")
def twice_area(n: Array, centroid: Array, k: int, corners: Array, i: int, j: int) -> float:
    """[m^2] along unit n, from centroid k to corners i and j; each point counts for a sixth."""
    twice = 0.0
    for c in range(3):
        d, e = (c + 1) % 3, (c + 2) % 3
        twice += n[c] * (
            (corners[i, d] - centroid[k, d]) * (corners[j, e] - centroid[k, e])
            - (corners[i, e] - centroid[k, e]) * (corners[j, d] - centroid[k, d])
        )
    return twice
