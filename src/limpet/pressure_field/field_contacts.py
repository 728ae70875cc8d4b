"""The pairs of bodies that touch by their pressure fields, at the velocities of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba.typed import List

from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.fields import (
    FieldGeometry,
    HalfSpace,
    PressureField,
    RigidSurface,
    half_space,
)
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
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.surface import (
    ContactSurface,
    Pose,
    check_pair,
    no_candidates,
)
from limpet.pressure_field.wrench import softness

Array = np.ndarray

LARGE = 0.01  # of a pair's area: a polygon above it has three friction points a triangle
SLACK = 0.05  # of the size of a pair's cells: motion for which candidates are found
STEEP = 0.95  # of the volume of a field has lower gradients than `depth` counts with
ORIGIN: Pose = (np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class FieldPair:
    """Two bodies that touch by their pressure fields."""

    a: int  # by number
    b: int
    field_a: FieldGeometry | SoftField
    field_b: FieldGeometry | SoftField
    dissipation: float  # [s] F's chi
    names: tuple[str, str]
    pose_a: Pose = ORIGIN  # of the fields' frames at the beginning
    pose_b: Pose = ORIGIN
    friction: float = 0.0

    @property
    def deforms(self) -> bool:
        """Whether one of the two does."""
        return isinstance(self.field_a, SoftField) or self.deforms_b

    @property
    def deforms_b(self) -> bool:
        return isinstance(self.field_b, SoftField)

    @property
    def label(self) -> str:
        """For messages."""
        return "'{}' and '{}'".format(*self.names)


def fixed_shape(field: FieldGeometry | SoftField) -> FieldGeometry:
    """A field that does not deform."""
    assert not isinstance(field, SoftField)
    return field


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
            of_a, of_b = fixed_shape(p.field_a), fixed_shape(p.field_b)
            check_pair(of_a, of_b)
            ends = (p.a, of_a, p.pose_a), (p.b, of_b, p.pose_b)
            for i, field, (rotation, translation) in ends:
                fields[i] = field.data
                frame[i], shift[i] = rotation, translation - rest_centre[i]
                if not isinstance(field, HalfSpace):
                    arms = field.points @ rotation.T + shift[i]
                    radius[i] = float(np.linalg.norm(arms, axis=1).max())
        nothing = half_space((0.0, 0.0, 1.0), 0.0).data  # of bodies in no pair
        self._fields = List([fields.get(i, nothing) for i in range(n)])
        self._poses = BodyPoses(np.zeros((n, 3)), np.zeros((n, 4)), frame, shift, radius)
        table = np.array([fixed_terms(p) for p in pairs]).reshape(-1, 6).T.copy()
        self._table = PairTable(*table[:2].astype(int), *table[2:])
        self._candidates = List([no_candidates() for _ in range(max(1, len(pairs)))])
        self._slack = np.array([_slack(p) for p in pairs])
        self.loads = FrictionLoads(np.zeros(len(pairs) + 1, int), np.zeros((0, 8)))  # at the start
        self.gap = self.highest = np.zeros(len(pairs))  # [m] at least; pressure over modulus
        self.found: Surfaces | None = None  # at the start

    def begin(self, centre: Array, quaternion: Array) -> None:
        """From these poses (b, 3), (b, 4): patches there give friction its loads."""
        self._poses = self._poses._replace(centre=centre, quaternion=quaternion)
        if not self.pairs:
            return
        every, still = np.arange(len(self.pairs)), np.zeros((len(centre), 6))
        self.found, self.highest, self.loads = self._loads(every, still, 0.0)
        self.gap = self.found.gap

    def _loads(self, which: Array, twist: Array, h: float) -> tuple[Surfaces, Array, FrictionLoads]:
        """Of some pairs after h: surfaces, pressure over modulus, and points with friction."""
        centre, rotation, origin, _ = end_poses(self._poses, twist, h)
        found = self._surfaces(which, centre, rotation, origin)
        fixed = self._fields, self._table, which, found
        highest, *loads = friction_loads(*fixed, rotation, origin, LARGE)
        return found, highest, FrictionLoads(*loads)

    def _surfaces(self, which: Array, centre: Array, rotation: Array, origin: Array) -> Surfaces:
        fixed = self._fields, self._table, which, self._poses.radius
        near = self._candidates, self._slack
        return find_surfaces(*fixed, centre, rotation, origin, *near)

    def surface(self, k: int) -> ContactSurface:
        """Of a pair, as the step begins."""
        assert self.found is not None, "begin comes first"
        return self.found.of_pair(k)

    def loads_after(self, twist: Array, which: Array, h: float) -> FrictionLoads:
        """Of some pairs, at the end of a step with velocities (b, 6)."""
        if not len(which):
            return FrictionLoads(np.zeros(1, int), np.zeros((0, 8)))
        return self._loads(which, twist, h)[2]

    def patches(self, twist: Array, which: Array, slot: Array, h: float) -> PatchTerms:
        """At the end of a step with velocities (b, 6), of some pairs; slot: see pair_kernels."""
        if not len(which):
            none = np.zeros(0)
            return PatchTerms(
                which, *_nothing(twist, slot), np.zeros_like(twist), none, np.zeros((0, 6)), none
            )
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
        if not len(which):
            return FrictionTerms(*_nothing(twist, slot), np.zeros((0, 6)))
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


def _nothing(twist: Array, slot: Array) -> tuple[Array, Array]:
    """Impulses and stiffness without any pair."""
    size = 6 * (int(slot.max(initial=-1)) + 1)
    return np.zeros_like(twist), np.zeros((size, size))


def fixed_terms(pair: FieldPair) -> tuple[int, int, float, float, float, float]:
    """A row of the PairTable."""
    modulus, steepest = np.inf, np.inf
    for field in (pair.field_a, pair.field_b):
        if isinstance(field, RigidSurface) or not np.isfinite(field.modulus):
            continue
        if isinstance(field, SoftField):
            slope = field.steep
        else:
            slope = field.stiffness if isinstance(field, HalfSpace) else _steep(field)
        modulus, steepest = min(modulus, field.modulus), min(steepest, slope)
    damping = pair.dissipation * softness(pair.field_a, pair.field_b)
    return pair.a, pair.b, modulus, modulus / steepest, pair.friction, damping


def _slack(pair: FieldPair) -> float:
    """[m] for candidates: they are few if the cells are not much larger for it."""
    both = fixed_shape(pair.field_a), fixed_shape(pair.field_b)
    fields = [f for f in both if not isinstance(f, HalfSpace)]
    return SLACK * min(float(np.median(np.ptp(_corners(f), axis=1))) for f in fields)


def _corners(field: PressureField | RigidSurface) -> Array:
    """(m, 3 or 4, 3) [m] of the cells."""
    return field.points[field.tets if isinstance(field, PressureField) else field.triangles]


def _steep(field: PressureField) -> float:
    """[Pa/m] gradient of the pressure below which most of a field's volume stays."""
    slope, volume = np.linalg.norm(field.gradient, axis=1), tet_volumes(field.points, field.tets)
    order = np.argsort(slope)
    share = np.cumsum(volume[order]) / volume.sum()
    return float(slope[order][np.searchsorted(share, STEEP)])
