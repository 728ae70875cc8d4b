"""The particle system as one body of the step: staggered coupling of two solvers.

Constraints inside the particle system are solved by sweeps (C), all others with the Delassus
operator (P), alternately: the constraint sets as if the impulses inside the particle system did not
change, the sweeps as if the forces of the sets did not. Exact in every iteration: both act on the
same velocities with the same masses, and momentum is conserved. Iterated: the impulses inside. The
iterations are block Gauss-Seidel over two blocks, so each comes nearer to the solution of the whole
and none adds energy. That holds within one solve, therefore coupled particles take no
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
from limpet.particles.body import lumped_compliance
from limpet.particles.pending_step import PendingStep
from limpet.particles.system import ParticleSystem
from limpet.report import StepReport
from limpet.rigid.kernels import point_velocities, wrench_of
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


class CoupledParticles(Body):
    """All particle bodies of a world, and the rigid bodies among them."""

    name = "particles"
    deformable = movable = True
    staggered = 3

    def __init__(self, system: ParticleSystem, clock: Clock, alone: bool) -> None:
        """alone: there are no other bodies in the world."""
        self.system, self._clock, self._alone = system, clock, alone
        bodies = system.bodies
        self.mass = sum(b.mass for b in bodies)
        self.surfaces = {name: s for b in bodies for name, s in b.surfaces.items()}
        self.n_points = sum(b.n_points for b in bodies)
        self.n_dof = sum(b.n_dof for b in bodies)
        ends = np.cumsum([0, *(b.n_points for b in bodies)])
        self._own = [slice(a, b) for a, b in pairwise(ends)]  # points of each body
        self._soft = list(zip(system.soft, self._own))
        self._rigid = list(zip(system.rigid, self._own[len(self._soft) :]))
        self._nodes = slice(0, ends[len(self._soft)])  # points of all particle bodies
        # (n_points,) int32 numbers among the nodes (None) or the points of a rigid body; or -1
        self._local: list[tuple[Array, RigidBody | None]] = [(self._numbers(self._nodes), None)]
        self._local += [(self._numbers(own), b) for b, own in self._rigid if b.movable]
        self._arms = [b.arms() for b in system.rigid]  # (n, 3) [m] from their centres, at x
        self._mobility = np.zeros((0, 1))  # (n, 1) [1/kg] of the nodes
        # without impulses of the sets: velocities of the nodes (n, 3), of the rigid bodies (b, 6)
        self._free, self._rigid_free = np.zeros((0, 3)), np.zeros((0, 6))
        self._others = np.zeros((self.n_points, 3))  # [N] of the constraint sets, in the last step
        self._impulse = np.zeros((self.n_points, 3))  # [N s] of the sets, so far
        self._applied = np.zeros((self.n_points, 3))  # [N]
        self._step: PendingStep | None = None
        self._report: StepReport | None = None

    def _numbers(self, points: slice) -> Array:
        out = np.full(self.n_points, -1, np.int32)
        out[points] = np.arange(points.stop - points.start)
        return out

    @property
    def members(self) -> Sequence[Body]:
        return self.system.bodies

    def positions(self) -> Array:
        rigid = [b.positions() for b in self.system.rigid]
        return np.concatenate([*(b.x for b in self.system.soft), *rigid])

    def velocities(self) -> Array:
        pairs = zip(self.system.rigid, self._arms)
        rigid = [point_velocities(b.v, b.w, arms) for b, arms in pairs]
        return np.concatenate([*(b.v for b in self.system.soft), *rigid])

    def points_after(self, h: float) -> tuple[Array, Array]:
        x, v = zip(*(b.points_after(h) for b in self.system.bodies))
        return np.concatenate(x), np.concatenate(v)

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        """Free velocities and first sweeps, under the forces that the sets are expected to exert:
        those of the last step.
        """
        self._applied = np.zeros((self.n_points, 3)) if applied is None else applied
        force, system = self._others + self._applied, self.system
        outside = [force[own] for own in self._own]
        now = self._step = system.begin(outside, None if self._alone else 1, self._clock)
        if self._alone:
            return self.velocities()
        system.free(now)
        self._clock.lap("free")
        system.constrain(now)
        self._clock.lap("compliance")
        self._mobility = np.concatenate([np.zeros(0), *(b.mobility for b in system.soft)])[:, None]
        self._sweep(now, h * force)
        return self.apply_impulse(h * self._applied)

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        parts = []
        for local, body in self._local:
            index, own = rows.select(local)
            if len(index) and body is None:
                parts.append((index, lumped_compliance(own, self._mobility[:, 0])))
            elif len(index) and body is not None:
                parts += [(index[at], part) for at, part in body.compliance(own)]
        return parts

    def apply_impulse(self, impulse: Array) -> Array:
        if self._alone:
            return self.velocities()
        v = self._free + self._mobility * impulse[self._nodes]
        for soft, own in self._soft:
            soft.v = v[own]
        twists = self._rigid_free + self._rigid_change(impulse)
        for (rigid, _), twist in zip(self._rigid, twists):
            rigid.v, rigid.w = twist[:3], twist[3:]
        return self.velocities()

    def relinearise(self, impulse: Array) -> float:
        if self._alone:
            return 0.0
        now, more = self._step, impulse - self._impulse
        assert now is not None and now.on is not None
        on = now.on
        on.v[:] += on.inverse_mass[:, None] * more[self._nodes]
        on.rigid_v[:] += self._rigid_change(more)
        before, rigid_before = on.v.copy(), on.rigid_v.copy()
        self._sweep(now, impulse)
        self.apply_impulse(impulse)
        change = np.empty((self.n_points, 3))
        change[self._nodes] = on.v - before
        for (_, own), arms, twist in zip(self._rigid, self._arms, on.rigid_v - rigid_before):
            change[own] = point_velocities(twist[:3], twist[3:], arms)
        return float(np.abs(change[impulse.any(axis=1)]).max(initial=0.0))

    def _rigid_change(self, impulse: Array) -> Array:
        """(b, 6) what impulses (n_points, 3) [N s] add to the velocities of the rigid bodies."""
        assert self._step is not None and self._step.on is not None
        on, out = self._step.on, np.zeros((len(self._rigid), 6))
        for i, (body, own) in enumerate(self._rigid):
            if body.movable:
                total = wrench_of(self._arms[i], impulse[own])
                out[i, :3] = on.rigid_inverse_mass[i] * total[:3]
                out[i, 3:] = on.rigid_inverse_inertia[i] @ total[3:]
        return out

    def _sweep(self, now: PendingStep, impulse: Array) -> None:
        """Sweep, and take off what `impulse` of the constraint sets adds to the velocities."""
        self.system.sweep(now)
        self._clock.lap("solve")
        assert now.on is not None
        self._free = now.on.v - self._mobility * impulse[self._nodes]
        self._rigid_free = now.on.rigid_v - self._rigid_change(impulse)
        self._impulse = impulse

    def advance(self, h: float) -> None:
        now = self._step
        assert now is not None, "compute_free_velocity comes first"
        if not self._alone:
            for body, own in zip(self.system.bodies, self._own):
                body.apply_impulse(self._impulse[own])  # that prescribed motions account for
            now.outside = tuple(self._impulse[own] / h for own in self._own)
            self.system.move(now)
            self._others = self._impulse / h - self._applied
        self._report = self.system.finish(now)
        self._arms = [b.arms() for b in self.system.rigid]

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        """The impulses inside are not summed up, so no momentum residual is known."""
        r = self._report
        assert r is not None, "advance comes first"
        own = OwnSolve(
            r.rows, r.contacts, r.active_contacts, r.sweeps, r.residual, r.converged,
            r.max_penetration, r.particles, r.crossings,
        )  # fmt: skip
        return BodyReport(r.reactions, None, own)

    def get_state(self) -> dict[str, Array]:
        return {"others": self._others.copy(), **self.system.get_state()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        self._others = state["others"].copy()
        self.system.set_state(state)
        self._arms = [b.arms() for b in self.system.rigid]
