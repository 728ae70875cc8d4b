"""The pairs of bodies that touch by their pressure fields, and where they do so in a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from limpet.dynamics.body import Body
from limpet.pressure_field.patches import FieldPair, QuadraturePoints, find_patches
from limpet.pressure_field.surface import ContactSurface, Pose
from limpet.pressure_field.wrench import area
from limpet.report import PatchReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


@dataclass(frozen=True)
class FramePoints:
    """Points that ride on rigid bodies, each by four vertices in a row that span its body."""

    first: Array  # (m,) int32, the first of the four, by global vertex
    weights: Array  # (m, 4), sum 1

    @staticmethod
    def none() -> FramePoints:
        return FramePoints(np.zeros(0, np.int32), np.zeros((0, 4)))


@dataclass(frozen=True)
class ContactPatches:
    """Where the pairs meet, at the start of a step."""

    patches: QuadraturePoints = field(default_factory=QuadraturePoints.none)
    surfaces: tuple[ContactSurface, ...] = ()  # of each pair
    a: FramePoints = field(default_factory=FramePoints.none)  # the points on their first bodies
    b: FramePoints = field(default_factory=FramePoints.none)


@dataclass(frozen=True)
class PatchSet:
    """The pairs, and the bodies of the world that they name."""

    pairs: Sequence[FieldPair]
    bodies: Sequence[Body]
    offset: Array  # (bodies + 1,) where each body's vertices begin

    def find(self) -> ContactPatches:
        """The patches where the bodies are now."""
        if not self.pairs:
            return ContactPatches()
        poses = {}
        for pair in self.pairs:
            for i, own in ((pair.a, pair.pose_a), (pair.b, pair.pose_b)):
                if i not in poses:
                    poses[i] = _placed(self._rigid(i), own)
        patches, surfaces = find_patches(self.pairs, poses)
        a, b = (self._carried(which, patches.point) for which in (patches.body_a, patches.body_b))
        return ContactPatches(patches, tuple(surfaces), a, b)

    def reports(self, met: ContactPatches, forces: Array) -> tuple[PatchReport, ...]:
        """forces (m, 3) [N] of the patches on their first bodies."""
        found, patches = [], met.patches
        for pair, surface in zip(self.pairs, met.surfaces):
            if len(surface):
                own = (patches.body_a == pair.a) & (patches.body_b == pair.b)
                fx, fy, fz = forces[own].sum(axis=0).tolist()
                highest = float(surface.corner_pressure.max())
                found.append(PatchReport(pair.names, (fx, fy, fz), area(surface)[0], highest))
        return tuple(found)

    def _rigid(self, i: int) -> RigidBody:
        body = self.bodies[i]
        assert isinstance(body, RigidBody)
        return body

    def _carried(self, which: Array, points: Array) -> FramePoints:
        first, weights = np.zeros(len(which), np.int32), np.zeros((len(which), 4))
        for i in np.unique(which).tolist():
            own = which == i
            first[own] = self.offset[i] + self._rigid(i).frame
            weights[own] = self._rigid(i).frame_weights(points[own])
        return FramePoints(first, weights)


def _placed(body: RigidBody, own: Pose) -> Pose:
    """Where a field is whose frame was at `own` in the beginning."""
    (r, t), (rotation, shift) = body.pose(), own
    return r @ rotation, r @ shift + t
