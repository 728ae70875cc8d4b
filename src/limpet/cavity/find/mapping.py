"""From a void shell of the union to a cavity mesh that rides on the bodies (P 4.2).

Vertices are mapped from the offset triangles the union saw and evaluated on the true ones. A vertex
where bodies meet gets a copy on each of them, however many, and bridging triangles keep the mesh
closed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.cavity.mesh import JoinedSurface
from limpet.compiled import inner, njit
from limpet.geometry.union import UnionMesh

Array = np.ndarray


def void_shells(merged: UnionMesh) -> Array:
    """Whether each shell is a void with walls of more than one body (P 4.1), (s,) bool."""
    return _voids(merged.shell, merged.body, merged.shell_volume)


def shell_of_vertices(merged: UnionMesh, voids: Array, surface: JoinedSurface, y: Array) -> Array:
    """The void shell each surface vertex lies on, (N,) int32, -1 for none. y: offset positions."""
    face = surface.face_offset[merged.body] + merged.face
    return _shell_of_vertices(
        merged.points, merged.triangles, face, merged.shell, voids, surface.triangles, y
    )


@dataclass(frozen=True)
class Mapped:
    """Void shells of the union, their vertices carried by the bodies."""

    corners: Array  # (t, 3) int32 copies, turned round so that the volume of the void is positive
    face: Array  # (t,) int32, the wall's triangle that each is a piece of
    point: Array  # (v,) int32, the union's vertex that each copy is of
    copy_body: Array  # (v,) int32
    copy_face: Array  # (v,) int32, a wall's triangle that it lies on
    vertices: Array  # (v, 3) int32, the vertices of that: they carry the copy
    weights: Array  # (v, 3)
    first: Array  # (p,) int32, the first copy of each of the union's vertices in use
    next: Array  # (v,) int32, the next copy of the same vertex, -1 after the last


def map_shells(merged: UnionMesh, chosen: Array, surface: JoinedSurface, y: Array) -> Mapped:
    """Map the chosen triangles (t,) bool of the union; they must make up whole shells.

    y (N, 3): the offset surface positions, in the frame of the union.
    """
    body = merged.body[chosen]
    face = surface.face_offset[body] + merged.face[chosen]
    corners, *copies = _map_vertices(
        merged.points, merged.triangles[chosen], body, face, surface.triangles, y
    )
    return Mapped(corners, face.astype(np.int32), *copies)


def borders(mapped: Mapped, closed: Array, n_bodies: int) -> tuple[Array, Array]:
    """Which bodies meet at the edge of the void, and whose vertex graph does not close it there.

    closed (N,) bool. Both (n, n) bool; the second at [i, j]: an edge between two vertices of i that
    are not closed passes through j, so that the vertices of i cannot bear the ring.
    """
    m = mapped
    return _borders(m.first, m.next, m.copy_body, m.vertices, m.weights, closed, n_bodies)


@njit(cache=True)
def _voids(shell: Array, body: Array, volume: Array) -> Array:
    first = np.full(len(volume), -1, dtype=np.int32)
    mixed = np.zeros(len(volume), dtype=np.bool_)
    for t in range(len(shell)):
        s = shell[t]
        if first[s] < 0:
            first[s] = body[t]
        mixed[s] |= first[s] != body[t]
    return mixed & (volume < 0.0)


@njit(cache=True)
def _shell_of_vertices(
    points: Array, triangles: Array, face: Array, shell: Array, voids: Array, wall_triangles: Array,
    y: Array,
) -> Array:  # fmt: skip
    home = np.full(len(y), -1, dtype=np.int32)
    for t in range(len(triangles)):
        if voids[shell[t]]:
            for i in range(3):
                p = points[triangles[t, i]]
                for k in range(3):
                    v = wall_triangles[face[t], k]
                    # The union keeps the coordinates of an input vertex to the last bit.
                    if p[0] == y[v, 0] and p[1] == y[v, 1] and p[2] == y[v, 2]:
                        home[v] = shell[t]
    return home


@inner()
def _barycentric(p: Array, a: Array, b: Array, c: Array, out: Array) -> None:
    """Weights of p in the plane of a, b, c, cleaned of rounding: no tiny and no negative ones."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    uu, uv, vv = (
        ux * ux + uy * uy + uz * uz,
        ux * vx + uy * vy + uz * vz,
        vx * vx + vy * vy + vz * vz,
    )
    wu, wv = wx * ux + wy * uy + wz * uz, wx * vx + wy * vy + wz * vz
    d = uu * vv - uv * uv
    if d > 1e-20 * uu * vv:
        out[1] = (vv * wu - uv * wv) / d
        out[2] = (uu * wv - uv * wu) / d
    else:  # a needle: along its longer edge
        out[1] = wu / uu if uu >= vv else 0.0
        out[2] = 0.0 if uu >= vv else wv / vv
    out[0] = 1.0 - out[1] - out[2]
    total = 0.0
    for k in range(3):
        if out[k] < 1e-10:
            out[k] = 0.0
        total += out[k]
    for k in range(3):
        out[k] /= total


