"""How well the contact rings seal: the widest leak path from a cavity to the outside."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numba import njit

from limpet.cavity.mesh import Walls
from limpet.cavity.ring import NOBODY, Candidate, Nearness

Array = np.ndarray


def narrowest(
    walls: Walls, near: Nearness, sealing: float, candidate: Candidate
) -> tuple[float, int]:
    """The gap [m] and the vertex at which the best leak path is narrowest: there it will open.

    Paths run over the carriers' vertices from the interior to the outside; -inf and NOBODY where
    there is none. A flattened cavity starts at the interior vertices farthest from the outside.
    """
    if len(candidate.rings) == 0:
        return -np.inf, NOBODY
    gap, vertex = _widest(
        walls.vertex_start,
        walls.neighbours,
        walls.body,
        walls.offset,
        near.face,
        near.gap,
        sealing,
        candidate.rings,
        candidate.interior,
        candidate.seal_line,
    )
    return gap, vertex


def seal_gap(walls: Walls, near: Nearness, sealing: float, candidate: Candidate) -> float:
    """The largest over leak paths of the smallest gap [m]; `sealing` or more: a ring is open."""
    return narrowest(walls, near, sealing, candidate)[0]


def ring_open(walls: Walls, near: Nearness, sealing: float, candidate: Candidate) -> bool:
    """Whether vertices that are not closed join the interior to the outside."""
    return seal_gap(walls, near, sealing, candidate) >= sealing


@njit(cache=True)
def _widest(
    start: Array,
    neighbours: Array,
    body: Array,
    offset: Array,
    face: Array,
    gap: Array,
    sealing: float,
    rings: Array,
    interior: Array,
    seal_line: Array,
) -> tuple[float, int]:
    n_bodies = len(offset) - 1
    follows = np.zeros((n_bodies, n_bodies), dtype=np.bool_)  # whether i only follows j
    low, high = offset[n_bodies], offset[0]
    for r in range(len(rings)):
        follows[rings[r, 1], rings[r, 0]] = True
        low, high = min(low, offset[rings[r, 0]]), max(high, offset[rings[r, 0] + 1])
    inside = np.zeros(high - low, dtype=np.bool_)
    known = np.zeros(high - low, dtype=np.bool_)
    for v in interior:
        inside[v - low] = known[v - low] = True
    for v in seal_line:
        known[v - low] = True
    depth = np.zeros(high - low, dtype=np.int32)  # steps from the nearest vertex not inside
    queue = np.empty(high - low, dtype=np.int32)
    last = 0
    for v in range(low, high):
        if not inside[v - low]:
            queue[last] = v
            last += 1
    first = 0
    while first < last:
        v = queue[first]
        first += 1
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            if inside[w - low] and depth[w - low] == 0:
                depth[w - low] = depth[v - low] + 1
                queue[last] = w
                last += 1
    flat = True
    deepest = np.zeros(n_bodies, dtype=np.int32)  # on each body
    for v in interior:
        flat &= gap[v] < sealing
        deepest[body[v]] = max(deepest[body[v]], depth[v - low])
    width = np.full(high - low, -np.inf)
    neck = np.full(high - low, NOBODY)  # where the best path to each vertex is narrowest
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for v in interior:
        if (flat and depth[v - low] == deepest[body[v]]) or (not flat and gap[v] >= sealing):
            width[v - low] = np.inf
            heappush(heap, (-np.inf, np.int64(v)))
    while len(heap) > 0:
        negative, v = heappop(heap)
        if -negative < width[v - low]:
            continue
        if not known[v - low] and gap[v] >= sealing:
            return -negative, neck[v - low]
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            # Under a ring that another body bears there is no path (see `divide`).
            if gap[w] < sealing:
                if follows[body[w], body[face[w, 0]]]:
                    continue
            elif inside[v - low] and not known[w - low]:
                continue
            reach = min(-negative, gap[w])
            if reach > width[w - low]:
                width[w - low] = reach
                neck[w - low] = w if gap[w] < -negative else neck[v - low]
                heappush(heap, (-reach, np.int64(w)))
    return -np.inf, NOBODY
