"""How well a contact ring seals: the widest leak path from a cavity to the outside."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numba import njit

from limpet.cavity.mesh import Walls
from limpet.cavity.ring import Candidate, Nearness

Array = np.ndarray


def seal_gap(walls: Walls, near: Nearness, sealing: float, candidate: Candidate) -> float:
    """The largest over leak paths of the smallest gap [m]; `sealing` or more: the ring is open.

    Paths run over the carrier's vertices from the interior to the outside. A flattened cavity
    starts at the interior vertices farthest from the outside.
    """
    return _widest(
        walls.vertex_start,
        walls.neighbours,
        near.gap,
        sealing,
        candidate.interior,
        candidate.seal_line,
        walls.offset[candidate.carrier],
        walls.offset[candidate.carrier + 1],
    )


def ring_open(walls: Walls, near: Nearness, sealing: float, candidate: Candidate) -> bool:
    """Whether vertices that are not closed join the interior to the outside."""
    return seal_gap(walls, near, sealing, candidate) >= sealing


@njit(cache=True)
def _widest(
    start: Array,
    neighbours: Array,
    gap: Array,
    sealing: float,
    interior: Array,
    seal_line: Array,
    low: int,
    high: int,
) -> float:
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
    for v in interior:
        flat &= gap[v] < sealing
    deepest = depth.max()
    width = np.full(high - low, -np.inf)
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for v in interior:
        if (flat and depth[v - low] == deepest) or (not flat and gap[v] >= sealing):
            width[v - low] = np.inf
            heappush(heap, (-np.inf, np.int64(v)))
    while len(heap) > 0:
        negative, v = heappop(heap)
        if -negative < width[v - low]:
            continue
        if not known[v - low] and gap[v] >= sealing:
            return -negative
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            reach = min(-negative, gap[w])
            if reach > width[w - low]:
                width[w - low] = reach
                heappush(heap, (-reach, np.int64(w)))
    return -np.inf
