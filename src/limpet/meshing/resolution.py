"""Whether the cells of a thin wall are small enough to bend with it.

A quadratic tetrahedron that is much wider than the wall is thick bends too stiffly. How wide the
cells are is seen at the surface, before anything is simulated.
"""

from __future__ import annotations

import numpy as np

from limpet.geometry.shape import Array

WALLS = 0.75  # of the surface: this share of it has cells that are finer in proportion
ROWS = 256  # triangles whose rays are traced at a time
AHEAD = 1e-6  # of the extent: nearer hits are the triangle's own neighbours


def wall_thickness(points: Array, triangles: Array) -> Array:
    """(m,) [m] from the middle of each triangle straight in to the other side of the wall.

    points (n, 3) [m], triangles (m, 3) of a closed surface, outward.
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    e, f = b - a, c - a
    normal = np.cross(e, f)
    inward = -normal / np.linalg.norm(normal, axis=1)[:, None]
    middle = (a + b + c) / 3.0
    least = AHEAD * float(np.ptp(points, axis=0).max())
    found = np.full(len(triangles), np.inf)
    for first in range(0, len(triangles), ROWS):
        rows = slice(first, first + ROWS)
        d, away = inward[rows, None], middle[rows, None] - a
        # Moeller and Trumbore: middle + t d = a + u e + v f
        p, q = np.cross(d, f), np.cross(away, e)
        det = np.einsum("ijk,jk->ij", p, e)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.einsum("ijk,ijk->ij", p, away) / det
            v = np.einsum("ijk,ijk->ij", np.broadcast_to(d, q.shape), q) / det
            t = np.einsum("ijk,jk->ij", q, f) / det
            hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > least)
        found[rows] = np.where(hit, t, np.inf).min(axis=1)
    return found


def width_over_wall(points: Array, triangles: Array) -> float:
    """How much wider than the wall is thick the cells at the surface of a mesh are.

    A width is that of the equilateral triangle of the same area; of the ratios, the one that three
    quarters of the surface are below: a cup bends where its wall is thin, and thick parts as a stem
    do not count.
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    ratio = np.sqrt(4.0 / np.sqrt(3.0) * area) / wall_thickness(points, triangles)
    order = np.argsort(ratio)
    share = np.cumsum(area[order]) / area.sum()
    return float(ratio[order][np.searchsorted(share, WALLS)])
