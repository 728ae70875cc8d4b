"""Pairs of triangles of one surface that face each other: where it may touch itself.

Where a surface bends by less than a right angle no two triangles of it face each other (Volino and
Magnenat-Thalmann 1994), so that bounds of the normals leave out most of the tree.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.bvh import DEPTH, LEAF, Tree, separated, triangle_boxes
from limpet.geometry.distance import dot, point, sub

Array = np.ndarray

SQUARE = 1e-9  # cosine between normals at right angles, but for rounding: they do not face


@inner()
def _node_bounds(tree: Tree, low: Array, high: Array) -> tuple[Array, Array]:
    """(n, 3) each: bounds of a vector in each node, from those of its triangles (m, 3)."""
    lower, upper = np.empty((len(tree.second), 3)), np.empty((len(tree.second), 3))
    for node in range(len(tree.second) - 1, -1, -1):
        second = tree.second[node]
        for k in range(3):
            if second >= 0:
                lower[node, k] = min(lower[node + 1, k], lower[second, k])
                upper[node, k] = max(upper[node + 1, k], upper[second, k])
            else:
                lower[node, k], upper[node, k] = np.inf, -np.inf
                for j in range(tree.start[node], tree.start[node] + tree.size[node]):
                    lower[node, k] = min(lower[node, k], low[tree.order[j], k])
                    upper[node, k] = max(upper[node, k], high[tree.order[j], k])
    return lower, upper


@inner()
def _corner_bounds(u: Array, triangles: Array) -> tuple[Array, Array]:
    """(m, 3) each: bounds of u (n, 3) at the corners of each triangle."""
    low, high = np.empty((len(triangles), 3)), np.empty((len(triangles), 3))
    for t in range(len(triangles)):
        for k in range(3):
            a, b, c = u[triangles[t, 0], k], u[triangles[t, 1], k], u[triangles[t, 2], k]
            low[t, k], high[t, k] = min(a, b, c), max(a, b, c)
    return low, high


@inner()
def _may_face(low: Array, high: Array, i: int, j: int) -> bool:
    """Whether a normal within bounds i may have a negative product with one within bounds j."""
    least = 0.0
    for k in range(3):
        a, b, c, d = low[i, k], high[i, k], low[j, k], high[j, k]
        least += min(a * c, a * d, b * c, b * d)
    return least < 0.0


@inner()
def _most_apart(low: Array, high: Array, i: int, j: int) -> float:
    """The largest length of the difference of two vectors within bounds i and j."""
    total = 0.0
    for k in range(3):
        most = max(high[i, k] - low[j, k], high[j, k] - low[i, k])
        total += most * most
    return np.sqrt(total)


@inner()
def _farthest(s: int, t: int, u: Array, triangles: Array) -> float:
    """The largest length of the difference of u (n, 3) between a corner of s and one of t.

    Bounds along the axes would be wider in some directions of the world than in others.
    """
    most = 0.0
    for k in range(3):
        for l in range(3):
            r = sub(point(u, triangles[s, k]), point(u, triangles[t, l]))
            most = max(most, dot(r, r))
    return np.sqrt(most)


@inner()
def _beside(s: int, t: int, x: Array, triangles: Array, normals: Array, margin: float) -> bool:
    """Whether all of triangle s is farther than margin [m] from the plane of t, on one side."""
    a, n = point(x, triangles[t, 0]), point(normals, t)
    low, high = np.inf, -np.inf
    for k in range(3):
        height = dot(sub(point(x, triangles[s, k]), a), n)
        low, high = min(low, height), max(high, height)
    return low > margin or high < -margin


@njit(cache=True)
def facing_pairs(
    tree: Tree, x: Array, triangles: Array, normals: Array, u: Array, margin: float
) -> tuple[Array, Array]:
    """Pairs (k, 2) int32 of triangles of one surface whose normals (m, 3) oppose each other, with
    all that come within margin [m] while their corners move by u (n, 3) [m]; and that margin with
    their motion (k,) [m]. The tree must be fitted to x.
    """
    lower, upper, second, start, size, order = tree
    low_way, high_way = _corner_bounds(u, triangles)
    low_normal, high_normal = _node_bounds(tree, normals, normals)
    low_node, high_node = _node_bounds(tree, low_way, high_way)
    low_a, high_a = np.empty((LEAF, 3)), np.empty((LEAF, 3))
    low_b, high_b = np.empty((LEAF, 3)), np.empty((LEAF, 3))
    pairs, reaches, found = np.empty((64, 2), np.int32), np.empty(64), 0
    stack = np.empty((3 * DEPTH, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        i, j = stack[waiting, 0], stack[waiting, 1]
        if not _may_face(low_normal, high_normal, i, j):
            continue
        reach = margin + _most_apart(low_node, high_node, i, j)
        if separated(lower, upper, i, lower, upper, j, reach):
            continue
        leaf_i, leaf_j = second[i] < 0, second[j] < 0
        if leaf_i and leaf_j:
            triangle_boxes(i, tree, x, triangles, low_a, high_a)
            triangle_boxes(j, tree, x, triangles, low_b, high_b)
            for m in range(size[i]):
                for n in range(m + 1 if i == j else 0, size[j]):
                    s, t = order[start[i] + m], order[start[j] + n]
                    if dot(point(normals, s), point(normals, t)) >= -SQUARE:
                        continue
                    reach = margin + _farthest(s, t, u, triangles)
                    if separated(low_a, high_a, m, low_b, high_b, n, reach):
                        continue
                    if _beside(s, t, x, triangles, normals, reach):
                        continue
                    if _beside(t, s, x, triangles, normals, reach):
                        continue
                    if found == len(pairs):
                        pairs = np.concatenate((pairs, np.empty_like(pairs)))
                        reaches = np.concatenate((reaches, np.empty_like(reaches)))
                    pairs[found, 0], pairs[found, 1], reaches[found] = s, t, reach
                    found += 1
        elif i == j:  # each half with itself, and with the other
            stack[waiting, 0], stack[waiting, 1] = second[i], second[i]
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i + 1, second[i]
            stack[waiting + 2, 0], stack[waiting + 2, 1] = i + 1, i + 1
            waiting += 3
        elif leaf_j or (not leaf_i and size[i] >= size[j]):
            stack[waiting, 0], stack[waiting, 1] = second[i], j
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i + 1, j
            waiting += 2
        else:
            stack[waiting, 0], stack[waiting, 1] = i, second[j]
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i, j + 1
            waiting += 2
    return pairs[:found], reaches[:found]
