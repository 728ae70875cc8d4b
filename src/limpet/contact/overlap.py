"""How deep two closed surfaces overlap, whatever contacts were found between them."""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.collider import Shape
from limpet.contact.edges import signed_distance
from limpet.geometry.bvh import DEPTH, box_distance2
from limpet.geometry.distance import Vec, point

Array = np.ndarray


@inner()
def _depth(p: Vec, y: Array, shape: Shape, deepest: float, stack: Array) -> float:
    """The larger of `deepest` and the depth of p in the surface at y [m]."""
    tree = shape.tree
    if box_distance2(tree.lower, tree.upper, 0, p) > 0.0:
        return deepest
    return max(deepest, -signed_distance(p, y, tree, shape.adjacent, np.inf, stack))


@inner()
def _middle(x: Array, corners: Array) -> Vec:
    a = b = c = 0.0
    for i in corners:
        a, b, c = a + x[i, 0], b + x[i, 1], c + x[i, 2]
    n = len(corners)
    return a / n, b / n, c / n


@inner()
def _deepest_of(x: Array, shape_x: Shape, y: Array, shape_y: Shape) -> float:
    stack, deepest = np.empty(DEPTH, np.int32), 0.0
    for edge in shape_x.edges.edges:
        for i in edge:
            deepest = _depth(point(x, i), y, shape_y, deepest, stack)
        deepest = _depth(_middle(x, edge), y, shape_y, deepest, stack)
    for triangle in shape_x.adjacent.triangles:
        deepest = _depth(_middle(x, triangle), y, shape_y, deepest, stack)
    return deepest


@njit(cache=True)
def overlap(x: Array, shape_x: Shape, y: Array, shape_y: Shape) -> float:
    """[m] The deepest that vertices, and middles of edges and triangles, of one are in the other.

    Vertices alone would not see two boxes that sink into each other flush: theirs stay on the
    surface. The trees are those at x and y.
    """
    return max(_deepest_of(x, shape_x, y, shape_y), _deepest_of(y, shape_y, x, shape_x))
