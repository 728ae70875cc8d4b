"""Smooth surfaces over triangles: a quadratic patch on each, from normals at its corners.

Facets of a tube or a sphere are chords of the true surface. The patch over a triangle has its
corners in common with it, and stands out of its plane by the bulge

    h(b) = sum_i b_i n_i . (x_i - P) / (1 + n_i . N),   P = sum_i b_i x_i,   N ~ sum_i b_i n_i

along N: exact in the middle of a chord of a circle, to fourth order on spheres and cylinders. On an
edge it depends on the two ends alone, so that two patches that share their normals there meet
without a step, and N is continuous. Faces that turn by more than the crease angle share no normal:
there the ridge stays, as the chord that it is, and patches rise from it by RISE at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from limpet.geometry.distance import (
    Adjacency,
    Vec,
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
PLANAR = 2e-4  # [rad] triangles that turn by less are one plane face
NONE = 1e-9  # [m] a bulge below this is none
RISE = 0.1  # slope by which a patch leaves a ridge at most


class Patches(NamedTuple):
    """The patches over the triangles of one surface that keeps its shape.

    A surface that deforms has none: its facets are chords that may be as curved as what they lie
    on, but by no more than they are at rest.
    """

    bulge: float  # [m] by which a patch stands out of its triangle at most; 0: there are none
    relief: float  # [m] by which a facet of a surface that deforms may recede; 0: it does not
    smooth: Array  # (m, 3) bool, whether the edge opposite to local vertex k is no ridge
    curved: Array  # (m,) bool, whether the patch over a triangle is not flat
    round: Array  # (n,) bool, vertices without a ridge, with curved patches round them
    ridge: Array  # (n,) bool, vertices at which a ridge ends
    beside: Array  # (m,) bool, triangles with a ridge at an edge or a corner
    local: Array  # (m, 3, 3) corner normals on b - a, c - a and the unit normal of each triangle


def no_patches(surface: Surface, relief: float = 0.0) -> Patches:
    """Triangles that are what they are: all edges may be ridges."""
    m, n = len(surface.triangles), surface.n_vertices
    no_edge, no_face, no_vertex = np.zeros((m, 3), bool), np.zeros(m, bool), np.zeros(n, bool)
    return Patches(
        0.0, relief, no_edge, no_face, no_vertex, no_vertex, no_face, np.zeros((m, 3, 3))
    )


def patches(surface: Surface, x: Array, crease: float = CREASE, rigid: bool = True) -> Patches:
    """The patches over a surface that stands at rest at x (n, 3) [m].

    crease [rad]: faces that turn by more meet in a ridge; 0 leaves all triangles flat.
    """
    if crease <= 0.0:
        return no_patches(surface)
    x = np.ascontiguousarray(x, dtype=np.float64)
    adjacent = adjacency(surface)
    smooth = smooth_edges(surface, x, crease)
    start, faces, weights = _fans(adjacent, smooth, x, crease)
    corner = _fan_normals(start, faces, weights, x, adjacent.triangles)
    bulges = largest_bulges(x, adjacent.triangles, corner)
    bulge = float(bulges.max(initial=0.0))
    if bulge < NONE or not rigid:
        return no_patches(surface, bulge if bulge >= NONE else 0.0)
    curved = bulges >= NONE
    whole, bent, ridge = (np.zeros(surface.n_vertices, np.bool_) for _ in range(3))
    corners = adjacent.triangles.ravel()
    whole[:] = True
    whole[corners[np.diff(start) < np.diff(adjacent.vertex_start)[corners]]] = False
    bent[adjacent.triangles[curved]] = True
    for k in (1, 2):  # the two ends of the edge opposite to each corner
        ridge[np.roll(adjacent.triangles, -k, axis=1)[~smooth]] = True
    beside = ~smooth.all(axis=1) | ridge[adjacent.triangles].any(axis=1)
    local = _in_triangles(x, adjacent.triangles, corner)
    return Patches(bulge, 0.0, smooth, curved, whole & bent, ridge, beside, local)


def smooth_edges(surface: Surface, x: Array, crease: float) -> Array:
    """(m, 3) bool: whether the edge opposite to local vertex k is no ridge, by angle and widths.

    A facet may be cut in triangles: the width of a face is that of all triangles in its plane.
    """
    n = triangle_normals(x, surface.triangles)
    n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
    one, two = surface.edge_triangles.T
    turn = np.arctan2(
        np.linalg.norm(np.cross(n[one], n[two]), axis=1), np.einsum("ei,ei->e", n[one], n[two])
    )
    planar, m = turn < PLANAR, len(surface.triangles)
    links = coo_matrix((np.ones(planar.sum()), (one[planar], two[planar])), shape=(m, m))
    face = connected_components(links, directed=False)[1].astype(np.int32)
    order = np.argsort(face, kind="stable").astype(np.int32)
    start = np.searchsorted(face[order], np.arange(face.max() + 2)).astype(np.int32)
    wide = _widths(
        x, surface.triangles, surface.edges, surface.edge_triangles, n, face, start, order
    )
    even = wide.max(axis=1) <= UNEVEN * wide.min(axis=1)
    flat = planar | ((turn <= crease) & even)
    out = np.zeros((m, 3), np.bool_)
    for side in (0, 1):
        t = surface.edge_triangles[:, side]
        k = np.argmax(surface.triangles[t] == surface.opposite[:, side, None], axis=1)
        out[t, k] = flat
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


def mid_edges(x: Array, triangles: Array, corner: Array) -> Array:
    """(m, 3, 3) [m]: the points of the patches over the middles of the edges opposite to corner k.

    corner (m, 3, 3): normals at the corners of each triangle.
    """
    out = np.empty((len(triangles), 3, 3))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        p, q = x[triangles[:, i]], x[triangles[:, j]]
        ni, nj = corner[:, i], corner[:, j]
        mean = ni + nj
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        h = sum(
            0.25 * np.einsum("ti,ti->t", n, s) / (1.0 + np.einsum("ti,ti->t", n, mean))
            for n, s in ((ni, p - q), (nj, q - p))
        )
        out[:, k] = 0.5 * (p + q) + h[:, None] * mean
    return out


def corner_normals_of(surface: Surface, x: Array, crease: float = CREASE) -> Array:
    """(m, 3, 3) unit normals at the corners of each triangle, estimated from the faces there.

    By the weights of Max (1999), sine over the two lengths, which are exact on spheres and do not
    depend on how a facet is cut in triangles.
    """
    adjacent = adjacency(surface)
    fans = _fans(adjacent, smooth_edges(surface, x, crease), x, crease)
    return _fan_normals(*fans, x, adjacent.triangles)


@njit(cache=True)
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
                if dot(unit(mean), face_normal(faces[j], x, triangles)) < np.cos(crease):
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


def _in_triangles(x: Array, triangles: Array, corner: Array) -> Array:
    """Corner normals as sums of b - a, c - a and the unit normal of their triangle."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    length = np.linalg.norm(n, axis=1, keepdims=True)
    n = np.divide(n, length, out=np.zeros_like(n), where=length > 0.0)
    frames = np.stack([b - a, c - a, n], axis=2)  # columns
    flat = np.zeros_like(corner)
    flat[:, :, 2] = 1.0
    good = length[:, 0] > 1e-12 * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    flat[good] = np.linalg.solve(frames[good, None], corner[good][..., None])[..., 0]
    return flat


