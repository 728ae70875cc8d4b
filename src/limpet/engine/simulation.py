"""One step on one screen: free motion, contacts, cavities, rows, compliance, solve, correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from threadpoolctl import ThreadpoolController

from limpet.cavity.cavity_set import CavitySet, Finder
from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.ledger import AirLedger
from limpet.cavity.gas.limit import ElasticEnergy
from limpet.cavity.gas.network import Port
from limpet.cavity.mesh import join_surfaces
from limpet.clock import Clock
from limpet.contact.contact_set import ContactSet
from limpet.contact.contacts import EDGE_EDGE, Contacts
from limpet.contact.detect import collider
from limpet.contact.rows import contact_forces, patch_rows
from limpet.engine.control import Controls
from limpet.engine.observation import Observation, Present
from limpet.errors import DivergedError, LimpetError, require_positive, suggest
from limpet.fem.attachments import Attachments
from limpet.fem.soft_body import SoftBody
from limpet.model.settings import Settings
from limpet.model.world import World
from limpet.particles.body import ParticleBody
from limpet.particles.coupling import ParticleCoupling
from limpet.particles.system import ParticleState
from limpet.pressure_field.patch_set import ContactPatches, PatchSet
from limpet.report import CavityReport, StepReport
from limpet.solver.constraint_solver import Between, ConstraintSolver, StepSolution
from limpet.solver.warm_start import WarmStart

Array = np.ndarray

TURNS = 3  # that those who are solved and those who are swept take in a step, at most
RETRIES = 4  # solves of a step with more contacts when some were missed


@dataclass(frozen=True)
class State:
    """Everything that the next step depends on."""

    step: int  # steps made so far
    h: float  # [s]
    bodies: tuple[dict[str, Array], ...]  # arrays of each body, by name
    air: AirLedger  # the cavities and their air
    memory: WarmStart  # the last multipliers, to start from
    edges: Contacts  # pairs of edges that carried a force
    pushed: Array  # (n, 3) [N] on all vertices, in the last step
    particles: ParticleState  # of the particle bodies


class Simulation(Controls, Observation):
    """Steps a World. `for report in sim.run(duration)`, or `sim.step()` by hand.

    h [s] is the time step, 10 ms in the papers; `settings` say how a step is computed.
    """

    def __init__(self, world: World, h: float = 0.01, settings: Settings | None = None) -> None:
        self.h = require_positive("time step h", h, " s")
        self.world, self.settings = world, settings or Settings()
        self._own, surfaces, joints, handles = world.build()
        self._rigid_first = sorted(self._own, key=lambda b: isinstance(b, SoftBody))
        self._guests = ParticleCoupling(world.particles, h, sum(s.n_vertices for s in surfaces))
        self.bodies: list[Present] = [*self._own, *self._guests.bodies]
        surfaces += self._guests.surfaces
        self.first_point = np.cumsum([0] + [b.n_points for b in self.bodies]).astype(np.int32)
        soft = [isinstance(b, SoftBody | ParticleBody) for b in self.bodies]
        self._colliders = [
            collider(s, b.positions(), not (is_soft or self.settings.keep_flat_vertices))
            for s, b, is_soft in zip(surfaces, self.bodies, soft)
        ]
        order = sorted(range(len(soft)), key=lambda i: not soft[i])  # soft bodies bear the contacts
        names = [b.name for b in self.bodies]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise LimpetError(f"two bodies are called '{twice}': give each its own name")
        pairs = [
            (a, b) for k, a in enumerate(order) for b in order[k + 1 :] if self._may_meet(a, b)
        ]
        between = world.pairing.friction_between
        friction = np.array([[between(a, b) for b in names] for a in names])
        self._fields = PatchSet(
            world.pairing.field_pairs(list(world.specs)), self._own, self.first_point
        )
        self._touch = ContactSet(
            self._colliders,
            pairs,
            np.array([b.movable for b in self.bodies]),
            self.first_point,
            max(self.settings.alarm, 1.2 * self.settings.sealing_distance),
            self.settings.use_all_contacts,
        )
        self._cavities = CavitySet(
            join_surfaces(surfaces),
            [c.shape.tree for c in self._colliders],
            np.array(soft, float),
            self.settings.sealing_distance,
            self.settings.seal_boundary,
            self.settings.remesh_threshold,
            self.settings.search_every_step,
            world.atmosphere,
            [world.air_exchanges.get(b.name) for b in self.bodies],
            AirExchange(leak=world.leak),
            self.settings.cavities,
            self._inner_surfaces(),
            self._taps(names),
        )
        self._response = ConstraintSolver(
            self.bodies,
            self.first_point,
            joints,
            Attachments(self._own, self.first_point, handles),
            friction,
            self._touch,
            world.atmosphere,
            self.settings,
            self.h,
        )
        self.clock: Callable[[], float] = perf_counter  # [s] that the phases are timed with
        self.steps, self.time = 0, 0.0
        self._air = AirLedger()
        self._memory = WarmStart.empty()
        self._edges = self._contacts = Contacts.none()
        self._forces = np.zeros((0, 3))
        self._met, self._patch_forces = ContactPatches(), np.zeros((0, 3))
        self._pull = np.zeros((int(self.first_point[-1]), 3))  # [N] on the vertices, from outside
        self._pushed = np.zeros_like(self._pull)  # [N] by all else, in the last step
        self._ahead: tuple[Array, Contacts] | None = None  # positions and contacts of the next step
        self._one_thread = ThreadpoolController()  # more BLAS threads slow small matrices a lot

    def run(self, duration: float) -> Iterator[StepReport]:
        """Step until `duration` [s] from now; the last step may end up to h/2 off."""
        require_positive("duration", duration, " s")
        count = round(duration / self.h)
        if count < 1:
            raise LimpetError(
                f"duration = {duration:g} s: expected a step h = {self.h:g} s or more"
            )
        return (self.step() for _ in range(count))

    def step(self) -> StepReport:
        """Advance by h. Each block is one phase of the step; the report says how each went."""
        with self._one_thread.limit(limits=1, user_api="blas"):
            return self._step()

    def _step(self) -> StepReport:
        clock, h, world = Clock(self.clock), self.h, self.world
        before, recalled = [b.momentum() for b in self._own], self._memory
        last_velocity = self._surface_velocities()
        x, contacts = self._ahead or self._detect()  # at x, found at the end of the last step
        met = self._fields.find()  # F
        clock.lap("collision")

        for body in self._rigid_first:  # P eq 1
            body.compute_free_velocity(h, world.gravity, self.time)
        clock.lap("free")
        self._guests.begin(self._pushed + self._pull)  # C
        clock.resume()
        self._response.begin(self._pull)
        start = [b.get_state() for b in self.bodies]
        clock.lap("free")

        self._air, remeshed = self._cavities.update(  # P 4, eq 15
            self._air, x, contacts, self.time, h, self._elastic()
        )
        cavities = self._air.cavities
        clock.lap("cavities")

        contacts = self._touch.filtered(contacts)
        contacts = self._touch.with_more(contacts, self._touch.still_crossing(self._edges, x))
        solved, looked = self._touch.predicted(contacts, last_velocity, h), 0.0
        rows = patch_rows(met.a, met.b, met.patches.normal)
        when = f"step {self.steps + 1} at {self.time:.4g} s"
        for attempt in range(1 + RETRIES):
            # V' while H still stands for where the bodies are: a rigid one turns as it advances
            answer = self._solve(
                x, Between(contacts, met.patches, rows, cavities), solved, when, clock
            )
            for body in self._own:
                body.advance(h)
            clock.lap("correct")
            self._guests.finish(clock)

            self._ahead = self._detect()
            after = self._touch.filtered(self._ahead[1])
            reach = 2.0 * float(np.linalg.norm(self._ahead[0] - x, axis=1).max())
            missed = reach > looked and self._touch.missed(contacts, after)
            crossed = self._touch.crossed(contacts, after, x)
            clock.lap("collision")
            if attempt == RETRIES or not (missed or len(crossed)):
                break
            for one, state in zip(self.bodies, start):
                one.set_state(state)
            self._guests.back(self._pull)
            contacts = self._touch.with_more(contacts, crossed)
            if missed:  # something came from afar: look further
                looked = 1.5 * reach
                wider = self._touch.filtered(self._detect(looked)[1])
                contacts = self._touch.with_more(wider, contacts)
            needed = self._touch.among(contacts, Contacts.join([answer.contacts, crossed]))
            solved = needed | self._touch.predicted(contacts, last_velocity, h)

        used, multipliers = answer.contacts, answer.solution.multipliers
        k = 3 * (len(used) + len(met.patches))
        self._air, gas = self._cavities.close(
            self._air, multipliers[k:] + world.atmosphere.pressure,
            answer.rates[k : len(multipliers)], h, used, answer.pressed,
        )  # fmt: skip
        self._contacts, self._memory = used, self._memory.after(recalled)
        self._edges = used.take((answer.pressed > 0.0) & (used.kind == EDGE_EDGE))
        self._forces = contact_forces(used.normal, multipliers)
        self._met, self._pushed = met, answer.force - self._pull
        self._patch_forces = contact_forces(met.patches.normal, multipliers[3 * len(used) :])
        self.steps += 1
        self.time = self.steps * h
        clock.lap("correct")
        return self._report(clock.phases, answer, gas, before, remeshed)

    def _solve(
        self, x: Array, between: Between, solved: Array, when: str, clock: Clock
    ) -> StepSolution:
        """What the bodies do to each other, in turns with what the guests then do."""
        for turn in range(TURNS):
            if turn:
                self._response.apply(self._pull)
            answer = self._response(
                x, self._surface_velocities(), self._pull, between, solved, self._memory, when,
                self.steps % 10 == 0, clock.lap,
            )  # fmt: skip
            self._memory = answer.memory
            agreed = self._guests.agree(answer.force)
            clock.resume()
            if agreed:
                break
        return answer

    def _may_meet(self, a: int, b: int) -> bool:
        """Whether two bodies touch by the points of their surfaces; guests are swept together."""
        one, other = self.bodies[a].name, self.bodies[b].name
        hosts = len(self._own)
        if max(a, b) < hosts:
            return self.world.pairing.by_points(one, other)
        host, guest = min(a, b), max(a, b)
        solid = host < hosts and self.world.specs[self.bodies[host].name].collides
        if not solid or self.world.pairing.apart(one, other):
            return False
        if not (self.bodies[host].movable or self.bodies[guest].movable):
            return False
        return self._guests.can_touch(guest - hosts, self.bodies[host].name)

    def _detect(self, reach: float | None = None) -> tuple[Array, Contacts]:
        """Surface positions and the contacts there."""
        where = [b.positions() for b in self.bodies]
        velocities = [b.velocities() for b in self.bodies]
        return np.concatenate(where), self._touch.find(where, velocities, self.h, reach)

    def _elastic(self) -> Array:
        """(bodies, 2) energy [J] and volume [m^3] of the soft bodies, if a limit asks for them."""
        out = np.zeros((len(self.bodies), 2))
        if isinstance(self.world.atmosphere.limit, ElasticEnergy):
            for i, body in enumerate(self.bodies):
                if isinstance(body, SoftBody):
                    out[i] = body.elastic_energy(), body.fem.volume
        return out

    def _taps(self, names: list[str]) -> list[Port]:
        """The vacuum lines. The classifier looks at the cup alone and covers the hole that a line
        comes from (A III-B): there a line serves the largest cavity on its body.
        """
        ports = self.world.ports(names, [b.positions() for b in self.bodies])
        if self.settings.cavities is Finder.CLASSIFIER:
            return [replace(port, vertex=-1) for port in ports]
        return ports

    def _inner_surfaces(self) -> Array | None:
        """(N,) bool: the vertices of the soft bodies' regions named Settings.inner_region."""
        name = self.settings.inner_region
        if name is None:
            return None
        inner = np.zeros(self.first_point[-1], dtype=bool)
        soft = [(i, b.shape) for i, b in enumerate(self.bodies) if isinstance(b, SoftBody)]
        for i, shape in soft:
            if name in shape.regions:
                inner[self.first_point[i] + shape.collision.vertices_of(shape.regions[name])] = True
        if not inner.any():
            known = {region for _, shape in soft for region in shape.regions}
            raise LimpetError(f"inner_region = '{name}': no soft body has it{suggest(name, known)}")
        return inner

    def _surface_velocities(self) -> Array:
        return np.concatenate([b.velocities() for b in self.bodies])

    def _report(
        self, phases: dict[str, float], answer: StepSolution, gas: tuple[CavityReport, ...],
        before: list[Array], remeshed: bool,
    ) -> StepReport:  # fmt: skip
        """Collect the figures; the force balance is taken body by body, from momentum."""
        h, gravity = self.h, self.world.gravity
        worst = 0.0
        drives: dict[str, Array] = {}
        for i, b in enumerate(self._own):
            wrench = b.reaction(h)
            if b.name in self.world.motions:
                drives[b.name] = wrench
            after = b.momentum()
            pushed = answer.force[self.first_point[i] : self.first_point[i + 1]].sum(axis=0)
            inertia = (after - before[i]) / h + b.mass_damping * after
            miss = inertia - b.mass * gravity - pushed - wrench[:3]
            worst = float(np.maximum(worst, np.abs(miss).max()))  # a NaN stays
        if not np.isfinite(worst):
            raise DivergedError(
                f"step {self.steps} at {self.time:.4g} s: positions left the finite; "
                "lower the time step"
            )
        assert self._ahead is not None
        gap, solution = self._ahead[1].gap, answer.solution
        report = StepReport(
            step=self.steps, time=self.time, phases=phases, rows=len(solution.multipliers),
            contacts=len(answer.contacts), active_contacts=int((answer.pressed > 0.0).sum()),
            residual=solution.residual, converged=solution.converged,
            iterations=solution.iterations, sweeps=solution.sweeps,
            max_penetration=max(0.0, -float(gap.min())) if len(gap) else 0.0,
            cavities=gas, reactions=drives, momentum_residual=worst,
            air_error=self._air.error, remeshed=remeshed, probes=self.probes(),
            vacuum_sensors=self._cavities.vacuum_sensors(self._air, h),
            patches=self._fields.reports(self._met, self._patch_forces),
        )  # fmt: skip
        return self._guests.merged(report)

    def save(self) -> State:
        """A copy of the state: restore it and continue, and every bit is the same."""
        return State(
            self.steps,
            self.h,
            tuple(b.get_state() for b in self.bodies),
            self._air,
            self._memory,
            self._edges,
            self._pushed,
            self._guests.engine.get_state(),
        )

    def restore(self, state: State) -> None:
        """Go back to a saved state of the same world at the same time step."""
        if len(state.bodies) != len(self.bodies):
            raise LimpetError(
                f"the state has {len(state.bodies)} bodies, this world {len(self.bodies)}"
            )
        if state.h != self.h:
            raise LimpetError(
                f"the state was saved at h = {state.h:g} s, this runs at {self.h:g} s"
            )
        for body, arrays in zip(self.bodies, state.bodies):
            for key, value in body.get_state().items():
                if key not in arrays or arrays[key].shape != value.shape:
                    raise LimpetError(f"the state does not fit '{body.name}': another mesh or kind")
            body.set_state(arrays)
        self._guests.engine.set_state(state.particles)
        self.steps, self.time, self._pushed = state.step, state.step * self.h, state.pushed
        self._air, self._memory, self._edges = state.air, state.memory, state.edges
        self._contacts, self._forces = Contacts.none(), np.zeros((0, 3))
        self._met, self._patch_forces = ContactPatches(), np.zeros((0, 3))
        self._ahead = None
