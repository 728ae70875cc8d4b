"""A recess of one body becomes a closed cavity mesh, without a union.

Its wall is made of the carrier's own triangles inside the seal line. The other side is
- on one other body, the wall's image: each of its vertices at the nearest place of that body;
- on several, a patch for each loop in which the wall ends (a ring between two plates has two):
  rings of points between the loop and its centre, each at the nearest place of a body.
Between a loop and the other side go bridging triangles (P 4.2).

On a flat body volume and wrench are exact, however the loops run. On a curved one they are those of
a surface with as many facets as the wall has, or as the patch has LEVELS; what the wall touches
bounds no volume either way. A hole in the other body is covered, not followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from limpet.cavity.find.curved_mesh import Copies, Seams, Walls
from limpet.cavity.find.mesh_builder import Closest, closed_mesh
from limpet.cavity.mesh import CavityMesh, JoinedSurface
from limpet.cavity.seal.boundary import Candidate
from limpet.compiled import njit

Array = np.ndarray

LEVELS = 6  # rings of points in a patch


def recess_mesh(
    surface: JoinedSurface, x: Array, candidate: Candidate, core: Array, closest: Closest
) -> CavityMesh:
    """The mesh of a candidate with one carrier, at surface positions x (N, 3) [m]."""
    carrier, others = candidate.rings[0, 0], candidate.rings[:, 1].tolist()
    inside = np.zeros(len(surface.body), dtype=bool)
    inside[candidate.interior] = True
    own = surface.triangles[surface.face_offset[carrier] : surface.face_offset[carrier + 1]]
    inside_faces = inside[own].any(axis=1)
    own = own[inside_faces][:, ::-1]  # seen from the air
    used, numbered = np.unique(own, return_inverse=True)
    wall = numbered.reshape(-1, 3).astype(np.int32)
    faces = surface.face_offset[carrier] + np.flatnonzero(inside_faces)
    count = len(used)
    face_of, corner_of = _first_faces(wall, faces, surface.triangles, used)
    copy_faces, weights = [face_of], [np.eye(3)[corner_of]]
    pieces, piece_faces = [wall], [faces]
    seams: list[tuple[Array, Array]] = []  # loops of the wall, and what lies under them
    land = partial(_land, surface, x, others, closest)
    loops = _loops(wall, count)
    if len(others) == 1:
        image, image_weights, _ = land(x[used])
        copy_faces.append(image)
        weights.append(image_weights)
        pieces.append(wall[:, ::-1] + np.int32(count))
        seams += [(loop, loop + count) for loop in loops]
        loops = []
    for loop in loops:
        rim, rim_weights, place = land(x[used[loop]])
        centre = place.mean(axis=0)
        steps = np.arange(LEVELS - 1, 0, -1)[:, None, None] / LEVELS
        between = (centre + steps * (place - centre)).reshape(-1, 3)
        rest, rest_weights, _ = land(np.vstack([between, centre]))
        copy_faces += [rim, rest]
        weights += [rim_weights, rest_weights]
        levels = count + np.arange(len(loop) * LEVELS).reshape(LEVELS, -1)
        count += len(rim) + len(rest)
        middle = np.full(len(loop), count - 1)
        pieces += [_strip(*pair) for pair in pairwise([*levels, middle])]
        seams.append((loop, levels[0]))
    corners = np.concatenate(pieces)
    piece_faces += [np.full(len(p), -1) for p in pieces[1:]]
    on = np.concatenate(copy_faces).astype(np.int32)
    copies = Copies(surface.body[surface.triangles[on, 0]], on, np.concatenate(weights))
    edges = _seams(corners, seams, len(on))
    under = edges.ends[:, [3, 0]]
    walls = Walls(corners, np.concatenate(piece_faces).astype(np.int32), copies, edges, under)
    return closed_mesh(surface, x, walls, candidate, core, lambda bodies, points: land(points)[:2])


def _first_faces(wall: Array, faces: Array, triangles: Array, used: Array) -> tuple[Array, Array]:
    """A collision triangle that each vertex of the wall is a corner of, and which of its three."""
    face, corner = np.zeros(len(used), np.int32), np.zeros(len(used), np.int64)
    for i in range(3):
        face[wall[:, i]] = faces
    at = triangles[face] == used[:, None]
    corner[:] = at.argmax(axis=1)
    return face, corner


def _seams(corners: Array, pairs: list[tuple[Array, Array]], n: int) -> Seams:
    """Where loops of the wall meet what lies under them."""
    ends = [np.column_stack([one, np.roll(one, -1), np.roll(two, -1), two]) for one, two in pairs]
    four = np.concatenate([*ends, np.zeros((0, 4), np.int64)]).astype(np.int32)
    half = {
        (int(t[i]), int(t[(i + 1) % 3])): 3 * k + i for k, t in enumerate(corners) for i in range(3)
    }
    edge = np.array([(half[a, b], half[c, d]) for a, b, c, d in four.tolist()], np.int32)
    bears = np.tile([True, False], (len(four), 1))
    twin = np.full(n, -1, np.int32)
    return Seams(four, edge.reshape(-1, 2), bears, twin, four[:, [0, 1]])


def _land(
    surface: JoinedSurface, x: Array, bodies: Sequence[int], closest: Closest, points: Array
) -> tuple[Array, Array, Array]:
    """The nearest place on any of the bodies: triangle (k,), weights (k, 3), place (k, 3) [m]."""
    face = np.full(len(points), surface.face_offset[bodies[0]], dtype=np.int32)
    weights, place = np.tile([1.0, 0.0, 0.0], (len(points), 1)), points.copy()
    nearest = np.full(len(points), np.inf)
    for b in bodies:
        triangle, bary = closest(b, points)
        at = surface.face_offset[b] + np.maximum(triangle, 0)
        there = np.einsum("ki,kij->kj", bary, x[surface.triangles[at]])
        far = np.where(triangle >= 0, np.linalg.norm(there - points, axis=1), np.inf)
        better = far < nearest
        nearest[better], face[better] = far[better], at[better]
        weights[better], place[better] = bary[better], there[better]
    return face, weights, place


def _loops(wall: Array, n: int) -> list[Array]:
    """The vertices of each loop in which triangles (t, 3) over n vertices end, in their sense."""
    half = np.concatenate([wall[:, [0, 1]], wall[:, [1, 2]], wall[:, [2, 0]]]).astype(np.int64)
    single = ~np.isin(half[:, 0] * n + half[:, 1], half[:, 1] * n + half[:, 0])
    tail, head = half[single].T
    by_tail = np.argsort(tail, kind="stable")
    first = np.searchsorted(tail[by_tail], np.arange(n + 1))
    order, start = _walk(head, by_tail, first)
    return np.split(tail[order], start[1:])


@njit(cache=True)
def _walk(head: Array, by_tail: Array, first: Array) -> tuple[Array, Array]:
    """Order edges into closed walks; a vertex where several pass is left by any that is unused.

    Those that leave vertex v are by_tail[first[v] : first[v + 1]].
    """
    n = len(first) - 1
    cursor = first[:n].copy()
    order = np.empty(len(head), dtype=np.int64)
    start = np.empty(len(head), dtype=np.int64)
    loops, size = 0, 0
    for v in range(n):
        while cursor[v] < first[v + 1]:
            start[loops] = size
            loops += 1
            at = v
            while cursor[at] < first[at + 1]:
                e = by_tail[cursor[at]]
                cursor[at] += 1
                order[size] = e
                size += 1
                at = head[e]
    return order, start[:loops].copy()


def _strip(one: Array, two: Array) -> Array:
    """Triangles (2 k, 3) between two loops of k vertices, one over the other."""
    a, b, c, d = one, np.roll(one, -1), two, np.roll(two, -1)
    return np.concatenate([np.column_stack([b, a, c]), np.column_stack([b, c, d])]).astype(np.int32)
