"""The soft bodies with pressure fields among the bodies of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from limpet.dynamics.body import CondensedBody
from limpet.fem.soft_body import SoftBody
from limpet.pressure_field.condensed_soft import CondensedSoft
from limpet.pressure_field.field_contacts import FieldPair
from limpet.pressure_field.point_terms import SurfacePoints
from limpet.pressure_field.soft_contacts import (
    ActivePair,
    Side,
    SoftContacts,
    Touch,
    frame_of,
    side_map,
    soft_first,
)
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.soft_step import MovingPair, SoftStep
from limpet.rigid.kernels import advanced
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray

AHEAD = 1.5  # of what two bodies move in a step: what lies further apart does not meet
SLACK = 0.05  # of the depth of a field: the same for bodies at rest


@dataclass(frozen=True)
class SoftMember:
    """A soft body and its field."""

    body: SoftBody
    field: SoftField


@dataclass(frozen=True)
class _Place:
    """Where a soft body stands among all."""

    group: int  # its condensed body
    points: Array  # (k,) of all, at the nodes that carry its field
    local: Array  # (k,) the same points within its condensed body
    free: Array  # (k,) bool: no motion or carrier holds the node


class SoftMembers:
    """Which nodes fields may press on in a step, and how these follow the velocities."""

    def __init__(
        self,
        bodies: Sequence[CondensedBody],
        soft: Sequence[SoftMember],
        pairs: Sequence[FieldPair],
        rest_centre: Array,  # (b, 3) [m] of the rigid bodies with fields
        place: Mapping[str, Array],  # points of each member
        own: Sequence[Array],  # points of each condensed body
    ) -> None:
        self._bodies, self._soft = bodies, soft
        fields = [s.field for s in soft]
        self.contacts = SoftContacts([soft_first(p) for p in pairs], fields, rest_centre)
        self._places = [_place(s, bodies, place, own) for s in soft]
        self._nodes: list[Array] = []  # (k, 3) [m] as a step begins
        self._known: list[tuple[int, Touch]] | None = None  # pairs that touch there
        self._active: list[ActivePair] = []

    @property
    def names(self) -> list[str]:
        return [s.body.name for s in self._soft]

    @property
    def groups(self) -> Array:
        """(s,) the condensed body of each."""
        return np.array([p.group for p in self._places], int)

    def begin(self, positions: Array, centre: Array, quaternion: Array) -> None:
        """From positions of all points, and poses of rigid bodies."""
        self._nodes = [positions[p.points] for p in self._places]
        self.contacts.begin(self._nodes, centre, quaternion)
        self._known = None

    def overlapping(self) -> list[tuple[int, Touch]]:
        """The pairs that overlap as the step begins."""
        if self._known is None:
            self._known = []
            for k in np.flatnonzero(self.contacts.gap <= 0.0).tolist():
                active = self.contacts.active(k, 0.0)
                if active is not None and (touch := self._still(active)).energy > 0.0:
                    self._known.append((k, touch))
        return self._known

    def touching(self) -> list[tuple[int, Touch]]:
        """Those of them that have a surface of equal pressure."""
        return [(k, touch) for k, touch in self.overlapping() if len(touch.surface)]

    def _still(self, active: ActivePair) -> Touch:
        contacts, b = self.contacts, active.pair.b
        if active.b is not None:
            return active.touch(active.a.start, active.b.start, (np.eye(3), np.zeros(3)))
        pose = contacts.pose(active.number, contacts.centre[b], contacts.quaternion[b])
        frame = frame_of(contacts.centre[b], _size(active))
        return active.touch(active.a.start, frame, pose)

    def activate(self, h: float, speeds: Sequence[float], rigid: Array, widen: float) -> None:
        """Find what may touch in a step of h, with the fastest point of each soft body and of each
        rigid one; condense the bodies onto it.
        """
        contacts, self._active = self.contacts, []
        for k, p in enumerate(contacts.pairs):
            speed = speeds[p.a] + (speeds[p.b] if p.deforms_b else float(rigid[p.b]))
            margin = widen * (AHEAD * h * speed + SLACK * float(contacts.depth[k]))
            active = contacts.active(k, margin) if contacts.gap[k] <= margin else None
            if active is not None:
                self._active.append(active)
        self._pressed = [np.zeros(len(p.points), bool) for p in self._places]
        for active in self._active:
            for side in (active.a, active.b):
                if side is not None:
                    binding = self._soft[side.body].field.binding[side.vertices]
                    self._pressed[side.body][binding.indices] = True
        for g, body in enumerate(self._bodies):
            if isinstance(body, CondensedSoft):
                body.select(np.concatenate([self._places[s].local[f] for s, f in self._free(g)]))

    def _free(self, group: int) -> list[tuple[int, Array]]:
        """The soft bodies of a group, and which of their nodes are pressed on and free."""
        return [
            (s, self._pressed[s] & p.free) for s, p in enumerate(self._places) if p.group == group
        ]

    def before(self, carried: Sequence[Array], points: Array) -> Array:
        """(n,) velocities from those of the carriers, and of all points (N, 3)."""
        out = []
        for g, own in enumerate(carried):
            out.append(own)
            if isinstance(self._bodies[g], CondensedSoft):
                out += [points[self._places[s].points[f]].ravel() for s, f in self._free(g)]
        return np.concatenate([np.zeros(0), *out])

    def step(
        self, columns: Sequence[Array], column: Array, velocities: Callable[[], Array], h: float
    ) -> SoftStep:
        """The pairs of the step, given what tells the free velocities (N, 3) of all points.

        columns: the velocities of each condensed body; column (b,): the first of each rigid one.
        """
        n = int(sum(len(c) for c in columns))
        free = velocities() if self._active else np.zeros((0, 3))
        used = range(len(self._soft) if self._active else 0)
        motion = [self._motion(s, columns, free, n) for s in used]
        pairs = []
        for active in self._active:
            of_a, of_b = (self._side_motion(side, motion, n) for side in (active.a, active.b))
            rigid = -1 if active.b is not None else active.pair.b
            first = -1 if rigid < 0 else int(column[rigid])
            pairs.append(MovingPair(active, *of_a, *of_b, rigid, first, _size(active)))
        return SoftStep(self.contacts, pairs, n, h)

    def _side_motion(
        self, side: Side | None, motion: Sequence[tuple[csr_array, Array]], n: int
    ) -> tuple[csr_array, Array]:
        """(3 v, n) how the vertices of a side follow the velocities, and what is given (v, 3)."""
        if side is None:
            return csr_array((0, n)), np.zeros((0, 3))
        field, (moves, given) = self._soft[side.body].field, motion[side.body]
        return side_map(side, field, moves), field.binding[side.vertices] @ given

    def _motion(
        self, s: int, columns: Sequence[Array], velocities: Array, n: int
    ) -> tuple[csr_array, Array]:
        """(3 k, n) how the nodes of a soft body follow the velocities, and what is given (k, 3)."""
        place, body = self._places[s], self._bodies[self._places[s].group]
        assert isinstance(body, CondensedSoft)
        own = columns[place.group]
        at = body.n_carried
        for other, free in self._free(place.group):
            if other == s:
                break
            at += 3 * int(free.sum())
        free, held = self._pressed[s] & place.free, self._pressed[s] & ~place.free
        rows = (3 * np.flatnonzero(free)[:, None] + np.arange(3)).ravel()
        given = np.zeros((len(place.points), 3))
        out = csr_array(
            (np.ones(len(rows)), (rows, own[at : at + len(rows)])), shape=(3 * len(free), n)
        )
        if held.any():
            modes = body.modes(place.local[held])
            carried = body.condensed_velocity()[: body.n_carried]
            given[held] = velocities[place.points[held]] - (modes @ carried).reshape(-1, 3)
            rows = (3 * np.flatnonzero(held)[:, None] + np.arange(3)).ravel()
            i, j = np.broadcast_arrays(rows[:, None], own[None, : body.n_carried])
            entries = (modes.ravel(), (i.ravel(), j.ravel()))
            out = csr_array(out + csr_array(entries, shape=out.shape))
        return out, given

    def complete(self, h: float, velocities: Array, framed: Sequence[RigidBody]) -> bool:
        """Whether no other part of a field has come to touch after h at velocities (N, 3)."""
        if not self._soft:
            return True
        ends = [
            s.field.binding @ (x + h * velocities[p.points])
            for s, x, p in zip(self._soft, self._nodes, self._places)
        ]
        poses = [advanced(b.centre, b.quaternion, b.v, b.w, h) for b in framed]
        centre = np.array([c for c, _ in poses]).reshape(-1, 3)
        quaternion = np.array([q for _, q in poses]).reshape(-1, 4)
        known = {a.number: a for a in self._active}
        for k in range(len(self.contacts.pairs)):
            of_a, of_b = self.contacts.near(k, 0.0, ends, centre, quaternion)
            if not len(of_a):
                continue
            if k not in known or not np.isin(of_a, known[k].a.whole).all():
                return False
            b = known[k].b
            if b is not None and not np.isin(of_b, b.whole).all():
                return False
        return True

    def add_impulses(self, sides: Sequence[tuple[int, Array, Array]], out: Array) -> None:
        """Add impulses on the vertices of fields to those (N, 3) on the points at their nodes."""
        for body, vertices, impulse in sides:
            binding = self._soft[body].field.binding[vertices]
            out[self._places[body].points] += binding.T @ impulse

    def pressing(self) -> list[SurfacePoints]:
        """Points of all pairs that touch as the step begins."""
        return [t.points for _, t in self.touching() if t.points is not None]


def _size(active: ActivePair) -> float:
    return float(np.ptp(active.a.start, axis=0).max())


def _place(
    soft: SoftMember, bodies: Sequence[CondensedBody], place: Mapping[str, Array],
    own: Sequence[Array],
) -> _Place:  # fmt: skip
    name, fem = soft.body.name, soft.body.fem
    (group,) = (g for g, b in enumerate(bodies) if name in [m.name for m in b.members])
    nodes = soft.field.nodes
    points = place[name][soft.body.field_markers : soft.body.field_markers + len(nodes)]
    number = {p: i for i, p in enumerate(own[group].tolist())}
    local = np.array([number[p] for p in points.tolist()])
    return _Place(group, points, local, fem.new[nodes] < fem.n_free)
