"""The mesh of a trapped air volume: its vertices ride on the surfaces of the bodies (P 4.2).

All surfaces stand in one array X (N, 3); body i owns X[offset[i]:offset[i + 1]] and vertex ids here
are global: offset[body] + vertex.

Where a wall is made of quadratic elements the mesh follows their faces: whole faces, and six-node
triangles on those that it has pieces of; their vertices move with the faces' nodes. Rigid walls and
linear elements have flat triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from limpet.cavity.curved_triangles import add_volume_gradient, curved_area, facets_of
from limpet.cavity.quads import add_quad_gradient, facets_of_quads, quad_area
from limpet.compiled import inner, njit
from limpet.geometry.face_patches import FacePatches, join_patches
from limpet.geometry.surface import Surface

Array = np.ndarray


class CavityFaces(StrEnum):
    """What bounds a cavity."""

    CURVED = "curved"  # the faces of quadratic elements
    FLAT = "flat"  # the triangles of the collision surface, which are chords of these


@dataclass(frozen=True)
class JoinedSurface:
    """The surfaces of all bodies, joined once; only positions change afterwards."""

    offset: Array  # (n + 1,) int32, first vertex of each body
    face_offset: Array  # (n + 1,) int32, first triangle of each body
    triangles: Array  # (m, 3) int32, global vertex ids
    body: Array  # (N,) int32, the body of each vertex
    vertex_start: Array  # (N + 1,) int32, neighbours of v: neighbours[start[v]:start[v + 1]]
    neighbours: Array  # int32, global vertex ids
    own_triangles: tuple[Array, ...]  # the triangles of each body, in its own numbering
    patches: FacePatches | None = None  # curved faces under the triangles, over global points


def join_surfaces(
    surfaces: Sequence[Surface], faces: Sequence[FacePatches | None] | None = None
) -> JoinedSurface:
    """Join the surfaces, in the order in which contacts number the bodies.

    faces: the curved element faces of each, over its own points; None: it is flat.
    """
    offset = np.cumsum([0] + [s.n_vertices for s in surfaces]).astype(np.int32)
    face_offset = np.cumsum([0] + [len(s.triangles) for s in surfaces]).astype(np.int32)
    starts = [np.zeros(1, dtype=np.int32)]
    for s in surfaces:
        starts.append(s.vertex_start[1:] + starts[-1][-1])
    return JoinedSurface(
        offset=offset,
        face_offset=face_offset,
        triangles=np.concatenate([s.triangles + o for s, o in zip(surfaces, offset)]),
        body=np.repeat(np.arange(len(surfaces), dtype=np.int32), np.diff(offset)),
        vertex_start=np.concatenate(starts).astype(np.int32),
        neighbours=np.concatenate([s.neighbours + o for s, o in zip(surfaces, offset)]),
        own_triangles=tuple(s.triangles for s in surfaces),
        patches=join_patches(faces or [None], [len(s.triangles) for s in surfaces], offset[:-1]),
    )


@dataclass(frozen=True)
class CavityMesh:
    """A closed mesh round trapped air, oriented outward: dV/dx pushes the walls apart."""

    triangles: Array  # (t, 3) int32, the flat ones
    share: Array  # (t + c + q,) how much each counts: 1, or less in a mean of meshes
    bridge: Array  # (t + c + q,) bool, joins the two copies of a boundary vertex (P 4.2)
    body: Array  # (v,) int32, the body each cavity vertex rides on
    vertices: Array  # (v, k) int32, the global points that carry it: 3 vertices, or 8 of a face
    weights: Array  # (v, k), sum 1: barycentric, or shape functions
    support: Array  # (u,) int32, the global points that carry any of it, sorted
    slot: Array  # (v, k) int32, vertices = support[slot]
    # What the next remeshing has to know.
    rings: Array  # (r, 2) int32, bodies that meet at its edge: first the one that bears the ring
    interior: Array  # int32, sorted, the bearers' vertices (global) strictly inside the seal line
    core: Array  # int32, those of the interior that stood clear of other bodies: surely its air
    seal_line: Array  # int32, sorted, where the pressure ends; empty when no graph closes it
    bridged: float = 0.0  # [m^2] of its bridging triangles when it was made
    halves: tuple[CavityMesh, ...] = ()  # the meshes of which this one is the mean
    # (c, 6) int32, the curved ones: corners, middles of the edges 01, 12, 20 (-1: straight)
    curved: Array = field(default_factory=lambda: np.zeros((0, 6), np.int32))
    # (q, 8) int32, whole faces of hexahedra and wedges: corners, then the middles of the sides
    quads: Array = field(default_factory=lambda: np.zeros((0, 8), np.int32))
    # (k, 2) int32, vertices at the edge of a wall, and those of the other wall that they lie under;
    # (k, 3) [m] from these to those when they were put there
    under: Array = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    offset: Array = field(default_factory=lambda: np.zeros((0, 3)))
    bulge: float = 0.0  # [m^3] by which smooth rigid walls stand out of their facets, into the air
    recess: float = (
        0.0  # [m^3] by which the facets of a soft wall lay in the other when it was made
    )

    @property
    def carriers(self) -> tuple[int, ...]:
        """The bodies whose vertex graphs bear its contact rings."""
        return tuple(np.unique(self.rings[:, 0]).tolist())


def positions(mesh: CavityMesh, x: Array) -> Array:
    """Where the cavity vertices are now, (v, 3) [m], for surface positions x (N, 3)."""
    return positions_of(mesh.vertices, mesh.weights, x)


def volume(mesh: CavityMesh, x: Array) -> float:
    """Volume of the trapped air [m^3]."""
    y = positions_of(mesh.vertices, mesh.weights, x)
    whole = _volume(mesh.triangles, mesh.curved, mesh.quads, mesh.share, y, np.zeros_like(y))
    return whole - mesh.bulge + mesh.recess


def volume_and_gradient(mesh: CavityMesh, x: Array) -> tuple[float, Array]:
    """Volume [m^3] and its gradient (u, 3) [m^2] at the points `mesh.support`.

    The gradient is the row H_p of P eq 2, on points of the surfaces.
    """
    whole, gradient = _volume_and_gradient(
        mesh.triangles, mesh.curved, mesh.quads, mesh.share, mesh.vertices, mesh.weights, mesh.slot,
        len(mesh.support), x,
    )  # fmt: skip
    return whole - mesh.bulge + mesh.recess, gradient


def areas(mesh: CavityMesh, x: Array) -> tuple[float, float]:
    """Area of the whole mesh and of its bridging triangles [m^2], of a curved one |area vector|."""
    y = positions_of(mesh.vertices, mesh.weights, x)
    return _areas(mesh.triangles, mesh.curved, mesh.quads, mesh.share, mesh.bridge, y)


def facets(mesh: CavityMesh) -> tuple[Array, Array]:
    """Flat triangles (f, 3) through all vertices, and (f,) the number of the one each is of.

    A whole face and pieces of the next one have different vertices on their common side:
    `limpet.cavity.drawn` has triangles that share edges.
    """
    n, m = len(mesh.triangles), len(mesh.curved)
    through, of = facets_of(mesh.curved)
    number = [np.arange(n), n + of, n + m + np.repeat(np.arange(len(mesh.quads)), 6)]
    parts = [mesh.triangles, through, facets_of_quads(mesh.quads)]
    return np.concatenate(parts), np.concatenate(number)


def needs_remesh(mesh: CavityMesh, x: Array, limit: float = 0.01) -> bool:
    """Whether the bridging triangles have grown by `limit` of the cavity's area (P 4.2: 1 %).

    Where a wide gap is closed to air they are not small from the start.
    """
    whole, bridging = areas(mesh, x)
    return bridging - mesh.bridged > limit * whole


def slip(mesh: CavityMesh, x: Array) -> float:
    """How far [m] at most an edge has moved from the wall that it lay under."""
    if len(mesh.under) == 0:
        return 0.0
    return float(np.linalg.norm(offsets_of(mesh, x) - mesh.offset, axis=1).max())


def offsets_of(mesh: CavityMesh, x: Array) -> Array:
    """(k, 3) [m] from the vertices that lie under others to these."""
    below, above = mesh.under.T
    return positions_of(mesh.vertices[above], mesh.weights[above], x) - positions_of(
        mesh.vertices[below], mesh.weights[below], x
    )


def centre(mesh: CavityMesh, x: Array) -> Array:
    """Area-weighted centre of the cavity's walls (3,) [m]: defined for a flat cavity, too."""
    y = positions_of(mesh.vertices, mesh.weights, x)
    return _centre(mesh.triangles, mesh.curved, mesh.quads, mesh.share, y)


