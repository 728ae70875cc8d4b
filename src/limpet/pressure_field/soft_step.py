"""What deforming fields do at the velocities of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from limpet.pressure_field.pair_kernels import NEAR_CORE, SAFE
from limpet.pressure_field.point_terms import (
    SurfacePoints,
    add_stored,
    friction,
    pressure_stiffness,
)
from limpet.pressure_field.soft_contacts import ActivePair, SoftContacts, Touch, frame_of
from limpet.rigid.kernels import advanced

Array = np.ndarray

ROUND_OFF = 1e-15
# w -> w x e of the three axes e, (9, 3)
ALONG_AXES = np.vstack([-np.cross(e, np.eye(3)).T for e in np.eye(3)])
CRUSHED = 1e-3  # of its least height at rest: below it, nothing is known of a tet
FLATTER = 0.3  # of the least height of a tet: what its corners may move towards each other, unseen


@dataclass(frozen=True)
class MovingPair:
    """A pair, and how its vertices follow the n velocities of a step."""

    active: ActivePair
    map_a: csr_array  # (3 v, n)
    given_a: Array  # (v, 3) [m/s] what prescribed motions add
    map_b: csr_array  # of b, if it deforms
    given_b: Array
    rigid: int  # number of a rigid b; -1: it deforms
    column: int  # where its velocities begin, or -1
    size: float  # [m] of the pair

    def vertices(self, velocity: Array, share: float) -> tuple[Array, Array]:
        """(v, 3) [m/s] of a, and of b if it deforms, with a share of the prescribed motions."""
        a = (self.map_a @ velocity).reshape(-1, 3) + share * self.given_a
        return a, (self.map_b @ velocity).reshape(-1, 3) + share * self.given_b

    @cached_property
    def unit_motion(self) -> csr_array:
        """(3 v, n) of the vertices of a, then of b, or of its frame as the step begins."""
        return self._motion(np.eye(3))

    def motion(self, turn: Array) -> csr_array:
        """As `unit_motion`, of a frame that turns."""
        still = self.rigid < 0 or self.column < 0 or np.array_equal(turn, np.eye(3))
        return self.unit_motion if still else self._motion(turn)

    def _motion(self, turn: Array) -> csr_array:
        other = self.map_b if self.rigid < 0 else self.frame_map(turn)
        return csr_array(vstack([self.map_a, other]))

    def frame_map(self, turn: Array) -> csr_array:
        """(12, n) how the frame of a rigid b follows; turn: d(rotation) by d(h w)."""
        rows = np.zeros((12, self.map_a.shape[1]))
        if self.column >= 0:
            rows[:, self.column : self.column + 6] = self.frame_modes(turn)
        return csr_array(rows)

    def frame_modes(self, turn: Array) -> Array:
        """(12, 6) over the twist of b."""
        out = np.zeros((12, 6))
        out[:, :3] = np.tile(np.eye(3), (4, 1))
        out[3:, 3:] = self.size * ALONG_AXES @ turn
        return out

    @cached_property
    def unit_modes(self) -> Array:
        return self.frame_modes(np.eye(3))


@dataclass(frozen=True)
class PairTerms:
    """Forces and stiffness over the vertices of a pair: of a, then of b or its frame."""

    force: Array  # (v, 3) [N]
    stiffness: Array  # (3 v, 3 v) of the impulse; or none
    motion: csr_array  # (3 v, n) how they follow the velocities
    turn: Array  # (3, 3) see frame_map
    touch: Touch | None


@dataclass(frozen=True)
class SoftTerms:
    """Of some pairs, over the n velocities of a step."""

    which: Array  # (m,) of the pairs in the step
    impulse: Array  # (n,) [N s]
    stiffness: Array  # (n, n) of the impulse
    round_off: Array  # (n,) [N s]
    load: Array  # (m,) [N] sum of the normal forces
    pairs: Sequence[PairTerms]


NO_SOFT_TERMS = SoftTerms(
    np.zeros(0, int), np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.zeros(0), ()
)


@dataclass(frozen=True)
class SoftStep:
    """The pairs that may touch in a step."""

    contacts: SoftContacts
    pairs: Sequence[MovingPair]
    n: int  # velocities
    h: float

    @cached_property
    def at_start(self) -> SoftTerms:
        """Of all pairs, as the step begins."""
        still = np.zeros((len(self.contacts.centre), 6))
        return self.pressure(np.zeros(self.n), still, np.arange(len(self.pairs)), 0.0)

    def pressure(self, velocity: Array, twist: Array, which: Array, share: float) -> SoftTerms:
        """After a step with velocities (n,) and twists (b, 6) of the rigid bodies."""
        if not len(which):
            return NO_SOFT_TERMS
        found = [self._pressed(self.pairs[k], velocity, twist, share) for k in which]
        load = [0.0 if (p := f.touch.points) is None else p.force.sum() for f in found if f.touch]
        return self._sum(which, found, np.array(load), self.h * self.h)

    def _pressed(self, pair: MovingPair, velocity: Array, twist: Array, share: float) -> PairTerms:
        touch, turn = self.touch(pair, velocity, twist, share)
        force = np.concatenate([touch.force_a, touch.force_b])
        motion = pair.motion(turn)
        if touch.points is None:
            return PairTerms(force, np.zeros((0, 0)), motion, turn, touch)
        stiffness = pressure_stiffness(touch.points, len(force))
        add_stored(stiffness, *touch.stored_a, 0)
        if touch.stored_b is not None:
            add_stored(stiffness, *touch.stored_b, len(touch.force_a))
        return PairTerms(force, stiffness, motion, turn, touch)

    def touch(
        self, pair: MovingPair, velocity: Array, twist: Array, share: float
    ) -> tuple[Touch, Array]:
        """The pair at the end of the step, and how a rigid b has turned."""
        h, active = self.h, pair.active
        v_a, v_b = pair.vertices(velocity, share)
        x_a = active.a.start + h * v_a
        if active.b is not None:
            pose = np.eye(3), np.zeros(3)
            return active.touch(x_a, active.b.start + h * v_b, pose), np.eye(3)
        contacts, i = self.contacts, pair.rigid
        v, w = twist[i, :3], twist[i, 3:]
        centre, quaternion = advanced(contacts.centre[i], contacts.quaternion[i], v, w, h)
        pose = contacts.pose(active.number, centre, quaternion)
        return active.touch(x_a, frame_of(centre, pair.size), pose), left_jacobian(h * w)

    def friction(
        self, velocity: Array, twist: Array, which: Array, loads: Sequence[SurfacePoints | None],
        with_rate: bool, share: float,
    ) -> SoftTerms:  # fmt: skip
        """Of friction and dissipation at these velocities, under given loads."""
        if not len(which):
            return NO_SOFT_TERMS
        found, unit = [], np.eye(3)
        for k, points in zip(which, loads):
            pair = self.pairs[k]
            v_a, v_b = pair.vertices(velocity, share)
            if pair.rigid >= 0:
                v_b = (pair.unit_modes @ twist[pair.rigid]).reshape(-1, 3)
            every, motion = np.concatenate([v_a, v_b]), pair.unit_motion
            number = pair.active.number
            mu, damping = self.contacts.friction[number], self.contacts.damping[number]
            if points is None or mu == damping == 0.0:
                none = np.zeros((0, 0))
                found.append(PairTerms(np.zeros_like(every), none, motion, unit, None))
                continue
            force, rate = friction(points, every, mu, damping, with_rate)
            found.append(PairTerms(force, rate, motion, unit, None))
        return self._sum(which, found, np.zeros(len(found)), self.h)

    def _sum(
        self, which: Array, found: Sequence[PairTerms], load: Array, factor: float
    ) -> SoftTerms:
        impulse, stiffness = np.zeros(self.n), np.zeros((self.n, self.n))
        round_off = np.zeros(self.n)
        for k, f in zip(which, found):
            impulse += self.h * (f.motion.T @ f.force.ravel())
            if len(f.stiffness):
                back = f.motion.T
                own = factor * (back @ (back @ f.stiffness).T)
                stiffness += own
                size = self.pairs[k].size + np.abs(self.pairs[k].active.a.start).max()
                round_off += ROUND_OFF / self.h * np.abs(own).sum(axis=1) * size
        return SoftTerms(which, impulse, stiffness, round_off, load, found)

    def loads(self, terms: SoftTerms) -> list[SurfacePoints | None]:
        """Points that carry friction, where the terms of pressure were taken."""
        return [None if f.touch is None else f.touch.points for f in terms.pairs]

    def start_reach(self, velocity: Array, twist: Array, which: Array, share: float) -> float:
        """The share of velocities that takes no pair near its core as the step begins."""
        reach = np.inf
        for k in which:
            pair = self.pairs[k]
            v_a, v_b = pair.vertices(velocity, share)
            number, still = pair.active.number, self.at_start.pairs[k].touch
            assert still is not None
            room = self._room(number, still) + max(self.contacts.gap[number], 0.0)
            reach = min(reach, self._share(pair, v_a, v_b, twist, room, still.thin))
        return reach

    def reach(self, terms: SoftTerms, change: Array, twist: Array) -> float:
        """The share of a change of velocities that takes no pair near its core, and squashes no
        tet.
        """
        share = np.inf
        for k, found in zip(terms.which, terms.pairs):
            pair, touch = self.pairs[k], found.touch
            assert touch is not None
            v_a, v_b = pair.vertices(change, 0.0)
            room = self._room(pair.active.number, touch)
            share = min(share, self._share(pair, v_a, v_b, twist, room, touch.thin))
        return share

    def _room(self, number: int, touch: Touch) -> float:
        return float(self.contacts.depth[number]) * max(1.0 - touch.highest, NEAR_CORE)

    def _share(
        self, pair: MovingPair, v_a: Array, v_b: Array, twist: Array, room: float, thin: Array
    ) -> float:
        active, x, height = pair.active, pair.active.a.start, pair.active.a.height
        squeezed = _closing(v_a, active.a.tets)
        if active.b is None:
            i = pair.rigid
            other = twist[i, :3] + np.cross(twist[i, 3:], x - self.contacts.centre[i])
            speed = float(np.linalg.norm(v_a - other, axis=1).max())
        else:
            middle = 0.5 * (v_b.max(axis=0) + v_b.min(axis=0))
            spread = float(np.linalg.norm(v_b - middle, axis=1).max())
            speed = float(np.linalg.norm(v_a - middle, axis=1).max()) + spread
            squeezed = np.concatenate([squeezed, _closing(v_b, active.b.tets)])
            height = np.concatenate([height, active.b.height])
        if (thin < CRUSHED * height).any():
            return 0.0
        share = SAFE * room / (self.h * speed) if speed > 0.0 else np.inf
        squeezed = np.maximum(squeezed, 1e-300)
        return min(share, float((FLATTER * thin / (self.h * squeezed)).min()))

    def markers(
        self, terms: Sequence[SoftTerms], change: Array, rigid: int
    ) -> tuple[Array, list[tuple[int, Array, Array]]]:
        """Impulses with the terms linear in a change of velocities (n,).

        Wrenches (rigid, 6) [N s, N m s] about the centres, and of each side of a pair: its body,
        its vertices, and the impulses (v, 3) on them.
        """
        wrench, sides = np.zeros((rigid, 6)), []
        for of_terms, factor in zip(terms, (self.h * self.h, self.h)):
            for k, f in zip(of_terms.which, of_terms.pairs):
                pair = self.pairs[k]
                impulse = self.h * f.force.ravel()
                if len(f.stiffness):
                    impulse = impulse - factor * (f.stiffness @ (f.motion @ change))
                on, count = impulse.reshape(-1, 3), len(pair.active.a.vertices)
                sides.append((pair.active.a.body, pair.active.a.vertices, on[:count]))
                if pair.active.b is not None:
                    sides.append((pair.active.b.body, pair.active.b.vertices, on[count:]))
                else:
                    wrench[pair.rigid] += pair.frame_modes(f.turn).T @ on[count:].ravel()
        return wrench, sides


def _closing(v: Array, tets: Array) -> Array:
    """(t,) [m/s] by which corners of a tet may approach each other at most."""
    corners = v[tets]
    return np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2).max(axis=1)


def left_jacobian(turn: Array) -> Array:
    """(3, 3) of SO(3): how a rotation vector turns a body further."""
    x, y, z = turn
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle2 = float(turn @ turn)
    first, second = 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
    if (angle := np.sqrt(angle2)) > 1e-3:
        first = (1.0 - np.cos(angle)) / angle2
        second = (angle - np.sin(angle)) / (angle2 * angle)
    return np.eye(3) + first * cross + second * (cross @ cross)
