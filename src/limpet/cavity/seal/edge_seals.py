"""Seals on a ridge between a cup's vertices: what contacts on edges say about its graph.

A ring may be closed though none of its vertices is near the other body: a ridge crosses its edges.
Along such an edge no air passes, so the edge is taken out of the surface graph. A contact amid a
face closes nothing by itself: the line that it lies on leaves the face over an edge.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.cavity.find.classify import NO_REGION, classify, outside_seeds
from limpet.cavity.mesh import JoinedSurface
from limpet.cavity.seal.leak_paths import vertex_areas
from limpet.cavity.seal.proximity import VertexProximity, vertex_proximity
from limpet.compiled import njit
from limpet.contact.contacts import Contacts

Array = np.ndarray

ON_EDGE = 1e-9  # a smaller weight is none


def proximity_with_edge_seals(
    contacts: Contacts, surface: JoinedSurface, sealing_distance: float, x: Array
) -> VertexProximity:
    """Nearness in which the ends, outside, of edges that alone part inside from outside are closed.

    They stand for the ring that the ridge makes, which so ends at most an edge too far out.
    sealing_distance [m]: contacts with a lower gap are closed; x (N, 3) [m].
    """
    near = vertex_proximity(contacts, surface)
    closed = near.gap < sealing_distance
    first = (surface.offset[contacts.surface_a], surface.offset[contacts.surface_b])
    sides = (
        (first[0], contacts.vertices_a, contacts.weights_a),
        (first[1], contacts.vertices_b, contacts.weights_b),
    )
    ends, which = _closed_edges(contacts.gap, sealing_distance, closed, *sides[0], *sides[1])
    if len(ends) == 0:
        return near
    graph = _without(surface.vertex_start, surface.neighbours, ends)
    area = vertex_areas(surface.triangles, x)
    seeds = outside_seeds(*graph, surface.body, closed, area)
    inside = classify(*graph, closed, seeds).region != NO_REGION
    gap, away, face, weights = (a.copy() for a in (near.gap, near.away, near.face, near.weights))
    for side, sign in ((0, 1.0), (1, -1.0)):
        other, on, share = sides[1 - side]
        parts = inside[ends[:, 0]] & ~inside[ends[:, 1]] & (which[:, 1] == side)
        v, k = ends[parts, 1], which[parts, 0]
        order = np.argsort(-contacts.gap[k], kind="stable")  # the nearest contact is written last
        v, k = v[order], k[order]
        gap[v], away[v] = contacts.gap[k], sign * contacts.normal[k]
        face[v], weights[v] = other[k, None] + on[k], share[k]
    return replace(near, gap=gap, away=away, face=face, weights=weights)


@njit(cache=True)
def _closed_edges(
    gap: Array, sealing_distance: float, closed: Array, first_a: Array, vertices_a: Array,
    weights_a: Array, first_b: Array, vertices_b: Array, weights_b: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """Edges that contacts lie on and neither end of which is closed: their ends, both ways round.

    Also the contact and on which side of it, 0 or 1, each is.
    """
    ends = np.empty((4 * len(gap), 2), dtype=np.int32)
    which = np.empty((4 * len(gap), 2), dtype=np.int64)
    n = 0
    for k in range(len(gap)):
        if gap[k] >= sealing_distance:
            continue
        for side in range(2):
            own, p, w = (
                (first_a[k], vertices_a[k], weights_a[k])
                if side == 0
                else (first_b[k], vertices_b[k], weights_b[k])
            )
            count, free = 0, True
            for i in range(3):
                if w[i] > ON_EDGE:
                    if count < 2:
                        ends[n, count] = own + p[i]
                    free &= not closed[own + p[i]]
                    count += 1
            if count == 2 and free:
                ends[n + 1, 0], ends[n + 1, 1] = ends[n, 1], ends[n, 0]
                which[n, 0] = which[n + 1, 0] = k
                which[n, 1] = which[n + 1, 1] = side
                n += 2
    return ends[:n].copy(), which[:n].copy()


@njit(cache=True)
def _without(start: Array, neighbours: Array, ends: Array) -> tuple[Array, Array]:
    """The graph without the edges from ends[:, 0] to ends[:, 1]."""
    gone = np.zeros(len(neighbours), dtype=np.bool_)
    for j in range(len(ends)):
        for e in range(start[ends[j, 0]], start[ends[j, 0] + 1]):
            gone[e] |= neighbours[e] == ends[j, 1]
    left = np.zeros_like(start)
    kept = np.empty_like(neighbours)
    n = 0
    for v in range(len(start) - 1):
        for e in range(start[v], start[v + 1]):
            if not gone[e]:
                kept[n] = neighbours[e]
                n += 1
        left[v + 1] = n
    return left, kept[:n].copy()
