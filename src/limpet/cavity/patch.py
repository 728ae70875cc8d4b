"""A recess of one body becomes a closed cavity mesh, without a union.

Its wall is made of the carrier's own triangles inside the seal line. Each loop in which they end is
closed by a patch on the body that it lies on: rings of points between the loop and its centre, each
carried by the nearest place of that body. On a flat body volume and wrench are exact, however the
loop runs and whatever lies within (a contact inside the cavity has a loop of its own, which takes
away what the outer patch covers too much). On a curved one they are off as a polygon with LEVELS
segments from rim to centre is. A hole in the other body is covered as if it were filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numba import njit

from limpet.cavity.closing import Closest
from limpet.cavity.mesh import CavityMesh, Walls, areas, with_support
from limpet.cavity.ring import Candidate

Array = np.ndarray

LEVELS = 6  # rings of points in a patch: on a dome of 30 degrees the volume is 1 % off


def recess_mesh(
    walls: Walls, x: Array, candidate: Candidate, core: Array, closest: Closest
) -> CavityMesh:
    """The mesh of a candidate with one carrier, at surface positions x (N, 3) [m]."""
    carrier, others = candidate.rings[0, 0], candidate.rings[:, 1].tolist()
    inside = np.zeros(len(walls.body), dtype=bool)
    inside[candidate.interior] = True
    own = walls.triangles[walls.face_offset[carrier] : walls.face_offset[carrier + 1]]
    own = own[inside[own].any(axis=1)][:, ::-1]  # seen from the air
    used, numbered = np.unique(own, return_inverse=True)
    wall = numbered.reshape(-1, 3).astype(np.int32)
    triangles, bridges = [wall], [np.zeros(len(wall), dtype=bool)]
    vertices, weights = [np.column_stack([used] * 3)], [np.eye(3)[np.zeros(len(used), int)]]
    count = len(used)
    for loop in _loops(wall, len(used)):
        edge = x[used[loop]]
        rim, rim_weights, place = _land(walls, x, others, closest, edge)
        centre = place.mean(axis=0)
        steps = np.arange(LEVELS - 1, 0, -1)[:, None, None] / LEVELS
        between = (centre + steps * (place - centre)).reshape(-1, 3)
        rest, rest_weights, _ = _land(walls, x, others, closest, np.vstack([between, centre]))
        vertices += [rim, rest]
        weights += [rim_weights, rest_weights]
        strips, is_bridge = _patch(loop, count)
        triangles.append(strips)
        bridges.append(is_bridge)
        count += len(rim) + len(rest)
    corners, support, slot = with_support(
        np.concatenate(vertices).astype(np.int32), np.concatenate(weights)
    )
    mesh = CavityMesh(
        triangles=np.concatenate(triangles),
        share=np.ones(sum(map(len, triangles))),
        bridge=np.concatenate(bridges),
        body=walls.body[corners[:, 0]],
        vertices=corners,
        weights=np.concatenate(weights),
        support=support,
        slot=slot,
        rings=candidate.rings,
        interior=candidate.interior,
        core=core,
        seal_line=candidate.seal_line,
    )
    return replace(mesh, bridged=areas(mesh, x)[1])


def _land(
    walls: Walls, x: Array, bodies: Sequence[int], closest: Closest, points: Array
) -> tuple[Array, Array, Array]:
    """Carry points by the nearest place on any of the bodies: vertices, weights (k, 3), place."""
    corners = np.zeros((len(points), 3), dtype=np.int32)
    weights, place = np.zeros((len(points), 3)), points.copy()
    nearest = np.full(len(points), np.inf)
    for b in bodies:
        triangle, bary = closest(b, points)
        at = walls.triangles[walls.face_offset[b] + np.maximum(triangle, 0)]
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


@njit(cache=True)
def _patch(loop: Array, first: int) -> tuple[Array, Array]:
    """Triangles from a loop of k vertices to its patch, whose points begin at `first`.

    There are k on the rim, then k on each further level, then the centre. Also which are bridging.
    """
    k = len(loop)
    centre = first + LEVELS * k
    out = np.empty((k * (2 * LEVELS + 1), 3), dtype=np.int32)
    bridge = np.zeros(len(out), dtype=np.bool_)
    m = 0
    for i in range(k):
        j = (i + 1) % k
        a, b = loop[i], loop[j]
        for level in range(LEVELS):  # from the loop to the rim, and inward from level to level
            c, d = first + level * k + i, first + level * k + j
            out[m, 0], out[m, 1], out[m, 2] = b, a, c
            out[m + 1, 0], out[m + 1, 1], out[m + 1, 2] = b, c, d
            bridge[m] = bridge[m + 1] = level == 0
            m += 2
            a, b = c, d
        out[m, 0], out[m, 1], out[m, 2] = b, a, centre
        m += 1
    return out, bridge