@njit(cache=True)
def _map_vertices(
    points: Array, triangles: Array, body: Array, face: Array, wall_triangles: Array, y: Array,
) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """Number a copy of each union vertex for each body at it; returned as in Mapped."""
    number = np.full(len(points), -1, dtype=np.int32)
    first = np.empty(3 * len(triangles), dtype=np.int32)
    corners = np.empty((len(triangles), 3), dtype=np.int32)
    following = np.full(3 * len(triangles), -1, dtype=np.int32)
    point = np.empty(3 * len(triangles), dtype=np.int32)
    copy_body = np.empty(3 * len(triangles), dtype=np.int32)
    copy_face = np.empty(3 * len(triangles), dtype=np.int32)
    vertices = np.empty((3 * len(triangles), 3), dtype=np.int32)
    weights = np.empty((3 * len(triangles), 3))
    n_points, n = 0, 0
    for t in range(len(triangles)):
        for i in range(3):
            u = triangles[t, 2 - i]
            copy, before = -1, -1
            if number[u] < 0:
                number[u] = n_points
                first[n_points] = n
                n_points += 1
            else:
                copy = first[number[u]]
            while copy >= 0 and copy_body[copy] != body[t]:
                before, copy = copy, following[copy]
            if copy < 0:
                copy = n
                if before >= 0:
                    following[before] = copy
                point[copy] = number[u]
                copy_body[copy] = body[t]
                copy_face[copy] = face[t]
                a, b, c = wall_triangles[face[t]]
                vertices[copy, 0], vertices[copy, 1], vertices[copy, 2] = a, b, c
                _barycentric(points[u], y[a], y[b], y[c], weights[copy])
                n += 1
            corners[t, i] = copy
    return (
        corners, point[:n].copy(), copy_body[:n].copy(), copy_face[:n].copy(), vertices[:n].copy(),
        weights[:n].copy(), first[:n_points].copy(), following[:n].copy(),
    )  # fmt: skip


@njit(cache=True)
def _borders(
    first: Array, following: Array, copy_body: Array, vertices: Array, weights: Array,
    closed: Array, n_bodies: int,
) -> tuple[Array, Array]:  # fmt: skip
    meets = np.zeros((n_bodies, n_bodies), dtype=np.bool_)
    passes = np.zeros((n_bodies, n_bodies), dtype=np.bool_)
    for p in range(len(first)):
        c = first[p]
        while c >= 0:
            inside_face, held = True, False
            for i in range(3):
                inside_face &= weights[c, i] > 0.0
                held |= weights[c, i] > 0.0 and closed[vertices[c, i]]
            d = first[p]
            while d >= 0:
                if d != c:
                    meets[copy_body[c], copy_body[d]] = True
                    passes[copy_body[c], copy_body[d]] |= not inside_face and not held
                d = following[d]
            c = following[c]
    return meets, passes
