"""Pieces of plane faces as fans round their centroids.

A union cuts faces in pieces, and which diagonals it draws in them depends on the axes. Where the
corners of a piece ride on bodies, and move out of its plane, so would volume and pressure. A fan is
the same in every pose. Where a piece cannot be seen from its centroid, some of its triangles are
turned over and cover others: areas and volumes are sums with a sign, in which that cancels.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

Array = np.ndarray


def fanned(x: Array, triangles: Array, face: Array) -> tuple[Array, Array, Array]:
    """Points (p + f, 3), triangles (t', 3) and the triangle of the input that each is part of (t').

    face (t,): plane pieces of several triangles with the same number become fans, whose apices are
    the last f points, unless they have no area.
    """
    _, of_face, count = np.unique(face, return_inverse=True, return_counts=True)
    cut = np.flatnonzero(count[of_face] > 1)
    if len(cut) == 0:
        return x, triangles, np.arange(len(triangles))
    own, plane = triangles[cut], of_face[cut]
    tail, head = own.ravel(), np.roll(own, -1, axis=1).ravel()
    side = np.arange(len(tail)) // 3  # the triangle of each side
    inner = _paired(tail, head, plane[side], len(x))
    links = inner >= 0
    graph = coo_matrix((np.ones(links.sum()), (side[links], side[inner[links]])), (len(own),) * 2)
    n, piece = connected_components(graph, directed=False)

    area = 0.5 * np.cross(x[own[:, 1]] - x[own[:, 0]], x[own[:, 2]] - x[own[:, 0]])
    normal = np.zeros((n, 3))
    np.add.at(normal, piece, area)
    weight = np.einsum("ti,ti->t", area, normal[piece])
    total = np.bincount(piece, weight, n)
    middle = x[own].mean(axis=1)
    sums = np.column_stack([np.bincount(piece, weight * middle[:, i], n) for i in range(3)])
    apex = sums / np.where(total > 0.0, total, 1.0)[:, None]

    rim = np.flatnonzero(~links)
    at = piece[side[rim]]
    made = (total > 0.0) & (np.bincount(piece, minlength=n) > 1)

    number = np.cumsum(made) - 1 + len(x)
    rim, at = rim[made[at]], at[made[at]]
    fan = np.column_stack([tail[rim], head[rim], number[at]]).astype(triangles.dtype)
    kept = np.ones(len(triangles), bool)
    kept[cut[made[piece]]] = False
    origin = np.concatenate([np.flatnonzero(kept), cut[side[rim]]])
    return np.concatenate([x, apex[made]]), np.concatenate([triangles[kept], fan]), origin


def _paired(tail: Array, head: Array, plane: Array, n: int) -> Array:
    """(e,) the side that runs the other way in the same plane, or -1."""
    low, high = np.minimum(tail, head).astype(np.int64), np.maximum(tail, head).astype(np.int64)
    key = low * n + high
    order = np.lexsort((key, plane))
    key, ordered = key[order], plane[order]
    same = np.flatnonzero((key[1:] == key[:-1]) & (ordered[1:] == ordered[:-1]))
    out = np.full(len(tail), -1)
    out[order[same]], out[order[same + 1]] = order[same + 1], order[same]
    return out