@njit(cache=True)
def corner_normals(t: int, x: Array, triangles: Array, on: Patches) -> tuple[Vec, Vec, Vec]:
    """Unit normals of the smooth surface at the three corners of triangle t."""
    a = point(x, triangles[t, 0])
    u, v = sub(point(x, triangles[t, 1]), a), sub(point(x, triangles[t, 2]), a)
    n, c = unit(cross(u, v)), on.local[t]
    return (
        unit(add(add(scale(c[0, 0], u), scale(c[0, 1], v)), scale(c[0, 2], n))),
        unit(add(add(scale(c[1, 0], u), scale(c[1, 1], v)), scale(c[1, 2], n))),
        unit(add(add(scale(c[2, 0], u), scale(c[2, 1], v)), scale(c[2, 2], n))),
    )


@njit(cache=True)
def smooth_normal(i: int, x: Array, adjacent: Adjacency, on: Patches) -> Vec:
    """Unit normal of the smooth surface at its vertex i, which is on no ridge."""
    t = adjacent.vertex_triangles[adjacent.vertex_start[i]]
    na, nb, nc = corner_normals(t, x, adjacent.triangles, on)
    a, b, _ = adjacent.triangles[t]
    return na if a == i else (nb if b == i else nc)


@njit(cache=True)
def _over(
    a: Vec, b: Vec, c: Vec, na: Vec, nb: Vec, nc: Vec, u: float, v: float, w: float
) -> tuple[Vec, float]:
    """Unit normal N and bulge h at the weights u, v, w."""
    n = unit(add(add(scale(u, na), scale(v, nb)), scale(w, nc)))
    ab, ac, bc = sub(b, a), sub(c, a), sub(c, b)
    # x_i - P, from the edges: no digits are lost far from the origin
    pa = scale(-1.0, add(scale(v, ab), scale(w, ac)))
    pb = sub(scale(u, ab), scale(w, bc))
    pc = add(scale(u, ac), scale(v, bc))
    h = u * dot(na, pa) / (1.0 + dot(na, n))
    h += v * dot(nb, pb) / (1.0 + dot(nb, n))
    h += w * dot(nc, pc) / (1.0 + dot(nc, n))
    return n, h


