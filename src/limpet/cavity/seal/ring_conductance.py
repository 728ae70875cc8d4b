"""What the gap round a cavity lets through, on the vertex graph of the bodies that bear its ring.

No ring path and no contact width is needed: div(h^3 grad p^2) = 0 is linear in p^2 and is solved
on the carriers' triangles, with p^2 = 0 at the free vertices inside and 1 at those outside. The
throat, which bounds the flow of a wide gap, is the closed line round the cavity of least area.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from limpet.cavity.gas.gap_flow import RingGap
from limpet.compiled import inner, njit
from limpet.geometry.surface import edge_keys

Array = np.ndarray

BLOCKED, INSIDE, OUTSIDE, GAP = 0, 1, 2, 3  # what a vertex is: no path, free inside, outside, ring


def ring_gap(x: Array, triangles: Array, role: Array, height: Array, slip: float = 0.0) -> RingGap:
    """The gap round a cavity whose vertices have the roles (N,), with the heights h (N,) [m] there.

    x (N, 3) [m]; triangles (t, 3): of the bodies that bear the ring. slip [m]: the slip length,
    with which h^3 becomes h^3 (1 + slip/h). Both numbers are 0 where no air passes.
    """
    role = np.where((height <= 0.0) & (role == GAP), BLOCKED, role).astype(np.int8)
    near = triangles[(role[triangles] == GAP).any(axis=1)]
    edges, cotangent = _edges(x, near)
    a, b = edges.T
    passes = (role[a] != BLOCKED) & (role[b] != BLOCKED) & ((role[a] == GAP) | (role[b] == GAP))
    a, b = a[passes], b[passes]
    ha, hb = height[a], height[b]
    # 1/(the mean of 1/h^3) along an edge on which h is linear: exact on a wedge, while the mean of
    # h^3 is up to a thousand times too large
    mean = (2.0 * ha**2 * hb**2 / (ha + hb)) ** (1.0 / 3.0)
    weight = np.maximum(cotangent[passes], 0.0) * mean**2 * (mean + slip)
    shape = _conductance(a, b, weight, role)
    if shape <= 0.0:
        return RingGap()
    ring = (role == GAP) | (role == BLOCKED)
    return RingGap(shape, _throat(x, triangles[ring[triangles].any(axis=1)], role, height))


def _edges(x: Array, triangles: Array) -> tuple[Array, Array]:
    """The edges (e, 2) of the triangles, and half the sum of the cotangents across each."""
    corners = x[triangles]
    ends, weights = [], []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        u, v = corners[:, j] - corners[:, i], corners[:, k] - corners[:, i]
        twice_area = np.linalg.norm(np.cross(u, v), axis=1)
        ends.append(triangles[:, [j, k]])
        weights.append(0.5 * np.einsum("ij,ij->i", u, v) / np.maximum(twice_area, 1e-300))
    both = np.sort(np.concatenate(ends), axis=1).astype(np.int64)
    key = both[:, 0] * len(x) + both[:, 1]
    unique, inverse = np.unique(key, return_inverse=True)
    total = np.bincount(inverse, np.concatenate(weights), len(unique))
    return np.column_stack([unique // len(x), unique % len(x)]), total


def _conductance(a: Array, b: Array, weight: Array, role: Array) -> float:
    """Flow from OUTSIDE at 1 to INSIDE at 0 through a network of edges (a, b) of conductance
    `weight`; 0 if nothing joins the two.
    """
    reached = _reached(a, b, weight, role)
    if not (reached[a] & (role[b] == OUTSIDE) | reached[b] & (role[a] == OUTSIDE)).any():
        return 0.0
    free = np.flatnonzero(reached & (role == GAP))
    number = np.full(len(role), -1, dtype=np.int64)
    number[free] = np.arange(len(free))
    used = (reached[a] | reached[b]) & (weight > 0.0)
    a, b, scaled = a[used], b[used], weight[used] / weight.max()
    n, i, j = len(free), number[a], number[b]
    between = (i >= 0) & (j >= 0)
    diagonal = np.bincount(i[i >= 0], scaled[i >= 0], n) + np.bincount(j[j >= 0], scaled[j >= 0], n)
    to_inside, to_outside = np.zeros(n), np.zeros(n)
    for own, other in ((i, b), (j, a)):
        for side, to in ((INSIDE, to_inside), (OUTSIDE, to_outside)):
            there = (own >= 0) & (role[other] == side)
            np.add.at(to, own[there], scaled[there])
    rows = np.concatenate([np.arange(n), i[between], j[between]])
    columns = np.concatenate([np.arange(n), j[between], i[between]])
    values = np.concatenate([diagonal, -scaled[between], -scaled[between]])
    matrix = csc_matrix((values, (rows, columns)), shape=(n, n))
    squared = splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(
        to_outside
    )  # p^2 at the vertices of the gap
    return float(weight.max() * (to_inside @ squared))


@njit(cache=True)
def _reached(a: Array, b: Array, weight: Array, role: Array) -> Array:
    """(N,) bool: the vertices of the gap that air reaches from inside, and the inside itself."""
    reached = role == INSIDE
    found = True
    while found:
        found = False
        for e in range(len(a)):
            if weight[e] > 0.0 and reached[a[e]] != reached[b[e]]:
                new = b[e] if reached[a[e]] else a[e]
                if role[new] == GAP:
                    reached[new] = found = True
    return reached


def _throat(x: Array, triangles: Array, role: Array, height: Array) -> float:
    """The least area [m^2] of a closed line of vertices between inside and outside.

    Such a line crosses a strip of triangles from inside to outside an odd number of times: it is
    the shortest odd cycle, each edge being as long as its area. One for each ring.
    """
    height = np.where(role == BLOCKED, 0.0, height)
    total, left = 0.0, triangles.astype(np.int32)
    while len(left):
        key = edge_keys(left, int(left.max()) + 1)
        strip = _strip(left, role, key, np.argsort(key, kind="stable"))
        if len(strip) == 0:
            break
        length, ring = _shortest_odd_cycle(x, left, role, height, strip)
        total += length if np.isfinite(length) else 0.0
        left = left[~ring[left].any(axis=1)]  # what hangs together with it is done
    return total if total > 0.0 else np.inf


@njit(cache=True)
def _strip(triangles: Array, role: Array, key: Array, order: Array) -> Array:
    """(k, 2) the edges between the triangles of a shortest strip from INSIDE to OUTSIDE.

    `order` sorts the keys of the edges.
    """
    n = len(triangles)
    first = np.full(n, -2, dtype=np.int64)  # the triangle before in the strip
    queue = np.empty(n, dtype=np.int64)
    last = 0
    for t in range(n):
        if (
            role[triangles[t, 0]] == INSIDE
            or role[triangles[t, 1]] == INSIDE
            or role[triangles[t, 2]] == INSIDE
        ):
            first[t] = -1
            queue[last] = t
            last += 1
    twin = np.full(3 * n, -1, dtype=np.int64)
    for j in range(3 * n - 1):
        e, f = order[j], order[j + 1]
        if key[e] == key[f]:
            twin[e], twin[f] = f, e
    at = 0
    end = -1
    while at < last and end < 0:
        t = queue[at]
        at += 1
        for i in range(3):
            if role[triangles[t, i]] == OUTSIDE:
                end = t
        if end >= 0:
            break
        for i in range(3):
            p, q = triangles[t, i], triangles[t, (i + 1) % 3]
            f = twin[3 * t + i]
            # only edges in the ring: a line that goes round has to cross them
            if f < 0 or role[p] in (INSIDE, OUTSIDE) or role[q] in (INSIDE, OUTSIDE):
                continue
            if first[f // 3] == -2:
                first[f // 3] = 3 * t + i
                queue[last] = f // 3
                last += 1
    crossed = np.empty((n, 2), dtype=np.int64)
    k = 0
    t = end
    while t >= 0 and first[t] >= 0:
        e = first[t]
        crossed[k, 0] = triangles[e // 3, e % 3]
        crossed[k, 1] = triangles[e // 3, (e % 3 + 1) % 3]
        k += 1
        t = e // 3
    return crossed[:k]


@njit(cache=True)
def _shortest_odd_cycle(
    x: Array, triangles: Array, role: Array, height: Array, strip: Array
) -> tuple[float, Array]:
    """The length of the shortest cycle of ring vertices with an odd number of edges in `strip`.

    Also (N,) bool, the ring vertices that hang together with the strip. Dijkstra on the double
    cover: each vertex twice, for an even and an odd number of crossings.
    """
    n = len(role)
    count = np.zeros(n + 1, dtype=np.int64)
    for t in range(len(triangles)):
        for i in range(3):
            count[triangles[t, i] + 1] += 2
    start = np.cumsum(count)
    fill = start[:-1].copy()
    neighbours = np.empty(start[-1], dtype=np.int64)
    for t in range(len(triangles)):
        for i in range(3):
            v = triangles[t, i]
            neighbours[fill[v]] = triangles[t, (i + 1) % 3]
            neighbours[fill[v] + 1] = triangles[t, (i + 2) % 3]
            fill[v] += 2
    best = np.inf
    for k in range(len(strip)):  # the cycle has one of these edges
        source = 2 * strip[k, 0]
        far = np.full(2 * n, np.inf)
        far[source] = 0.0
        heap = [(0.0, np.int64(source))]
        while len(heap) > 0:
            d, state = heappop(heap)
            v, parity = state // 2, state % 2
            if d > far[state] or d >= best:
                continue
            for e in range(start[v], start[v + 1]):
                w = neighbours[e]
                if role[w] == INSIDE or role[w] == OUTSIDE:
                    continue
                square = 0.0
                for i in range(3):
                    square += (x[v, i] - x[w, i]) ** 2
                area = 0.5 * np.sqrt(square) * (height[v] + height[w])
                other = 2 * w + (1 - parity if _among(strip, int(v), int(w)) else parity)
                if d + area < far[other]:
                    far[other] = d + area
                    heappush(heap, (d + area, np.int64(other)))
        best = min(best, far[source + 1])
    ring = np.zeros(n, dtype=np.bool_)
    stack = [strip[0, 0]]
    ring[strip[0, 0]] = True
    while len(stack) > 0:
        v = stack.pop()
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            if not ring[w] and role[w] != INSIDE and role[w] != OUTSIDE:
                ring[w] = True
                stack.append(w)
    return best, ring


@inner()
def _among(edges: Array, v: int, w: int) -> bool:
    for k in range(len(edges)):
        a, b = edges[k]
        if (a == v and b == w) or (a == w and b == v):
            return True
    return False
