"""The pairs of bodies that touch by their pressure fields, at the velocities of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba.typed import List

from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.fields import FieldGeometry, HalfSpace, PressureField, RigidSurface
from limpet.pressure_field.pair_kernels import (
    NEAR_CORE,
    BodyPoses,
    PairTable,
    Surfaces,
    end_poses,
    evaluate_friction,
    evaluate_patches,
    find_surfaces,
    friction_loads,
    safe_share,
)
from limpet.pressure_field.surface import Pose, check_pair, field_data

Array = np.ndarray

LARGE = 0.01  # of a pair's area: a polygon above it has three friction points a triangle
STEEP = 0.95  # of the volume of a field has lower gradients than `depth` counts with
ORIGIN: Pose = (np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class FieldPair:
    """Two bodies that touch by their pressure fields."""

    a: int  # by number
    b: int
    field_a: FieldGeometry
    field_b: FieldGeometry
    dissipation: float  # [s] F's chi
    names: tuple[str, str]
    pose_a: Pose = ORIGIN  # of the fields' frames at the beginning
    pose_b: Pose = ORIGIN
    friction: float = 0.0

    @property
    def label(self) -> str:
        """For messages."""
        return "'{}' and '{}'".format(*self.names)


@dataclass(frozen=True)
class FrictionTerms:
    """What friction and dissipation of some pairs do at the velocities of all bodies."""

    impulse: Array  # (b, 6) [N s, N m s]
    stiffness: Array  # (6 s, 6 s) of the impulse, of the movable bodies asked for
    wrench: Array  # (m, 6) [N, N m] of each pair, on body a about its centre


@dataclass(frozen=True)
class PatchTerms:
    """What the pressure of some pairs does after a step with the velocities of all bodies."""

    which: Array  # (m,) the pairs
    impulse: Array  # (b, 6) [N s, N m s]
    stiffness: Array  # (6 s, 6 s) of the impulse, of the movable bodies asked for
    round_off: Array  # (b, 6) [N s, N m s]
    room: Array  # (m,) [m] to the core of a field, at least
    wrench: Array  # (m, 6) [N, N m] on body a about its centre
    load: Array  # (m,) [N] sum of the forces, whatever their directions


@dataclass(frozen=True)
class FrictionLoads:
    """Points of pairs that carry friction."""

    start: Array  # (m + 1,) pair m has the points start[m]:start[m + 1]
    points: Array  # (p, 8) see patch_terms.friction_points

    def take(self, which: Array) -> FrictionLoads:
        parts = [self.points[self.start[k] : self.start[k + 1]] for k in which]
        sizes = [len(p) for p in parts]
        return FrictionLoads(np.cumsum([0, *sizes]), np.concatenate([np.zeros((0, 8)), *parts]))

    @staticmethod
    def join(parts: Sequence[FrictionLoads]) -> FrictionLoads:
        sizes = [np.zeros(0, int), *(np.diff(p.start) for p in parts)]
        start = np.cumsum(np.concatenate([[0], *sizes]))
        return FrictionLoads(start, np.concatenate([np.zeros((0, 8)), *(p.points for p in parts)]))

    def of_pairs(self) -> Array:
        """(m,) [N]"""
        sums = np.concatenate([[0.0], np.cumsum(self.points[:, 6])])
        return sums[self.start[1:]] - sums[self.start[:-1]]


class FieldContacts:
    """Pairs of bodies, each body with 6 velocities; those of a step start at one pose."""

    def __init__(
        self,
        pairs: Sequence[FieldPair],  # a and b count the bodies here
        rest_centre: Array,  # (b, 3) [m] centres of mass at the beginning
    ) -> None:
        self.pairs, n = pairs, len(rest_centre)
        frame, shift, radius = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), np.zeros(n)
        fields = {}
        for p in pairs:
            check_pair(p.field_a, p.field_b)
            ends = (p.a, p.field_a, p.pose_a), (p.b, p.field_b, p.pose_b)
            for i, field, (rotation, translation) in ends:
                fields[i] = field_data(field)
                frame[i], shift[i] = rotation, translation - rest_centre[i]
                if not isinstance(field, HalfSpace):
                    arms = field.points @ rotation.T + shift[i]
                    radius[i] = float(np.linalg.norm(arms, axis=1).max())
        self._fields = List([fields[i] for i in range(n)])
        self._poses = BodyPoses(np.zeros((n, 3)), np.zeros((n, 4)), frame, shift, radius)
        self._table = PairTable(*(np.array(c) for c in zip(*(_fixed_terms(p) for p in pairs))))
        self.loads = FrictionLoads(np.zeros(len(pairs) + 1, int), np.zeros((0, 8)))  # at the start
        self.gap = self.highest = np.zeros(len(pairs))  # [m] at least; pressure over modulus

    def begin(self, centre: Array, quaternion: Array) -> None:
        """From these poses (b, 3), (b, 4): patches there give friction its loads."""
        self._poses = self._poses._replace(centre=centre, quaternion=quaternion)
        every, still = np.arange(len(self.pairs)), np.zeros((len(centre), 6))
        found = self._surfaces(every, *end_poses(self._poses, still, 0.0)[:3])
        self.gap = found.gap
        self.highest, *loads = friction_loads(self._table, every, found, LARGE)
        self.loads = FrictionLoads(*loads)

    def _surfaces(self, which: Array, centre: Array, rotation: Array, origin: Array) -> Surfaces:
        fixed = self._fields, self._table, which, self._poses.radius
        return find_surfaces(*fixed, centre, rotation, origin)

    def loads_after(self, twist: Array, which: Array, h: float) -> FrictionLoads:
        """Of some pairs, at the end of a step with velocities (b, 6)."""
        found = self._surfaces(which, *end_poses(self._poses, twist, h)[:3])
        return FrictionLoads(*friction_loads(self._table, which, found, LARGE)[1:])

    def patches(self, twist: Array, which: Array, slot: Array, h: float) -> PatchTerms:
        """At the end of a step with velocities (b, 6), of some pairs; slot: see pair_kernels."""
        centre, rotation, origin, jacobian = end_poses(self._poses, twist, h)
        found = self._surfaces(which, centre, rotation, origin)
        terms = evaluate_patches(
            self._table, which, found, self._poses.radius, centre, jacobian, slot, h
        )
        return PatchTerms(which, *terms)

    def friction(
        self, twist: Array, which: Array, loads: FrictionLoads, slot: Array, h: float,
        with_rate: bool = True,
    ) -> FrictionTerms:  # fmt: skip
        """At velocities (b, 6), under the loads of these pairs; perhaps without stiffness."""
        fixed = self._table, which, self._poses, loads.start, loads.points
        return FrictionTerms(*evaluate_friction(*fixed, slot, twist, h, with_rate))

    def start_reach(self, which: Array, change: Array, h: float) -> float:
        """The share of velocities (b, 6) that takes no pair near its core as the step begins."""
        left = np.maximum(1.0 - self.highest, NEAR_CORE)
        room = self._table.depth * left + np.maximum(self.gap, 0.0)
        return safe_share(self._table, which, room[which], self._poses, change, h)

    def reach(self, terms: PatchTerms, change: Array, h: float) -> float:
        """The share of a change of velocities (b, 6) that takes no pair near its core."""
        return safe_share(self._table, terms.which, terms.room, self._poses, change, h)

    @property
    def radius(self) -> Array:
        """(b,) [m] of a ball about the centre of each body; 0: a half space."""
        return self._poses.radius


def _fixed_terms(pair: FieldPair) -> tuple[int, int, float, float, float, float]:
    """A row of the PairTable."""
    modulus, steepest, softness = np.inf, np.inf, 0.0
    for field in (pair.field_a, pair.field_b):
        if isinstance(field, RigidSurface) or not np.isfinite(field.modulus):
            continue
        slope = field.stiffness if isinstance(field, HalfSpace) else _steep(field)
        modulus, steepest = min(modulus, field.modulus), min(steepest, slope)
        softness += 1.0 / field.modulus
    damping = pair.dissipation * softness
    return pair.a, pair.b, modulus, modulus / steepest, pair.friction, damping


def _steep(field: PressureField) -> float:
    """[Pa/m] gradient of the pressure below which most of a field's volume stays."""
    slope, volume = np.linalg.norm(field.gradient, axis=1), tet_volumes(field.points, field.tets)
    order = np.argsort(slope)
    share = np.cumsum(volume[order]) / volume.sum()
    return float(slope[order][np.searchsorted(share, STEEP)])
