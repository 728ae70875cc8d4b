"""A mapped void becomes a closed cavity mesh that ends at its seal line (P 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numba import njit

from limpet.cavity.find.mapping import Mapped
from limpet.cavity.mesh import CavityMesh, JoinedSurface, areas, with_support
from limpet.cavity.seal.boundary import Candidate

Array = np.ndarray
# (body, points (k, 3)) -> triangle (k,) of that body, or -1, and barycentric weights (k, 3)
Closest = Callable[[int, Array], tuple[Array, Array]]
# A cut that a vertex of the seal line makes lies at least half-way to it: that is pushed in by the
# sealing distance, its neighbours stand off by as much or more. Other cuts are left where they are.
AT_LINE = 0.1
CREASE = 0.9  # cosine between the normals of two faces that count as one smooth piece


def cavity_mesh(
    mapped: Mapped, surface: JoinedSurface, x: Array, candidate: Candidate, core: Array,
    seal: Array, closest: Closest,
) -> CavityMesh:  # fmt: skip
    """Close the mesh, and end it at the seal line, at surface positions x (N, 3) [m].

    seal (N,) bool: a bearer's copies of the intersection curve are moved onto vertices of the seal
    line, and the other bodies' copies to the point nearest to them, so that the cavity ends there
    whatever the sealing distance is. Where that leads over a crease of the other body, as from the
    wall of a hole onto its rim, a strip of triangles goes there instead.
    """
    vertices, weights = mapped.vertices.copy(), mapped.weights.copy()
    n = len(surface.offset) - 1
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
        target[at] = surface.face_offset[b] + triangle[found]
        place[at] = nearest[found]
    over = _over_a_crease(mapped.corners, mapped.face, target, surface.triangles, x)
    plain = np.flatnonzero((target >= 0) & ~over)
    vertices[plain], weights[plain] = surface.triangles[target[plain]], place[plain]
    twin = np.full(len(vertices), -1, dtype=np.int32)
    extra = np.flatnonzero(over)
    twin[extra] = len(vertices) + np.arange(len(extra))
    copy_body = np.concatenate([mapped.copy_body, mapped.copy_body[extra]])
    vertices = np.concatenate([vertices, surface.triangles[target[extra]]])
    weights = np.concatenate([weights, place[extra]])
    triangles, bridge = _close(mapped.corners, mapped.first, mapped.next, mapped.point, twin)
    vertices, support, slot = with_support(vertices, weights)
    mesh = CavityMesh(
        triangles=triangles, share=np.ones(len(triangles)), bridge=bridge, body=copy_body,
        vertices=vertices, weights=weights, support=support, slot=slot, rings=candidate.rings,
        interior=candidate.interior, core=core, seal_line=candidate.seal_line,
    )  # fmt: skip
    return replace(mesh, bridged=areas(mesh, x)[1])


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
    first: Array, following: Array, copy_body: Array, vertices: Array, weights: Array, bears: Array,
    seal: Array, x: Array,
) -> tuple[Array, Array]:  # fmt: skip
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
