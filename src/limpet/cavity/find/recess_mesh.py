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
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numba import njit

from limpet.cavity.find.mesh_builder import Closest
from limpet.cavity.mesh import CavityMesh, JoinedSurface, areas, with_support
from limpet.cavity.seal.boundary import Candidate

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
    own = own[inside[own].any(axis=1)][:, ::-1]  # seen from the air
    used, numbered = np.unique(own, return_inverse=True)
    wall = numbered.reshape(-1, 3).astype(np.int32)
    triangles, bridges = [wall], [np.zeros(len(wall), dtype=bool)]
    vertices, weights = [np.column_stack([used] * 3)], [np.eye(3)[np.zeros(len(used), int)]]
    count = len(used)
    loops = _loops(wall, count)
    if len(others) == 1:
        image, image_weights, _ = _land(surface, x, others, closest, x[used])
        vertices.append(image)
        weights.append(image_weights)
        strips = [_strip(loop, loop + count) for loop in loops]
        triangles += [wall[:, ::-1] + np.int32(count), *strips]
        bridges += [np.zeros(len(wall), dtype=bool), *(np.ones(len(s), bool) for s in strips)]
        loops = []
    for loop in loops:
        rim, rim_weights, place = _land(surface, x, others, closest, x[used[loop]])
        centre = place.mean(axis=0)
        steps = np.arange(LEVELS - 1, 0, -1)[:, None, None] / LEVELS
        between = (centre + steps * (place - centre)).reshape(-1, 3)
        rest, rest_weights, _ = _land(surface, x, others, closest, np.vstack([between, centre]))
        vertices += [rim, rest]
        weights += [rim_weights, rest_weights]
        levels = count + np.arange(len(loop) * LEVELS).reshape(LEVELS, -1)
        count += len(rim) + len(rest)
        middle = np.full(len(loop), count - 1)
        rings = [_strip(*pair) for pair in pairwise([*levels, middle])]
        triangles += [_strip(loop, levels[0]), *rings]
        bridges += [np.ones(2 * len(loop), bool), *(np.zeros(len(r), bool) for r in rings)]
    corners, support, slot = with_support(
        np.concatenate(vertices).astype(np.int32), np.concatenate(weights)
    )
    mesh = CavityMesh(
        triangles=np.concatenate(triangles), share=np.ones(sum(map(len, triangles))),
        bridge=np.concatenate(bridges), body=surface.body[corners[:, 0]], vertices=corners,
        weights=np.concatenate(weights), support=support, slot=slot, rings=candidate.rings,
        interior=candidate.interior, core=core, seal_line=candidate.seal_line,
    )  # fmt: skip
    return replace(mesh, bridged=areas(mesh, x)[1])


def _land(
    surface: JoinedSurface, x: Array, bodies: Sequence[int], closest: Closest, points: Array
) -> tuple[Array, Array, Array]:
    """Carry points by the nearest place on any of the bodies: vertices, weights (k, 3), place."""
    corners = np.zeros((len(points), 3), dtype=np.int32)
    weights, place = np.zeros((len(points), 3)), points.copy()
    nearest = np.full(len(points), np.inf)
    for b in bodies:
        triangle, bary = closest(b, points)
        at = surface.triangles[surface.face_offset[b] + np.maximum(triangle, 0)]
        there = np.einsum("ki,kij->kj", bary, x[at])
        far = np.where(triangle >= 0, np.linalg.norm(there - points, axis=1), np.inf)
        better = far < nearest
        nearest[better], corners[better] = far[better], at[better]
        weights[better], place[better] = bary[better], there[better]
    return corners, weights, place


def _loops(wall: Array, n: int) -> list[Array]:
    """The vertices of each loop in which triangles (t, 3) over n vertices end, in their sense."""
    half = np.concatenate([wall[:, [0, 1]], wall[:, [1, 2]], wall[:, [2, 0]]]).astype(np.int64)
    single = ~np.isin(half[:, 0] * n + half[:, 1], half[:, 1] * n + half[:, 0])
    tail, head = half[single].T
    order, start = _walk(tail, head, n)
    return np.split(tail[order], start[1:])


@njit(cache=True)
def _walk(tail: Array, head: Array, n: int) -> tuple[Array, Array]:
    """Order edges into closed walks; a vertex where several pass is left by any that is unused."""
    by_tail = np.argsort(tail, kind="mergesort")
    first = np.searchsorted(tail[by_tail], np.arange(n + 1))
    cursor = first[:n].copy()
    order = np.empty(len(tail), dtype=np.int64)
    start = np.empty(len(tail), dtype=np.int64)
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
