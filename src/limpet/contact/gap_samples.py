"""Gaps between contacts: read-only samples along the edges of a surface, on its smooth patches.

Contacts are at vertices. How far a lip stands off between them is asked for here, without a row in
the solver.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.compiled import inner
from limpet.contact.collider import Shape
from limpet.contact.vertices import on_patch
from limpet.geometry.bvh import ANY_SIDE, DEPTH, nearest
from limpet.geometry.distance import Vec, add, dot, offset, point, pseudo_normal, scale
from limpet.geometry.smooth import patch

Array = np.ndarray


@inner()
def smooth_gap(p: Vec, y: Array, shape: Shape, reach: float, stack: Array) -> float:
    """[m] from the smooth surface over the triangles at y to p, negative inside; inf beyond reach.

    stack: (DEPTH,) int32, scratch.
    """
    triangles, on = shape.adjacent.triangles, shape.patches
    far = reach + on.bulge
    t, u, v, w, feature, d = nearest(shape.tree, y, triangles, p, far, ANY_SIDE, stack)
    if t < 0:
        return np.inf
    a, b, c = point(y, triangles[t, 0]), point(y, triangles[t, 1]), point(y, triangles[t, 2])
    r = offset(p, a, b, c, u, v, w)
    if on_patch(t, u, v, w, feature, shape.adjacent, on):
        n, h = patch(t, u, v, w, y, triangles, on)
        return dot(n, r) - h
    return d if dot(r, pseudo_normal(t, u, v, w, feature, y, shape.adjacent)) >= 0.0 else -d


@njit(cache=True)
def edge_points(x: Array, shape: Shape, edges: Array, count: int) -> Array:
    """(k, count, 3) [m] evenly spaced between the ends of edges (k,), on the surface at x."""
    out = np.zeros((len(edges), count, 3))
    triangles, on = shape.adjacent.triangles, shape.patches
    for k in range(len(edges)):
        i, j = shape.edges.edges[edges[k]]
        t = shape.edges.triangles[edges[k], 0]
        for m in range(count):
            s = (m + 1.0) / (count + 1.0)
            p = add(scale(1.0 - s, point(x, i)), scale(s, point(x, j)))
            if on.curved[t]:
                u = (1.0 - s) * (triangles[t, 0] == i) + s * (triangles[t, 0] == j)
                v = (1.0 - s) * (triangles[t, 1] == i) + s * (triangles[t, 1] == j)
                n, h = patch(t, u, v, 1.0 - u - v, x, triangles, on)
                p = add(p, scale(h, n))
            out[k, m] = p
    return out


@njit(cache=True)
def gaps_at(points: Array, y: Array, shape: Shape, reach: float) -> Array:
    """(k,) [m] from the smooth surface at y to points (k, 3), inf beyond reach; its tree fits y."""
    stack = np.empty(DEPTH, np.int32)
    out = np.empty(len(points))
    for k in range(len(points)):
        out[k] = smooth_gap(point(points, k), y, shape, reach, stack)
    return out
