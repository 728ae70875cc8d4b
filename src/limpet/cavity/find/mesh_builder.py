"""A mapped void becomes a closed cavity mesh that ends at its seal line (P 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from limpet.cavity.find.curved_mesh import (
    Copies,
    Land,
    Seams,
    Walls,
    carried,
    curved_mesh,
    flat_mesh,
)
from limpet.cavity.find.mapping import Mapped
from limpet.cavity.mesh import (
    CavityMesh,
    JoinedSurface,
    areas,
    offsets_of,
    positions_of,
    with_support,
)
from limpet.cavity.seal.boundary import Candidate
from limpet.compiled import inner, njit
from limpet.geometry.surface import edge_keys

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
    weights, copy_face = mapped.weights.copy(), mapped.copy_face.copy()
    n = len(surface.offset) - 1
    bears = np.zeros((n, n), dtype=np.bool_)
    bears[candidate.rings[:, 0], candidate.rings[:, 1]] = True
    moved, to = _snap(
        mapped.first, mapped.next, mapped.copy_body, mapped.vertices, weights, bears, seal
    )
    if surface.patches is None:
        points = positions_of(mapped.vertices[to], weights[to], x)
    else:
        own = Copies(mapped.copy_body[to], copy_face[to], weights[to])
        points = positions_of(*carried(surface, own), x)
    target, place = nearest(surface, closest, mapped.copy_body[moved], points)
    over = _over_a_crease(
        mapped.corners, mapped.face, _spread(moved, target, len(weights)), surface.triangles, x
    )[moved]
    plain = (target >= 0) & ~over
    copy_face[moved[plain]], weights[moved[plain]] = target[plain], place[plain]
    twin = _spread(moved[over], len(weights) + np.arange(int(over.sum())), len(weights))
    copies = Copies(
        np.concatenate([mapped.copy_body, mapped.copy_body[moved[over]]]),
        np.concatenate([copy_face, target[over]]).astype(np.int32),
        np.concatenate([weights, place[over]]),
    )
    half, key = _shared_edges(mapped.corners, mapped.first, mapped.next, mapped.point)
    ends, edge, root = _meeting(mapped.corners, mapped.first, mapped.point, half, key)
    one, other = copies.body[ends[:, 0]], copies.body[ends[:, 2]]
    bearing = np.column_stack([bears[one, other], bears[other, one]])
    seams = Seams(ends, edge, bearing, twin, root)
    at = moved.copy()
    at[over] = twin[moved[over]]
    under = np.column_stack([at, to])[target >= 0]
    walls = Walls(mapped.corners, mapped.face, copies, seams, under)
    return closed_mesh(surface, x, walls, candidate, core, partial(nearest, surface, closest))


def closed_mesh(
    surface: JoinedSurface, x: Array, walls: Walls, candidate: Candidate, core: Array, land: Land
) -> CavityMesh:
    """The mesh of walls that are closed at their seams: curved where the surfaces are."""
    copies = walls.copies
    if surface.patches is None:
        triangles, bridge = flat_mesh(surface, walls)
        vertices, weights = surface.triangles[copies.face], copies.weights
        curved, quads = np.zeros((0, 6), np.int32), np.zeros((0, 8), np.int32)
        under = np.zeros((0, 2), np.int32)
    else:
        made = curved_mesh(surface, x, walls, land)
        triangles, curved, quads, bridge = made.triangles, made.curved, made.quads, made.bridge
        vertices, weights, under = made.points, made.weights, made.under
    vertices, support, slot = with_support(vertices, weights)
    mesh = CavityMesh(
        triangles=triangles, share=np.ones(len(bridge)), bridge=bridge,
        body=surface.body[vertices[:, 0]], vertices=vertices, weights=weights, support=support,
        slot=slot, rings=candidate.rings, interior=candidate.interior, core=core,
        seal_line=candidate.seal_line, curved=curved, quads=quads, under=under,
    )  # fmt: skip
    return replace(mesh, bridged=areas(mesh, x)[1], offset=offsets_of(mesh, x))


def nearest(
    surface: JoinedSurface, closest: Closest, bodies: Array, points: Array
) -> tuple[Array, Array]:
    """The nearest triangle (k,), -1 for none, of a body each, and barycentrics (k, 3) there."""
    triangle, weights = np.full(len(points), -1, np.int32), np.zeros((len(points), 3))
    for b in np.unique(bodies):
        mine = bodies == b
        own, weights[mine] = closest(int(b), points[mine])
        triangle[mine] = np.where(own >= 0, surface.face_offset[b] + own, -1)
    return triangle, weights


def _spread(where: Array, values: Array, n: int) -> Array:
    """(n,) int32 with values at some places and -1 elsewhere."""
    out = np.full(n, -1, dtype=np.int32)
    out[where] = values
    return out


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


@inner()
def _normal(triangle: Array, x: Array) -> tuple[float, float, float]:
    a, b, c = x[triangle[0]], x[triangle[1]], x[triangle[2]]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = np.sqrt(nx * nx + ny * ny + nz * nz) + 1e-300
    return nx / size, ny / size, nz / size


def _shared_edges(
    corners: Array, first: Array, following: Array, point: Array
) -> tuple[Array, Array]:
    """Edges 3 t + k of triangles whose ends are both shared by bodies, and their keys, sorted."""
    ends = point[corners]
    shared = (following[first] >= 0)[ends]
    half = np.flatnonzero(shared & np.roll(shared, -1, axis=1))
    key = edge_keys(ends, len(first))[half]
    order = np.argsort(key, kind="stable")
    return half[order].astype(np.int32), key[order]


@njit(cache=True)
def _meeting(
    corners: Array, first: Array, point: Array, half: Array, key: Array
) -> tuple[Array, Array, Array]:
    """The edges at which two bodies meet, as in Seams: ends (s, 4), edge (s, 2), root (s, 2)."""
    n = len(half)
    ends = np.empty((n, 4), dtype=np.int32)
    edge = np.empty((n, 2), dtype=np.int32)
    root = np.empty((n, 2), dtype=np.int32)
    m = 0
    for j in range(n - 1):
        e, f = half[j], half[j + 1]
        a, b = corners[e // 3, e % 3], corners[e // 3, (e + 1) % 3]
        c, d = corners[f // 3, f % 3], corners[f // 3, (f + 1) % 3]
        if key[j] != key[j + 1] or a == d:
            continue
        ends[m, 0], ends[m, 1], ends[m, 2], ends[m, 3] = a, b, c, d
        edge[m, 0], edge[m, 1] = e, f
        root[m, 0], root[m, 1] = first[point[a]], first[point[b]]
        m += 1
    return ends[:m].copy(), edge[:m].copy(), root[:m].copy()


@njit(cache=True)
def _snap(
    first: Array, following: Array, copy_body: Array, vertices: Array, weights: Array, bears: Array,
    seal: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """Move the bearers' boundary copies onto the seal line (in place).

    Returns the copies on the other bodies that must follow, and those they must be nearest to.
    """
    moved = np.empty(len(vertices), dtype=np.int64)
    to = np.empty(len(vertices), dtype=np.int64)
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
        for i in range(3):
            held = seal[vertices[best, i]]
            weights[best, i] = weights[best, i] / total if held else 0.0
        d = first[p]
        while d >= 0:
            if d != best:
                moved[n] = d
                to[n] = best
                n += 1
            d = following[d]
    return moved[:n].copy(), to[:n].copy()
