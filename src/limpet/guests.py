"""Cloth, rope and jelly among bodies that are solved together: two solvers, one step.

The guests are swept by themselves (C), under the forces that the others exert on them. The others
are solved with W, as if a guest would answer to other forces by its masses alone. So the two take
turns until what the guests do under the new forces is what was foreseen. What holds a guest
together only makes it stiffer: with its true compliance C' and that of its masses C the error
shrinks by (W + C)^-1 (C - C'), 0 <= C' <= C, in each turn.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

import numpy as np

from limpet.bodies.particles import ParticleBody
from limpet.bodies.rigid import RigidBody
from limpet.clock import Clock
from limpet.constrained import Constrained, ConstrainedState
from limpet.errors import LimpetError, MeshError
from limpet.geometry.surface import Surface, bare_surface, surface_topology
from limpet.report import StepReport

Array = np.ndarray

AGREED = 1e-3  # [m/s] that a loaded vertex may move otherwise than foreseen


class Guests:
    """The swept bodies of a world, each with its place among all vertices."""

    def __init__(self, engine: Constrained, h: float, first: int) -> None:
        """`first`: where their vertices begin."""
        self.engine = deepcopy(engine)  # bodies keep their state; a world may be run twice
        self.engine.h = h
        self.bodies: list[ParticleBody | RigidBody] = self.engine.bodies
        self.surfaces = [_surface(body) for body in self.bodies]
        ends = first + np.cumsum([0, *(b.n_surface for b in self.bodies)])
        self._own = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self._start: ConstrainedState | None = None
        self._end: ConstrainedState | None = None
        self._force = np.zeros((0, 3))  # (n, 3) [N] on all vertices, that led to the end
        self.report: StepReport | None = None

    def __len__(self) -> int:
        return len(self.bodies)

    def can_touch(self, number: int, other: str) -> bool:
        """Whether a guest is there for `other` to touch; it must enclose a volume then."""
        name = self.bodies[number].name
        if not self.engine.collides(name):
            return False
        if len(self.surfaces[number].edges) == 0:
            raise LimpetError(
                f"'{name}' is an open sheet, and '{other}' is solved with the cups, which touch "
                "closed surfaces only: close it to a bag, or let World.ignore part them"
            )
        return True

    def begin(self, force: Array, clock: Clock) -> None:
        """Make the step, under forces (n, 3) [N] on all vertices, and stand where it began.

        Their free velocity is then that of this step, without the forces.
        """
        if len(self):
            self._start = self.engine.get_state()
            self._step(force, clock)

    def _step(self, force: Array, clock: Clock) -> None:
        assert self._start is not None
        mine = [force[own] for own in self._own]
        self.report = self.engine.step([f if f.any() else None for f in mine])
        clock.take(self.report.phases)
        self._end, self._force = self.engine.get_state(), force
        self.engine.set_state(self._start)
        for body, end, f in zip(self.bodies, self._end.bodies, mine):
            body.foresee(end, self.engine.h, self.engine.h * f)

    def agree(self, force: Array, clock: Clock) -> bool:
        """Whether they move as foreseen under other forces; if not, the free velocity is anew."""
        if not len(self) or all(np.array_equal(force[o], self._force[o]) for o in self._own):
            return True
        foreseen = [b.surface_velocities() for b in self.bodies]
        self._step(force, clock)
        worst = 0.0
        for body, own, before in zip(self.bodies, self._own, foreseen):
            loaded = force[own].any(axis=1)
            if loaded.any():
                body.apply(self.engine.h * force[own])
                off = body.surface_velocities()[loaded] - before[loaded]
                worst = max(worst, float(np.abs(off).max()))
                body.apply(np.zeros_like(before))
        return worst <= AGREED

    def merged(self, report: StepReport) -> StepReport:
        """A step's report, with what the sweeps did."""
        own = self.report
        if own is None:
            return report
        return replace(
            report, rows=report.rows + own.rows, contacts=report.contacts + own.contacts,
            touching=report.touching + own.touching, sweeps=report.sweeps + own.sweeps,
            converged=report.converged and own.converged, drives={**report.drives, **own.drives},
            max_penetration=max(report.max_penetration, own.max_penetration),
        )  # fmt: skip

    def finish(self) -> None:
        """Stand where the step ended."""
        if self._end is not None:
            self.engine.set_state(self._end)


def _surface(body: ParticleBody | RigidBody) -> Surface:
    """Of what encloses a volume its topology, of a sheet its triangles alone."""
    try:
        return surface_topology(body.triangles, body.n_surface)
    except MeshError:
        return bare_surface(body.triangles, body.n_surface)
