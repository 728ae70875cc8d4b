"""Normals of the smooth surface that the facets of a triangle surface are chords of.

They are estimated from the faces round a vertex, up to the next ridges: where faces turn by more
than the crease angle, where their widths differ much, or where one of them is no facet but a plane
face of many corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from limpet.compiled import inner, njit
from limpet.geometry.distance import (
    Adjacency,
    add,
    adjacency,
    cross,
    dot,
    face_normal,
    point,
    scale,
    sub,
    unit,
)
from limpet.geometry.surface import Surface, triangle_normals

Array = np.ndarray

CREASE = float(np.deg2rad(30.0))  # [rad] default: faces that turn by more meet in a ridge
# Faces whose widths across an edge differ by more share no curvature: a flat face beside a fillet
# would bulge.
UNEVEN = 3.0
DIRECTION = 0.02  # [rad] between two sides of a face that count as two
ROUNDING = 1e-6  # relative: 12 facets turn by 30 degrees each, and count alike in every pose
PLANAR = 2e-4  # [rad] triangles that turn by less are one plane face


class FacetNormals(NamedTuple):
    """What a triangle surface is taken for."""

    smooth: Array  # (m, 3) bool, whether the edge opposite to local vertex k is no ridge
    corner: Array  # (m, 3, 3) unit normals at the corners of each triangle
    whole: Array  # (n,) bool, vertices whose faces all share one normal
    bound: float = np.inf  # [m] by which the smooth surface stands out of a facet at most


def facet_normals(surface: Surface, x: Array, crease: float = CREASE) -> FacetNormals:
    """Estimated at the positions x (n, 3) [m].

    By the weights of Max (1999), sine over the two lengths, which are exact on spheres and do not
    depend on how a facet is cut in triangles. crease [rad].
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    adjacent = adjacency(surface)
    smooth = smooth_edges(surface, x, crease)
    start, faces, weights = _fans(adjacent, smooth, x, crease)
    corner = _fan_normals(start, faces, weights, x, adjacent.triangles)
    corners = adjacent.triangles.ravel()
    whole = np.ones(surface.n_vertices, np.bool_)
    whole[corners[np.diff(start) < np.diff(adjacent.vertex_start)[corners]]] = False
    return FacetNormals(smooth, corner, whole)


def smooth_edges(surface: Surface, x: Array, crease: float) -> Array:
    """(m, 3) bool: whether the edge opposite to local vertex k is no ridge, by angle and widths.

    A facet may be cut in triangles: the width of a face is that of all triangles in its plane.
    """
    n, turn = _turns(surface, x)
    one, two = surface.edge_triangles.T
    planar, m = turn < PLANAR, len(surface.triangles)
    links = coo_matrix((np.ones(planar.sum()), (one[planar], two[planar])), shape=(m, m))
    face = connected_components(links, directed=False)[1].astype(np.int32)
    order = np.argsort(face, kind="stable").astype(np.int32)
    start = np.searchsorted(face[order], np.arange(face.max() + 2)).astype(np.int32)
    wide = _widths(
        x, surface.triangles, surface.edges, surface.edge_triangles, n, face, start, order
    )
    even = wide.max(axis=1) <= (1.0 + ROUNDING) * UNEVEN * wide.min(axis=1)
    edged = ~planar
    plane = _plane_faces(
        x, surface.edges[edged], face[surface.edge_triangles[edged]], n[order[start[:-1]]]
    )
    facets = ~plane[face[one]] & ~plane[face[two]]
    flat = planar | ((turn <= (1.0 + ROUNDING) * crease) & even & facets)
    return _by_sides(surface, flat)


def face_turns(surface: Surface, x: Array) -> Array:
    """(m, 3) [rad] by which the faces turn at the edge opposite to local vertex k."""
    return _by_sides(surface, _turns(surface, x)[1])


def _turns(surface: Surface, x: Array) -> tuple[Array, Array]:
    """Unit normals (m, 3) of the triangles, and by how much they turn at each edge (e,) [rad]."""
    n = triangle_normals(x, surface.triangles)
    n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
    one, two = surface.edge_triangles.T
    turn = np.arctan2(
        np.linalg.norm(np.cross(n[one], n[two]), axis=1), np.einsum("ei,ei->e", n[one], n[two])
    )
    return n, turn


def _by_sides(surface: Surface, of_edges: Array) -> Array:
    """(m, 3): values of the edges opposite to the local vertices of each triangle."""
    out = np.zeros((len(surface.triangles), 3), of_edges.dtype)
    for side in (0, 1):
        t = surface.edge_triangles[:, side]
        k = np.argmax(surface.triangles[t] == surface.opposite[:, side, None], axis=1)
        out[t, k] = of_edges
    return out


