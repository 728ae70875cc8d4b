"""How well the contact rings seal: the leak path from a cavity to the outside that is easiest."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from limpet.cavity.mesh import CavityMesh, JoinedSurface
from limpet.cavity.seal.boundary import Candidate
from limpet.cavity.seal.proximity import NOBODY, VertexProximity, vertex_proximity
from limpet.compiled import njit
from limpet.contact.contacts import Contacts

Array = np.ndarray

POCKET = 0.05  # of a body's free vertices: fewer, with closed ones all round, are not outside


def bottleneck_path(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, candidate: Candidate
) -> tuple[float, int]:
    """The gap [m] and the vertex at which the best leak path is narrowest: there it will open.

    Paths run over the carriers' vertices from the interior to the outside; -inf and NOBODY where
    there is none. A flattened cavity starts at the interior vertices farthest from the outside.
    """
    cost, vertex = _least(surface, near, sealing_distance, candidate, -near.gap, False)
    return -cost, vertex


def seal_gap(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, candidate: Candidate
) -> float:
    """The largest over leak paths of the smallest gap [m]; an open ring has at least
    `sealing_distance`.
    """
    return bottleneck_path(surface, near, sealing_distance, candidate)[0]


def ring_open(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, candidate: Candidate
) -> bool:
    """Whether vertices that are not closed join the interior to the outside."""
    return seal_gap(surface, near, sealing_distance, candidate) >= sealing_distance


def seal_traction(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, candidate: Candidate,
    traction: Array,
) -> tuple[float, float]:  # fmt: skip
    """The least over leak paths of the largest traction met, and of the sum of all met [Pa].

    traction (N,) [Pa]: of every surface vertex. Infinite: there is no leak path.
    """
    traction = np.maximum(traction, 0.0)  # a step that was not solved may leave contacts that pull
    largest, _ = _least(surface, near, sealing_distance, candidate, traction, False)
    total, _ = _least(surface, near, sealing_distance, candidate, traction, True)
    return max(largest, 0.0), total


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
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, candidate: Candidate,
    cost: Array, add: bool,
) -> tuple[float, int]:  # fmt: skip
    if len(candidate.rings) == 0:
        return np.inf, NOBODY
    # the mean of two cavities has the rings of one and the interior of both
    carrier = np.isin(np.arange(len(surface.offset) - 1), candidate.rings[:, 0])
    inside, line = (v[carrier[surface.body[v]]] for v in (candidate.interior, candidate.seal_line))
    return _cheapest(
        surface.vertex_start, surface.neighbours, surface.body, surface.offset, near.face, cost,
        add, near.gap, sealing_distance, candidate.rings, inside, line,
    )  # fmt: skip


@njit(cache=True)
def _cheapest(
    start: Array, neighbours: Array, body: Array, offset: Array, face: Array, cost: Array,
    add: bool, gap: Array, sealing_distance: float, rings: Array, interior: Array, seal_line: Array,
) -> tuple[float, int]:  # fmt: skip
    """The least cost of a path from the interior to the outside, and its dearest vertex.

    A path costs the sum of its vertices' costs (none negative), or the largest of them; infinite
    and NOBODY if there is none.
    """
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
        flat &= gap[v] < sealing_distance
        deepest[body[v]] = max(deepest[body[v]], depth[v - low])
    nothing = 0.0 if add else -np.inf
    least = np.full(high - low, np.inf)
    dearest = np.full(high - low, NOBODY)  # on the best path to each vertex
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for v in interior:
        if (flat and depth[v - low] == deepest[body[v]]) or (
            not flat and gap[v] >= sealing_distance
        ):
            least[v - low] = nothing
            heappush(heap, (nothing, np.int64(v)))
    while len(heap) > 0:
        paid, v = heappop(heap)
        if paid > least[v - low]:
            continue
        if not known[v - low] and gap[v] >= sealing_distance:
            return paid, dearest[v - low]
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            # Under a ring that another body bears there is no path (see `divide`).
            if gap[w] < sealing_distance:
                if follows[body[w], body[face[w, 0]]]:
                    continue
            elif inside[v - low] and not known[w - low]:
                continue
            price = paid + cost[w] if add else max(paid, cost[w])
            if price < least[w - low]:
                least[w - low] = price
                before = dearest[v - low]
                dearer = before == NOBODY or cost[w] > cost[before]
                dearest[w - low] = w if dearer else before
                heappush(heap, (price, np.int64(w)))
    return np.inf, NOBODY


def seal_gaps(
    surface: JoinedSurface,
    contacts: Contacts,
    sealing_distance: float,
    cavities: Sequence[CavityMesh],
) -> list[float]:
    """The seal gap of each cavity [m]: the largest over leak paths of the smallest gap."""
    near = vertex_proximity(contacts, surface)
    return [gap for gap, _ in bottlenecks(surface, near, sealing_distance, cavities)]


def bottlenecks(
    surface: JoinedSurface,
    near: VertexProximity,
    sealing_distance: float,
    cavities: Sequence[CavityMesh],
) -> list[tuple[float, int]]:
    """The seal gap of each cavity [m] and the vertex where it is: there the seal will open."""
    return [
        bottleneck_path(surface, near, sealing_distance, candidate_of(mesh)) for mesh in cavities
    ]


@njit(cache=True)
def _outside(
    start: Array, neighbours: Array, gap: Array, sealing_distance: float, inside: Array, first: int
) -> Array:
    """(n,) bool: the free vertices of one body beyond a cavity, without pockets in its ring.

    They hang together with at least POCKET of all free vertices beyond it.
    """
    n = len(inside)
    number, size = np.full(n, NOBODY), np.zeros(n, dtype=np.int64)
    stack, total = np.empty(n, dtype=np.int64), 0
    for seed in range(n):
        if inside[seed] or number[seed] >= 0 or gap[first + seed] < sealing_distance:
            continue
        number[seed], stack[0], waiting = seed, seed, 1
        while waiting > 0:
            waiting -= 1
            v = stack[waiting]
            size[seed] += 1
            for e in range(start[first + v], start[first + v + 1]):
                w = neighbours[e] - first
                if number[w] < 0 and not inside[w] and gap[neighbours[e]] >= sealing_distance:
                    number[w], stack[waiting] = seed, w
                    waiting += 1
        total += size[seed]
    out = np.zeros(n, dtype=np.bool_)
    for v in range(n):
        out[v] = number[v] >= 0 and size[number[v]] >= POCKET * total
    return out


@njit(cache=True)
def widest_crossing(
    start: Array, neighbours: Array, gap: Array, sealing_distance: float, inside: Array, first: int,
    ends: Array, edge_gap: Array,
) -> tuple[float, int]:  # fmt: skip
    """The largest over paths out of a cavity without a ring of the smallest gap, and its vertex.

    inside (n,) bool: the vertices of one body, from global vertex `first` on, in the cavity. ends
    (k, 2): edges of that body that lead out; edge_gap (k,) [m]: the smallest gap between their
    ends. Beyond such an edge a path runs over closed vertices, and over pockets between these,
    until it is outside.
    """
    outside = _outside(start, neighbours, gap, sealing_distance, inside, first)
    width = np.full(len(inside), -np.inf)
    at = np.full(len(inside), NOBODY)
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for k in range(len(ends)):
        v = ends[k, 1] if inside[ends[k, 0]] else ends[k, 0]
        wide = min(edge_gap[k], gap[first + v])
        if wide > width[v]:
            width[v], at[v] = wide, first + v
            heappush(heap, (-wide, np.int64(v)))
    while len(heap) > 0:
        paid, v = heappop(heap)
        if -paid < width[v]:
            continue
        if outside[v]:
            return width[v], at[v]
        for e in range(start[first + v], start[first + v + 1]):
            w = neighbours[e] - first
            if inside[w]:
                continue
            wide = min(width[v], gap[first + w])
            if wide > width[w]:
                width[w] = wide
                at[w] = first + w if gap[first + w] < width[v] else at[v]
                heappush(heap, (-wide, np.int64(w)))
    return -np.inf, NOBODY


def seal_tractions(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float,
    cavities: Sequence[CavityMesh], traction: Array,
) -> list[tuple[float, float]]:  # fmt: skip
    """Of each cavity's weakest leak paths the largest traction, and the sum of all [Pa]."""
    return [
        seal_traction(surface, near, sealing_distance, candidate_of(mesh), traction)
        for mesh in cavities
    ]


def candidate_of(mesh: CavityMesh, source: int = -1, grows: bool = True) -> Candidate:
    """What the next detection has to know of a cavity."""
    return Candidate(mesh.rings, mesh.interior, mesh.seal_line, source, grows)
