"""F's smoothed gradient of the pressure (F VI-A): continuous over a body, for its dissipation.

The gradient itself jumps from one tetrahedron to the next. The smoothed one is the mean of its
neighbours at each vertex, weighted by volume, and linear in between.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit

Array = np.ndarray


def vertex_gradients(tets: Array, gradient: Array, volume: Array, count: int) -> Array:
    """(count, 3) [Pa/m] at the vertices, from those (m, 3) of the tets."""
    weight, vertex = np.repeat(volume, 4), tets.ravel()
    sums = [np.bincount(vertex, weight * np.repeat(g, 4), count) for g in gradient.T]
    return np.stack(sums, axis=1) / np.bincount(vertex, weight, count)[:, None]


@njit(cache=True)
def interpolated(
    points: Array, tets: Array, at_vertex: Array, rotation: Array, origin: Array, cells: Array,
    places: Array,
) -> Array:  # fmt: skip
    """(k, 3) [Pa/m] in the world, at `places` (k, 3) [m] in the tets `cells` (k,) of a body."""
    out = np.zeros((len(cells), 3))
    for k in range(len(cells)):
        corners = tets[cells[k]]
        first = points[corners[0]]
        x = rotation.T @ (places[k] - origin) - first
        a, b, c = points[corners[1]] - first, points[corners[2]] - first, points[corners[3]] - first
        bc, ca, ab = np.cross(b, c), np.cross(c, a), np.cross(a, b)
        volume = a @ bc
        u, v, w = (x @ bc) / volume, (x @ ca) / volume, (x @ ab) / volume
        own = (
            (1.0 - u - v - w) * at_vertex[corners[0]] + u * at_vertex[corners[1]]
            + v * at_vertex[corners[2]] + w * at_vertex[corners[3]]
        )  # fmt: skip
        out[k] = rotation @ own
    return out