@njit(cache=True)
def _plane_faces(x: Array, edges: Array, faces: Array, normals: Array) -> Array:
    """(f,) bool: plane faces whose border runs in more than four directions.

    The facets that stand for a smooth surface are triangles or quadrilaterals, whole or in strips.
    A face with more corners, as the end of a tube, is plane. edges (e, 2), faces (e, 2): the
    borders between faces; normals (f, 3).
    """
    count = len(normals)
    start = np.zeros(count + 1, np.int64)
    for e in range(len(edges)):
        for side in range(2):
            start[faces[e, side] + 1] += 1
    start = np.cumsum(start)
    fill = start[:-1].copy()
    angle, first = np.empty(start[-1]), np.full((count, 3), np.nan)
    for e in range(len(edges)):
        along = unit(sub(point(x, edges[e, 1]), point(x, edges[e, 0])))
        for side in range(2):
            f = faces[e, side]
            if np.isnan(first[f, 0]):
                first[f, 0], first[f, 1], first[f, 2] = along
            one = (first[f, 0], first[f, 1], first[f, 2])
            n = (normals[f, 0], normals[f, 1], normals[f, 2])
            angle[fill[f]] = np.arctan2(dot(cross(n, one), along), dot(one, along)) % np.pi
            fill[f] += 1
    out = np.zeros(count, np.bool_)
    for f in range(count):
        own = np.sort(angle[start[f] : start[f + 1]])
        directions = 0
        for k in range(len(own)):
            before = own[k - 1] if k > 0 else own[-1] - np.pi
            directions += own[k] - before > DIRECTION
        out[f] = directions > 4
    return out


@njit(cache=True)
def _widths(
    x: Array, triangles: Array, edges: Array, sides: Array, normals: Array, face: Array,
    start: Array, order: Array,
) -> Array:  # fmt: skip
    """(e, 2) [m] how far the faces on the two sides of each edge reach, across it.

    face (m,): the plane face of each triangle; order[start[f] : start[f + 1]]: those of face f.
    """
    out = np.zeros((len(edges), 2))
    for e in range(len(edges)):
        p = point(x, edges[e, 0])
        along = unit(sub(point(x, edges[e, 1]), p))
        for side in range(2):
            t = sides[e, side]
            across = cross((normals[t, 0], normals[t, 1], normals[t, 2]), along)
            for j in range(start[face[t]], start[face[t] + 1]):
                for k in range(3):
                    off = dot(across, sub(point(x, triangles[order[j], k]), p))
                    out[e, side] = max(out[e, side], abs(off))
    return out


@inner()
def _max_weight(i: int, t: int, x: Array, triangles: Array) -> float:
    """Weight of triangle t in the normal at its vertex i (Max, 1999)."""
    k = 0 if triangles[t, 0] == i else (1 if triangles[t, 1] == i else 2)
    p = point(x, i)
    u = sub(point(x, triangles[t, (k + 1) % 3]), p)
    v = sub(point(x, triangles[t, (k + 2) % 3]), p)
    n = cross(u, v)
    lengths = dot(u, u) * dot(v, v)
    return np.sqrt(dot(n, n)) / lengths if lengths > 0.0 else 0.0


@njit(cache=True)
def _fans(
    adjacent: Adjacency, smooth: Array, x: Array, crease: float
) -> tuple[Array, Array, Array]:
    """The faces whose normals make that of each corner: those round it, up to the next ridges.

    At the tip of a cone, where their mean turns by more than the crease angle, each stands alone.
    """
    triangles, neighbours, vertex_start, _ = adjacent
    m = len(triangles)
    size = 0
    for t in range(m):
        for k in range(3):
            i = triangles[t, k]
            size += vertex_start[i + 1] - vertex_start[i]
    start = np.zeros(3 * m + 1, np.int32)
    faces, weights = np.empty(size, np.int32), np.empty(size)
    used = 0
    for t in range(m):
        for k in range(3):
            i, first = triangles[t, k], used
            faces[used], weights[used] = t, _max_weight(i, t, x, triangles)
            used += 1
            around = False
            for way in (1, 2):  # cross the edge opposite to the vertex after, or before, vertex i
                now, at = t, k
                while not around and smooth[now, (at + way) % 3]:
                    now = neighbours[now, (at + way) % 3]
                    if now == t:
                        around = True
                        break
                    at = 0 if triangles[now, 0] == i else (1 if triangles[now, 1] == i else 2)
                    faces[used], weights[used] = now, _max_weight(i, now, x, triangles)
                    used += 1
            mean = (0.0, 0.0, 0.0)
            for j in range(first, used):
                mean = add(mean, scale(weights[j], face_normal(faces[j], x, triangles)))
            for j in range(first, used):
                if dot(unit(mean), face_normal(faces[j], x, triangles)) < np.cos(
                    (1.0 + ROUNDING) * crease
                ):
                    used = first + 1
                    break
            total = weights[first:used].sum()
            weights[first:used] /= total if total > 0.0 else 1.0
            start[3 * t + k + 1] = used
    return start, faces[:used].copy(), weights[:used].copy()


@njit(cache=True)
def _fan_normals(start: Array, faces: Array, weights: Array, x: Array, triangles: Array) -> Array:
    """(m, 3, 3) unit normals at the corners."""
    out = np.empty((len(triangles), 3, 3))
    for c in range(3 * len(triangles)):
        n = (0.0, 0.0, 0.0)
        for j in range(start[c], start[c + 1]):
            n = add(n, scale(weights[j], face_normal(faces[j], x, triangles)))
        out[c // 3, c % 3] = unit(n)
    return out
