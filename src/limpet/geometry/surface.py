"""Closed triangle surfaces: topology (without positions), volume and its gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.compiled import njit
from limpet.errors import MeshError

Array = np.ndarray


@dataclass(frozen=True)
class Surface:
    """The topology of a closed, consistently oriented triangle surface."""

    n_vertices: int
    triangles: Array  # (m, 3) int32, counter-clockwise seen from outside
    edges: Array  # (e, 2) int32, lower vertex first
    edge_triangles: Array  # (e, 2) int32, the two triangles of each edge
    opposite: Array  # (e, 2) int32, the vertex of each of them opposite to the edge
    vertex_start: Array  # (n + 1,) int32, neighbours of vertex i: neighbours[start[i]:start[i+1]]
    neighbours: Array  # (2 e,) int32


def surface_topology(triangles: Array, n_vertices: int) -> Surface:
    """Build the topology; an open, non-manifold or inconsistently oriented mesh is refused."""
    tri = np.ascontiguousarray(triangles, dtype=np.int32)
    if tri.ndim != 2 or tri.shape[1] != 3 or len(tri) == 0:
        raise MeshError(f"surface has triangles of shape {tri.shape}: expected (m, 3) with m > 0")
    if tri.min() < 0 or tri.max() >= n_vertices:
        raise MeshError(
            f"surface triangles have vertex indices {int(tri.min())} to {int(tri.max())}: "
            f"expected 0 to {n_vertices - 1}"
        )
    half = np.concatenate([tri[:, [0, 1]], tri[:, [1, 2]], tri[:, [2, 0]]])
    owner = np.tile(np.arange(len(tri), dtype=np.int32), 3)
    third = np.concatenate([tri[:, 2], tri[:, 0], tri[:, 1]])
    if np.any(half[:, 0] == half[:, 1]):
        raise MeshError("surface has a triangle with a repeated vertex: remove it")
    key = half.min(axis=1).astype(np.int64) * n_vertices + half.max(axis=1)
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    if np.any(count == 1):
        raise MeshError(
            f"surface is open: {int(np.sum(count == 1))} edges have one triangle only; "
            "close the holes (a mesh repair tool, or 'fill holes' in your CAD export)"
        )
    if np.any(count > 2):
        raise MeshError(
            f"surface is not manifold: {int(np.sum(count > 2))} edges have more than two triangles"
        )
    one, two = order[first], order[first + 1]
    if np.any(half[one, 0] == half[two, 0]):
        raise MeshError(
            "surface triangles are not consistently oriented: flip the inconsistent ones"
        )
    edges = np.sort(half[one], axis=1).astype(np.int32)
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    start = np.zeros(n_vertices + 1, dtype=np.int32)
    np.cumsum(np.bincount(both[:, 0], minlength=n_vertices), out=start[1:])
    return Surface(
        n_vertices=n_vertices, triangles=tri, edges=edges,
        edge_triangles=np.stack([owner[one], owner[two]], axis=1),
        opposite=np.stack([third[one], third[two]], axis=1).astype(np.int32), vertex_start=start,
        neighbours=np.ascontiguousarray(both[:, 1]),
    )  # fmt: skip


def bare_surface(triangles: Array, n_vertices: int) -> Surface:
    """Triangles without adjacency, which need not be closed: for display, not for contact."""
    pairs = np.zeros((0, 2), dtype=np.int32)
    return Surface(
        n_vertices, np.ascontiguousarray(triangles, np.int32), pairs, pairs, pairs,
        np.zeros(n_vertices + 1, dtype=np.int32), np.zeros(0, dtype=np.int32),
    )  # fmt: skip


def with_points(surface: Surface, count: int) -> Surface:
    """The surface with `count` more points that belong to no triangle."""
    if count == 0:
        return surface
    start = surface.vertex_start
    return replace(
        surface,
        n_vertices=surface.n_vertices + count,
        vertex_start=np.concatenate([start, np.full(count, start[-1], start.dtype)]),
    )


def edge_keys(triangles: Array, n: int) -> Array:
    """(3 t,) int64: the same for the edges k -> k + 1 of triangles (t, 3) that join the same two of
    n vertices.
    """
    a = triangles.astype(np.int64)
    b = np.roll(a, -1, axis=1)
    return (np.minimum(a, b) * n + np.maximum(a, b)).ravel()


@njit(cache=True)
def volume(x: Array, triangles: Array) -> float:
    """Volume enclosed by a closed surface, by the divergence theorem. x (n, 3) [m], result [m^3].

    Relative to the first vertex, which avoids cancellation far from the origin.
    """
    v = 0.0
    o0, o1, o2 = x[triangles[0, 0]]
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        ax, ay, az = x[a, 0] - o0, x[a, 1] - o1, x[a, 2] - o2
        bx, by, bz = x[b, 0] - o0, x[b, 1] - o1, x[b, 2] - o2
        cx, cy, cz = x[c, 0] - o0, x[c, 1] - o1, x[c, 2] - o2
        v += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return v / 6.0


@njit(cache=True)
def volume_gradient(x: Array, triangles: Array) -> Array:
    """Gradient (n, 3) [m^2] of the volume: a third of the area vectors of the adjacent triangles.

    Exact for a closed surface, where it does not depend on the origin.
    """
    g = np.zeros_like(x)
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = (uy * vz - uz * vy) / 6.0, (uz * vx - ux * vz) / 6.0, (ux * vy - uy * vx) / 6.0
        for i in range(3):
            k = triangles[t, i]
            g[k, 0] += nx
            g[k, 1] += ny
            g[k, 2] += nz
    return g


@njit(cache=True)
def triangle_normals(x: Array, triangles: Array) -> Array:
    """Area vectors (m, 3) [m^2]: normal times area, pointing outward."""
    out = np.empty((len(triangles), 3))
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        out[t, 0] = 0.5 * (uy * vz - uz * vy)
        out[t, 1] = 0.5 * (uz * vx - ux * vz)
        out[t, 2] = 0.5 * (ux * vy - uy * vx)
    return out


def winding(x: Array, triangles: Array, p: Array) -> float:
    """Winding number of a closed surface about p: 1 inside, 0 outside (solid angle / 4 pi)."""
    a, b, c = (x[triangles[:, k]] - p for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    ab, bc, ca = ((u * v).sum(axis=1) for u, v in ((a, b), (b, c), (c, a)))
    below = la * lb * lc + ab * lc + bc * la + ca * lb
    return float(np.arctan2(above, below).sum() / (2.0 * np.pi))
