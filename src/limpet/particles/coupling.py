"""The particle system as one body of the step: staggered coupling of two solvers.

What holds particles together is solved by sweeps (C), all else with the Delassus operator (P), in
turns: the constraint sets as if the impulses inside the particle system did not change, the sweeps
as if the forces of the sets did not. Exact in every iteration: both act on the same velocities, a
particle answers an impulse by its mass in both, and momentum is conserved. Iterated: the impulses
inside. The turns are block Gauss-Seidel over two blocks, so each brings the whole nearer to its
solution and none adds energy. That holds within one solve, therefore coupled particles take no
substeps; a particle system alone in its world takes as many as it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from limpet.clock import Clock
from limpet.dynamics.body import Body, BodyReport, OwnSolve
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.particles.body import ParticleBody
from limpet.particles.system import ParticleSystem, PendingStep
from limpet.report import StepReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


class CoupledParticles(Body):
    """All particle bodies of a world, and the rigid bodies among them."""

    name = "particles"
    deformable = movable = True
    staggered = True

    def __init__(self, system: ParticleSystem, clock: Clock, alone: bool) -> None:
        """alone: there are no other bodies in the world."""
        self.system, self._clock, self._alone = system, clock, alone
        self._bodies: list[ParticleBody | RigidBody] = system.bodies
        self.mass = sum(b.mass for b in self._bodies)
        self.surfaces = {name: s for b in self._bodies for name, s in b.surfaces.items()}
        self.n_points = sum(b.n_points for b in self._bodies)
        self.n_dof = sum(b.n_dof for b in self._bodies)
        first = np.cumsum([0, *(b.n_points for b in self._bodies)])
        self._parts = [slice(a, b) for a, b in pairwise(first)]
        self._local = []
        for body, own in zip(self._bodies, self._parts):
            self._local.append(np.full(self.n_points, -1, np.int32))
            self._local[-1][own] = np.arange(body.n_points)
        self._others = np.zeros((self.n_points, 3))  # [N] of the constraint sets, in the last step
        self._impulse = np.zeros((self.n_points, 3))  # [N s] of the sets, so far
        self._applied = np.zeros((self.n_points, 3))  # [N]
        self._step: PendingStep | None = None
        self._report: StepReport | None = None

    @property
    def members(self) -> Sequence[Body]:
        return self._bodies

    @property
    def _now(self) -> PendingStep:
        assert self._step is not None, "compute_free_velocity comes first"
        return self._step

    def positions(self) -> Array:
        return np.concatenate([b.positions() for b in self._bodies])

    def velocities(self) -> Array:
        return np.concatenate([b.velocities() for b in self._bodies])

    def points_after(self, h: float) -> tuple[Array, Array]:
        x, v = zip(*(b.points_after(h) for b in self._bodies))
        return np.concatenate(x), np.concatenate(v)

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        """Free velocities and first sweeps, under the forces that the sets are expected to exert:
        those of the last step.
        """
        self._applied = np.zeros((self.n_points, 3)) if applied is None else applied
        force = self._others + self._applied
        outside = [force[own] for own in self._parts]
        self._step = self.system.begin(outside, None if self._alone else 1, self._clock)
        if not self._alone:
            self.system.free(self._now)
            self._sweep(h * force)
        return self.apply_impulse(h * self._applied)

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        parts = []
        for body, local in zip(self._bodies, self._local):
            if body.movable:
                index, own = rows.select(local)
                if len(own):
                    parts += [(index[at], part) for at, part in body.compliance(own)]
        return parts

    def apply_impulse(self, impulse: Array) -> Array:
        if self._alone:
            return self.velocities()
        pairs = zip(self._bodies, self._parts)
        return np.concatenate([body.apply_impulse(impulse[own]) for body, own in pairs])

    def relinearise(self, impulse: Array) -> float:
        if self._alone:
            return 0.0
        self._clock.lap("correct")
        change = impulse - self._impulse
        self.system.apply_impulses(self._now, [change[own] for own in self._parts])
        before = [body.velocities() for body in self._bodies]
        self._sweep(impulse)
        self.apply_impulse(impulse)
        worst = 0.0
        for body, own, old in zip(self._bodies, self._parts, before):
            loaded = impulse[own].any(axis=1)
            if loaded.any():
                worst = max(worst, float(np.abs(body.velocities() - old)[loaded].max()))
        return worst

    def _sweep(self, impulse: Array) -> None:
        """Sweep, and tell the bodies what their velocities would be without the impulses."""
        self.system.sweep(self._now)
        velocities = self.system.velocities(self._now)
        for body, v, own in zip(self._bodies, velocities, self._parts):
            body.set_free_velocity(v, impulse[own])
        self._impulse = impulse

    def advance(self, h: float) -> None:
        if not self._alone:
            self.apply_impulse(self._impulse)
            self.system.move(self._now)
            self._others = self._impulse / h - self._applied
        self._report = self.system.finish(self._now)

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        """The impulses inside are not summed up, so no momentum residual is known."""
        r = self._report
        assert r is not None, "advance comes first"
        own = OwnSolve(
            r.rows, r.contacts, r.active_contacts, r.sweeps, r.converged, r.max_penetration
        )
        return BodyReport(r.reactions, None, own)

    def get_state(self) -> dict[str, Array]:
        return {"others": self._others.copy(), **self.system.get_state()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        self._others = state["others"].copy()
        self.system.set_state(state)
