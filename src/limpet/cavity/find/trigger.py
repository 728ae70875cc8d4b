"""What has changed in the contacts: groups of bodies, and the pattern of closed vertices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.cavity.mesh import CavityMesh, JoinedSurface
from limpet.cavity.seal.proximity import TOUCHING, VertexProximity
from limpet.compiled import njit
from limpet.contact.contacts import Contacts

Array = np.ndarray


def groups(
    contacts: Contacts, sealing_distance: float, known: Sequence[CavityMesh], n: int
) -> Array:
    """The group of each body, (n,) int, named by its first body.

    Bodies whose contacts are closed are of one group, and so are those round a known cavity.
    """
    group = np.arange(n)
    _join(group, contacts.surface_a, contacts.surface_b, contacts.gap < sealing_distance)
    for mesh in known:
        _join(group, mesh.body[:-1], mesh.body[1:], np.ones(len(mesh.body) - 1, dtype=np.bool_))
    return group


def contact_pattern(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, master: Array,
    known: Sequence[CavityMesh],
) -> Array:  # fmt: skip
    """(N,) int8 for every surface vertex: 0 open, 1 within the sealing distance, 2 touching.

    Of two bodies only the one that leads counts, as its vertices bear the ring, and the one that
    bears the ring of a known cavity.
    """
    leads = master[:, None] >= master
    for mesh in known:
        bearer, other = mesh.rings.T
        leads[bearer, other] = True
        leads[other, bearer] = master[other] > master[bearer]
    return _pattern(
        near.gap, near.face, surface.body, leads, sealing_distance, min(sealing_distance, TOUCHING)
    )


@njit(cache=True)
def changed_groups(pattern: Array, before: Array, quiet: Array, body: Array, group: Array) -> Array:
    """(n,) bool by name: groups in which a vertex has opened or closed that is not quiet (N,)."""
    changed = np.zeros(len(group), dtype=np.bool_)
    for v in range(len(pattern)):
        if not quiet[v] and (pattern[v] > 0) != (before[v] > 0):
            changed[group[body[v]]] = True
    return changed


@njit(cache=True)
def differ(pattern: Array, before: Array, vertices: Array) -> bool:
    """Whether the pattern has changed at any of the vertices."""
    found = False
    for v in vertices:
        found |= pattern[v] != before[v]
    return found


@njit(cache=True)
def _join(group: Array, one: Array, other: Array, linked: Array) -> None:
    for k in range(len(one)):
        a, b = group[one[k]], group[other[k]]
        if linked[k] and a != b:
            for i in range(len(group)):
                if group[i] == max(a, b):
                    group[i] = min(a, b)


@njit(cache=True)
def _pattern(
    gap: Array, face: Array, body: Array, leads: Array, sealing_distance: float, touching: float
) -> Array:
    pattern = np.zeros(len(gap), dtype=np.int8)
    for v in range(len(gap)):
        if gap[v] < sealing_distance and leads[body[v], body[face[v, 0]]]:
            pattern[v] = 2 if gap[v] < touching else 1
    return pattern
