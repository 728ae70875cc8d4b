"""Finer triangles on the smooth surface over a coarse one.

The union of bodies is one of triangles. Where these are chords of a smooth surface, ridges between
them stand out that the surface does not have: a soft wall just off a ridge would be cut by it. So
edges are halved until no triangle is further from the surface than a tolerance. The rim of a tube,
where a smooth face meets a plane one, becomes the arc that its chords stand for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import njit
from limpet.geometry.distance import add, dot, scale
from limpet.geometry.facet_normals import FacetNormals, face_turns, facet_normals
from limpet.geometry.smooth import Patches, patch, patches
from limpet.geometry.surface import surface_topology

Array = np.ndarray

MOST = 20000  # triangles; coarser ones stay where it would be more
# [rad] Faces that turn by more meet in a curve where their patches do, unless they lie back to back
# within as much: on a blade that place is far off.
SHARP = 0.3
# How much further from the surface a triangle is in its middle than in those of its edges: 4/3 on a
# sphere.
FACE = 1.5
# A triangle in pieces: its corners are 0 to 2, the middle of the side opposite to corner k is
# 3 + k. By the middles that there are: 1 for that opposite to corner 0, 2 and 4 for the others.
# Of the two ways to cut the rest beside two of them the diagonal begins at the corner numbered
# first, so that a mirror image is cut alike; the other way is 7 further on.
PIECES = (
    ((0, 1, 2),),
    ((0, 1, 3), (0, 3, 2)),
    ((1, 2, 4), (1, 4, 0)),
    ((3, 2, 4), (0, 1, 3), (0, 3, 4)),
    ((2, 0, 5), (2, 5, 1)),
    ((5, 1, 3), (2, 0, 5), (2, 5, 3)),
    ((4, 0, 5), (1, 2, 4), (1, 4, 5)),
    ((0, 5, 4), (5, 1, 3), (4, 3, 2), (3, 4, 5)),
    (),
    (),
    ((3, 2, 4), (0, 1, 4), (1, 3, 4)),
    (),
    ((5, 1, 3), (2, 0, 3), (0, 5, 3)),
    ((4, 0, 5), (1, 2, 5), (2, 4, 5)),
)
OTHER_WAY = 7
DIAGONALS = {3: (0, 1), 5: (2, 0), 6: (1, 2)}  # corners where it begins, one way and the other


class Tessellation(NamedTuple):
    """Triangles on a smooth surface."""

    points: Array  # (n, 3) [m]; those of the coarse triangles come first
    triangles: Array  # (m, 3) int32
    facets: FacetNormals  # those of the smooth surface


def tessellated(x: Array, triangles: Array, crease: float, tolerance: float) -> Tessellation | None:
    """Triangles within the tolerance [m] of the smooth surface over the given ones, in the middles
    of their edges; None if those are so already.

    crease [rad] as in `patches`. Ridges stay ridges, and run where the surfaces beside them meet.
    """
    if crease <= 0.0:
        return None
    x = np.ascontiguousarray(x, dtype=np.float64)
    surface = surface_topology(triangles, len(x))
    facets = facet_normals(surface, x, crease)
    turns = face_turns(surface, x)
    sharp = ~facets.smooth & (turns > SHARP) & (turns < np.pi - SHARP)
    on = patches(surface, x, crease, facets=facets._replace(smooth=facets.smooth | sharp))
    if on.bulge <= tolerance:
        return None
    free = on._replace(beside=np.zeros_like(on.beside))  # patches that ridges do not hold down
    coarse = np.ascontiguousarray(triangles, dtype=np.int32)
    points, fine = x, coarse
    parent = np.arange(len(coarse), dtype=np.int32)
    place = np.tile(np.eye(3), (len(coarse), 1, 1))  # barycentrics of the corners in the parent
    while True:
        edges, of_triangle = _edges(fine)
        one, other = _middles(of_triangle, place, parent, len(edges))
        ridge = _on_sides(place, sharp[parent])[_first_side(of_triangle, len(edges))]
        there, normal = _on_patches(*one, *other, ridge, x, coarse, on)
        held = (there != _on_patches(*one, *other, ridge, x, coarse, free)[0]).any(axis=1)
        off = there - 0.5 * (points[edges[:, 0]] + points[edges[:, 1]])
        away = np.abs(np.einsum("ei,ei->e", off, normal))  # within a plane face chords do no harm
        away[ridge] = np.linalg.norm(off[ridge], axis=1)
        split = (away > tolerance) & ~held
        if not split.any() or len(fine) + 2 * split.sum() > MOST:
            break
        number = np.full(len(edges), -1, dtype=np.int32)
        number[split] = len(points) + np.arange(split.sum())
        points = np.concatenate([points, there[split]])
        fine, parent, place = _split(fine, parent, place, number[of_triangle])
    smooth = ~_on_sides(place, ~facets.smooth[parent])
    corner = np.einsum("tkc,tci->tki", place, facets.corner[parent])
    corner /= np.linalg.norm(corner, axis=2, keepdims=True)
    whole = np.concatenate([facets.whole, np.ones(len(points) - len(x), bool)])
    for k in (1, 2):
        whole[np.roll(fine, -k, axis=1)[~smooth]] = False
    bound = FACE * float(away[~held].max(initial=0.0))
    return Tessellation(points, fine, FacetNormals(smooth, corner, whole, bound))


def _on_sides(place: Array, marked: Array) -> Array:
    """(m, 3) bool: whether the side opposite to each corner lies on a side of the parent that is
    marked (m, 3): there the weight of the parent's corner opposite to it is zero.
    """
    on_side = (np.roll(place, -1, axis=1) == 0.0) & (np.roll(place, -2, axis=1) == 0.0)
    return np.asarray((on_side & marked[:, None, :]).any(axis=2))


def _edges(triangles: Array) -> tuple[Array, Array]:
    """Edges (e, 2), and that opposite to each corner of each triangle (m, 3)."""
    sides = np.stack([np.roll(triangles, -1, axis=1), np.roll(triangles, -2, axis=1)], axis=2)
    edges, of_side = np.unique(np.sort(sides.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    return edges, of_side.reshape(-1, 3)


def _first_side(of_triangle: Array, n_edges: int) -> tuple[Array, Array]:
    """A triangle (e,) of each edge, and its corner (e,) opposite to it."""
    side = np.empty(n_edges, dtype=np.int64)
    flat = of_triangle.ravel()
    side[flat[::-1]] = np.arange(len(flat))[::-1]
    return side // 3, side % 3


def _middles(
    of_triangle: Array, place: Array, parent: Array, n_edges: int
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """For the two triangles of each edge: the parent (e,), and the barycentrics (e, 3) there of the
    edge's middle.
    """
    first = _first_side(of_triangle, n_edges)
    last = _first_side(of_triangle[::-1], n_edges)
    both = []
    for t, k in (first, (len(parent) - 1 - last[0], last[1])):
        middle = 0.5 * (place[t, (k + 1) % 3] + place[t, (k + 2) % 3])
        both.append((parent[t], middle))
    return both[0], both[1]


@njit(cache=True)
def _on_patches(
    t: Array, weights: Array, s: Array, weights_s: Array, ridge: Array, x: Array, triangles: Array,
    on: Patches,
) -> tuple[Array, Array]:  # fmt: skip
    """Points (k, 3) [m] and unit normals (k, 3) of the smooth surface over those of triangles t
    (k,) with these weights (k, 3).

    On a ridge it is where the patch over t meets that over the triangle s on its other side: off
    the chord by d, with d . n = h for both.
    """
    out, normal = np.empty((len(t), 3)), np.empty((len(t), 3))
    for k in range(len(t)):
        u, v, w = weights[k]
        n, h = patch(t[k], u, v, w, x, triangles, on)
        d = scale(h if on.curved[t[k]] else 0.0, n)
        if ridge[k]:
            m, g = patch(s[k], weights_s[k, 0], weights_s[k, 1], weights_s[k, 2], x, triangles, on)
            h, g = (h if on.curved[t[k]] else 0.0), (g if on.curved[s[k]] else 0.0)
            c = dot(n, m)
            over = 1.0 / (1.0 - c * c)
            d = add(scale(over * (h - c * g), n), scale(over * (g - c * h), m))
        for i in range(3):
            flat = u * x[triangles[t[k], 0], i]
            flat += v * x[triangles[t[k], 1], i] + w * x[triangles[t[k], 2], i]
            out[k, i] = flat + d[i]
            normal[k, i] = n[i]
    return out, normal


def _split(
    triangles: Array, parent: Array, place: Array, middle: Array
) -> tuple[Array, Array, Array]:
    """Cut triangles at the middles (m, 3) of the sides opposite to their corners; -1: none there.

    Returns them with their parents and the barycentrics of their corners there.
    """
    local = np.concatenate([triangles, middle], axis=1)
    halves = 0.5 * (np.roll(place, -1, axis=1) + np.roll(place, -2, axis=1))
    at = np.concatenate([place, halves], axis=1)
    which = ((middle >= 0) * (1, 2, 4)).sum(axis=1)
    for pattern, (one, other) in DIAGONALS.items():
        later = (which == pattern) & (triangles[:, one] > triangles[:, other])
        which[later] = pattern + OTHER_WAY
    parts: list[tuple[Array, Array, Array]] = []
    for pattern, pieces in enumerate(PIECES):
        own = which == pattern
        parts += [(local[own][:, p], parent[own], at[own][:, p]) for p in map(list, pieces)]
    cut, of, where = (np.concatenate(together) for together in zip(*parts))
    # in an order that a mirror image has, too: where triangles are as near, the first one counts
    order = np.lexsort((*np.sort(cut, axis=1).T, of))
    return np.ascontiguousarray(cut[order], dtype=np.int32), of[order], where[order]
