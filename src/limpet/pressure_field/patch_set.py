"""Pressure-field contact as a constraint set: three rows for each quadrature point of the patches.

A point moves with its body's frame: four marker points in a row that span the body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from limpet.contact import law
from limpet.contact.rows import contact_forces, contact_frames, contact_rows
from limpet.dynamics.constraint_set import DATA, ConstraintSet, RowBlock, StepContext
from limpet.linalg.rows import Rows
from limpet.pressure_field.patches import FieldPair, QuadraturePoints, find_patches
from limpet.pressure_field.surface import ContactSurface, Pose
from limpet.pressure_field.wrench import area
from limpet.report import PatchReport

Array = np.ndarray

MARKERS = np.arange(4, dtype=np.int32)  # of a frame, one after the other


class Framed(Protocol):
    """A body whose pose is known, with four marker points that span it."""

    frame: int  # the first of them, among its points

    def pose(self) -> Pose: ...

    def frame_weights(self, points: Array) -> Array:
        """(m, 4): points (m, 3) [m] that move with the body, from its markers."""
        ...


@dataclass(frozen=True)
class ContactPatches:
    """Where the pairs meet, at the start of a step."""

    points: QuadraturePoints = field(default_factory=QuadraturePoints.none)
    surfaces: tuple[ContactSurface, ...] = ()  # of each pair


class PatchSet(ConstraintSet):
    """The pairs of bodies that touch by their pressure fields (F)."""

    name, phase = "patches", "collision"

    def __init__(
        self,
        pairs: Sequence[FieldPair],
        bodies: Mapping[int, Framed],  # by the number of their surface
        first: Array,  # (surfaces + 1,) where each surface's points begin
        friction: Array,  # (surfaces, surfaces)
    ) -> None:
        self.pairs, self._bodies, self._first, self._friction = pairs, bodies, first, friction
        self.patches = ContactPatches()
        self._frames, self._multipliers = np.zeros((0, 3, 3)), np.zeros(0)

    def update(self, now: StepContext) -> None:
        poses = {}
        for pair in self.pairs:
            for i, own in ((pair.a, pair.pose_a), (pair.b, pair.pose_b)):
                if i not in poses:
                    (r, t), (rotation, shift) = self._bodies[i].pose(), own
                    poses[i] = r @ rotation, r @ shift + t
        points, surfaces = find_patches(self.pairs, poses)
        self.patches, self._h = ContactPatches(points, tuple(surfaces)), now.h

    def rows(self) -> RowBlock:
        p = self.patches.points
        m = len(p)
        if m == 0:
            return RowBlock.none()
        self._frames = contact_frames(p.normal)
        on_a, on_b = (self._on_markers(side, p.point) for side in (p.surface_a, p.surface_b))
        jacobian = Rows(*contact_rows(*on_a, *on_b, self._frames))
        bias, compliance, data = np.zeros(3 * m), np.zeros(3 * m), np.zeros((m, DATA))
        approach, compliance[::3] = p.contact_law_terms(self._h)
        bias[::3] = -approach
        compliance[1::3] = compliance[2::3] = p.stiction_compliance()
        data[:, 0] = self._friction[p.surface_a, p.surface_b]
        return RowBlock(
            jacobian, bias, compliance, np.full(m, law.KIND, np.int32),
            3 * np.arange(m + 1, dtype=np.int32), data, p.key, self._frames,
        )  # fmt: skip

    def _on_markers(self, which: Array, points: Array) -> tuple[Array, Array, Array]:
        """The first marker of each point's body, all four of them, and their weights."""
        first, weights = np.zeros(len(which), np.int64), np.zeros((len(which), 4))
        for i in np.unique(which).tolist():
            own = which == i
            first[own] = self._first[i] + self._bodies[i].frame
            weights[own] = self._bodies[i].frame_weights(points[own])
        return first, np.broadcast_to(MARKERS, (len(which), 4)).copy(), weights

    def accept(self, multipliers: Array, rates: Array) -> None:
        self._multipliers = multipliers

    def forces(self) -> Array:
        """(m, 3) [N] of the quadrature points, on their first bodies."""
        return contact_forces(self._frames[: len(self._multipliers) // 3], self._multipliers)

    def report(self) -> tuple[PatchReport, ...]:
        """The pairs that touch."""
        found, points, forces = [], self.patches.points, self.forces()
        for pair, surface in zip(self.pairs, self.patches.surfaces):
            if len(surface):
                own = (points.surface_a == pair.a) & (points.surface_b == pair.b)
                fx, fy, fz = forces[own].sum(axis=0).tolist()
                highest = float(surface.corner_pressure.max())
                found.append(PatchReport(pair.names, (fx, fy, fz), area(surface)[0], highest))
        return tuple(found)

    def get_state(self) -> dict[str, object]:
        return {}

    def set_state(self, state: Mapping[str, object]) -> None:
        self.patches, self._multipliers = ContactPatches(), np.zeros(0)
