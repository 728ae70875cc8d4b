"""The nearest contact of every surface vertex: what cavities see of the contacts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.cavity.mesh import JoinedSurface
from limpet.compiled import njit
from limpet.contact.contacts import EDGE_EDGE, Contacts

Array = np.ndarray

TOUCHING = 1e-5  # [m] a gap below this is contact, whatever the sealing distance
NOBODY = -1


@dataclass(frozen=True)
class VertexProximity:
    """The nearest contact of every surface vertex, by global vertex id."""

    gap: Array  # (N,) [m], inf without contact
    away: Array  # (N, 3) unit, the way that parts the vertex from the other body
    face: Array  # (N, 3) int32, global vertices of the other body's triangle there
    weights: Array  # (N, 3)
    second: VertexProximity | None = (
        None  # the nearest one with yet another body; None: there is none
    )


def vertex_proximity(contacts: Contacts, surface: JoinedSurface) -> VertexProximity:
    """The nearest vertex contact of every vertex; edge-edge contacts seal through their ends."""
    given = (
        contacts.surface_a, contacts.surface_b, contacts.vertices_a, contacts.weights_a,
        contacts.vertices_b, contacts.weights_b, contacts.gap, contacts.normal, contacts.kind,
        surface.offset,
    )  # fmt: skip
    first = VertexProximity(*_nearest(*given, np.full(len(surface.body), NOBODY, dtype=np.int32)))
    if len(surface.offset) < 4:
        return first
    taken = np.where(np.isfinite(first.gap), surface.body[first.face[:, 0]], NOBODY)
    second = VertexProximity(*_nearest(*given, taken.astype(np.int32)))
    return replace(first, second=second if np.isfinite(second.gap).any() else None)


@njit(cache=True)
def _nearest(
    surface_a: Array, surface_b: Array, vertices_a: Array, weights_a: Array, vertices_b: Array,
    weights_b: Array, gap: Array, normal: Array, kind: Array, offset: Array, taken: Array,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """taken (N,): the body that does not count for each vertex."""
    n = offset[-1]
    nearest = np.full(n, np.inf)
    away = np.zeros((n, 3))
    face = np.zeros((n, 3), dtype=np.int32)
    weights = np.zeros((n, 3))
    for k in range(len(gap)):
        if kind[k] == EDGE_EDGE:
            continue
        for side in range(2):
            if side == 0:
                own, other, sign = offset[surface_a[k]], surface_b[k], 1.0
                p, wp, f, wf = vertices_a[k], weights_a[k], vertices_b[k], weights_b[k]
            else:
                own, other, sign = offset[surface_b[k]], surface_a[k], -1.0
                p, wp, f, wf = vertices_b[k], weights_b[k], vertices_a[k], weights_a[k]
            main = np.argmax(wp)
            v = own + p[main]
            # Where two vertices meet there is one contact, and both carry it.
            if wp[main] < 1.0 - 1e-9 or gap[k] >= nearest[v] or other == taken[v]:
                continue
            nearest[v] = gap[k]
            for i in range(3):
                away[v, i] = sign * normal[k, i]
                face[v, i] = offset[other] + f[i]
                weights[v, i] = wf[i]
    return nearest, away, face, weights
