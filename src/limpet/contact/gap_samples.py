"""Gaps between contacts: the smallest along edges of a surface, on its smooth patches.

Contacts are at vertices. How far a lip stands off between them is asked for here, without a row in
the solver.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.collider import Shape
from limpet.contact.vertices import on_patch
from limpet.geometry.bvh import ANY_SIDE, DEPTH, nearest
from limpet.geometry.distance import Vec, add, dot, offset, point, pseudo_normal, scale, sub
from limpet.geometry.smooth import patch

Array = np.ndarray

MOST = 256  # intervals of an edge
CURVED = 1.1  # the way along the smooth surface over that along the edge, at most


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


@inner()
def _edge_point(x: Array, shape: Shape, edge: int, s: float) -> Vec:
    """At the share s of the way from one end of an edge to the other, on the surface at x."""
    triangles, on = shape.adjacent.triangles, shape.patches
    i, j = shape.edges.edges[edge]
    t = shape.edges.triangles[edge, 0]
    p = add(scale(1.0 - s, point(x, i)), scale(s, point(x, j)))
    if on.curved[t]:
        u = (1.0 - s) * (triangles[t, 0] == i) + s * (triangles[t, 0] == j)
        v = (1.0 - s) * (triangles[t, 1] == i) + s * (triangles[t, 1] == j)
        n, h = patch(t, u, v, 1.0 - u - v, x, triangles, on)
        p = add(p, scale(h, n))
    return p


@njit(cache=True)
def least_gaps(
    x: Array, shape: Shape, edges: Array, y: Array, other: Shape, reach: float, fine: float
) -> Array:
    """(k,) [m] the smallest gap between the ends of edges (k,) of one surface, at x, to another,
    at y, to within `fine` [m]; inf beyond reach.

    A gap changes by no more than the way along the edge. What that leaves open is halved, wider
    intervals first, up to MOST samples an edge: those over a narrow slit cannot all be resolved.
    """
    stack = np.empty(DEPTH, np.int32)
    begin, width = np.empty(MOST), np.empty(MOST)  # intervals yet to be halved
    low, high = np.empty(MOST), np.empty(MOST)  # gaps at their ends
    out = np.empty(len(edges))
    for k in range(len(edges)):
        first, last = _edge_point(x, shape, edges[k], 0.0), _edge_point(x, shape, edges[k], 1.0)
        d = sub(last, first)
        way = CURVED * np.sqrt(dot(d, d))
        begin[0], width[0] = 0.0, 1.0
        low[0] = min(smooth_gap(first, y, other, reach, stack), reach)
        high[0] = min(smooth_gap(last, y, other, reach, stack), reach)
        least, done, n = reach, 0, 1
        while done < n:
            b, w, p, q = begin[done], width[done], low[done], high[done]
            done += 1
            if 0.5 * (p + q - w * way) >= least - fine:
                continue
            middle = _edge_point(x, shape, edges[k], b + 0.5 * w)
            gap = min(smooth_gap(middle, y, other, reach, stack), reach)
            least = min(least, gap)
            if n + 2 <= MOST:
                begin[n], width[n], low[n], high[n] = b, 0.5 * w, p, gap
                begin[n + 1], width[n + 1] = b + 0.5 * w, 0.5 * w
                low[n + 1], high[n + 1] = gap, q
                n += 2
        out[k] = least if least < reach else np.inf
    return out
