"""The contact ring round a cavity, and the line in it where the cavity pressure ends.

The union alone would end the cavity where the gap equals the sealing distance, one or two
millimetres inside the touching ring of a shallow lip, and the pull-off force would follow the
sealing distance. So the line is chosen on the vertex graph of the body that bears the ring (a
carrier), and the sealing distance only says which vertices are closed. Of two bodies that meet one
bears the ring; a cavity that several pairs of bodies close has as many rings, and may have several
carriers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from limpet.cavity.mesh import JoinedSurface
from limpet.cavity.seal.proximity import NOBODY, TOUCHING, VertexProximity
from limpet.compiled import njit
from limpet.errors import LimpetError, suggest

Array = np.ndarray

PART = 0.05  # of a cavity's free vertices make a part that contact has cut off worth a look
PUSH, PULL = 1, 2


class SealBoundary(StrEnum):
    """Where in the contact ring the pressure falls from the cavity's to the atmosphere's."""

    OUTER = "outer"  # at the outermost touching vertices: the air has crept under the whole ring
    INNER = "inner"  # at the innermost: the ring is dry
    MIDDLE = "middle"  # half of the fall at each
    HISTORY = "history"  # P's: where the union happened to cut when the mesh was last made


SealBoundaryModel = (
    SealBoundary | float
)  # a number from 0 to 1: the share of the fall at the outer edge


def seal_boundary_model(value: object) -> SealBoundaryModel:
    """The model that a name, a number or a string with a number stands for."""
    if isinstance(value, str):
        if value in list(SealBoundary):
            return SealBoundary(value)
        try:
            value = float(value)
        except ValueError:
            raise LimpetError(
                f"seal_boundary = '{value}'{suggest(str(value), list(SealBoundary))}; or give the "
                "share, 0 to 1, of the pressure drop at the outer edge"
            ) from None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.0 <= value <= 1.0:
        raise LimpetError(
            f"seal_boundary = {value}: expected {', '.join(SealBoundary)}, or the share, 0 to 1, "
            "of the pressure drop at the outer edge"
        )
    return float(value)


def outer_share(ring: SealBoundaryModel) -> float:
    """The share of the fall at the outer edge; HISTORY has none of its own."""
    if isinstance(ring, SealBoundary):
        return {SealBoundary.OUTER: 1.0, SealBoundary.INNER: 0.0, SealBoundary.MIDDLE: 0.5}[ring]
    return ring


@dataclass(frozen=True)
class Candidate:
    """A cavity, as the vertex graphs of its carriers see it."""

    rings: Array  # (r, 2) int32, bodies that meet at its edge: first the one that bears the ring
    interior: Array  # int32, sorted global vertices of the carriers strictly inside the seal line
    seal_line: Array  # int32, sorted; empty when no vertex graph closes a ring
    source: int = NOBODY  # which previous cavity it is
    grows: bool = True  # whether its seal line may move out over vertices that touch


@dataclass(frozen=True)
class Division:
    """What becomes of each surface vertex before the union."""

    candidates: tuple[Candidate, ...]  # with interior and seal line brought up to date
    sealed: Array  # (c,) bool, whether the ring parts the candidate's interior from the outside
    role: Array  # (N,) int8: PUSH into the other body, PULL off it, 0 leave
    inside: Array  # (N,) bool, interior of any candidate
    seal: Array  # (N,) bool, on a seal line that a mesh has to end at


def divide(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float,
    candidates: Sequence[Candidate], ring: SealBoundary,
) -> Division:  # fmt: skip
    """Find each candidate's interior and seal line from its last known interior.

    The ring is made of the touching vertices if these part inside from outside, else of all closed
    ones. OUTER: the ring vertices next to the outside are the seal line, those within are pulled
    off. INNER: the ring vertices next to the inside are. HISTORY: as INNER, but of all closed
    vertices, and none is pulled off.

    A carrier that another body bears a ring against is not judged there: its vertices in that
    contact are no part of a ring, and its edges that pass under that ring lead nowhere.

    Under suction a seal line moves in freely, as the air outside follows, but out only where it
    opens: what lies beyond it and touches again holds air of the outside. Without that rule a lip
    whose edge lifts and sets down again makes a ripple of period two.
    """
    n = len(near.gap)
    closed = near.gap < sealing_distance
    touching = (
        closed if ring is SealBoundary.HISTORY else near.gap < min(sealing_distance, TOUCHING)
    )
    graph = (surface.vertex_start, surface.neighbours)
    covered = (surface.body, surface.body[near.face[:, 0]], _covering(surface, candidates))
    home = np.full(n, NOBODY, dtype=np.int32)  # last known interior
    known = np.full(n, NOBODY, dtype=np.int32)  # the same with the seal line
    grows = np.array([c.grows for c in candidates], dtype=np.bool_)
    outside = ~closed
    for k, c in enumerate(candidates):
        home[c.interior] = k
        known[c.interior] = known[c.seal_line] = k
        outside[c.interior] = False
        outside[c.seal_line] = False
    n_free = np.bincount(home[~closed] + 1, minlength=len(candidates) + 1)[1:]
    flat = n_free == 0  # a flattened cavity: all of its interior is closed
    label_t, part_t = _flood(*graph, *covered, touching, closed, home, outside, flat)
    label_z, part_z = _flood(*graph, *covered, closed, closed, home, outside, flat)
    sealed = (part_t | part_z).all(axis=1)
    open_air = _connected(*graph, ~touching, _ids(outside))
    owner, seal = _claim(
        *graph, *covered, touching, closed, home, known, grows, label_t, label_z, part_t, sealed,
        open_air, ring is SealBoundary.OUTER,
    )  # fmt: skip
    owner[seal] = NOBODY
    sealed &= np.bincount(owner[owner >= 0], minlength=len(candidates)) > 0
    within = owner >= 0
    within[within] = sealed[owner[within]]
    lines = _seal_lines(*graph, owner, seal, len(candidates))
    pulled = within & (ring is not SealBoundary.HISTORY)
    role = np.where(closed, np.where(pulled, PULL, PUSH), 0).astype(np.int8)
    updated = tuple(
        replace(c, interior=_ids(within & (owner == k)), seal_line=_ids(lines[k]))
        if sealed[k]
        else c
        for k, c in enumerate(candidates)
    )
    return Division(updated, sealed, role, within, seal & (ring is not SealBoundary.HISTORY))


def count_parts(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, interior: Array
) -> int:
    """Into how many parts the vertices that touch cut a cavity's interior, by its vertex graphs.

    Parts of less than PART of the free vertices do not count.
    """
    graph = (surface.vertex_start, surface.neighbours, surface.body)
    gaps = (near.gap, sealing_distance, min(sealing_distance, TOUCHING))
    return _count_parts(*graph, *gaps, interior, len(surface.offset) - 1, PART)


def ring_vertices(surface: JoinedSurface, closed: Array, seal_line: Array) -> Array:
    """(N,) bool: the closed vertices that hang together with a seal line."""
    return _connected(surface.vertex_start, surface.neighbours, closed, seal_line)


def _covering(surface: JoinedSurface, candidates: Sequence[Candidate]) -> Array:
    """(c, n, n) bool: whether, in each cavity, body i only follows body j that bears their ring."""
    n = len(surface.offset) - 1
    covers = np.zeros((len(candidates), n, n), dtype=np.bool_)
    for k, c in enumerate(candidates):
        covers[k, c.rings[:, 1], c.rings[:, 0]] = True
    return covers


def _ids(mask: Array) -> Array:
    return np.flatnonzero(mask).astype(np.int32)


@njit(cache=True)
def _flood(
    start: Array, neighbours: Array, body: Array, other: Array, covers: Array, ring: Array,
    closed: Array, home: Array, outside: Array, flat: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """Spread each candidate's interior over vertices off the ring.

    Returns the label (N,) of each vertex and whether each candidate met neither the outside nor
    another candidate on each body, (c, n).
    """
    label = np.full(len(home), NOBODY, dtype=np.int32)
    parted = np.ones(covers.shape[:2], dtype=np.bool_)
    stack = np.empty(len(home), dtype=np.int32)
    size = 0
    for v in range(len(home)):
        k = home[v]
        if k >= 0 and not ring[v] and (flat[k] or not closed[v]):
            if closed[v] and covers[k, body[v], other[v]]:
                continue
            label[v] = k
            stack[size] = v
            size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        k = label[v]
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            if ring[w] or label[w] == k or (closed[w] and covers[k, body[w], other[w]]):
                continue
            if label[w] >= 0:
                parted[k, body[w]] = parted[label[w], body[w]] = False
            elif outside[w]:
                # Where the vertices of a carrier bear the ring, its interior borders on nothing
                # but the seal line: an edge straight to the outside passes under another body.
                if home[v] != k:
                    parted[k, body[w]] = False
            else:
                label[w] = k
                stack[size] = w
                size += 1
    return label, parted


@njit(cache=True)
def _connected(start: Array, neighbours: Array, among: Array, seeds: Array) -> Array:
    reached = np.zeros(len(among), dtype=np.bool_)
    stack = np.empty(len(among), dtype=np.int32)
    size = 0
    for v in seeds:
        reached[v] = True
        stack[size] = v
        size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            if among[w] and not reached[w]:
                reached[w] = True
                stack[size] = w
                size += 1
    return reached


@njit(cache=True)
def _count_parts(
    start: Array, neighbours: Array, body: Array, gap: Array, sealing_distance: float,
    touching: float, interior: Array, n_bodies: int, least: float,
) -> int:  # fmt: skip
    inside = np.zeros(len(body), dtype=np.bool_)
    free = np.zeros(n_bodies, dtype=np.int64)
    for v in interior:
        inside[v] = gap[v] >= touching
        free[body[v]] += gap[v] >= sealing_distance
    stack = np.empty(len(interior), dtype=np.int32)
    parts = np.zeros(n_bodies, dtype=np.int64)
    for seed in interior:
        if not inside[seed]:
            continue
        inside[seed] = False
        stack[0] = seed
        size, count = 1, 0
        while size > 0:
            size -= 1
            v = stack[size]
            count += gap[v] >= sealing_distance
            for e in range(start[v], start[v + 1]):
                w = neighbours[e]
                if inside[w]:
                    inside[w] = False
                    stack[size] = w
                    size += 1
        b = body[seed]
        parts[b] += count > 0 and count >= least * free[b]
    return max(parts.max(), 1)


@njit(cache=True)
def _claim(
    start: Array, neighbours: Array, body: Array, other: Array, covers: Array, touching: Array,
    closed: Array, home: Array, known: Array, grows: Array, label_t: Array, label_z: Array,
    parted_t: Array, sealed: Array, open_air: Array, outer: bool,
) -> tuple[Array, Array]:  # fmt: skip
    """The candidate each vertex belongs to (NOBODY: the outside), and the vertices that seal it."""
    n = len(home)
    owner = np.full(n, NOBODY, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    last = 0
    for v in range(n):
        b = body[v]
        if label_t[v] >= 0 and parted_t[label_t[v], b]:
            owner[v] = label_t[v]
        elif label_z[v] >= 0 and sealed[label_z[v]] and not parted_t[label_z[v], b]:
            owner[v] = label_z[v]
        elif outer and home[v] >= 0 and sealed[home[v]] and not covers[home[v], b, other[v]]:
            # A ring vertex that was inside before stays with its cavity, and so does one that the
            # ring encloses on all sides.
            in_ring = touching[v] if parted_t[home[v], b] else closed[v]
            in_ring |= closed[v] and not open_air[v]
            owner[v] = home[v] if in_ring else NOBODY
        if owner[v] >= 0:
            queue[last] = v
            last += 1
    seal = np.zeros(n, dtype=np.bool_)
    labelled = last
    first = 0
    while first < last:  # breadth first: the nearest candidate takes a ring vertex
        v = queue[first]
        first += 1
        if not outer and first > labelled:
            break
        k, b = owner[v], body[v]
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            in_ring = touching[w] if parted_t[k, b] else closed[w]
            from_ring = touching[v] if parted_t[k, b] else closed[v]
            if owner[w] != NOBODY or not in_ring or covers[k, b, other[w]]:
                continue
            if grows[k] or known[w] == k or not from_ring:
                owner[w] = k
                seal[w] = not outer
                queue[last] = w
                last += 1
    if outer:
        for i in range(last):
            v = queue[i]
            k = owner[v]
            in_ring = touching[v] if parted_t[k, body[v]] else closed[v]
            if in_ring:
                for e in range(start[v], start[v + 1]):
                    w = neighbours[e]
                    if owner[w] != k and not (closed[w] and covers[k, body[w], other[w]]):
                        seal[v] = True
    return owner, seal


@njit(cache=True)
def _seal_lines(start: Array, neighbours: Array, owner: Array, seal: Array, count: int) -> Array:
    """Which sealing vertices stand next to which interior, (c, N) bool: a wall may serve two."""
    lines = np.zeros((count, len(seal)), dtype=np.bool_)
    for v in range(len(seal)):
        if seal[v]:
            for e in range(start[v], start[v + 1]):
                k = owner[neighbours[e]]
                if k >= 0:
                    lines[k, v] = True
    return lines
