"""The step on one screen: free velocities, constraint sets, one solve, advance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from time import perf_counter

import numpy as np
from threadpoolctl import ThreadpoolController

from limpet.clock import Clock
from limpet.dynamics.body import Body
from limpet.dynamics.constraint_set import Control, StepContext
from limpet.dynamics.warm_start import SolverMemory
from limpet.engine import observation, state_file, step_checks
from limpet.engine.observation import Snapshot
from limpet.engine.state import State
from limpet.engine.stride import ACCEPTED, SHARE, next_stride, step_error
from limpet.errors import (
    DivergedError,
    LimpetError,
    OverlapError,
    require_positive,
    suggest,
)
from limpet.geometry.shape import RigidShape
from limpet.model.factory import build
from limpet.model.settings import Settings
from limpet.model.world import World
from limpet.report import CavityReport, SectionFrame, StepReport, VacuumSensorReport
from limpet.solver.constraint_solver import StepSolution

Array = np.ndarray


HALVINGS = 8  # of a step that does not converge
PARTS = 256  # of a step at most
COSTLY = 8  # for how many parts one counts whose constraints were not solved, or lack rows
QUARTERS = 2  # halvings of a step in which a body deforms far


class TooLongError(Exception):
    """A step of several h has to be shorter."""


class Simulation:
    """Steps a World: ``for report in sim.run(duration)``, or ``sim.step()``.

    h [s] is the time step, 10 ms in the papers; `settings` say how a step is computed.
    """

    def __init__(self, world: World, h: float = 0.01, settings: Settings | None = None) -> None:
        self.h = require_positive("time step h", h, " s")
        self.world, self.settings = world, settings or Settings()
        self._clock = Clock(perf_counter)
        self.model = build(world, h, self.settings, self._clock)
        self.control = Control(np.zeros((len(self.model.points), 3)))
        self.memory = SolverMemory()
        self.steps, self.time = 0, 0.0
        self._warned: set[tuple[int, int]] = set()  # pairs of which a force is undetermined
        self._points: tuple[Array, Array] | None = None  # positions and velocities, if known
        self._cavities: list[tuple[CavityReport, ...]] = []  # of the parts of the last step
        self._sensors: list[tuple[float, Mapping[str, VacuumSensorReport]]] = []  # with h [s]
        self._parts = 1  # into which the step is divided
        self._stride = 1  # h of the next step, if Settings.stride allows
        self._one_thread = ThreadpoolController()  # more BLAS threads slow small matrices a lot

    def __repr__(self) -> str:
        return f"Simulation at {self.time:g} s, step {self.steps} of {self.h:g} s\n{self.world}"

    def _repr_html_(self) -> str:
        state = f"Simulation at {self.time:g} s, step {self.steps} of {self.h:g} s"
        return f"<p>{state}</p>{self.world._repr_html_()}"

    def run(self, duration: float) -> Iterator[StepReport]:
        """Step until `duration` [s] from now; the last step may end up to h/2 off.

        Steps have the length h, or up to Settings.stride times as much.
        """
        require_positive("duration", duration, " s")
        count = round(duration / self.h)
        if count < 1:
            raise LimpetError(
                f"duration = {duration:g} s: expected a step h = {self.h:g} s or more"
            )
        return self._until(self.steps + count)

    def _until(self, last: int) -> Iterator[StepReport]:
        while self.steps < last:
            yield self.step(last - self.steps)

    def step(self, most: int | None = None) -> StepReport:
        """Advance by h: Bernardin et al. 2023, algorithm 1, all constraint sets in one problem.

        Where Settings.stride is above 1, by up to that many h, and by `most` at most.
        """
        with self._one_thread.limit(limits=1, user_api="blas"):
            self._clock.start()
            longest = min(self._stride, self.settings.stride if most is None else most)
            return self._stride_of(longest) if longest > 1 else self._step(1)

    def _stride_of(self, length: int) -> StepReport:
        """A step of several h, or of half as many if that is too long."""
        while length > 1:
            before = self.get_state()
            try:
                return self._step(length)
            except (TooLongError, DivergedError, OverlapError):
                self.set_state(before)
                length //= 2
        return self._step(1)

    def _step(self, length: int) -> StepReport:
        """A step of `length` h; raises TooLongError where it has to be shorter."""
        self._cavities.clear()
        self._sensors.clear()
        self._parts = 1
        v, trapped = self._context().v, self._trapped()
        dividing = length == 1 and self.model.divisible
        solution = self._advance(length * self.h, HALVINGS if dividing else 0)
        if self.settings.stride > 1:
            self._choose_stride(length, solution, v, self._trapped() == trapped)
        self.steps += length
        self.time = self.steps * self.h
        return self._report(solution)

    def _choose_stride(self, made: int, solution: StepSolution, v: Array, sealed: bool) -> None:
        """The length of the next step, from the error of one of `made` h."""
        tolerance = SHARE * self.settings.sealing_distance
        error = step_error(v, self._context().v, made * self.h)
        if made > 1 and (
            not sealed
            or error > ACCEPTED * tolerance
            or not solution.converged
            or self._too_long(solution, HALVINGS)
        ):
            raise TooLongError
        self._stride = next_stride(made, error, tolerance, self.settings.stride)

    def _trapped(self) -> tuple[int, ...]:
        """The cavities that there are."""
        cavities = self.model.cavities
        return () if cavities is None else tuple(c.id for c in cavities.ledger.cavities)

    def _advance(self, h: float, halvings: int) -> StepSolution:
        """Advance by h; what does not converge, or is too long, is made in two halves."""
        model, clock, now = self.model, self._clock, self._context(h)
        before = [body.get_state() for body in model.bodies] if halvings else []
        free = []
        for body, own in zip(model.bodies, model.points.of_body):  # eq 1
            applied = now.control.applied[own]
            free.append(body.compute_free_velocity(now.h, self.world.gravity, now.time, applied))
        clock.lap("free")
        ahead = model.points.gather([body.predicted(now.h) for body in model.bodies])
        for constraints in model.sets:  # contacts (3.1), cavities (4, eq 15), joints
            constraints.update(now)
            if model.solver.relinearises:
                constraints.relinearise(ahead)
            clock.lap(constraints.phase)
        v = model.points.gather(free)
        divisible = halvings > 0 and self._parts < PARTS
        solution = model.solver.solve(
            model.bodies, model.sets, now, v, self.memory, divisible
        )  # eq 3 to 14
        if divisible and (not solution.converged or self._too_long(solution, halvings)):
            self._parts += 1 if solution.result.converged and solution.complete else COSTLY
            for body, state in zip(model.bodies, before):
                body.set_state(state)
            first = self._advance(0.5 * h, halvings - 1)
            return _both(first, self._advance(0.5 * h, halvings - 1))
        for body in model.bodies:
            body.advance(now.h)
        for constraints in model.sets:
            constraints.accept(*solution.parts[constraints.name])
        if model.cavities is not None:
            self._cavities.append(model.cavities.reports)
            self._sensors.append((now.h, model.cavities.sensors))
        self.memory, self._points, self.time = solution.memory, solution.after, now.time + now.h
        clock.lap("correct")
        return solution

    def _too_long(self, solution: StepSolution, halvings: int) -> bool:
        """Whether contacts act on what deforms far in the step.

        They open and close within it, which it does not resolve. Without them steps are not
        divided, as a rule that keeps energy does so for steps of one length.
        """
        contacts = self.model.contacts
        if contacts is None or halvings <= HALVINGS - QUARTERS:
            return False
        pushed = solution.parts[contacts.name][0].any()
        return bool(pushed) and any(b.deforms_far(solution.h) for b in self.model.bodies)

    def _context(self, h: float | None = None) -> StepContext:
        x, v = self._points or self._gather()
        return StepContext(self.steps, self.time, h or self.h, x, v, self.control)

    def _gather(self) -> tuple[Array, Array]:
        """(N, 3) positions and velocities of all points."""
        points, bodies = self.model.points, self.model.bodies
        x = points.gather([b.positions() for b in bodies])
        return x, points.gather([b.velocities() for b in bodies])

    def _report(self, solution: StepSolution) -> StepReport:
        model, result = self.model, solution.result
        when, limit = f"step {self.steps} at {self.time:.4g} s", self.settings.max_overlap
        step_checks.refuse_unresolved(model, solution, limit, when, PARTS)
        step_checks.refuse_overlap(model, solution, limit, when)
        step_checks.warn_of_undetermined_forces(model, self._warned, self.time)
        bodies = [
            body.report(solution.h, self.world.gravity, solution.force[own])
            for body, own in zip(model.bodies, model.points.of_body)
        ]
        residuals = [r.momentum_residual for r in bodies if r.momentum_residual is not None]
        if not np.all(np.isfinite(residuals)):
            raise DivergedError(f"{when}: positions diverged (NaN or Inf); lower the time step")
        wrenches = {name: w for r in bodies for name, w in r.wrenches.items()}
        for constraints in model.sets:
            for name, wrench in constraints.wrenches().items():
                wrenches[name] = wrenches.get(name, 0.0) + wrench
        contacts, cavities, fields = model.contacts, model.cavities, model.fields
        trapped = observation.whole_step(self._cavities)
        touching = contacts.report() if contacts else (0, 0, 0.0)
        report = StepReport(
            step=self.steps, time=self.time, phases=dict(self._clock.phases),
            rows=len(result.multipliers), contacts=touching[0], active_contacts=touching[1],
            residual=result.residual, iterations=result.iterations,
            converged=solution.converged,
            relinearisation_residual=solution.relinearisation_residual,
            sweeps=result.sweeps, max_penetration=touching[2],
            cavities=trapped,
            reactions={m.name: wrenches[m.name] for m in model.members if m.name in wrenches},
            momentum_residual=max(residuals, default=None),
            air_error=cavities.air_error if cavities else 0.0,
            remeshed=cavities.remeshed if cavities else False,
            cups=observation.cups(model, bodies, trapped),
            probes=self.probes() if self.world.probes else {},
            vacuum_sensors=observation.mean_flows(self._sensors),
            patches=fields.patches() if fields else (),
        )  # fmt: skip
        for r in bodies:
            report = report if r.own is None else observation.with_own_solve(report, r.own)
        return report

    # What a user changes while it runs

    def apply_force(self, body: str, vertex: int, force: Sequence[float] | Array) -> None:
        """Apply `force` (3,) [N] at a vertex of a body's collision surface, from now on.

        It acts as gravity does, before contacts and air are solved. A force of 0 removes it. On a
        particle body it acts on a twentieth of its mass round the vertex.
        """
        i = self._number("apply_force", body)
        member, f = self.model.members[i], np.asarray(force, dtype=float)
        if not 0 <= vertex < member.n_points:
            raise LimpetError(
                f"apply_force on '{body}' at vertex {vertex}: expected 0 to {member.n_points - 1}"
            )
        if f.shape != (3,) or not np.all(np.isfinite(f)):
            raise LimpetError(
                f"apply_force on '{body}': force = {force}: expected three finite numbers [N]"
            )
        if not member.movable:
            raise LimpetError(
                f"apply_force on '{body}': it is fixed or has a prescribed motion, so no force "
                "moves it"
            )
        vertices, shares = member.grip(vertex)
        applied = self.control.applied.copy()
        applied[self.model.points.first[i] + vertices] = shares[:, None] * f
        self.control = replace(self.control, applied=applied)

    def clear_forces(self) -> None:
        """Remove every applied force."""
        self.control = self.control.without_forces()

    def set_leak(self, rate: float) -> None:
        """Let `rate` [mol/s] leak into cavities from now on, unless a body has its own exchange."""
        if not 0.0 <= rate < np.inf:
            raise LimpetError(f"leak = {rate:g} mol/s: expected 0 or more")
        self.control = replace(self.control, leak=rate)

    def set_vacuum(self, vacuum: float) -> None:
        """Ask every vacuum line for `vacuum` [Pa] below the atmosphere from now on."""
        if not 0.0 < vacuum <= self.world.atmosphere.pressure:
            raise LimpetError(
                f"vacuum = {vacuum:g} Pa: expected above 0, at most the atmosphere's pressure"
            )
        if not self.world.connections:
            raise LimpetError("vacuum: this world has no vacuum line")
        self.control = replace(self.control, vacuum=vacuum)

    def set_drive_force(self, body: str, force: float) -> None:
        """Ask the actuator of a body for `force` [N] along its axis from now on."""
        if body not in self.world.actuators:
            near = suggest(body, self.world.actuators)
            raise LimpetError(f"set_drive_force: there is no actuated body '{body}'{near}")
        limit = self.world.actuators[body].max_force
        if not (np.isfinite(force) and abs(force) <= limit):
            raise LimpetError(
                f"set_drive_force on '{body}': force = {force:g} N: expected a finite number up to "
                f"max_force = {limit:g} N"
            )
        drives = {**self.control.drives, body: float(force)}
        self.control = replace(self.control, drives=drives)

    @property
    def vacuum(self) -> float | None:
        """[Pa] the deepest that a vacuum line is asked for; None: there is no line."""
        lines = self.world.connections.values()
        own = max((float(c.source.end_vacuum) for c in lines), default=None)
        return own if own is None or self.control.vacuum is None else self.control.vacuum

    # Where everything is

    @property
    def bodies(self) -> Sequence[Body]:
        """All bodies by themselves, in the order in which they were added."""
        return self.model.members

    def body(self, name: str) -> Body:
        """A body by its name."""
        return self.model.members[self._number("body", name)]

    def _number(self, what: str, name: str) -> int:
        names = self.model.points.names
        if name not in names:
            raise LimpetError(f"{what}: there is no body '{name}'{suggest(name, names)}")
        return names.index(name)

    @property
    def clock(self) -> Callable[[], float]:
        """[s] what the phases of a step are timed with."""
        return self._clock.now

    @clock.setter
    def clock(self, now: Callable[[], float]) -> None:
        self._clock.now = now

    @property
    def particles_only(self) -> bool:
        """Whether all bodies are particle bodies: there is no air to be trapped."""
        return not self.world.specs

    @property
    def fem_nodes(self) -> int:
        """Nodes of the soft bodies."""
        return sum(m.n_nodes for m in self.model.members)

    @property
    def collision_nodes(self) -> int:
        """Surface vertices of the bodies that can touch."""
        return self.model.collision_nodes

    def probes(self) -> dict[str, float]:
        """The probes of the world now: positions [m], volumes as a share of that at rest."""
        return observation.probes(self.world, self.model)

    def shape(self, name: str) -> RigidShape:
        """The surface of a body as it is now: for shapes.save_mesh, or to compare (hausdorff)."""
        points, triangles = self.body(name).visual_surface()
        return RigidShape(name, points.copy(), triangles)

    def snapshot(self) -> Snapshot:
        """Where everything is now: arrays of the simulation itself, to be read and not kept."""
        return observation.snapshot(self.model, self._context())

    def section_frame(self, label: str) -> SectionFrame:
        """What a section through the scene is drawn from: surfaces, forces, cavities."""
        return observation.section_frame(self, label)

    # State

    def get_state(self) -> State:
        """A copy of the state: set it and continue, and every bit is the same."""
        return State.of(self.model, self.steps, self.h, self.memory, self.control, self._stride)

    def set_state(self, state: State) -> None:
        """Go back to a state of the same world at the same time step."""
        state.restore(self.model, self.h)
        self._points = None
        self.steps, self.time = state.step, state.step * self.h
        self.memory, self.control, self._stride = state.memory, state.control, state.stride

    def save(self, path: str | PathLike[str]) -> None:
        """Write the state to a file, from which `load` continues in any process."""
        state_file.write(self.get_state(), path)

    def load(self, path: str | PathLike[str]) -> None:
        """Continue from a file of `save`, of the same world at the same time step."""
        self.set_state(state_file.read(path))


def _both(first: StepSolution, second: StepSolution) -> StepSolution:
    """The second half of a step, with the worse of both in what tells how well it was solved."""
    one, other = first.result, second.result
    result = replace(
        other, residual=max(one.residual, other.residual),
        iterations=one.iterations + other.iterations, sweeps=one.sweeps + other.sweeps,
    )  # fmt: skip
    unsettled = max(first.relinearisation_residual, second.relinearisation_residual)
    converged = first.converged and second.converged
    return replace(second, converged=converged, result=result, relinearisation_residual=unsettled)
