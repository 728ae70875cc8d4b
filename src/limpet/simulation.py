"""One step on one screen: free motion, contacts, cavities, rows, compliance, solve, correct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from limpet.bodies.contract import Rows, add_block, rows_times, rows_transpose_times, select_rows
from limpet.bodies.soft import SoftBody
from limpet.cavity.keeper import AirBook, CavityKeeper, Trapped
from limpet.cavity.mesh import join_walls
from limpet.cavity.mesh import positions as cavity_positions
from limpet.cavity.ring import Ring
from limpet.collision.detect import Contacts, collider, detect
from limpet.constraints.problem import CONTACT, GAS, Problem
from limpet.constraints.rows import contact_rows, tangents
from limpet.errors import DivergedError, LimpetError, require_positive
from limpet.report import CavityReport, SectionFrame, StepReport
from limpet.solver.gauss_seidel import Solution, SweepSettings, solve_by_sweeps
from limpet.solver.newton import NewtonSettings, solve_by_newton
from limpet.solver.warm_start import Memory, contact_keys
from limpet.world import World

Array = np.ndarray

TIE_BREAK = 1e-9  # of a contact row's own compliance: makes redundant contacts share the load


@dataclass(frozen=True)
class Settings:
    """How a step is computed; the physics stands in the World."""

    sealing: float = 5e-5  # [m] gaps below this are closed to air (P 4.1)
    alarm: float = 5e-4  # [m] contacts are looked for within this distance, plus what h covers
    ring: Ring = Ring.OUTER  # where in the contact ring the pressure ends
    remesh: float = 0.003  # remesh a cavity when its bridging triangles exceed this share (P 4.2)
    union_every_step: bool = False
    warm_start: bool = True
    solver: NewtonSettings | SweepSettings = field(default_factory=NewtonSettings)

    def __post_init__(self) -> None:
        require_positive("sealing", self.sealing, " m")
        require_positive("alarm", self.alarm, " m")
        if self.sealing >= self.alarm:
            raise LimpetError(
                f"sealing = {self.sealing:g} m: expected less than alarm = {self.alarm:g} m"
            )


@dataclass(frozen=True)
class State:
    """Everything that the next step depends on."""

    step: int
    time: float
    bodies: tuple[dict[str, Array], ...]
    air: AirBook
    memory: Memory


class Simulation:
    """Steps a World. `for report in sim.run(duration)`, or `sim.step()` by hand."""

    def __init__(self, world: World, h: float = 0.01, settings: Settings | None = None) -> None:
        self.h = require_positive("time step h", h, " s")
        self.world, self.settings = world, settings or Settings()
        self.bodies, surfaces = world.build()
        self.offset = np.cumsum([0] + [b.n_surface for b in self.bodies]).astype(np.int32)
        self._colliders = [
            collider(s, b.surface_positions()) for s, b in zip(surfaces, self.bodies)
        ]
        soft = [isinstance(b, SoftBody) for b in self.bodies]
        order = sorted(range(len(soft)), key=lambda i: not soft[i])  # soft bodies bear the contacts
        self._pairs = [
            (a, b)
            for k, a in enumerate(order)
            for b in order[k + 1 :]
            if soft[a] or soft[b] or not (self.bodies[a].prescribed and self.bodies[b].prescribed)  # type: ignore[union-attr]
        ]
        self._friction = np.zeros((len(soft), len(soft)))
        for a, b in self._pairs:
            mu = world.friction_between(self.bodies[a].name, self.bodies[b].name)
            self._friction[a, b] = self._friction[b, a] = mu
        self._cavities = CavityKeeper(
            join_walls(surfaces), [c.shape.tree for c in self._colliders], np.array(soft, float),
            self.settings.sealing, self.settings.ring, self.settings.remesh,
            self.settings.union_every_step, world.atmosphere, world.leak,
        )  # fmt: skip
        self.steps, self.time = 0, 0.0
        self._air = AirBook()
        self._memory = Memory.empty()
        self._contacts, self._forces = Contacts.none(), np.zeros((0, 3))

    @property
    def fem_nodes(self) -> int:
        return sum(len(b.x) for b in self.bodies if isinstance(b, SoftBody))

    @property
    def collision_nodes(self) -> int:
        return int(self.offset[-1])

    def run(self, duration: float) -> Iterator[StepReport]:
        """Step until `duration` [s] from now; the last step may end up to h/2 off."""
        require_positive("duration", duration, " s")
        for _ in range(round(duration / self.h)):
            yield self.step()

    def step(self) -> StepReport:
        """Advance by h. Each line is one phase of the step; the report says how each went."""
        clock, h, world = _Clock(), self.h, self.world
        before = [b.momentum() for b in self.bodies]
        # what moves fast comes from further away within the step
        alarm = self.settings.alarm + h * np.abs(self._surface_velocities()).max()

        for body in self.bodies:  # P eq 1
            body.free_velocity(h, world.gravity, self.time)
        clock.lap("free")

        where = [b.surface_positions() for b in self.bodies]
        contacts = detect(self._colliders, where, self._pairs, alarm)
        clock.lap("collision")

        x = np.concatenate(where)
        self._air, remeshed = self._cavities.update(self._air, x, contacts, h)  # P 4, eq 15
        cavities = self._air.cavities
        clock.lap("cavities")

        rows = self._rows(contacts, cavities)
        problem = self._problem(rows, contacts, cavities)  # P eq 7, 10
        clock.lap("compliance")

        solution = self._solve(problem, contacts, cavities)  # P algorithm 2
        clock.lap("solve")

        impulse = rows_transpose_times(
            rows.start, rows.vertex, rows.vector, h * solution.multipliers, len(x)
        )
        for i, body in enumerate(self.bodies):  # P eq 3
            body.apply(impulse[self.offset[i] : self.offset[i + 1]])
            body.advance(h)
        rates = rows_times(rows.start, rows.vertex, rows.vector, self._surface_velocities())
        pressures = solution.multipliers[3 * len(contacts) :] + world.atmosphere.pressure
        self._air, gas = self._cavities.close(self._air, pressures, rates[3 * len(contacts) :], h)
        clock.lap("correct")

        self._contacts, self._forces = contacts, _contact_forces(rows, solution, len(contacts))
        self.steps += 1
        self.time = self.steps * h
        return self._report(clock.phases, contacts, solution, gas, before, impulse, remeshed)

    def _rows(self, contacts: Contacts, cavities: tuple[Trapped, ...]) -> Rows:
        """H over all surface vertices: contact rows, then a row a cavity."""
        first, second = tangents(contacts.normal)
        start, vertex, vector = contact_rows(
            self.offset[contacts.body_a], contacts.vertices_a, contacts.weights_a,
            self.offset[contacts.body_b], contacts.vertices_b, contacts.weights_b,
            contacts.normal, first, second,
        )  # fmt: skip
        starts, vertices, vectors = [start], [vertex], [vector]
        for c in cavities:
            starts.append(starts[-1][-1:] + len(c.mesh.support))
            vertices.append(c.mesh.support)
            vectors.append(c.gradient)
        return Rows(
            np.concatenate(starts).astype(np.int32),
            np.concatenate(vertices).astype(np.int32),
            np.concatenate(vectors),
        )

    def _problem(self, rows: Rows, contacts: Contacts, cavities: tuple[Trapped, ...]) -> Problem:
        """W = h sum of the bodies' H A^-1 H^T, and what the rows would do without multipliers."""
        n, k, h = len(rows), len(contacts), self.h
        w = np.zeros((n, n))
        for i, body in enumerate(self.bodies):
            index, own = select_rows(rows, self.offset[i], self.offset[i + 1])
            if len(own):
                add_block(w, index, body.compliance(own), h)
        diagonal = w.reshape(-1)[: 3 * k * (n + 1) : n + 1]  # of the contact rows
        diagonal *= 1.0 + TIE_BREAK
        free = rows_times(rows.start, rows.vertex, rows.vector, self._surface_velocities())
        free[: 3 * k : 3] += contacts.gap / h
        data = np.zeros((k + len(cavities), 4))
        data[:k, 0] = self._friction[contacts.body_a, contacts.body_b]
        atmosphere = self.world.atmosphere
        for i, c in enumerate(cavities):
            data[k + i] = c.volume, c.air * atmosphere.rt, atmosphere.p_max, atmosphere.pressure
        kind = np.array([CONTACT] * k + [GAS] * len(cavities), dtype=np.int32)
        start = np.concatenate([3 * np.arange(k + 1), 3 * k + 1 + np.arange(len(cavities))])
        return Problem(w, free, kind, start.astype(np.int32), data, h)

    def _solve(
        self, problem: Problem, contacts: Contacts, cavities: tuple[Trapped, ...]
    ) -> Solution:
        keys = contact_keys(contacts, self.offset)
        ids = np.array([c.id for c in cavities], dtype=np.int64)
        guess = np.zeros(len(problem.free))
        if self.settings.warm_start:
            guess = self._memory.recall(keys, contacts.normal, ids)
        if isinstance(self.settings.solver, NewtonSettings):
            solution = solve_by_newton(problem, guess, self.settings.solver)
        else:
            solution = solve_by_sweeps(problem, guess, self.settings.solver)
        if not np.all(np.isfinite(solution.multipliers)):
            raise DivergedError(
                f"step {self.steps + 1} at {self.time:.4g} s: the contact forces left the finite; "
                "lower the time step"
            )
        self._memory = Memory.of(keys, contacts.normal, ids, solution.multipliers)
        return solution

    def _surface_velocities(self) -> Array:
        return np.concatenate([b.surface_velocities() for b in self.bodies])

    def _report(
        self, phases: dict[str, float], contacts: Contacts, solution: Solution,
        gas: tuple[CavityReport, ...], before: list[Array], impulse: Array, remeshed: bool,
    ) -> StepReport:  # fmt: skip
        """Collect the figures; the force balance is taken body by body, from momentum."""
        h, gravity = self.h, self.world.gravity
        worst = 0.0
        drives: dict[str, Array] = {}
        for i, b in enumerate(self.bodies):
            wrench = b.drive_force(h)
            if b.name in self.world.drives:
                drives[b.name] = wrench
            after = b.momentum()
            pushed = impulse[self.offset[i] : self.offset[i + 1]].sum(axis=0) / h
            inertia = (after - before[i]) / h + b.mass_damping * after
            worst = max(worst, float(np.abs(inertia - b.mass * gravity - pushed - wrench[:3]).max()))
        if not np.isfinite(worst):
            raise DivergedError(
                f"step {self.steps} at {self.time:.4g} s: positions left the finite; "
                "lower the time step"
            )
        gap = contacts.gap
        return StepReport(
            step=self.steps, time=self.time, phases=phases, rows=len(solution.multipliers),
            contacts=len(contacts), touching=int((self._forces_normal(contacts) > 0.0).sum()),
            residual=solution.residual, converged=solution.converged,
            iterations=solution.iterations, sweeps=solution.sweeps,
            max_penetration=max(0.0, -float(gap.min())) if len(gap) else 0.0,
            cavities=gas, drives=drives, balance_error=worst,
            air_error=self._air.error, remeshed=remeshed,
        )  # fmt: skip

    def _forces_normal(self, contacts: Contacts) -> Array:
        return np.einsum("ki,ki->k", self._forces, contacts.normal)

    def save(self) -> State:
        """A copy of the state: restore it and continue, and every bit is the same."""
        return State(
            self.steps, self.time, tuple(b.get_state() for b in self.bodies), self._air, self._memory
        )

    def restore(self, state: State) -> None:
        if len(state.bodies) != len(self.bodies):
            raise LimpetError(
                f"the state has {len(state.bodies)} bodies, this world {len(self.bodies)}"
            )
        for body, arrays in zip(self.bodies, state.bodies):
            body.set_state(arrays)
        self.steps, self.time = state.step, state.time
        self._air, self._memory = state.air, state.memory

    def section_frame(self, label: str) -> SectionFrame:
        """What a section through the scene is drawn from: surfaces, contact forces, the cavity."""
        bodies: list[tuple[str, Array, Array]] = []
        for body in self.bodies:
            if isinstance(body, SoftBody):
                visual = body.visual
                bodies.append((body.name, visual.positions(body.x), visual.triangles))
            else:
                bodies.append((body.name, body.surface_positions(), body.triangles))
        x = np.concatenate([b.surface_positions() for b in self.bodies])
        c = self._contacts
        carried = x[self.offset[c.body_a][:, None] + c.vertices_a]
        points = np.einsum("kj,kji->ki", c.weights_a, carried)
        largest = max(self._air.cavities, key=lambda t: t.volume, default=None)
        none = np.zeros((0, 3))
        return SectionFrame(
            label=label, time=self.time, bodies=bodies, contacts=points, forces=self._forces.copy(),
            cavity_points=cavity_positions(largest.mesh, x) if largest else none,
            cavity_triangles=largest.mesh.triangles if largest else none.astype(np.int32),
            pressure=largest.pressure if largest else self.world.atmosphere.pressure,
        )  # fmt: skip


def _contact_forces(rows: Rows, solution: Solution, k: int) -> Array:
    """(k, 3) [N] on the first body of each contact."""
    # the first entry of each row carries a's weight times the axis: recover the axis from it
    first = rows.vector[rows.start[: 3 * k]]
    size = np.linalg.norm(first, axis=1, keepdims=True)
    axis = (first / np.where(size > 0.0, size, 1.0)).reshape(k, 3, 3)
    return np.einsum("ka,kai->ki", solution.multipliers[: 3 * k].reshape(k, 3), axis)


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, phase: str) -> None:
        now = perf_counter()
        self.phases[phase] = now - self._last
        self._last = now
