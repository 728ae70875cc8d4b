"""Cloth, rope and jelly among bodies that are solved together: two solvers, one step.

The guests are swept (C), the others are solved with W (P), in turns: the others as if what holds a
guest together did not change, the sweeps as if the others' forces did not. Both act on the same
velocities, and a guest answers to an impulse by its masses, in W as in the sweeps. So the turns are
sweeps over two large blocks: each brings the whole nearer to its solution, and none adds energy.
That is so within one solve, therefore a guest among others takes no shorter steps of its own.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

import numpy as np

from limpet.clock import Clock
from limpet.errors import LimpetError, MeshError
from limpet.geometry.surface import Surface, bare_surface, surface_topology
from limpet.particles.body import ParticleBody
from limpet.particles.system import ParticleState, ParticleSystem, PendingStep
from limpet.report import StepReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray

AGREED = 1e-4  # [m/s] that the sweeps may yet change where others press


class ParticleCoupling:
    """The swept bodies of a world, each with its place among all vertices."""

    def __init__(self, engine: ParticleSystem, h: float, first: int) -> None:
        """`first`: where their vertices begin, after those of the others; 0: there are none."""
        self.engine = deepcopy(engine)  # bodies keep their state; a world may be run twice
        self.engine.h = h
        self.bodies: list[ParticleBody | RigidBody] = self.engine.bodies
        self.surfaces = [_surface(body) for body in self.bodies]
        self.alone = first == 0
        ends = first + np.cumsum([0, *(b.n_points for b in self.bodies)])
        self._own = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self._start: ParticleState | None = None
        self._now: PendingStep | None = None
        self._force = np.zeros((0, 3))  # (n, 3) [N] of the others on all vertices, so far
        self._report: StepReport | None = None

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

    def begin(self, force: Array) -> None:
        """Free velocities and first sweeps, under forces (n, 3) [N] that others will exert."""
        if len(self):
            self._start = self.engine.get_state()
            outside = [force[own] for own in self._own]
            self._now = self.engine.begin(outside, None if self.alone else 1)
            if not self.alone:
                self.engine.free(self._now)
                self._sweep(force)

    def agree(self, force: Array) -> bool:
        """Whether the sweeps find little to do under the forces (n, 3) of the others' solution."""
        if self._now is None or self.alone:
            return True
        now, bodies = self._now, zip(self.bodies, self._own)
        now.clock.resume()
        self.engine.bear(now, [now.h * (force[own] - self._force[own]) for own in self._own])
        before = [body.velocities() for body in self.bodies]
        self._sweep(force)
        worst = 0.0
        for (body, own), old in zip(bodies, before):
            loaded = force[own].any(axis=1)
            if loaded.any():
                body.apply_impulse(now.h * force[own])
                worst = max(worst, float(np.abs(body.velocities() - old)[loaded].max()))
        return worst <= AGREED

    def _sweep(self, force: Array) -> None:
        """Sweep, and tell the bodies what their velocities would be without the forces."""
        assert self._now is not None
        self.engine.sweep(self._now)
        for body, v, own in zip(self.bodies, self.engine.velocities(self._now), self._own):
            body.set_free_velocity(v, self._now.h * force[own])
        self._force = force

    def finish(self, clock: Clock) -> None:
        """Go where the velocities lead."""
        now = self._now
        if now is None:
            return
        now.clock.resume()
        assert self._start is not None
        if self.alone:  # nobody acts on them, but everybody was asked
            for body, state in zip(self.bodies, self._start.bodies):
                body.set_state(state)
        else:
            for body, own in zip(self.bodies, self._own):
                body.apply_impulse(now.h * self._force[own])
            self.engine.move(now)
        self._report = self.engine.finish(now)
        clock.take(self._report.phases)

    def back(self, pull: Array) -> None:
        """Undo `finish`; pull (n, 3) [N] from outside, on all vertices."""
        if self._start is not None:
            assert self._now is not None
            self.engine.set_state(self._start)
            self._now.left = self.engine.substeps
            for body, own in zip(self.bodies, self._own):
                body.apply_impulse(self._now.h * pull[own])

    def merged(self, report: StepReport) -> StepReport:
        """A step's report, with what the sweeps did."""
        own = self._report
        if own is None:
            return report
        return replace(
            report,
            rows=report.rows + own.rows,
            contacts=report.contacts + own.contacts,
            active_contacts=report.active_contacts + own.active_contacts,
            sweeps=report.sweeps + own.sweeps,
            converged=report.converged and own.converged,
            reactions={**report.reactions, **own.reactions},
            max_penetration=max(report.max_penetration, own.max_penetration),
            momentum_residual=own.momentum_residual if self.alone else report.momentum_residual,
        )


def _surface(body: ParticleBody | RigidBody) -> Surface:
    """Of what encloses a volume its topology, of a sheet its triangles alone."""
    try:
        return surface_topology(body.triangles, body.n_points)
    except MeshError:
        return bare_surface(body.triangles, body.n_points)
