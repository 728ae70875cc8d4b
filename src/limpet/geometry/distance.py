"""Closest points between points, segments and triangles; inside and outside of a surface.

Kernels represent a point or vector by a tuple of three floats, which stays in registers and keeps
the formulas readable. Differences are taken before products, so that coordinates of ten metres
still resolve a micrometre.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.surface import Surface

Array = np.ndarray
Vec = tuple[float, float, float]

# Closest feature of a triangle; the value is the number of barycentric weights that are zero.
FACE, EDGE, VERTEX = 0, 1, 2

# A weight below this is set to zero, so that round-off cannot move a point off a shared edge.
SNAP = 1e-10


@njit(cache=True)
def point(x: Array, i: int) -> Vec:
    return (x[i, 0], x[i, 1], x[i, 2])


@njit(cache=True)
def add(a: Vec, b: Vec) -> Vec:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@njit(cache=True)
def sub(a: Vec, b: Vec) -> Vec:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@njit(cache=True)
def scale(s: float, a: Vec) -> Vec:
    return (s * a[0], s * a[1], s * a[2])


@inner()
def dot(a: Vec, b: Vec) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner()
def cross(a: Vec, b: Vec) -> Vec:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@njit(cache=True)
def unit(a: Vec) -> Vec:
    """a / |a|; a zero vector stays zero."""
    length = np.sqrt(dot(a, a))
    return scale(1.0 / length, a) if length > 0.0 else (0.0, 0.0, 0.0)


@inner()
def _clamp(s: float) -> float:
    return min(1.0, max(0.0, s))


@njit(cache=True)
def closest_on_segments(p0: Vec, p1: Vec, q0: Vec, q1: Vec) -> tuple[float, float]:
    """Parameters (s, t) of the closest points p0 + s (p1 - p0) and q0 + t (q1 - q0).

    Parallel segments give one of their many closest pairs (Ericson 5.1.9).
    """
    d, e, r = sub(p1, p0), sub(q1, q0), sub(p0, q0)
    dd, ee, er, dr = dot(d, d), dot(e, e), dot(e, r), dot(d, r)
    if dd == 0.0:
        return 0.0, _clamp(er / ee) if ee > 0.0 else 0.0
    if ee == 0.0:
        return _clamp(-dr / dd), 0.0
    de = dot(d, e)
    det = dd * ee - de * de
    s = _clamp((de * er - dr * ee) / det) if det > 1e-14 * dd * ee else 0.0
    t = (de * s + er) / ee
    if t < 0.0:
        return _clamp(-dr / dd), 0.0
    if t > 1.0:
        return _clamp((de - dr) / dd), 1.0
    return s, t


@inner()
def _snapped(u: float, v: float, w: float) -> tuple[float, float, float, int]:
    u = u if u > SNAP else 0.0
    v = v if v > SNAP else 0.0
    w = w if w > SNAP else 0.0
    total = u + v + w
    if total == 0.0:  # NaN input: the distance becomes NaN, no exception is raised here
        return 1.0, 0.0, 0.0, VERTEX
    return u / total, v / total, w / total, int(u == 0.0) + int(v == 0.0) + int(w == 0.0)


@inner()
def _closest_on_degenerate(p: Vec, a: Vec, b: Vec, c: Vec) -> tuple[float, float, float, int]:
    """As closest_on_triangle for a degenerate triangle: the closest point on its edges."""
    best, weights = np.inf, (1.0, 0.0, 0.0)
    for k in range(3):
        e, f = (a, b, c)[k], (b, c, a)[k]
        t, _ = closest_on_segments(e, f, p, p)
        r = sub(sub(p, e), scale(t, sub(f, e)))
        if dot(r, r) < best:
            best = dot(r, r)
            weights = ((1.0 - t, t, 0.0), (0.0, 1.0 - t, t), (t, 0.0, 1.0 - t))[k]
    return _snapped(weights[0], weights[1], weights[2])


@njit(cache=True)
def closest_on_triangle(p: Vec, a: Vec, b: Vec, c: Vec) -> tuple[float, float, float, int]:
    """Barycentric weights and feature of the point of triangle abc that is closest to p.

    By Voronoi regions (Ericson, Real-Time Collision Detection, 5.1.5).
    """
    ab, ac = sub(b, a), sub(c, a)
    n = cross(ab, ac)
    if dot(n, n) <= 1e-24 * dot(ab, ab) * dot(ac, ac):
        return _closest_on_degenerate(p, a, b, c)
    ap, bp, cp = sub(p, a), sub(p, b), sub(p, c)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0, VERTEX
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0, VERTEX
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0, VERTEX
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return _snapped(1.0 - v, v, 0.0)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return _snapped(1.0 - w, 0.0, w)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return _snapped(0.0, 1.0 - w, w)
    total = va + vb + vc
    return _snapped(va / total, vb / total, vc / total) if total > 0.0 else (1.0, 0.0, 0.0, VERTEX)


@njit(cache=True)
def offset(p: Vec, a: Vec, b: Vec, c: Vec, u: float, v: float, w: float) -> Vec:
    """p minus the point (u, v, w) of triangle abc."""
    return add(add(scale(u, sub(p, a)), scale(v, sub(p, b))), scale(w, sub(p, c)))


@njit(cache=True)
def segment_crosses_triangle(p: Vec, q: Vec, a: Vec, b: Vec, c: Vec) -> bool:
    """Whether segment pq crosses triangle abc, with p and q on different sides of its plane.

    Points within round-off of the plane are not counted as being on a side.
    """
    n = cross(sub(b, a), sub(c, a))
    above, below = dot(n, sub(p, a)), dot(n, sub(q, a))
    spread = max(dot(sub(p, a), sub(p, a)), dot(sub(q, a), sub(q, a)))
    noise = 1e-10 * np.sqrt(dot(n, n) * spread)
    if min(above, below) >= -noise or max(above, below) <= noise:
        return False
    pq, pa, pb, pc = sub(q, p), sub(a, p), sub(b, p), sub(c, p)
    u, v, w = dot(pq, cross(pb, pc)), dot(pq, cross(pc, pa)), dot(pq, cross(pa, pb))
    return (u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0)


class Adjacency(NamedTuple):
    """Adjacency of the triangles and vertices of a closed surface, as arrays for kernels."""

    triangles: Array  # (m, 3) int32
    neighbours: Array  # (m, 3) int32, the triangle across the edge opposite to local vertex k
    vertex_start: (
        Array  # (n + 1,) int32, triangles of vertex i: vertex_triangles[start[i]:start[i+1]]
    )
    vertex_triangles: Array  # (3 m,) int32


def adjacency(surface: Surface) -> Adjacency:
    tri = surface.triangles
    neighbours = np.empty_like(tri)
    for side in (0, 1):
        t = surface.edge_triangles[:, side]
        local = np.argmax(tri[t] == surface.opposite[:, side, None], axis=1)
        neighbours[t, local] = surface.edge_triangles[:, 1 - side]
    corners = tri.ravel()
    start = np.zeros(surface.n_vertices + 1, dtype=np.int32)
    np.cumsum(np.bincount(corners, minlength=surface.n_vertices), out=start[1:])
    around = (np.argsort(corners, kind="stable") // 3).astype(np.int32)
    return Adjacency(tri, neighbours, start, around)


@njit(cache=True)
def face_normal(t: int, x: Array, triangles: Array) -> Vec:
    """Unit outward normal of triangle t."""
    a = point(x, triangles[t, 0])
    return unit(cross(sub(point(x, triangles[t, 1]), a), sub(point(x, triangles[t, 2]), a)))


@inner()
def corner_angle(i: int, t: int, x: Array, triangles: Array) -> float:
    """Angle of triangle t at its vertex i [rad]."""
    k = 0 if triangles[t, 0] == i else (1 if triangles[t, 1] == i else 2)
    p = point(x, i)
    u = sub(point(x, triangles[t, (k + 1) % 3]), p)
    v = sub(point(x, triangles[t, (k + 2) % 3]), p)
    n = cross(u, v)
    return np.arctan2(np.sqrt(dot(n, n)), dot(u, v))


@njit(cache=True)
def vertex_normal(i: int, x: Array, adjacent: Adjacency) -> Vec:
    """Unit angle-weighted normal at vertex i."""
    triangles, _, start, around = adjacent
    n = (0.0, 0.0, 0.0)
    for k in range(start[i], start[i + 1]):
        angle = corner_angle(i, around[k], x, triangles)
        n = add(n, scale(angle, face_normal(around[k], x, triangles)))
    return unit(n)


@njit(cache=True)
def pseudo_normal(
    t: int, u: float, v: float, w: float, feature: int, x: Array, adjacent: Adjacency
) -> Vec:
    """Unit pseudonormal at the point (u, v, w) of triangle t, which lies on the given feature.

    A point is outside a closed surface if and only if its offset from the closest surface point
    has a positive dot product with this normal (Baerentzen and Aanaes, 2005).
    """
    if feature == VERTEX:
        k = 0 if u > 0.0 else (1 if v > 0.0 else 2)
        return vertex_normal(adjacent.triangles[t, k], x, adjacent)
    n = face_normal(t, x, adjacent.triangles)
    if feature == EDGE:
        k = 0 if u == 0.0 else (1 if v == 0.0 else 2)
        n = unit(add(n, face_normal(adjacent.neighbours[t, k], x, adjacent.triangles)))
    return n
