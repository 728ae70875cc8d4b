"""Bounding volume hierarchy over triangles: closest points, near pairs, self-intersections.

The tree is built once at rest; when the surface moves, only its boxes are refitted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import (
    FACE,
    Vec,
    closest_on_segments,
    closest_on_triangle,
    dot,
    face_normal,
    offset,
    point,
    scale,
    segment_crosses_triangle,
    sub,
)

Array = np.ndarray

LEAF = 4  # largest number of triangles in a leaf
DEPTH = 64  # size of the traversal stack; median splits halve, so it never overflows
ANY_SIDE = (0.0, 0.0, 0.0)
# distances that are equal but for rounding, relative and [m]: on an edge the triangle with the
# lower number is the nearest, whichever the traversal meets first
TIE, TINY = 1e-12, 1e-15
FACING = 0.1  # a triangle opposes a unit vector if vector . normal < -FACING
ANYWHERE, OVER = -2.0, 1.0 - 1e-6  # least cosine between a triangle's normal and the way to a point


class Tree(NamedTuple):
    """Axis-aligned bounding boxes in depth-first order: the first child of node i is node i + 1."""

    lower: Array  # (n, 3) [m]
    upper: Array  # (n, 3) [m]
    second: Array  # (n,) int32, second child, -1 in a leaf
    start: Array  # (n,) int32, the triangles of node i are order[start[i] : start[i] + size[i]]
    size: Array  # (n,) int32
    order: Array  # (m,) int32


def build_tree(x: Array, triangles: Array) -> Tree:
    """Tree over the triangles (m, 3) at positions x (n, 3) [m], fitted to them."""
    second, start, size, order = median_splits(x[triangles].mean(axis=1), LEAF)
    lower = np.empty((len(second), 3))
    tree = Tree(lower, np.empty_like(lower), second, start, size, order)
    refit(tree, x, triangles)
    return tree


def median_splits(centre: Array, most: int) -> tuple[Array, Array, Array, Array]:
    """Topology of a tree over items with centres (m, 3) [m], at most `most` in each leaf.

    A node is split at the median along the longest side of the bounding box of its centres.
    Returns the arrays second, start, size and order of a Tree.
    """
    along = np.argsort(centre, axis=0, kind="stable").T.astype(np.int32, order="C")
    return _split(centre, along, most)


@njit(cache=True)
def _split(centre: Array, along: Array, most: int) -> tuple[Array, Array, Array, Array]:
    """The same from the items in the order of each coordinate, along (3, m), which is overwritten.

    A node has the same range in all three orders, and its children keep them: nothing is sorted
    again.
    """
    m = len(centre)
    room = 2 * m
    second = np.full(room, -1, np.int32)
    start = np.zeros(room, np.int32)
    size = np.zeros(room, np.int32)
    todo = np.empty((DEPTH, 3), np.int32)  # first item, number of items, parent if second child
    todo[0, 0], todo[0, 1], todo[0, 2] = 0, m, -1
    waiting = 1
    n = 0
    later = np.empty(m, np.bool_)  # the items of the second child
    put_off = np.empty(m, np.int32)
    while waiting > 0:
        waiting -= 1
        first, many, parent = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        start[n], size[n] = first, many
        if parent >= 0:
            second[parent] = n
        if many > most:
            end, half = first + many, many // 2
            axis, longest = 0, -1.0
            for k in range(3):
                extent = centre[along[k, end - 1], k] - centre[along[k, first], k]
                if extent > longest:
                    axis, longest = k, extent
            for j in range(first, end):
                later[along[axis, j]] = j >= first + half
            for k in range(3):
                if k == axis:
                    continue
                kept = first
                for j in range(first, end):
                    item = along[k, j]
                    if later[item]:
                        put_off[j - kept] = item
                    else:
                        along[k, kept] = item
                        kept += 1
                for j in range(kept, end):
                    along[k, j] = put_off[j - kept]
            last, split = waiting + 1, first + half  # the first child comes next
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = split, many - half, n
            todo[last, 0], todo[last, 1], todo[last, 2] = first, half, -1
            waiting += 2
        n += 1
    return second[:n].copy(), start[:n].copy(), size[:n].copy(), along[0].copy()


@njit(cache=True)
def refit(tree: Tree, x: Array, triangles: Array, margin: float = 0.0) -> None:
    """Refit the boxes to positions x (n, 3) [m], in place; each is enlarged by margin [m]."""
    for node in range(len(tree.second) - 1, -1, -1):
        second = tree.second[node]
        for k in range(3):
            if second >= 0:
                tree.lower[node, k] = min(tree.lower[node + 1, k], tree.lower[second, k])
                tree.upper[node, k] = max(tree.upper[node + 1, k], tree.upper[second, k])
            else:
                low, high = np.inf, -np.inf
                for j in range(tree.start[node], tree.start[node] + tree.size[node]):
                    for corner in range(3):
                        value = x[triangles[tree.order[j], corner], k]
                        low, high = min(low, value), max(high, value)
                tree.lower[node, k] = low - margin
                tree.upper[node, k] = high + margin


@inner()
def box_distance2(lower: Array, upper: Array, node: int, p: Vec) -> float:
    """Squared distance of p from the box of a node."""
    d2 = 0.0
    for k in range(3):
        d = max(lower[node, k] - p[k], p[k] - upper[node, k], 0.0)
        d2 += d * d
    return d2


@inner()
def same_distance(d: float) -> float:
    """[m] by which another distance may differ from d and is the same but for rounding."""
    return TIE * d + TINY


@inner()
def nearest(
    tree: Tree, x: Array, triangles: Array, p: Vec, max_distance: float, facing: Vec, stack: Array,
    least: float = ANYWHERE,
) -> tuple[int, float, float, float, int, float]:  # fmt: skip
    """Nearest triangle to p (-1: none), barycentric weights on it, feature, distance [m].

    With a unit vector `facing` only triangles whose normal opposes it count; with ANY_SIDE all do.
    Of those, with least = OVER, only triangles that p is straight over. stack: (DEPTH,) int32,
    scratch.
    """
    lower, upper, second, start, size, order = tree
    best, u, v, w, feature = -1, 0.0, 0.0, 0.0, FACE
    best_d2, same = max_distance * max_distance, 0.0  # [m^2] same: what rounding may add to it
    selective = dot(facing, facing) > 0.0
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if box_distance2(lower, upper, node, p) > best_d2 + same:
            continue
        if second[node] >= 0:
            near, far = node + 1, second[node]
            if box_distance2(lower, upper, far, p) < box_distance2(lower, upper, near, p):
                near, far = far, near
            stack[waiting] = far
            stack[waiting + 1] = near
            waiting += 2
            continue
        for j in range(start[node], start[node] + size[node]):
            t = order[j]
            if selective and dot(face_normal(t, x, triangles), facing) > -FACING:
                continue
            a, b, c = (
                point(x, triangles[t, 0]),
                point(x, triangles[t, 1]),
                point(x, triangles[t, 2]),
            )
            tu, tv, tw, tf = closest_on_triangle(p, a, b, c)
            r = offset(p, a, b, c, tu, tv, tw)
            d2 = dot(r, r)
            if selective and dot(face_normal(t, x, triangles), r) < least * np.sqrt(d2):
                continue
            if d2 < best_d2 - same or (d2 <= best_d2 + same and (best < 0 or t < best)):
                best, u, v, w, feature, best_d2 = t, tu, tv, tw, tf, min(d2, best_d2)
                d = np.sqrt(best_d2)
                same = (2.0 * d + same_distance(d)) * same_distance(d)
    return best, u, v, w, feature, np.sqrt(best_d2)


@njit(cache=True)
def closest_points(
    tree: Tree, x: Array, triangles: Array, points: Array, max_distance: float
) -> tuple[Array, Array, Array]:
    """The nearest triangle to each point (k, 3) within max_distance [m], on either side.

    Returns triangle (k,) int32 (-1 for none), barycentric (k, 3) and distance (k,) [m] (inf for
    none). The tree must be fitted to x.
    """
    k = len(points)
    triangle = np.empty(k, np.int32)
    barycentric = np.zeros((k, 3))
    distance = np.empty(k)
    stack = np.empty(DEPTH, np.int32)
    for i in range(k):
        t, u, v, w, _, d = nearest(
            tree, x, triangles, point(points, i), max_distance, ANY_SIDE, stack
        )
        triangle[i] = t
        barycentric[i, 0], barycentric[i, 1], barycentric[i, 2] = u, v, w
        distance[i] = d if t >= 0 else np.inf
    return triangle, barycentric, distance


@inner()
def separated(
    low_a: Array, high_a: Array, i: int, low_b: Array, high_b: Array, j: int, margin: float
) -> bool:
    """Whether box i of a and box j of b are separated by more than margin along some axis."""
    apart = False
    for k in range(3):
        apart = apart or low_a[i, k] > high_b[j, k] + margin or low_b[j, k] > high_a[i, k] + margin
    return apart


@inner()
def triangle_boxes(
    node: int, tree: Tree, x: Array, triangles: Array, low: Array, high: Array
) -> None:
    """Fill low and high (LEAF, 3) with the boxes of the triangles of a leaf."""
    for i in range(tree.size[node]):
        t = tree.order[tree.start[node] + i]
        for k in range(3):
            a, b, c = x[triangles[t, 0], k], x[triangles[t, 1], k], x[triangles[t, 2], k]
            low[i, k], high[i, k] = min(a, b, c), max(a, b, c)


@njit(cache=True)
def triangle_pairs(
    tree_a: Tree, xa: Array, triangles_a: Array, tree_b: Tree, xb: Array, triangles_b: Array,
    margin: float,
) -> Array:  # fmt: skip
    """Pairs (k, 2) int32 of triangles of a and b whose bounding boxes are within margin [m].

    The order of the pairs depends on the trees alone, not on the positions.
    """
    lower_a, upper_a, second_a, start_a, size_a, order_a = tree_a
    lower_b, upper_b, second_b, start_b, size_b, order_b = tree_b
    low_a, high_a = np.empty((LEAF, 3)), np.empty((LEAF, 3))
    low_b, high_b = np.empty((LEAF, 3)), np.empty((LEAF, 3))
    pairs = np.empty((64, 2), np.int32)
    found = 0
    stack = np.empty((2 * DEPTH, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        i, j = stack[waiting, 0], stack[waiting, 1]
        if separated(lower_a, upper_a, i, lower_b, upper_b, j, margin):
            continue
        leaf_a, leaf_b = second_a[i] < 0, second_b[j] < 0
        if leaf_a and leaf_b:
            triangle_boxes(i, tree_a, xa, triangles_a, low_a, high_a)
            triangle_boxes(j, tree_b, xb, triangles_b, low_b, high_b)
            for m in range(size_a[i]):
                for n in range(size_b[j]):
                    if separated(low_a, high_a, m, low_b, high_b, n, margin):
                        continue
                    if found == len(pairs):
                        pairs = np.concatenate((pairs, np.empty_like(pairs)))
                    pairs[found, 0], pairs[found, 1] = (
                        order_a[start_a[i] + m],
                        order_b[start_b[j] + n],
                    )
                    found += 1
        elif leaf_b or (not leaf_a and size_a[i] >= size_b[j]):
            stack[waiting, 0], stack[waiting, 1] = second_a[i], j
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i + 1, j
            waiting += 2
        else:
            stack[waiting, 0], stack[waiting, 1] = i, second_b[j]
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i, j + 1
            waiting += 2
    return pairs[:found]


@inner()
def _triangles_touch(x: Array, s: Array, t: Array, tolerance: float) -> bool:
    """Whether two triangles without a shared vertex intersect or are within the tolerance."""
    for i in range(3):
        p, q = point(x, s[i]), point(x, s[(i + 1) % 3])
        a, b, c = point(x, t[0]), point(x, t[1]), point(x, t[2])
        if segment_crosses_triangle(p, q, a, b, c):
            return True
        u, v, w, _ = closest_on_triangle(p, a, b, c)
        r = offset(p, a, b, c, u, v, w)
        if dot(r, r) <= tolerance * tolerance:
            return True
        for j in range(3):
            e, f = point(x, t[j]), point(x, t[(j + 1) % 3])
            k, l = closest_on_segments(p, q, e, f)
            r = sub(sub(p, e), sub(scale(l, sub(f, e)), scale(k, sub(q, p))))
            if dot(r, r) <= tolerance * tolerance:
                return True
    return False


@inner()
def _intersect_beside_vertex(x: Array, s: Array, t: Array, shared: int) -> bool:
    """Whether triangle s, which shares one vertex with t, also intersects t elsewhere.

    Then the edge opposite to the shared vertex, of s or of t, crosses the other triangle.
    """
    k = 0 if s[0] == shared else (1 if s[1] == shared else 2)
    p, q = point(x, s[(k + 1) % 3]), point(x, s[(k + 2) % 3])
    return segment_crosses_triangle(p, q, point(x, t[0]), point(x, t[1]), point(x, t[2]))


@njit(cache=True)
def self_intersections(tree: Tree, x: Array, triangles: Array) -> Array:
    """Pairs (k, 2) int32 of triangles of one surface that intersect, lower index first.

    Triangles that share an edge are skipped. Triangles that share one vertex count if they also
    intersect elsewhere. The tree must be fitted to x.
    """
    extent = 0.0
    for k in range(3):
        extent = max(extent, tree.upper[0, k] - tree.lower[0, k])
    tolerance = 1e-12 * extent
    pairs = triangle_pairs(tree, x, triangles, tree, x, triangles, tolerance)
    found = 0
    for n in range(len(pairs)):
        i, j = pairs[n]
        if i >= j:
            continue
        s, t = triangles[i], triangles[j]
        common, shared = 0, -1
        for k in s:
            if k == t[0] or k == t[1] or k == t[2]:
                common, shared = common + 1, k
        if common == 0:
            hit = _triangles_touch(x, s, t, tolerance) or _triangles_touch(x, t, s, tolerance)
        elif common == 1:
            hit = _intersect_beside_vertex(x, s, t, shared) or _intersect_beside_vertex(
                x, t, s, shared
            )
        else:
            hit = False
        if hit:
            pairs[found, 0], pairs[found, 1] = i, j
            found += 1
    return pairs[:found].copy()
