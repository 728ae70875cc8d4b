"""The particle system as one body of the step: staggered coupling of two solvers.

Constraints inside the particle system are solved by sweeps (C), all others with the Delassus
operator (P), alternately, until both find the same velocities. The constraint sets see the particle
system with the rows that held inside it in the last iteration (`ParticleTangent`): a skin, springs,
what presses on a table. So an iteration is a Newton step: a light body between stiff ones takes as
few as a heavy one. The sweeps see the forces of the sets as given, and start from a Newton step of
their own. Both act on the same velocities with the same masses, so momentum is conserved in every
iteration. Coupled particles take one solve per step; a particle system alone in its world takes as
many substeps as it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from limpet.clock import Clock
from limpet.dynamics.body import COUPLED, Body, BodyReport, OwnSolve
from limpet.linalg.reduced_compliance import ReducedCompliance, sparse_rows
from limpet.linalg.rows import Rows
from limpet.particles.active_rows import held_rows
from limpet.particles.node_factor import NodePattern
from limpet.particles.pending_step import PendingStep
from limpet.particles.system import ParticleSystem
from limpet.particles.tangent import ParticleTangent
from limpet.report import StepReport
from limpet.rigid.kernels import point_velocities, wrench_of

Array = np.ndarray

NEWTON = 20  # steps of the solve inside, at most, in each iteration


class CoupledParticles(Body):
    """All particle bodies of a world, and the rigid bodies among them."""

    name = "particles"
    deformable = movable = True
    staggered = 20

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
        self._arms = [b.arms() for b in system.rigid]  # (n, 3) [m] from their centres, at x
        self._tangent: ParticleTangent | None = None
        # without impulses of the sets: velocities of the nodes, then of the rigid bodies
        self._free = np.zeros((ends[len(self._soft)] + 2 * len(self._rigid), 3))
        self._others = np.zeros((self.n_points, 3))  # [N] of the constraint sets, in the last step
        self._impulse = np.zeros((self.n_points, 3))  # [N s] of the sets, so far
        self._applied = np.zeros((self.n_points, 3))  # [N]
        self._step: PendingStep | None = None
        self._report: StepReport | None = None

    @property
    def members(self) -> Sequence[Body]:
        return self.system.bodies

    @cached_property
    def _pattern(self) -> NodePattern:
        return self.system.node_pattern()

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
        """Free velocities and first solve inside, under the forces that the sets are expected to
        exert: those of the last step.
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
        self._tangent = None
        self._clock.lap("compliance")
        self._solve(now, h * force)
        return self.apply_impulse(h * self._applied)

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        """By way of the nodes that the rows act on; a rigid body has two, behind all others."""
        assert self._tangent is not None, "compute_free_velocity comes first"
        index, own = self._select(rows, self._nodes)
        used, place = [np.unique(own.point)], np.zeros(self._nodes.stop, np.int32)
        place[used[0]] = np.arange(len(used[0]))
        none = np.full(len(own), -1, np.int32)
        start, column, value = sparse_rows(own.start, own.point, own.vector, place, none)
        entries = [(np.repeat(index, np.diff(start)), column, value)]
        for i, (body, points) in enumerate(self._rigid):
            index, own = self._select(rows, points)
            if body.movable and len(index):
                at = 3 * sum(map(len, used)) + np.arange(6)
                twist = body.rows_times(own).ravel()
                entries.append((np.repeat(index, 6), np.tile(at, len(index)), twist))
                used.append(self._nodes.stop + 2 * i + np.arange(2))
        nodes = np.concatenate(used)
        if len(nodes) == 0:
            return []
        row, column, value = (np.concatenate(each) for each in zip(*entries))
        order = np.argsort(row, kind="stable")
        start = np.searchsorted(row[order], np.arange(len(rows) + 1)).astype(np.int32)
        s = self._tangent.compliance(nodes)
        part = ReducedCompliance(start, column[order].astype(np.int32), value[order], s)
        return [(np.arange(len(rows)), part)]

    def _select(self, rows: Rows, points: slice) -> tuple[Array, Rows]:
        """Rows over some of the points, numbered from 0 on."""
        number = np.full(self.n_points, -1, np.int32)
        number[points] = np.arange(points.stop - points.start)
        return rows.select(number)

    def apply_impulse(self, impulse: Array) -> Array:
        if self._alone:
            return self.velocities()
        self._take(self._free + self._moved(impulse))
        return self.velocities()

    def relinearise(self, impulse: Array) -> float:
        if self._alone:
            return 0.0
        now, tangent = self._step, self._tangent
        assert now is not None and now.on is not None and tangent is not None
        expected = self._free + self._moved(impulse)
        tangent.push(now.on, self._generalised(impulse - self._impulse))
        self._solve(now, impulse)
        self._take(self._free + self._moved(impulse))
        after = self.velocities()
        change = np.abs(after - self._points(expected))[impulse.any(axis=1)].max(initial=0.0)
        self.converged = bool(change <= COUPLED)
        return float(change)

    def _solve(self, now: PendingStep, impulse: Array) -> None:
        """Solve the rows inside under `impulse` of the sets, and take off what it does.

        By Newton steps of the rows that hold; sweeps say which do.
        """
        rows, on = now.rows, now.on
        assert rows is not None and on is not None
        for _ in range(NEWTON):
            if self._tangent is None or (held_rows(rows, now.p) != self._tangent.held).any():
                self._tangent = ParticleTangent(self._pattern, rows, now.p, on)
            self._tangent.correct(rows, now.p, on, now.h)
            now.residual = 0.0  # of the last sweeps alone
            self.system.sweep(now)
            if self.system.last_sweep.change.max() <= COUPLED:
                break
        assert self._tangent is not None
        self._tangent.hold_contacts(now.p)
        self._clock.lap("solve")
        self._impulse = impulse
        self._free = np.concatenate([on.v, on.rigid_v.reshape(-1, 3)]) - self._moved(impulse)

    def _moved(self, impulse: Array) -> Array:
        """What impulses (n_points, 3) [N s] add to all velocities, with the rows inside."""
        assert self._tangent is not None
        if not impulse.any():
            return np.zeros_like(self._free)
        return self._tangent.solve(self._generalised(impulse))

    def _generalised(self, impulse: Array) -> Array:
        """Impulses (n_points, 3) on the points as those on all velocities."""
        pairs = zip(self._arms, self._rigid)
        wrenches = [wrench_of(arms, impulse[own]).reshape(2, 3) for arms, (_, own) in pairs]
        return np.concatenate([impulse[self._nodes], *wrenches])

    def _points(self, y: Array) -> Array:
        """(n_points, 3) velocities of the points, from all velocities."""
        n = self._nodes.stop
        pairs = zip(y[n::2], y[n + 1 :: 2], self._arms)
        return np.concatenate([y[:n], *(point_velocities(v, w, arms) for v, w, arms in pairs)])

    def _take(self, y: Array) -> None:
        """Hand all velocities to the bodies."""
        n = self._nodes.stop
        for soft, own in self._soft:
            soft.v = y[own]
        for (rigid, _), v, w in zip(self._rigid, y[n::2], y[n + 1 :: 2]):
            rigid.v, rigid.w = v, w

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
            r.rows, r.contacts, r.active_contacts, r.sweeps, r.residual,
            r.converged and self.converged,
            r.max_penetration, r.particles, r.crossings,
        )  # fmt: skip
        return BodyReport(r.reactions, None, own)

    def get_state(self) -> dict[str, Array]:
        return {"others": self._others.copy(), **self.system.get_state()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        self._others = state["others"].copy()
        self.system.set_state(state)
        self._arms = [b.arms() for b in self.system.rigid]