@njit(cache=True)
def _from_ridges(
    t: int, corners: tuple[Vec, Vec, Vec], weights: Vec, triangles: Array, on: Patches
) -> float:
    """[m] how far a point of triangle t is from the ridges at its edges and corners, over the
    weights of their ends.

    From an edge along the line to the opposite corner: so two triangles agree on the edge that they
    share.
    """
    least = np.inf
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if not on.smooth[t, k]:
            rest = weights[i] + weights[j]
            if rest > 0.0:
                on_edge = add(scale(weights[i], corners[i]), scale(weights[j], corners[j]))
                off = sub(corners[k], scale(1.0 / rest, on_edge))
                least = min(least, weights[k] * np.sqrt(dot(off, off)) / rest)
        elif on.ridge[triangles[t, i]] and on.smooth[t, j] and weights[i] > 0.0:
            # a ridge of other triangles ends here
            off = add(
                scale(weights[j], sub(corners[j], corners[i])),
                scale(weights[k], sub(corners[k], corners[i])),
            )
            least = min(least, np.sqrt(dot(off, off)) / weights[i])
    return least


@njit(cache=True)
def patch(
    t: int, u: float, v: float, w: float, x: Array, triangles: Array, on: Patches
) -> tuple[Vec, float]:
    """Unit normal of the smooth surface over the point (u, v, w) of triangle t, and its bulge."""
    a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
    na, nb, nc = corner_normals(t, x, triangles, on)
    n, h = _over(a, b, c, na, nb, nc, u, v, w)
    most = on.bulge
    if on.beside[t]:
        most = min(most, RISE * _from_ridges(t, (a, b, c), (u, v, w), triangles, on))
    return n, min(most, max(-most, h))


@njit(cache=True)
def normal_curvature(t: int, along: Vec, x: Array, triangles: Array, on: Patches) -> float:
    """[1/m] of the smooth surface over triangle t in the direction `along` (any length).

    Positive where it is convex: along . dN/d(along).
    """
    a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
    u, v = sub(b, a), sub(c, a)
    n = cross(u, v)
    nn, d = dot(n, n), unit(along)
    if nn == 0.0:
        return 0.0
    gb, gc = dot(cross(v, n), d) / nn, dot(cross(n, u), d) / nn  # slopes of the weights
    na, nb, nc = corner_normals(t, x, triangles, on)
    return -(gb + gc) * dot(na, d) + gb * dot(nb, d) + gc * dot(nc, d)


@njit(cache=True)
def largest_bulges(x: Array, triangles: Array, corner: Array) -> Array:
    """(m,) [m] largest bulge of each patch, up or down, at the middles of edges and of the face."""
    out = np.zeros(len(triangles))
    for t in range(len(triangles)):
        a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
        na = (corner[t, 0, 0], corner[t, 0, 1], corner[t, 0, 2])
        nb = (corner[t, 1, 0], corner[t, 1, 1], corner[t, 1, 2])
        nc = (corner[t, 2, 0], corner[t, 2, 1], corner[t, 2, 2])
        third = 1.0 / 3.0
        for u, v, w in ((0.5, 0.5, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (third, third, third)):
            _, h = _over(a, b, c, na, nb, nc, u, v, w)
            out[t] = max(out[t], abs(h))
    return out