def contains(mesh: CavityMesh, x: Array, point: Array) -> bool:
    """Whether a point lies inside the cavity: its winding number exceeds one half."""
    triangles, of = facets(mesh)
    return _winding(triangles, mesh.share[of], positions(mesh, x), point) > 0.5


def common_air(old: Sequence[CavityMesh], new: Sequence[CavityMesh], n_vertices: int) -> Array:
    """Whether each old cavity's core lies in each new interior, or the other way, (old, new) bool.

    Interiors alone will not do: a cavity claims the ring vertices of a neighbour that opened.
    """
    common = np.zeros((len(old), len(new)), dtype=bool)
    for j, mesh in enumerate(new):
        inside = np.zeros((2, n_vertices), dtype=bool)
        inside[0, mesh.interior] = True
        inside[1, mesh.core] = True
        for i, before in enumerate(old):
            common[i, j] = inside[0, before.core].any() or inside[1, before.interior].any()
    return common


def mean_mesh(meshes: Sequence[CavityMesh], share: Sequence[float]) -> CavityMesh:
    """The mesh whose volume and gradient are the weighted sum of those of `meshes`."""
    shift = np.cumsum([0] + [len(m.vertices) for m in meshes])
    vertices = np.concatenate([m.vertices for m in meshes])
    weights = np.concatenate([m.weights for m in meshes])
    vertices, support, slot = with_support(vertices, weights)
    curved = [np.where(m.curved < 0, m.curved, m.curved + o) for m, o in zip(meshes, shift)]
    ends = [np.cumsum([len(m.triangles), len(m.curved)]) for m in meshes]
    shares = zip(*(np.split(f * m.share, e) for m, f, e in zip(meshes, share, ends)))
    bridges = zip(*(np.split(m.bridge, e) for m, e in zip(meshes, ends)))
    return CavityMesh(
        triangles=np.concatenate([m.triangles + np.int32(o) for m, o in zip(meshes, shift)]),
        share=np.concatenate([a for kind in shares for a in kind]),
        bridge=np.concatenate([a for kind in bridges for a in kind]),
        body=np.concatenate([m.body for m in meshes]), vertices=vertices, weights=weights,
        support=support, slot=slot, rings=meshes[0].rings,
        interior=np.unique(np.concatenate([m.interior for m in meshes])), core=meshes[0].core,
        seal_line=meshes[0].seal_line, bridged=sum(f * m.bridged for m, f in zip(meshes, share)),
        halves=tuple(meshes), curved=np.concatenate(curved).astype(np.int32),
        quads=np.concatenate([m.quads + np.int32(o) for m, o in zip(meshes, shift)]),
        under=np.concatenate([m.under + np.int32(o) for m, o in zip(meshes, shift)]),
        offset=np.concatenate([m.offset for m in meshes]),
    )  # fmt: skip


