"""Explicit and rigid bodies under velocity-level constraints: C's interactive setting, one step.

free velocities   every body by itself                                     (C eq 1-3)
contacts          of primitives, surfaces and sheets, at x
rows              distances, bending, held points, contacts                (C 4)
sweep             impulses into the velocities, rigid and soft in turn     (C algorithm 1)
advance           x <- x + h v                                             (C eq 38, 39)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from limpet.clock import Clock
from limpet.contact.contacts import Contacts
from limpet.contact.pipeline import CollisionBody, CollisionPipeline
from limpet.contact.primitive_pairs import Kinematics
from limpet.contact.primitives import Primitive
from limpet.dynamics.warm_start import WarmStart
from limpet.errors import require_positive
from limpet.particles.body import ParticleBody
from limpet.particles.constraints import (
    ParticleConstraints,
    RigidPoses,
    follow_rows,
    moving,
)
from limpet.particles.mass_splitting import split_mass_contacts
from limpet.particles.model import ParticleModel
from limpet.particles.monitor import Monitor
from limpet.particles.node_factor import NodePattern
from limpet.particles.pending_step import PendingStep
from limpet.particles.point_pairs import CollisionSurfaces, PointPairs, contact_pairs
from limpet.particles.sheet_positions import SheetPositions
from limpet.particles.sliding import BodyPrimitives, slide
from limpet.particles.substeps import by_load, solves_needed
from limpet.particles.surface_kinematics import surface_kinematics
from limpet.particles.surface_proxy import SurfaceProxy
from limpet.particles.sweep import (
    ConstraintRows,
    Impulses,
    SweepResult,
    Velocities,
    begin,
    reactions,
    rigid_reactions,
    sweep,
)
from limpet.report import StepReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


MILLIMETRE = 1e-3  # [m] residuals are displacements over that, as those of `contact.law`
SUBSTEP = ("free", "compliance", "solve", "correct")  # phases of a substep


class ParticleSystem:
    """The bodies of a `ParticleModel` on their way: step after step, by sweeps."""

    def __init__(
        self,
        model: ParticleModel,
        h: float = 0.02,
        gravity: Sequence[float] | Array = (0.0, 0.0, -9.81),
    ) -> None:
        """It moves the bodies of the model themselves; `of` moves copies."""
        self.h = require_positive("time step h", h, " s")
        self.gravity, self.settings = np.asarray(gravity, float), model.settings
        self.first = model.first
        self._all_soft, self._all_rigid = model.soft, model.rigid  # proxies included
        self.soft = [b for b in model.soft if not b.proxy]
        self.rigid = [b for b in model.rigid if not b.proxy]
        self.proxies = [b for b in model.bodies if isinstance(b, SurfaceProxy)]
        self.bodies: list[ParticleBody | RigidBody] = [*self.soft, *self.rigid]
        bodies, soft = model.collision_bodies, dict(zip(self.first.tolist(), self._all_soft))
        self._soft_surfaces = [(k, soft[b.first]) for k, b in enumerate(bodies) if b.rigid < 0]
        self._rigid_surfaces = [(k, b.rigid, b.shape) for k, b in enumerate(bodies) if b.rigid >= 0]
        at = self._kinematics(RigidPoses.of(self._all_rigid))
        self._pipeline = CollisionPipeline.of(bodies, at, self.settings.continuous)
        friction = model.friction.matrix([b.name for b in bodies])
        self._surfaces = CollisionSurfaces.of(bodies, friction)
        self._constraints = ParticleConstraints.of(model.distances, model.bends, model.anchors)
        self._primitives = self._body_primitives(bodies)
        self._positions = SheetPositions.of(
            self._all_soft, self._constraints.distances, self.settings.baumgarte,
            not self.settings.mass_splitting, self.settings.end_directions,
        )  # fmt: skip
        self._impulses: Impulses | None = None
        self._last_h = h  # [s] of the solve that found them
        self._warm_start = WarmStart.none()
        self.steps, self.time = 0, 0.0
        self.substeps = 0  # of the last step
        self.impacts = 0  # sheets that would have passed through each other in the last solve
        self.clock: Callable[[], float] = perf_counter
        self.contacts = Contacts.none(), Contacts.none()  # of the last step, as in `PendingStep`
        self._points = np.zeros((0, 3)), np.zeros((0, 3))
        self.last_sweep = SweepResult(0, np.zeros(0), np.zeros(0))
        self.monitor = Monitor(self.soft, self.rigid, self.proxies, self._constraints)

    @staticmethod
    def of(model: ParticleModel, h: float, gravity: Array) -> ParticleSystem:
        """Of copies of the model's bodies: a model may be run twice."""
        return ParticleSystem(model.copy(), h, gravity)

    def run(self, duration: float) -> Iterator[StepReport]:
        require_positive("duration", duration, " s")
        return (self.step() for _ in range(max(1, round(duration / self.h))))

    def step(self) -> StepReport:
        """Advance by h, in some solves for the contacts found at its start."""
        return self.finish(self.begin())

    def finish(self, now: PendingStep) -> StepReport:
        """The substeps that are left, and the report."""
        tick, spent = now.clock.now, [0.0] * len(SUBSTEP)
        last = tick()
        while now.left:
            for k, stage in enumerate((self.free, self.constrain, self.sweep, self.move)):
                stage(now)
                before, last = last, tick()
                spent[k] += last - before
        self._keep(now)
        spent[-1] += tick() - last
        now.clock.add(dict(zip(SUBSTEP, spent)))
        return self._report(now)

    def begin(
        self,
        outside: Sequence[Array] | None = None,
        substeps: int | None = None,
        clock: Clock | None = None,
    ) -> PendingStep:
        """Find the contacts.

        outside: forces (n_points, 3) [N] on the points of each body; substeps: how many solves,
        if that is not to be chosen.
        """
        clock = clock or Clock(self.clock)
        self.substeps = substeps or self._substeps()
        h = self.h / self.substeps
        x, poses = self.positions(), RigidPoses.of(self._all_rigid)
        at = self._kinematics(poses)
        every = h if self._pipeline.meshes else self.h  # meshes are searched in each solve
        deep = self._pipeline.overlaps(at)
        found = self._pipeline.find(at, every, self.settings.margin, deep)
        contacts = self._surfaces.split(found)
        pairs, points = zip(*(contact_pairs(c, self._surfaces, at) for c in contacts))
        p = self._guess(contacts, pairs, h)
        clock.lap("collision")
        deepest = max(0.0, float(deep.max(initial=0.0)), -float(found.gap.min(initial=0.0)))
        self.monitor.begin(self.h, self.gravity, deepest)
        acts = tuple(outside or ()) if any(f.any() for f in outside or ()) else ()
        return PendingStep(
            clock, h, self.substeps, x, poses, contacts, pairs, points, p, deepest, acts
        )

    def free(self, now: PendingStep) -> None:
        """Velocities of the bodies by themselves."""
        h, done = now.h, self.substeps - now.left
        for soft in self._all_soft:
            soft.compute_free_velocity(h, self.gravity, self.time + done * h)
        for rigid in self._all_rigid:
            rigid.compute_free_twist(h, self.gravity, self.time + done * h)
        for body, force in zip(self.bodies, now.outside):
            body.apply_impulse(h * force)
        now.on = moving(self._all_soft, self._all_rigid, self._constraints.pins, now.x, h)

    def constrain(self, now: PendingStep) -> None:
        """Rows, and the last impulses to start from."""
        settings, h, constraints, on = self.settings, now.h, self._constraints, now.on
        assert on is not None
        if now.rows is None:
            now.rows = constraints.rows(
                now.x, now.poses, on, now.pairs[0], now.pairs[1], h, settings.baumgarte
            )
        else:
            now.rows = constraints.again(now.rows, now.x, now.poses, on, h, settings.baumgarte)
        self._positions.release(now.rows)
        if settings.mass_splitting:
            now.p.contacts[:] = 0.0
        begin(now.rows, now.p, on, h, settings.warm_start, settings.end_directions)
        self.monitor.require_bounded(on, self.steps + 1, self.time)
        if settings.mass_splitting:
            self._average(now.rows, now.p, on, h)

    def sweep(self, now: PendingStep) -> None:
        settings = self.settings
        assert now.rows is not None and now.on is not None
        self.last_sweep = sweep(
            now.rows, now.p, now.on, now.h, settings.sweeps, settings.rigid_sweeps,
            settings.tolerance, settings.max_sweeps, settings.max_stretch, settings.end_directions,
        )  # fmt: skip
        now.sweeps += self.last_sweep.sweeps
        self.monitor.require_bounded(now.on, self.steps + 1, self.time)
        now.residual = max(now.residual, now.h * float(self.last_sweep.change[-1]) / MILLIMETRE)

    def move(self, now: PendingStep) -> None:
        """Hand the velocities to the bodies, and go with them."""
        assert now.rows is not None and now.on is not None
        now.left -= 1
        x, self.impacts = self._positions.arrive(
            now.x, now.rows, now.on, now.h, self._pipeline.joined
        )
        told = self.monitor.tells or now.left == 0
        self._take(now.on, *(self._reactions(now) if told else (None, None)))
        self.monitor.solved(now.outside, now.h)
        for body in (*self._all_soft, *self._all_rigid):
            body.advance(now.h)
        for i, soft in enumerate(self._all_soft):
            soft.x = x[self.first[i] : self.first[i + 1]].copy()
        now.x, now.poses = x, RigidPoses.of(self._all_rigid)
        if now.left and self._pipeline.meshes:
            self._search(now)
        elif now.left:
            follow_rows(now.rows, now.on, now.h)
            pairs, poses = now.rows.contacts.pairs, now.poses
            slide(pairs, now.p.contacts, now.x, poses.centre, poses.rotation, self._primitives)

    def _search(self, now: PendingStep) -> None:
        """The contacts anew, where meshes slide over each other within the step."""
        known = self._remember(now)
        at = self._kinematics(now.poses)
        now.contacts = self._surfaces.split(self._pipeline.find(at, now.h, self.settings.margin))
        now.pairs, now.points = zip(*(contact_pairs(c, self._surfaces, at) for c in now.contacts))
        rigid, soft = (known.recall(c.key, q.frame) for c, q in zip(now.contacts, now.pairs))
        now.p = now.p._replace(rigid_contacts=rigid, contacts=soft)
        now.rows = None

    @staticmethod
    def _remember(now: PendingStep) -> WarmStart:
        if len(now.p.rigid_contacts) == 0:
            return WarmStart.of(now.contacts[1].key, now.p.contacts, now.pairs[1].frame)
        return WarmStart.of(
            np.concatenate([c.key for c in now.contacts]),
            np.concatenate([now.p.rigid_contacts, now.p.contacts]),
            np.concatenate([pairs.frame for pairs in now.pairs]),
        )

    def _keep(self, now: PendingStep) -> None:
        """What the next step starts from."""
        self._impulses, self._last_h = now.p, now.h
        self._warm_start = self._remember(now)
        self.contacts, self._points = now.contacts, now.points
        self.steps += 1
        self.time = self.steps * self.h
        self.monitor.end(now.x, self.gravity)
        self.monitor.check(self.steps, self.time)

    def _substeps(self) -> int:
        settings, distances, last = self.settings, self._constraints.distances, self._impulses
        tension = None if last is None else last.distances / self._last_h
        needed = solves_needed(self.soft, distances, tension, self.h)
        if settings.end_directions:
            needed = max(
                needed, by_load(self.substeps, self.monitor.stretch / settings.max_stretch)
            )
        most = max(settings.substeps, settings.max_substeps)
        return int(min(max(settings.substeps, np.ceil(needed)), most))

    def _average(self, rows: ConstraintRows, p: Impulses, on: Velocities, h: float) -> None:
        """Solve the contacts of nodes as in C 4.3; the sweeps leave them out."""
        body = np.repeat(np.arange(len(self._all_soft)), np.diff(self.first))
        mass = np.array([b.mass for b in self._all_soft])
        rigid = np.array([b.mass if b.movable else 0.0 for b in self._all_rigid])
        pairs, bias = rows.contacts.pairs, rows.contacts.bias
        split_mass_contacts(
            pairs, bias, p.contacts, on, body, mass, rigid, self.gravity, h, self.settings.sweeps
        )
        rows.contacts.w[:] = 0.0  # as of what cannot move: the sweep passes over it

    def _take(self, on: Velocities, nodes: Array | None, rigids: Array | None) -> None:
        """Hand the velocities to the bodies, with the impulses that prescribed motions resist."""
        for i, soft in enumerate(self._all_soft):
            own = slice(self.first[i], self.first[i + 1])
            soft.set_velocity(on.v[own], None if nodes is None else nodes[own])
        for i, rigid in enumerate(self._all_rigid):
            rigid.set_velocity(on.rigid_v[i], None if rigids is None else rigids[i])

    def _reactions(self, now: PendingStep) -> tuple[Array | None, Array | None]:
        """Impulses on nodes (n, 3) and rigid bodies (b, 6), if a prescribed motion is to know."""
        assert now.rows is not None
        if any(len(b.driven) or b.proxy for b in self._all_soft):
            return reactions(now.rows, now.p, len(now.x), len(self._all_rigid))
        if any(b.prescribed or b.proxy for b in self._all_rigid):
            return None, rigid_reactions(now.rows, now.p, len(self._all_rigid))
        return None, None

    def node_pattern(self) -> NodePattern:
        """Which nodes its constraints couple, contacts apart."""
        return NodePattern.of(self._constraints, int(self.first[-1]), len(self.rigid))

    def positions(self) -> Array:
        """(n, 3) [m] all nodes."""
        return np.concatenate([np.zeros((0, 3)), *(b.x for b in self._all_soft)])

    def _kinematics(self, poses: RigidPoses) -> Kinematics:
        return surface_kinematics(
            self._soft_surfaces, self._rigid_surfaces, self._all_rigid, poses, self.gravity, self.h
        )

    def _body_primitives(self, bodies: Sequence[CollisionBody]) -> BodyPrimitives:
        shapes: list[Primitive | None] = [None] * len(self._all_rigid)
        thickness = np.zeros(self.first[-1])
        for _, i, shape in self._rigid_surfaces:
            shapes[i] = shape
        for k, soft in self._soft_surfaces:
            first = bodies[k].first
            thickness[first : first + soft.n_points] = bodies[k].thickness
        return BodyPrimitives.of(shapes, thickness)

    def _guess(
        self,
        contacts: tuple[Contacts, Contacts],
        pairs: tuple[PointPairs, PointPairs],
        h: float,
    ) -> Impulses:
        old = self._impulses
        if old is None or self.settings.warm_start == 0.0:
            return self._constraints.zeros(len(contacts[0].gap), len(contacts[1].gap))
        recalled = [self._warm_start.recall(c.key, q.frame) for c, q in zip(contacts, pairs)]
        old = old._replace(rigid_contacts=recalled[0], contacts=recalled[1])
        return Impulses(*((h / self._last_h) * q for q in old))

    def pressing(self) -> tuple[Array, Array]:
        """Where bodies pressed against each other in the last step, (k, 3) [m], and the forces
        (k, 3) [N] on the first of each two.
        """
        key, known = np.concatenate([c.key for c in self.contacts]), self._warm_start
        if len(key) == 0 or len(known.keys) == 0:
            return np.zeros((0, 3)), np.zeros((0, 3))
        place = np.minimum(np.searchsorted(known.keys, key), len(known.keys) - 1)
        force = known.values[place] / self._last_h
        pressed = (known.keys[place] == key) & force.any(axis=1)
        return np.concatenate(self._points)[pressed], force[pressed]

    def get_state(self) -> dict[str, Array]:
        """Everything that the next step depends on."""
        state = {f"{b.name}/{k}": a for b in self.bodies for k, a in b.get_state().items()}
        old = self._impulses
        if old is not None:
            state |= {f"impulses/{k}": q.copy() for k, q in old._asdict().items()}
        known = self._warm_start
        state |= {"warm_start/keys": known.keys, "warm_start/values": known.values}
        state |= {"last_h": np.array(self._last_h), "step": np.array(self.steps)}
        state |= {"substeps": np.array(self.substeps)}
        return state | {"monitor": self.monitor.get_state()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        part = partial(_part, state)
        for body in self.bodies:
            body.set_state(part(f"{body.name}/"))
        old = part("impulses/")
        self._impulses = Impulses(**{k: q.copy() for k, q in old.items()}) if old else None
        known = part("warm_start/")
        change = np.zeros_like(known["values"])
        self._warm_start = WarmStart(known["keys"], known["values"], change)
        self._last_h, self.steps = float(state["last_h"]), int(state["step"])
        self.time, self.substeps = self.steps * self.h, int(state["substeps"])
        self.monitor.set_state(state["monitor"])

    def _converged(self, now: PendingStep) -> bool:
        """The last sweep moved hardly anything, and inextensible edges have their length."""
        settings = self.settings
        return now.residual <= settings.accuracy and self.monitor.stretch <= settings.max_stretch

    def _report(self, now: PendingStep) -> StepReport:
        p = now.p
        pressed = int((p.contacts[:, 0] > 0.0).sum() + (p.rigid_contacts[:, 0] > 0.0).sum())
        joined = self._pipeline.joined
        return StepReport(
            step=self.steps, time=self.time, phases=now.clock.phases,
            rows=sum(q.size for q in p), contacts=sum(map(len, self.contacts)),
            active_contacts=pressed, residual=now.residual,
            converged=self._converged(now), iterations=0, sweeps=now.sweeps,
            max_penetration=now.overlap, cavities=(),
            reactions=self.monitor.reactions(self.h), momentum_residual=None,
            air_error=0.0, remeshed=False, particles=self.monitor.report(self.steps),
            crossings=joined.crossings(now.x) if joined is not None else 0,
        )  # fmt: skip


def _part(state: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """The entries whose names begin so, without the beginning."""
    return {k[len(prefix) :]: a for k, a in state.items() if k.startswith(prefix)}
