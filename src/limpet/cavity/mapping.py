"""From a void shell of the union to a cavity mesh that rides on the bodies (P 4.2).

Vertices are mapped from the offset triangles the union saw and evaluated on the true ones. A vertex
where bodies meet gets a copy on each of them, however many, and bridging triangles keep the mesh
closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from limpet.cavity.mesh import CavityMesh, Walls, areas, with_support
from limpet.cavity.ring import Candidate
from limpet.geometry.union import UnionMesh

Array = np.ndarray
# A cut that a vertex of the seal line makes lies at least half-way to it: that is pushed in by the
# sealing distance, its neighbours stand off by as much or more. Other cuts are left where they are.
AT_LINE = 0.1
CREASE = 0.9  # cosine between the normals of two faces that count as one smooth piece
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


@dataclass(frozen=True)
class Mapped:
    """Void shells of the union, their vertices carried by the bodies."""

    corners: Array  # (t, 3) int32 copies, turned round so that the volume of the void is positive
    face: Array  # (t,) int32, the wall's triangle that each is a piece of
    point: Array  # (v,) int32, the union's vertex that each copy is of
    copy_body: Array  # (v,) int32
    vertices: Array  # (v, 3) int32, the global surface vertices that carry each copy
    weights: Array  # (v, 3)
    first: Array  # (p,) int32, the first copy of each of the union's vertices in use
    next: Array  # (v,) int32, the next copy of the same vertex, -1 after the last


def map_shells(merged: UnionMesh, chosen: Array, walls: Walls, y: Array) -> Mapped:
    """Map the chosen triangles (t,) bool of the union; they must make up whole shells.

    y (N, 3): the offset surface positions, in the frame of the union.
    """
    body = merged.body[chosen]
    face = walls.face_offset[body] + merged.face[chosen]
    corners, *copies = _map_vertices(
        merged.points, merged.triangles[chosen], body, face, walls.triangles, y
    )
    return Mapped(corners, face.astype(np.int32), *copies)


def borders(mapped: Mapped, closed: Array, n_bodies: int) -> tuple[Array, Array]:
    """Which bodies meet at the edge of the void, and whose vertex graph does not close it there.

    closed (N,) bool. Both (n, n) bool; the second at [i, j]: an edge between two vertices of i that
    are not closed passes through j, so that the vertices of i cannot bear the ring.
    """
    m = mapped
    return _borders(m.first, m.next, m.copy_body, m.vertices, m.weights, closed, n_bodies)


def cavity_mesh(
    mapped: Mapped,
    walls: Walls,
    x: Array,
    candidate: Candidate,
    core: Array,
    seal: Array,
    closest: Closest,
) -> CavityMesh:
    """Close the mesh, and end it at the seal line, at surface positions x (N, 3) [m].

    seal (N,) bool: a bearer's copies of the intersection curve are moved onto vertices of the seal
    line, and the other bodies' copies to the point nearest to them, so that the cavity ends there
    whatever the sealing distance is. Where that leads over a crease of the other body, as from the
    wall of a hole onto its rim, a strip of triangles goes there instead.
    """
    vertices, weights = mapped.vertices.copy(), mapped.weights.copy()
    n = len(walls.offset) - 1
    bears = np.zeros((n, n), dtype=np.bool_)
    bears[candidate.rings[:, 0], candidate.rings[:, 1]] = True
    moved, points = _snap(
        mapped.first, mapped.next, mapped.copy_body, vertices, weights, bears, seal, x
    )
    target = np.full(len(vertices), -1, dtype=np.int32)  # the triangle that a copy is moved to
    place = weights.copy()
    for b in np.unique(mapped.copy_body[moved]):
        mine = mapped.copy_body[moved] == b
        triangle, nearest = closest(int(b), points[mine])
        found = triangle >= 0
        at = moved[mine][found]
        target[at] = walls.face_offset[b] + triangle[found]
        place[at] = nearest[found]
    over = _over_a_crease(mapped.corners, mapped.face, target, walls.triangles, x)
    plain = np.flatnonzero((target >= 0) & ~over)
    vertices[plain], weights[plain] = walls.triangles[target[plain]], place[plain]
    twin = np.full(len(vertices), -1, dtype=np.int32)
    extra = np.flatnonzero(over)
    twin[extra] = len(vertices) + np.arange(len(extra))
    copy_body = np.concatenate([mapped.copy_body, mapped.copy_body[extra]])
    vertices = np.concatenate([vertices, walls.triangles[target[extra]]])
    weights = np.concatenate([weights, place[extra]])
    triangles, bridge = _close(mapped.corners, mapped.first, mapped.next, mapped.point, twin)
    vertices, support, slot = with_support(vertices, weights)
    mesh = CavityMesh(
        triangles=triangles,
        share=np.ones(len(triangles)),
        bridge=bridge,
        body=copy_body,
        vertices=vertices,
        weights=weights,
        support=support,
        slot=slot,
        rings=candidate.rings,
        interior=candidate.interior,
        core=core,
        seal_line=candidate.seal_line,
    )
    return replace(mesh, bridged=areas(mesh, x)[1])


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
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    """Number a copy of each union vertex for each body at it; returned as in Mapped."""
    number = np.full(len(points), -1, dtype=np.int32)
    first = np.empty(3 * len(triangles), dtype=np.int32)
    corners = np.empty((len(triangles), 3), dtype=np.int32)
    following = np.full(3 * len(triangles), -1, dtype=np.int32)
    point = np.empty(3 * len(triangles), dtype=np.int32)
    copy_body = np.empty(3 * len(triangles), dtype=np.int32)
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
                vertices[copy] = wall_triangles[face[t]]
                a, b, c = wall_triangles[face[t]]
                _barycentric(points[u], y[a], y[b], y[c], weights[copy])
                n += 1
            corners[t, i] = copy
    return (
        corners,
        point[:n].copy(),
        copy_body[:n].copy(),
        vertices[:n].copy(),
        weights[:n].copy(),
        first[:n_points].copy(),
        following[:n].copy(),
    )


@njit(cache=True)
def _borders(
    first: Array,
    following: Array,
    copy_body: Array,
    vertices: Array,
    weights: Array,
    closed: Array,
    n_bodies: int,
) -> tuple[Array, Array]:
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


@njit(cache=True)
def _over_a_crease(
    corners: Array, face: Array, target: Array, wall_triangles: Array, x: Array
) -> Array:
    """Whether a copy that is moved (target >= 0) belongs to a piece of another plane, (v,) bool."""
    over = np.zeros(len(target), dtype=np.bool_)
    for t in range(len(corners)):
        for i in range(3):
            c = corners[t, i]
            if target[c] >= 0 and target[c] != face[t]:
                n = _normal(wall_triangles[face[t]], x)
                m = _normal(wall_triangles[target[c]], x)
                over[c] |= n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < CREASE
    return over


@njit(cache=True)
def _normal(triangle: Array, x: Array) -> tuple[float, float, float]:
    a, b, c = x[triangle[0]], x[triangle[1]], x[triangle[2]]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = np.sqrt(nx * nx + ny * ny + nz * nz) + 1e-300
    return nx / size, ny / size, nz / size


@njit(cache=True)
def _close(
    corners: Array, first: Array, following: Array, point: Array, twin: Array
) -> tuple[Array, Array]:
    """Add the bridging triangles: two for each edge between bodies, a fan where more meet.

    twin (v,): the copy that stands for another one at the edge, -1 where it does so itself; between
    the two goes a strip.
    """
    n_points = len(first)
    key = np.empty(3 * len(corners), dtype=np.int64)
    tail = np.empty(3 * len(corners), dtype=np.int32)
    head = np.empty(3 * len(corners), dtype=np.int32)
    n = 0
    for t in range(len(corners)):
        for i in range(3):
            a, b = corners[t, i], corners[t, (i + 1) % 3]
            p, q = np.int64(point[a]), np.int64(point[b])
            if following[first[p]] >= 0 and following[first[q]] >= 0:  # both shared by bodies
                key[n] = min(p, q) * n_points + max(p, q)
                tail[n] = a
                head[n] = b
                n += 1
    order = np.argsort(key[:n], kind="mergesort")
    extra = np.empty((4 * n, 3), dtype=np.int32)
    bridging = np.zeros(4 * n, dtype=np.bool_)
    m = 0
    for j in range(n - 1):
        e, f = order[j], order[j + 1]
        if key[e] != key[f] or tail[e] == head[f]:
            continue
        # a -> b on one body, c -> d back on another; what bounds a strip takes their places
        a, b = tail[e], head[e]
        c, d = tail[f], head[f]
        a2, b2 = a if twin[a] < 0 else twin[a], b if twin[b] < 0 else twin[b]
        c2, d2 = c if twin[c] < 0 else twin[c], d if twin[d] < 0 else twin[d]
        for tail_, head_, tail2, head2 in ((a, b, a2, b2), (c, d, c2, d2)):
            if tail2 != tail_:
                extra[m, 0], extra[m, 1], extra[m, 2] = head_, tail_, tail2
                m += 1
            if head2 != head_:
                extra[m, 0], extra[m, 1], extra[m, 2] = head_, tail2, head2
                m += 1
        extra[m, 0], extra[m, 1], extra[m, 2] = b2, a2, d2
        extra[m + 1, 0], extra[m + 1, 1], extra[m + 1, 2] = b2, d2, c2
        bridging[m] = bridging[m + 1] = True
        m += 2
        # Each end has now a step from copy to copy. Where three or more bodies meet these steps
        # make a loop; a fan from the first copy fills it.
        for from_, to, from2, to2 in ((a, d, a2, d2), (c, b, c2, b2)):
            root = first[point[from_]]
            if from_ != root and to != root:
                root = root if twin[root] < 0 else twin[root]
                extra[m, 0], extra[m, 1], extra[m, 2] = to2, from2, root
                bridging[m] = True
                m += 1
    triangles = np.concatenate((corners, extra[:m]))
    bridge = np.concatenate((np.zeros(len(corners), dtype=np.bool_), bridging[:m]))
    return triangles, bridge


@njit(cache=True)
def _snap(
    first: Array,
    following: Array,
    copy_body: Array,
    vertices: Array,
    weights: Array,
    bears: Array,
    seal: Array,
    x: Array,
) -> tuple[Array, Array]:
    """Move the bearers' boundary copies onto the seal line (in place).

    Returns the copies on the other bodies that must follow, and the points they must be nearest to.
    """
    moved = np.empty(len(vertices), dtype=np.int64)
    points = np.empty((len(vertices), 3))
    n = 0
    for p in range(len(first)):
        best, most = -1, 0  # where more than two bodies meet: the one that bears most of the rings
        c = first[p]
        while c >= 0:
            count = 0
            d = first[p]
            while d >= 0:
                count += bears[copy_body[c], copy_body[d]]
                d = following[d]
            if count > most:
                best, most = c, count
            c = following[c]
        if best < 0:
            continue
        total = 0.0
        for i in range(3):
            if seal[vertices[best, i]]:
                total += weights[best, i]
        if total < AT_LINE:
            continue
        target = np.zeros(3)
        for i in range(3):
            held = seal[vertices[best, i]]
            weights[best, i] = weights[best, i] / total if held else 0.0
            target += weights[best, i] * x[vertices[best, i]]
        d = first[p]
        while d >= 0:
            if d != best:
                moved[n] = d
                points[n] = target
                n += 1
            d = following[d]
    return moved[:n].copy(), points[:n].copy()
