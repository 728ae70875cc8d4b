"""How well a contact ring seals: the leak path from a cavity to the outside that is easiest."""

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
    return -_least(walls, near, sealing, candidate, -near.gap, False)


def seal_traction(
    walls: Walls, near: Nearness, sealing: float, candidate: Candidate, traction: Array
) -> tuple[float, float]:
    """The least over leak paths of the largest traction met, and of the sum of all met [Pa].

    traction (N,) [Pa]: of every surface vertex. Infinite: there is no leak path.
    """
    largest = _least(walls, near, sealing, candidate, traction, False)
    return max(largest, 0.0), _least(walls, near, sealing, candidate, traction, True)


def ring_open(walls: Walls, near: Nearness, sealing: float, candidate: Candidate) -> bool:
    """Whether vertices that are not closed join the interior to the outside."""
    return seal_gap(walls, near, sealing, candidate) >= sealing


@njit(cache=True)
def vertex_loads(
    first_a: Array, vertices_a: Array, weights_a: Array,
    first_b: Array, vertices_b: Array, weights_b: Array, force: Array, n: int,
) -> Array:  # fmt: skip
    """What each of n surface vertices bears of the contacts' normal forces (k,), (n,) [N].

    first_a, first_b (k,): where the two bodies' vertices begin.
    """
    load = np.zeros(n)
    for k in range(len(force)):
        for j in range(3):
            load[first_a[k] + vertices_a[k, j]] += weights_a[k, j] * force[k]
            load[first_b[k] + vertices_b[k, j]] += weights_b[k, j] * force[k]
    return load


@njit(cache=True)
def vertex_areas(triangles: Array, x: Array) -> Array:
    """A third of the area of each vertex's triangles, (n,) [m^2].

    Load over area is traction. (P 3.6 says area times force; it must be divided.)
    """
    area = np.zeros(len(x))
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        third = np.sqrt(nx * nx + ny * ny + nz * nz) / 6.0
        for i in range(3):
            area[triangles[t, i]] += third
    return area


def _least(
    walls: Walls, near: Nearness, sealing: float, candidate: Candidate, cost: Array, add: bool
) -> float:
    return _cheapest(
        walls.vertex_start,
        walls.neighbours,
        cost,
        add,
        near.gap,
        sealing,
        candidate.interior,
        candidate.seal_line,
        walls.offset[candidate.carrier],
        walls.offset[candidate.carrier + 1],
    )


@njit(cache=True)
def _cheapest(
    start: Array,
    neighbours: Array,
    cost: Array,
    add: bool,
    gap: Array,
    sealing: float,
    interior: Array,
    seal_line: Array,
    low: int,
    high: int,
) -> float:
    """The least cost of a path from the interior to the outside; infinite if there is none.

    A path costs the sum of its vertices' costs (none negative), or the largest of them.
    """
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
    nothing = 0.0 if add else -np.inf
    least = np.full(high - low, np.inf)
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for v in interior:
        if (flat and depth[v - low] == deepest) or (not flat and gap[v] >= sealing):
            least[v - low] = nothing
            heappush(heap, (nothing, np.int64(v)))
    while len(heap) > 0:
        paid, v = heappop(heap)
        if paid > least[v - low]:
            continue
        if not known[v - low] and gap[v] >= sealing:
            return paid
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            price = paid + cost[w] if add else max(paid, cost[w])
            if price < least[w - low]:
                least[w - low] = price
                heappush(heap, (price, np.int64(w)))
    return np.inf
