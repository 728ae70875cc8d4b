"""From a void shell of the union to a cavity mesh that rides on the bodies (P 4.2).

Vertices are mapped from the offset triangles the union saw and evaluated on the true ones. A vertex
where bodies meet gets a copy on each of them, and bridging triangles keep the mesh closed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from limpet.cavity.mesh import CavityMesh, Walls, with_support
from limpet.cavity.ring import Candidate
from limpet.geometry.union import UnionMesh

Array = np.ndarray
# (body, points (k, 3)) -> triangle (k,) of that body, or -1, and barycentric weights (k, 3)
Closest = Callable[[int, Array], tuple[Array, Array]]


def void_shells(merged: UnionMesh) -> Array:
    """Whether each shell is a void with walls of more than one body (P 4.1), (s,) bool."""
    return _voids(merged.shell, merged.body, merged.shell_volume)


def shell_of_vertices(merged: UnionMesh, voids: Array, walls: Walls, y: Array) -> Array:
    """The void shell each surface vertex lies on, (N,) int32, -1 for none. y: offset positions."""
    face = walls.face_offset[merged.body] + merged.face
    return _shell_of_vertices(
        merged.points, merged.triangles, face, merged.shell, voids, walls.triangles, y
    )


def cavity_mesh(
    merged: UnionMesh,
    chosen: Array,
    walls: Walls,
    y: Array,
    x: Array,
    candidate: Candidate,
    core: Array,
    seal: Array,
    closest: Closest,
) -> CavityMesh:
    """Map the chosen triangles (t,) bool of the union; they must make up whole shells.

    y (N, 3): the offset surface positions, in the frame of the union; x (N, 3): the true ones.
    seal (N,) bool: where the carrier's copies of the intersection curve are moved onto vertices of
    the seal line, and the other body's copies to the point nearest to them, so that the cavity ends
    there whatever the sealing distance is.
    """
    body = merged.body[chosen]
    face = walls.face_offset[body] + merged.face[chosen]
    corners, copies, copy_body, vertices, weights = _map_vertices(
        merged.points, merged.triangles[chosen], body, face, walls.triangles, y
    )
    triangles, bridge = _close(corners, copies, body)
    moved, points = _snap(copies, copy_body, vertices, weights, candidate.carrier, seal, x)
    for b in np.unique(copy_body[moved]):
        mine = copy_body[moved] == b
        triangle, nearest = closest(int(b), points[mine])
        found = triangle >= 0
        at = moved[mine][found]
        vertices[at] = walls.triangles[walls.face_offset[b] + triangle[found]]
        weights[at] = nearest[found]
    vertices, support, slot = with_support(vertices, weights)
    return CavityMesh(
        triangles=triangles,
        share=np.ones(len(triangles)),
        bridge=bridge,
        body=copy_body,
        vertices=vertices,
        weights=weights,
        support=support,
        slot=slot,
        carrier=candidate.carrier,
        interior=candidate.interior,
        core=core,
        seal_line=candidate.seal_line,
    )


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
    points: Array,
    triangles: Array,
    face: Array,
    shell: Array,
    voids: Array,
    wall_triangles: Array,
    y: Array,
) -> Array:
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


@njit(cache=True)
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
    points: Array,
    triangles: Array,
    body: Array,
    face: Array,
    wall_triangles: Array,
    y: Array,
) -> tuple[Array, Array, Array, Array, Array]:
    """Number a copy of each union vertex for each body at it.

    Returns the corners (t, 3) as copies, turned round so that the volume of the void is positive;
    the copies (p', 3) of each union vertex in use, -1 where fewer; and body, surface vertices and
    weights of each copy.
    """
    number = np.full(len(points), -1, dtype=np.int32)
    copies = np.full((3 * len(triangles), 3), -1, dtype=np.int32)
    corners = np.empty((len(triangles), 3), dtype=np.int32)
    copy_body = np.empty(3 * len(triangles), dtype=np.int32)
    vertices = np.empty((3 * len(triangles), 3), dtype=np.int32)
    weights = np.empty((3 * len(triangles), 3))
    n_points, n_copies = 0, 0
    for t in range(len(triangles)):
        for i in range(3):
            u = triangles[t, 2 - i]
            if number[u] < 0:
                number[u] = n_points
                n_points += 1
            mine = copies[number[u]]
            k = 0
            while k < 2 and mine[k] >= 0 and copy_body[mine[k]] != body[t]:
                k += 1
            if mine[k] < 0:
                mine[k] = n_copies
                copy_body[n_copies] = body[t]
                vertices[n_copies] = wall_triangles[face[t]]
                a, b, c = wall_triangles[face[t]]
                _barycentric(points[u], y[a], y[b], y[c], weights[n_copies])
                n_copies += 1
            corners[t, i] = mine[k]
    return (
        corners,
        copies[:n_points].copy(),
        copy_body[:n_copies].copy(),
        vertices[:n_copies].copy(),
        weights[:n_copies].copy(),
    )


@njit(cache=True)
def _close(corners: Array, copies: Array, body: Array) -> tuple[Array, Array]:
    """Add the bridging triangles: two for each edge between bodies, one where three meet."""
    n_points = len(copies)
    point = np.empty(corners.max() + 1, dtype=np.int64)
    for p in range(n_points):
        for k in range(3):
            if copies[p, k] >= 0:
                point[copies[p, k]] = p
    key = np.empty(3 * len(corners), dtype=np.int64)
    tail = np.empty(3 * len(corners), dtype=np.int32)
    head = np.empty(3 * len(corners), dtype=np.int32)
    n = 0
    for t in range(len(corners)):
        for i in range(3):
            a, b = corners[t, i], corners[t, (i + 1) % 3]
            p, q = point[a], point[b]
            if copies[p, 1] >= 0 and copies[q, 1] >= 0:  # both ends are shared by bodies
                key[n] = min(p, q) * n_points + max(p, q)
                tail[n] = a
                head[n] = b
                n += 1
    order = np.argsort(key[:n], kind="mergesort")
    extra = np.empty((n + n_points, 3), dtype=np.int32)
    turn = np.zeros(n_points, dtype=np.int32)  # net passages from first to second copy
    m = 0
    for j in range(n - 1):
        e, f = order[j], order[j + 1]
        if key[e] != key[f] or tail[e] == head[f]:
            continue
        a, b, c, d = (
            tail[e],
            head[e],
            tail[f],
            head[f],
        )  # a -> b on one body, c -> d back on another
        extra[m, 0], extra[m, 1], extra[m, 2] = b, a, d
        extra[m + 1, 0], extra[m + 1, 1], extra[m + 1, 2] = b, d, c
        m += 2
        for from_, to in ((a, d), (c, b)):
            p = point[from_]
            if copies[p, 2] >= 0:
                if from_ == copies[p, 0] and to == copies[p, 1]:
                    turn[p] += 1
                elif from_ == copies[p, 1] and to == copies[p, 0]:
                    turn[p] -= 1
    for p in range(n_points):
        if turn[p] != 0:
            first, second = (1, 0) if turn[p] > 0 else (0, 1)
            extra[m, 0], extra[m, 1] = copies[p, first], copies[p, second]
            extra[m, 2] = copies[p, 2]
            m += 1
    triangles = np.concatenate((corners, extra[:m]))
    bridge = np.zeros(len(triangles), dtype=np.bool_)
    bridge[len(corners) :] = True
    return triangles, bridge


@njit(cache=True)
def _snap(
    copies: Array,
    copy_body: Array,
    vertices: Array,
    weights: Array,
    carrier: int,
    seal: Array,
    x: Array,
) -> tuple[Array, Array]:
    """Move the carrier's boundary copies onto the seal line (in place).

    Returns the copies on the other bodies that must follow, and the points they must be nearest to.
    """
    moved = np.empty(2 * len(copies), dtype=np.int64)
    points = np.empty((2 * len(copies), 3))
    n = 0
    for p in range(len(copies)):
        if copies[p, 1] < 0:
            continue
        c = -1
        for k in range(3):
            if copies[p, k] >= 0 and copy_body[copies[p, k]] == carrier:
                c = copies[p, k]
        if c < 0:
            continue
        total = 0.0
        for i in range(3):
            if seal[vertices[c, i]]:
                total += weights[c, i]
        if total < 1e-6:
            continue
        target = np.zeros(3)
        for i in range(3):
            weights[c, i] = weights[c, i] / total if seal[vertices[c, i]] else 0.0
            target += weights[c, i] * x[vertices[c, i]]
        for k in range(3):
            if copies[p, k] >= 0 and copies[p, k] != c:
                moved[n] = copies[p, k]
                points[n] = target
                n += 1
    return moved[:n].copy(), points[:n].copy()
