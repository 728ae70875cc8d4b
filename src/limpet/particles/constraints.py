"""All constraints of a particle system, as rows of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limpet.geometry.rotation import quaternion_matrix
from limpet.particles.anchors import Anchors, anchor_pairs
from limpet.particles.bending import Bends
from limpet.particles.body import ParticleBody
from limpet.particles.distances import Distances
from limpet.particles.point_pairs import NO_PAIRS, PointPairs, pair_compliance
from limpet.particles.rows import bend_rows, distance_rows, follow_bends, write_distances
from limpet.particles.sweep import ConstraintRows, Impulses
from limpet.particles.sweep_points import PointConstraints, Velocities, follow, update_bias
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


NO_POINTS = PointConstraints(NO_PAIRS, np.zeros((0, 3, 3)), np.zeros((0, 3)))


class Pins(NamedTuple):
    """Nodes held in the world."""

    node: Array  # (k,) int32
    place: Array  # (k, 3) [m]


@dataclass(frozen=True)
class RigidPoses:
    """Where the rigid bodies are."""

    centre: Array  # (b, 3) [m]
    rotation: Array  # (b, 3, 3)

    @staticmethod
    def of(bodies: Sequence[RigidBody]) -> RigidPoses:
        centre, rotation = np.empty((len(bodies), 3)), np.empty((len(bodies), 3, 3))
        for i, body in enumerate(bodies):
            centre[i], rotation[i] = body.centre, quaternion_matrix(body.quaternion)
        return RigidPoses(centre, rotation)


def moving(
    soft: Sequence[ParticleBody], rigid: Sequence[RigidBody], pins: Pins, x: Array, h: float
) -> Velocities:
    """Copies of the velocities, with what impulses do to them, after compute_free_velocity.

    Nodes x (n, 3) held in the world go there whatever pulls at them: they are eliminated.
    """
    none = np.zeros((0, 3))
    b = len(rigid)
    inverse_mass, inverse_inertia = np.zeros(b), np.zeros((b, 3, 3))
    velocity = np.zeros((b, 6))
    for i, body in enumerate(rigid):
        velocity[i, :3], velocity[i, 3:] = body.v, body.w
        if body.movable:
            inverse_mass[i] = 1.0 / body.mass
            inverse_inertia[i] = body.inverse_inertia()
    v = np.concatenate([none, *(s.v for s in soft)])
    mobility = np.concatenate([none[:, 0], *(s.mobility for s in soft)])
    if len(pins.node):
        v[pins.node] = (pins.place - x[pins.node]) / h
        mobility[pins.node] = 0.0
    return Velocities(v, mobility, velocity, inverse_mass, inverse_inertia)


@dataclass(frozen=True)
class ParticleConstraints:
    """Constraints that last."""

    pins: Pins
    distances: Distances
    bends: Bends
    rigid_held: Anchors
    held: Anchors

    @staticmethod
    def of(
        distances: Sequence[Distances], bends: Sequence[Bends], anchors: Sequence[Anchors]
    ) -> ParticleConstraints:
        no, i4 = np.zeros(0), np.zeros((0, 4), np.int32)
        d0 = Distances(i4[:, :2].copy(), no, no, no, no, no, np.zeros(1, np.int32))
        b0 = Bends(i4, np.zeros(0, np.int8), no, no, no, no, no, no)
        a0 = Anchors(i4[:, 0].copy(), i4[:, :2].copy(), np.zeros((0, 2, 3)))
        every = Anchors(*_joined(a0, anchors))
        soft = (every.node >= 0) & (every.rigid[:, 1] >= 0)
        pinned, among_rigid = (every.node >= 0) & ~soft, every.node < 0
        return ParticleConstraints(
            Pins(every.node[pinned], every.local[pinned, 1]),
            _joined_distances(d0, distances), Bends(*_joined(b0, bends)),
            Anchors(*(f[among_rigid] for f in every)), Anchors(*(f[soft] for f in every)),
        )  # fmt: skip

    def rows(
        self, x: Array, poses: RigidPoses, on: Velocities, rigid_pairs: PointPairs,
        pairs: PointPairs, h: float, baumgarte: float,
    ) -> ConstraintRows:  # fmt: skip
        """All rows at node positions x (n, 3), with the pairs of the contacts."""
        rigid_held, held = (
            anchor_pairs(a, x, poses.centre, poses.rotation) if len(a.node) else NO_PAIRS
            for a in (self.rigid_held, self.held)
        )
        return ConstraintRows(
            _point_rows(rigid_held, on, h, baumgarte, False),
            _point_rows(rigid_pairs, on, h, baumgarte, True),
            distance_rows(x, self.distances, on.inverse_mass, h, baumgarte),
            bend_rows(x, self.bends, on.inverse_mass, h, baumgarte),
            _point_rows(held, on, h, baumgarte, False),
            _point_rows(pairs, on, h, baumgarte, True),
        )

    def again(
        self, rows: ConstraintRows, x: Array, poses: RigidPoses, on: Velocities, h: float,
        baumgarte: float,
    ) -> ConstraintRows:  # fmt: skip
        """The rows after a part of a step: distances anew, contacts and bending updated."""
        for points in (rows.rigid_contacts, rows.contacts):
            if len(points.bias):
                update_bias(points, h, baumgarte, True)
        rigid_held, held = rows.rigid_held, rows.held
        if len(self.rigid_held.node):
            pairs = anchor_pairs(self.rigid_held, x, poses.centre, poses.rotation)
            rigid_held = _point_rows(pairs, on, h, baumgarte, False)
        if len(self.held.node):
            pairs = anchor_pairs(self.held, x, poses.centre, poses.rotation)
            held = _point_rows(pairs, on, h, baumgarte, False)
        write_distances(rows.distances, x, self.distances, on.inverse_mass, h, baumgarte)
        return rows._replace(rigid_held=rigid_held, held=held)

    def zeros(self, rigid_contacts: int, contacts: int) -> Impulses:
        return Impulses(
            np.zeros((len(self.rigid_held.node), 3)), np.zeros((rigid_contacts, 3)),
            np.zeros(len(self.distances.rest)), np.zeros(len(self.bends.rest)),
            np.zeros((len(self.held.node), 3)), np.zeros((contacts, 3)),
        )  # fmt: skip


def _point_rows(
    pairs: PointPairs, on: Velocities, h: float, baumgarte: float, contact: bool
) -> PointConstraints:
    """Pairs of points with their compliance and bias."""
    if len(pairs.gap) == 0:
        return NO_POINTS
    w = pair_compliance(pairs, on.inverse_mass, on.rigid_inverse_mass, on.rigid_inverse_inertia)
    points = PointConstraints(pairs, w, np.empty_like(pairs.gap))
    update_bias(points, h, baumgarte, contact)
    return points


def follow_rows(rows: ConstraintRows, on: Velocities, h: float) -> None:
    """Contacts and bending after h with the velocities `on`, in place."""
    for points in (rows.rigid_contacts, rows.contacts):
        if len(points.bias):
            follow(points, on, h)
    if len(rows.bends.r):
        follow_bends(rows.bends, on.v, h)


def _joined_distances(empty: Distances, parts: Sequence[Distances]) -> Distances:
    """One after the other, their chains renumbered."""
    shift = np.cumsum([0] + [len(p.rest) for p in parts])
    chain = [empty.chain, *(p.chain[1:] + s for p, s in zip(parts, shift))]
    joined = Distances(*_joined(empty, parts))
    return joined._replace(chain=np.concatenate(chain).astype(np.int32))


def _joined(empty: tuple[Array, ...], parts: Sequence[tuple[Array, ...]]) -> Iterator[Array]:
    """Field by field."""
    return (np.concatenate(columns) for columns in zip(empty, *parts))
