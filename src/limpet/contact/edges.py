"""Edges of one surface against edges of another: contacts where two ridges cross.

Only ridges count, and only where the line between them lies in the normal cones of both: there
the distance of the two bodies has a minimum that no vertex sees.

An edge between the facets of a smooth surface is no ridge of that surface: its gap is corrected by
the bulge of the patches, and a chord of a soft lip that crosses it may be as curved as the surface
is there.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.collider import Edges, Shape
from limpet.contact.contacts import EDGE_EDGE, doubled, store
from limpet.geometry.bvh import ANY_SIDE, DEPTH, Tree, nearest, triangle_pairs
from limpet.geometry.distance import (
    Adjacency,
    Vec,
    add,
    closest_on_segments,
    cross,
    dot,
    face_normal,
    offset,
    point,
    pseudo_normal,
    scale,
    sub,
    unit,
)
from limpet.geometry.smooth import normal_curvature, patch

Array = np.ndarray

INTERIOR = 1e-4  # nearer to an end of an edge, in parts of its length, its vertex makes the contact
CROSSING = 1e-3  # sine of the angle between two edges; below they are parallel, vertices touch
RIDGE = 0.02  # [rad] edges whose faces turn by less are flat
SMOOTH_RIDGE = 2e-4  # [rad] and those between the facets of a smooth surface, fine as they may be
CONE = 1e-3  # tolerance on normal cones: crossed planks touch on the rim of theirs
SHALLOW = 0.1  # share of the alarm: overlap below it needs no proof that the edges are inside


@inner()
def signed_distance(
    p: Vec, x: Array, tree: Tree, adjacent: Adjacency, max_distance: float, stack: Array
) -> float:
    """Distance of p from a surface [m], negative inside; inf beyond max_distance."""
    triangles = adjacent.triangles
    t, u, v, w, feature, d = nearest(tree, x, triangles, p, max_distance, ANY_SIDE, stack)
    if t < 0:
        return np.inf
    a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
    r = offset(p, a, b, c, u, v, w)
    return d if dot(r, pseudo_normal(t, u, v, w, feature, x, adjacent)) >= 0.0 else -d


@inner()
def is_ridge(e: int, x: Array, edges: Edges, triangles: Array, least: float = RIDGE) -> bool:
    """Whether the faces of edge e turn away from each other, by more than `least` [rad]."""
    p = point(x, edges.edges[e, 0])
    n0 = face_normal(edges.triangles[e, 0], x, triangles)
    n1 = face_normal(edges.triangles[e, 1], x, triangles)
    bend = cross(n0, n1)
    sine = np.sqrt(dot(bend, bend))
    below = dot(n0, sub(point(x, edges.opposite[e, 1]), p)) < 0.0
    return below and np.arctan2(sine, dot(n0, n1)) > least


@inner()
def _smooth_edge(e: int, shape: Shape) -> bool:
    """Whether edge e is one between the facets of a smooth surface."""
    if shape.patches.bulge == 0.0:
        return False
    t, o, triangles = shape.edges.triangles[e, 0], shape.edges.opposite[e, 0], shape.adjacent
    corners = triangles.triangles[t]
    return shape.patches.smooth[t, 0 if corners[0] == o else (1 if corners[1] == o else 2)]


@inner()
def _ridges(x: Array, shape: Shape, near: Array) -> Array:
    """For the edges owned by the triangles near (k,) whether they are ridges; False elsewhere."""
    edges, triangles = shape.edges, shape.adjacent.triangles
    start, owned = edges.owned_start, edges.owned
    seen = np.zeros(len(triangles), np.bool_)
    ridge = np.zeros(len(owned), np.bool_)
    for t in near:
        if not seen[t]:
            seen[t] = True
            for k in range(start[t], start[t + 1]):
                least = SMOOTH_RIDGE if _smooth_edge(owned[k], shape) else RIDGE
                ridge[owned[k]] = is_ridge(owned[k], x, edges, triangles, least)
    return ridge


@inner()
def _cone(e: int, x: Array, edges: Edges, triangles: Array) -> tuple[Vec, Vec, Vec]:
    """Mean normal of edge e and the directions into its two faces, across the edge."""
    p = point(x, edges.edges[e, 0])
    along = unit(sub(point(x, edges.edges[e, 1]), p))
    to0, to1 = sub(point(x, edges.opposite[e, 0]), p), sub(point(x, edges.opposite[e, 1]), p)
    n0 = face_normal(edges.triangles[e, 0], x, triangles)
    n1 = face_normal(edges.triangles[e, 1], x, triangles)
    into0 = unit(sub(to0, scale(dot(to0, along), along)))
    into1 = unit(sub(to1, scale(dot(to1, along), along)))
    return unit(add(n0, n1)), into0, into1


@inner()
def _ridge_normal(
    e: int, x: Array, shape_x: Shape, f: int, y: Array, shape_y: Shape, across: Vec
) -> Vec:
    """The unit normal, along `across`, from ridge f of b to ridge e of a; zero if they do not face.

    It must leave both faces of b behind and meet both faces of a from outside: it lies in the
    normal cones of both edges, which also tells on which side of b the edge of a belongs.
    """
    mean_x, into_x0, into_x1 = _cone(e, x, shape_x.edges, shape_x.adjacent.triangles)
    mean_y, into_y0, into_y1 = _cone(f, y, shape_y.edges, shape_y.adjacent.triangles)
    n = unit(across)
    if dot(n, sub(mean_y, mean_x)) < 0.0:
        n = scale(-1.0, n)
    in_cone_y = max(dot(n, into_y0), dot(n, into_y1)) < CONE
    in_cone_x = min(dot(n, into_x0), dot(n, into_x1)) > -CONE
    return n if in_cone_x and in_cone_y else (0.0, 0.0, 0.0)


@njit(cache=True, inline="always")
def meet(x0: Vec, x1: Vec, y0: Vec, y1: Vec, alarm: float) -> tuple[bool, float, float, Vec]:
    """Whether two edges come near between their ends; at which places, and the way from b to a."""
    along_x, along_y = sub(x1, x0), sub(y1, y0)
    s, t = closest_on_segments(x0, x1, y0, y1)
    r = add(sub(x0, y0), sub(scale(s, along_x), scale(t, along_y)))
    near = dot(r, r) <= alarm * alarm and min(s, t, 1.0 - s, 1.0 - t) >= INTERIOR
    return near, s, t, r


@inner()
def crossing_normal(e: int, x: Array, shape_x: Shape, f: int, y: Array, shape_y: Shape) -> Vec:
    """The unit normal from ridge f of b to ridge e of a where they cross, zero if they do not."""
    one, two = shape_x.edges.edges[e], shape_y.edges.edges[f]
    along_x = sub(point(x, one[1]), point(x, one[0]))
    along_y = sub(point(y, two[1]), point(y, two[0]))
    n = cross(along_x, along_y)
    if dot(n, n) < CROSSING * CROSSING * dot(along_x, along_x) * dot(along_y, along_y):
        return 0.0, 0.0, 0.0
    return _ridge_normal(e, x, shape_x, f, y, shape_y, n)


@inner()
def _edge_bulge(e: int, s: float, n: Vec, x: Array, shape: Shape) -> float:
    """How far the smooth surface stands out along n over the place s of its edge e [m]."""
    t, triangles = shape.edges.triangles[e, 0], shape.adjacent.triangles
    one, two = shape.edges.edges[e]
    u, v, w = 0.0, 0.0, 0.0
    for k in range(3):
        share = 1.0 - s if triangles[t, k] == one else (s if triangles[t, k] == two else 0.0)
        u, v, w = (share, v, w) if k == 0 else ((u, share, w) if k == 1 else (u, v, share))
    normal, h = patch(t, u, v, w, x, triangles, shape.patches)
    return h * dot(normal, n)


@inner()
def _sagitta(e: int, x: Array, shape_x: Shape, f: int, y: Array, shape_y: Shape) -> float:
    """[m] in the middle of edge e if it is as curved as the smooth surface at its edge f."""
    along = sub(point(x, shape_x.edges.edges[e, 1]), point(x, shape_x.edges.edges[e, 0]))
    bend = 0.0
    for side in range(2):
        t, triangles = shape_y.edges.triangles[f, side], shape_y.adjacent.triangles
        bend += 0.5 * normal_curvature(t, along, y, triangles, shape_y.patches)
    return max(0.0, 0.125 * dot(along, along) * bend)


@inner()
def _follows(e: int, x: Array, shape_x: Shape, f: int, y: Array, shape_y: Shape) -> bool:
    """Whether the soft edge e can be as curved as the smooth surface at its edge f.

    It is at most as curved as its own surface is at rest. If it can, it lies on the smooth surface
    where its ends do: they make the contacts.
    """
    relief = shape_x.patches.relief
    if relief == 0.0 or not _smooth_edge(f, shape_y):
        return False
    return _sagitta(e, x, shape_x, f, y, shape_y) <= relief


@inner()
def _curved_chord(
    e: int, s: float, x: Array, shape_x: Shape, f: int, y: Array, shape_y: Shape
) -> float:
    """[m] by which the soft edge e recedes at s from the smooth surface at f."""
    sagitta = _sagitta(e, x, shape_x, f, y, shape_y)
    return 4.0 * s * (1.0 - s) * min(shape_x.patches.relief, sagitta)


@inner()
def _recess(
    e: int, s: float, x: Array, shape_x: Shape, f: int, t: float, y: Array, shape_y: Shape, n: Vec
) -> float:
    """[m] to add to the gap of two edges, with the normal n from b to a, where one is smooth."""
    smooth_x, smooth_y = _smooth_edge(e, shape_x), _smooth_edge(f, shape_y)
    if not (smooth_x or smooth_y):
        return 0.0
    of_x = _edge_bulge(e, s, n, x, shape_x) if smooth_x else 0.0
    of_y = -_edge_bulge(f, t, n, y, shape_y) if smooth_y else 0.0
    if smooth_y and shape_x.patches.relief > 0.0:
        of_x = max(of_x, _curved_chord(e, s, x, shape_x, f, y, shape_y))
    if smooth_x and shape_y.patches.relief > 0.0:
        of_y = max(of_y, _curved_chord(f, t, y, shape_y, e, x, shape_x))
    return of_x + of_y


@inner()
def _store(
    index: Array, value: Array, row: int, e: int, shape_x: Shape, s: float,
    f: int, shape_y: Shape, t: float, n: Vec, gap: float,
) -> None:  # fmt: skip
    (a0, a1), (b0, b1) = shape_x.edges.edges[e], shape_y.edges.edges[f]
    wx, wy = (1.0 - s, s, 0.0), (1.0 - t, t, 0.0)
    store(index, value, row, EDGE_EDGE, (a0, a1, a0), wx, (b0, b1, b0), wy, n, gap)


@inner()
def edge_between(i: int, j: int, shape: Shape) -> int:
    """The edge with these two ends, -1 if there is none."""
    edges, start, owned = shape.edges.edges, shape.edges.owned_start, shape.edges.owned
    adjacent = shape.adjacent
    for k in range(adjacent.vertex_start[i], adjacent.vertex_start[i + 1]):
        t = adjacent.vertex_triangles[k]
        for m in range(start[t], start[t + 1]):
            a, b = edges[owned[m]]
            if (a == i and b == j) or (a == j and b == i):
                return owned[m]
    return -1


def kept_rows(
    x: Array, shape_x: Shape, y: Array, shape_y: Shape, ends_x: Array, ends_y: Array, alarm: float
) -> tuple[Array, Array]:
    """Contacts of pairs of edges, given by their ends (k, 2) each, that were in contact before.

    A soft surface is flat where another one lies on its edges: they are no ridges, but would be if
    let go. So they stay in contact as long as the line between them is in their normal cones.
    """
    ends_x, ends_y = np.ascontiguousarray(ends_x), np.ascontiguousarray(ends_y)
    return _kept_rows(x, shape_x, y, shape_y, ends_x, ends_y, alarm)


@njit(cache=True)
def _kept_rows(
    x: Array, shape_x: Shape, y: Array, shape_y: Shape, ends_x: Array, ends_y: Array, alarm: float
) -> tuple[Array, Array]:
    index, value = np.empty((len(ends_x), 7), np.int32), np.empty((len(ends_x), 10))
    found, far = 0, alarm + shape_x.patches.bulge + shape_y.patches.bulge
    for c in range(len(ends_x)):
        e = edge_between(ends_x[c, 0], ends_x[c, 1], shape_x)
        f = edge_between(ends_y[c, 0], ends_y[c, 1], shape_y)
        (a0, a1), (b0, b1) = shape_x.edges.edges[e], shape_y.edges.edges[f]
        near, s, t, r = meet(point(x, a0), point(x, a1), point(y, b0), point(y, b1), far)
        n = crossing_normal(e, x, shape_x, f, y, shape_y)
        if near and dot(n, n) > 0.0:
            gap = dot(n, r) + _recess(e, s, x, shape_x, f, t, y, shape_y, n)
            _store(index, value, found, e, shape_x, s, f, shape_y, t, n, gap)
            found += 1
    return index[:found], value[:found]


@inner()
def edge_rows(
    x: Array, shape_x: Shape, y: Array, shape_y: Shape, alarm: float
) -> tuple[Array, Array]:
    """Contacts of the edges of a, at x, with those of b, at y; rows as in Contacts.of_rows."""
    index = np.empty((8, 7), np.int32)
    value = np.empty((8, 10))
    stack = np.empty(DEPTH, np.int32)
    tree_x, tree_y = shape_x.tree, shape_y.tree
    adjacent_x, adjacent_y = shape_x.adjacent, shape_y.adjacent
    edges_x, start_x, owned_x = shape_x.edges.edges, shape_x.edges.owned_start, shape_x.edges.owned
    edges_y, start_y, owned_y = shape_y.edges.edges, shape_y.edges.owned_start, shape_y.edges.owned
    far = alarm + shape_x.patches.bulge + shape_y.patches.bulge
    near = triangle_pairs(tree_x, x, adjacent_x.triangles, tree_y, y, adjacent_y.triangles, far)
    ridge_x, ridge_y = _ridges(x, shape_x, near[:, 0]), _ridges(y, shape_y, near[:, 1])
    found = 0
    for pair in range(len(near)):
        for k in range(start_x[near[pair, 0]], start_x[near[pair, 0] + 1]):
            e = owned_x[k]
            if not ridge_x[e]:
                continue
            x0, x1 = point(x, edges_x[e, 0]), point(x, edges_x[e, 1])
            for l in range(start_y[near[pair, 1]], start_y[near[pair, 1] + 1]):
                f = owned_y[l]
                if not ridge_y[f]:
                    continue
                y0, y1 = point(y, edges_y[f, 0]), point(y, edges_y[f, 1])
                near_by, s, t, r = meet(x0, x1, y0, y1, far)
                if not near_by:
                    continue
                n = crossing_normal(e, x, shape_x, f, y, shape_y)
                if dot(n, n) == 0.0 or _follows(e, x, shape_x, f, y, shape_y):
                    continue
                if _follows(f, y, shape_y, e, x, shape_x):
                    continue
                gap = dot(n, r) + _recess(e, s, x, shape_x, f, t, y, shape_y, n)
                if far > alarm and abs(gap) > alarm:
                    continue
                # The outer edges of two thin sheets that touch look like overlap: ask for proof.
                if gap < -SHALLOW * alarm:
                    p, q = add(x0, scale(s, sub(x1, x0))), add(y0, scale(t, sub(y1, y0)))
                    p_out = signed_distance(p, y, tree_y, adjacent_y, alarm, stack)
                    q_out = signed_distance(q, x, tree_x, adjacent_x, alarm, stack)
                    if max(p_out, q_out) > -SHALLOW * gap:
                        continue
                if found == len(index):
                    index, value = doubled(index), doubled(value)
                _store(index, value, found, e, shape_x, s, f, shape_y, t, n, gap)
                found += 1
    return index[:found], value[:found]
