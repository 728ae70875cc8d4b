"""Contacts of a deforming surface with itself: folds that close, lips that curl.

A vertex meets the nearest triangle that it faces through air. Left out are the triangles that it
is a corner of, and pairs of edges with a common end; all other neighbours along the surface count,
as the two sides of a groove touch from its root on. The far side of the vertex's own wall faces it
as well, but through the material. So it is left out: all that the vertex is behind at rest, within
twice the thickness that the wall has there. Of the rest, an overlap counts up to half of that
thickness: beyond, it could not be told from the far side of another wall.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.collider import Collider, Shape, Walls
from limpet.contact.contacts import EDGE_EDGE, VERTEX_FACE, doubled, store
from limpet.contact.edges import crossing_normal, edge_between, is_ridge, meet
from limpet.contact.vertices import BLEND, corners_of, held_normal, looks
from limpet.geometry.bvh import FACING, same_distance
from limpet.geometry.distance import (
    FACE,
    Adjacency,
    add,
    closest_on_triangle,
    dot,
    face_normal,
    offset,
    point,
    pseudo_normal,
    scale,
    sub,
    unit,
    vertex_normal,
)
from limpet.geometry.facing_pairs import facing_pairs

Array = np.ndarray

SAME_WALL = 2.0  # thicknesses at rest within which what lies behind is the same wall
BEHIND = 1e-9  # sine of the angle by which it lies behind: less is the same plane, but for rounding
OVERLAP = 0.5  # of the thickness at rest: how deep an overlap may be


class _Nearest(NamedTuple):
    """Of every vertex: the nearest triangle that it faces, as far as it is known."""

    triangle: Array  # (n,) int32, -1: none
    weights: Array  # (n, 3)
    feature: Array  # (n,) int8
    distance: Array  # (n,) [m] beyond which nothing counts
    inside: Array  # (n,) bool, whether the vertex is behind it


def touching_itself(collider: Collider, x: Array) -> Collider:
    """With what detection needs to know of its walls; x (n, 3) [m]: at rest."""
    rest = np.ascontiguousarray(x, dtype=np.float64)
    return replace(collider, walls=Walls(rest, wall_thickness(rest, collider.shape)))


@njit(cache=True)
def face_normals(x: Array, triangles: Array) -> Array:
    """(m, 3) unit normals of all triangles."""
    out = np.empty((len(triangles), 3))
    for t in range(len(triangles)):
        n = face_normal(t, x, triangles)
        out[t, 0], out[t, 1], out[t, 2] = n
    return out


@njit(cache=True)
def wall_thickness(x: Array, shape: Shape) -> Array:
    """(n,) [m] from each vertex to the nearest triangle that it faces through the material.

    x (n, 3) [m]: at rest.
    """
    triangles, start = shape.adjacent.triangles, shape.adjacent.vertex_start
    normals, out = face_normals(x, triangles), np.zeros(len(x))
    for i in range(len(x)):
        if start[i] == start[i + 1]:
            continue  # a point that belongs to no triangle
        outward, p, least = vertex_normal(i, x, shape.adjacent), point(x, i), np.inf
        for t in range(len(triangles)):
            n = point(normals, t)
            ia, ib, ic = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            if dot(n, outward) > -FACING or i in (ia, ib, ic):
                continue
            a, b, c = point(x, ia), point(x, ib), point(x, ic)
            height = dot(sub(p, a), n)
            if height >= 0.0 or -height >= least:
                continue
            u, v, w, _ = closest_on_triangle(p, a, b, c)
            r = offset(p, a, b, c, u, v, w)
            least = min(least, np.sqrt(dot(r, r)))
        if least < np.inf:
            out[i] = least
    return out


@inner()
def _through_wall(i: int, t: int, adjacent: Adjacency, walls: Walls) -> bool:
    """Whether vertex i and triangle t are two sides of one wall."""
    x, triangles = walls.rest, adjacent.triangles
    p, a = point(x, i), point(x, triangles[t, 0])
    b, c = point(x, triangles[t, 1]), point(x, triangles[t, 2])
    u, v, w, feature = closest_on_triangle(p, a, b, c)
    r, far = offset(p, a, b, c, u, v, w), SAME_WALL * walls.thickness[i]
    if dot(r, r) > far * far:
        return False
    behind = -dot(r, pseudo_normal(t, u, v, w, feature, x, adjacent))
    return behind > BEHIND * np.sqrt(dot(r, r))


@inner()
def _visit(
    i: int, t: int, reach: float, x: Array, adjacent: Adjacency, walls: Walls, best: _Nearest
) -> None:
    """Let vertex i look at triangle t, as far as `reach` [m]."""
    triangles = adjacent.triangles
    p, a = point(x, i), point(x, triangles[t, 0])
    b, c = point(x, triangles[t, 1]), point(x, triangles[t, 2])
    u, v, w, feature = closest_on_triangle(p, a, b, c)
    r = offset(p, a, b, c, u, v, w)
    d, known, same = np.sqrt(dot(r, r)), best.distance[i], same_distance(best.distance[i])
    # of two triangles at the same distance, but for rounding, the one with the lower number
    if d > min(reach, known + same) or (d >= known - same and t > best.triangle[i] >= 0):
        return
    inside = dot(r, pseudo_normal(t, u, v, w, feature, x, adjacent)) < 0.0
    if inside and d > OVERLAP * walls.thickness[i]:
        return
    if _through_wall(i, t, adjacent, walls):
        return
    best.triangle[i], best.distance[i] = t, min(d, known)
    best.feature[i], best.inside[i] = feature, inside
    best.weights[i, 0], best.weights[i, 1], best.weights[i, 2] = u, v, w


@inner()
def _nearest_faced(
    x: Array, shape: Shape, normals: Array, pairs: Array, reach: Array, walls: Walls
) -> _Nearest:
    """Of all vertices of the given pairs of triangles (k, 2), as far as `reach` (k,) [m]."""
    n, adjacent, triangles, flat = len(x), shape.adjacent, shape.adjacent.triangles, shape.flat
    best = _Nearest(
        np.full(n, -1, np.int32), np.zeros((n, 3)), np.zeros(n, np.int8), np.full(n, np.inf),
        np.zeros(n, np.bool_),
    )  # fmt: skip
    known, outward = np.zeros(n, np.bool_), np.empty((n, 3))
    for k in range(len(pairs)):
        for side in range(2):
            s, t = pairs[k, side], pairs[k, 1 - side]
            ia, ib, ic = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            normal = point(normals, t)
            for corner in range(3):
                i = triangles[s, corner]
                height = dot(sub(point(x, i), point(x, ia)), normal)
                known_to = best.distance[i] + same_distance(best.distance[i])
                if abs(height) > min(reach[k], known_to) or flat[i]:
                    continue
                if i in (ia, ib, ic):
                    continue
                if not known[i]:
                    known[i] = True
                    o = vertex_normal(i, x, adjacent)
                    outward[i, 0], outward[i, 1], outward[i, 2] = o
                if dot(normal, point(outward, i)) <= -FACING:
                    _visit(i, t, reach[k], x, adjacent, walls, best)
    return best


@inner()
def _vertex_rows(
    x: Array, shape: Shape, normals: Array, pairs: Array, reach: Array, walls: Walls, alarm: float
) -> tuple[Array, Array]:
    """Contacts of the vertices at x with their own surface; rows as in Contacts.of_rows."""
    best, triangles = _nearest_faced(x, shape, normals, pairs, reach, walls), shape.adjacent[0]
    index, value = np.empty((32, 7), np.int32), np.empty((32, 10))
    blend, count = BLEND * alarm, 0
    for i in range(len(x)):
        t = best.triangle[i]
        if t < 0:
            continue
        u, v, w = point(best.weights, i)
        a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
        r, n = offset(point(x, i), a, b, c, u, v, w), point(normals, t)
        outward = vertex_normal(i, x, shape.adjacent)
        if best.feature[i] != FACE:
            side = -1.0 if best.inside[i] else 1.0
            held = held_normal(t, u, v, w, best.feature[i], outward, x, shape.adjacent)
            n = unit(add(scale(side, r), scale(blend, held)))
        if not looks(i, outward, n, x, shape.adjacent):
            continue
        at, weights = corners_of(t, u, v, w, triangles)
        if count == len(index):
            index, value = doubled(index), doubled(value)
        one, gap = (1.0, 0.0, 0.0), dot(n, r)
        store(index, value, count, VERTEX_FACE, (i, i, i), one, at, weights, n, gap)
        count += 1
    return index[:count], value[:count]


@inner()
def _known(index: Array, count: int, ends: tuple[int, int, int, int]) -> bool:
    """Whether one of the first `count` rows is of edges with these ends."""
    for k in range(count):
        i, j, p, q = index[k, 1], index[k, 2], index[k, 4], index[k, 5]
        if (i, j, p, q) == ends or (p, q, i, j) == ends:
            return True
    return False


@inner()
def _beside(
    i: int, j: int, t: int, x: Array, triangles: Array, normals: Array, alarm: float
) -> bool:
    """Whether the edge i, j is farther than `alarm` [m] from the plane of triangle t."""
    a, n = point(x, triangles[t, 0]), point(normals, t)
    one, two = dot(sub(point(x, i), a), n), dot(sub(point(x, j), a), n)
    return min(one, two) > alarm or max(one, two) < -alarm


@inner()
def _thickness(one: Array, two: Array, walls: Walls) -> float:
    """[m] of the wall at two edges, given by their ends (2,), where it is thinnest."""
    th = walls.thickness
    return min(th[one[0]], th[one[1]], th[two[0]], th[two[1]])


@inner()
def _edges_through_wall(e: int, f: int, thin: float, shape: Shape, walls: Walls) -> bool:
    """Whether two edges are on two sides of one wall, `thin` [m] thick."""
    x, edges = walls.rest, shape.edges
    (a0, a1), (b0, b1) = edges.edges[e], edges.edges[f]
    _, _, _, r = meet(point(x, a0), point(x, a1), point(x, b0), point(x, b1), np.inf)
    if dot(r, r) > (SAME_WALL * thin) ** 2:
        return False
    triangles = shape.adjacent.triangles
    n0 = face_normal(edges.triangles[f, 0], x, triangles)
    n1 = face_normal(edges.triangles[f, 1], x, triangles)
    return -dot(r, add(n0, n1)) > BEHIND * np.sqrt(dot(r, r))


@inner()
def _edge_rows(
    x: Array, shape: Shape, normals: Array, pairs: Array, reach: Array, walls: Walls
) -> tuple[Array, Array]:
    """Contacts where two ridges of the surface at x cross; rows as in Contacts.of_rows."""
    index, value = np.empty((8, 7), np.int32), np.empty((8, 10))
    triangles, edges = shape.adjacent.triangles, shape.edges
    count = 0
    for k in range(len(pairs)):
        s, t, alarm = pairs[k, 0], pairs[k, 1], reach[k]
        for one in range(3):
            i, j = triangles[s, one], triangles[s, (one + 1) % 3]
            if _beside(i, j, t, x, triangles, normals, alarm):
                continue
            for two in range(3):
                p, q = triangles[t, two], triangles[t, (two + 1) % 3]
                if i in (p, q) or j in (p, q):
                    continue
                if _beside(p, q, s, x, triangles, normals, alarm):
                    continue
                near, _, _, _ = meet(point(x, i), point(x, j), point(x, p), point(x, q), alarm)
                if not near:
                    continue
                e, f = edge_between(i, j, shape), edge_between(p, q, shape)
                if not (is_ridge(e, x, edges, triangles) and is_ridge(f, x, edges, triangles)):
                    continue
                e, f = min(e, f), max(e, f)
                (a0, a1), (b0, b1) = edges.edges[e], edges.edges[f]
                n = crossing_normal(e, x, shape, f, x, shape)
                if dot(n, n) == 0.0 or _known(index, count, (a0, a1, b0, b1)):
                    continue
                _, u, v, r = meet(point(x, a0), point(x, a1), point(x, b0), point(x, b1), alarm)
                gap, thin = dot(n, r), _thickness(edges.edges[e], edges.edges[f], walls)
                if gap < -OVERLAP * thin or _edges_through_wall(e, f, thin, shape, walls):
                    continue
                if count == len(index):
                    index, value = doubled(index), doubled(value)
                wa, wb = (1.0 - u, u, 0.0), (1.0 - v, v, 0.0)
                store(index, value, count, EDGE_EDGE, (a0, a1, a0), wa, (b0, b1, b0), wb, n, gap)
                count += 1
    return index[:count], value[:count]


@njit(cache=True, nogil=True)
def self_rows(x: Array, u: Array, shape: Shape, walls: Walls, alarm: float) -> tuple[Array, Array]:
    """All contacts of a surface at x (n, 3), to which its tree is fitted, with itself that come
    within `alarm` [m] while its vertices move by u (n, 3) [m]. Rows as in Contacts.of_rows.
    """
    triangles = shape.adjacent.triangles
    normals = face_normals(x, triangles)
    pairs, reach = facing_pairs(shape.tree, x, triangles, normals, u, alarm)
    i0, v0 = _vertex_rows(x, shape, normals, pairs, reach, walls, alarm)
    i1, v1 = _edge_rows(x, shape, normals, pairs, reach, walls)
    return np.concatenate((i0, i1)), np.concatenate((v0, v1))