@njit(cache=True)
def with_support(vertices: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Vertices without idle entries, the sorted unique points and the slots there."""
    used = vertices.copy()
    number = np.zeros(vertices.max() + 1, dtype=np.int32)
    for v in range(len(vertices)):
        main = vertices[v, np.argmax(weights[v])]
        for i in range(vertices.shape[1]):
            if weights[v, i] == 0.0:
                used[v, i] = main
            number[used[v, i]] = 1
    support = np.flatnonzero(number).astype(np.int32)
    for u in range(len(support)):
        number[support[u]] = u
    slot = np.empty_like(used)
    for v in range(len(used)):
        for i in range(used.shape[1]):
            slot[v, i] = number[used[v, i]]
    return used, support, slot


@njit(cache=True)
def positions_of(vertices: Array, weights: Array, x: Array) -> Array:
    """Where points (v, 3) are that others carry, vertices (v, k), with weights (v, k)."""
    y = np.zeros((len(vertices), 3))
    for v in range(len(vertices)):
        for i in range(vertices.shape[1]):
            w, p = weights[v, i], vertices[v, i]
            if w != 0.0:
                for k in range(3):
                    y[v, k] += w * x[p, k]
    return y


@njit(cache=True)
def _volume(
    triangles: Array, curved: Array, quads: Array, share: Array, y: Array, g: Array
) -> float:
    """Adds the gradient of what is curved to g (v, 3)."""
    t, c = len(triangles), len(curved)
    volume = _flat_volume(triangles, share, y)
    if c + len(quads) > 0:
        volume += add_volume_gradient(curved, share[t:], y, g)
        volume += add_quad_gradient(quads, share[t + c :], y, g)
    return volume


@inner()
def _flat_volume(triangles: Array, share: Array, y: Array) -> float:
    v = 0.0
    o0, o1, o2 = y[0]  # about a vertex of the mesh, so that no digits are lost far from the origin
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        ax, ay, az = y[a, 0] - o0, y[a, 1] - o1, y[a, 2] - o2
        bx, by, bz = y[b, 0] - o0, y[b, 1] - o1, y[b, 2] - o2
        cx, cy, cz = y[c, 0] - o0, y[c, 1] - o1, y[c, 2] - o2
        six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        v += share[t] * six
    return v / 6.0


@njit(cache=True)
def _volume_and_gradient(
    triangles: Array, curved: Array, quads: Array, share: Array, vertices: Array, weights: Array,
    slot: Array, n_support: int, x: Array,
) -> tuple[float, Array]:  # fmt: skip
    y = positions_of(vertices, weights, x)
    g = np.zeros_like(y)  # at a closed mesh's vertices: a third of the area vectors around
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        ux, uy, uz = y[b, 0] - y[a, 0], y[b, 1] - y[a, 1], y[b, 2] - y[a, 2]
        vx, vy, vz = y[c, 0] - y[a, 0], y[c, 1] - y[a, 1], y[c, 2] - y[a, 2]
        w = share[t] / 6.0
        nx, ny, nz = w * (uy * vz - uz * vy), w * (uz * vx - ux * vz), w * (ux * vy - uy * vx)
        for i in range(3):
            k = triangles[t, i]
            g[k, 0] += nx
            g[k, 1] += ny
            g[k, 2] += nz
    volume = _volume(triangles, curved, quads, share, y, g)
    gradient = np.zeros((n_support, 3))
    for v in range(len(vertices)):
        for i in range(vertices.shape[1]):
            u, w = slot[v, i], weights[v, i]
            if w != 0.0:
                for k in range(3):
                    gradient[u, k] += w * g[v, k]
    return volume, gradient


@njit(cache=True)
def _areas(
    triangles: Array, curved: Array, quads: Array, share: Array, bridge: Array, y: Array
) -> tuple[float, float]:
    whole = 0.0
    bridging = 0.0
    n, m = len(triangles), len(triangles) + len(curved)
    for t in range(len(share)):
        if t < n:
            area = share[t] * _area(y[triangles[t, 0]], y[triangles[t, 1]], y[triangles[t, 2]])
        elif t < m:
            area = share[t] * curved_area(curved[t - n], y)
        else:
            area = share[t] * quad_area(quads[t - m], y)
        whole += area
        if bridge[t]:
            bridging += area
    return whole, bridging


@inner()
def _area(a: Array, b: Array, c: Array) -> float:
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return 0.5 * np.sqrt(nx * nx + ny * ny + nz * nz)


@njit(cache=True)
def _centre(triangles: Array, curved: Array, quads: Array, share: Array, y: Array) -> Array:
    total = 0.0
    middle = np.zeros(3)
    n, m = len(triangles), len(triangles) + len(curved)
    for t in range(len(share)):
        if t < n:
            a, b, c = triangles[t]
            area = share[t] * _area(y[a], y[b], y[c])
        elif t < m:
            a, b, c = curved[t - n, 0], curved[t - n, 1], curved[t - n, 2]
            area = share[t] * curved_area(curved[t - n], y)
        else:  # of the middles of three sides
            a, b, c = quads[t - m, 4], quads[t - m, 5], quads[t - m, 6]
            area = share[t] * quad_area(quads[t - m], y)
        total += area
        for k in range(3):
            middle[k] += area * (y[a, k] + y[b, k] + y[c, k]) / 3.0
    return middle / total if total > 0.0 else y[0].copy()


@njit(cache=True)
def _winding(triangles: Array, share: Array, y: Array, p: Array) -> float:
    """Solid angle of the mesh seen from p over 4 pi (van Oosterom and Strackee)."""
    angle = 0.0
    for t in range(len(triangles)):
        a = y[triangles[t, 0]] - p
        b = y[triangles[t, 1]] - p
        c = y[triangles[t, 2]] - p
        la, lb, lc = np.sqrt(np.sum(a * a)), np.sqrt(np.sum(b * b)), np.sqrt(np.sum(c * c))
        cross = np.cross(b, c)
        top = a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]
        below = la * lb * lc + np.sum(a * b) * lc + np.sum(b * c) * la + np.sum(c * a) * lb
        angle += share[t] * 2.0 * np.arctan2(top, below)
    return angle / (4.0 * np.pi)
