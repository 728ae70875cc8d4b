"""Explicit and rigid bodies under velocity-level constraints: C's interactive setting, one step.

free velocities   every body by itself                                     (C eq 1-3)
contacts          closed forms, surfaces, sheets, at x
rows              distances, folds, points held and touching               (C 4)
sweep             impulses into the velocities, rigid and soft in turn     (C algorithm 1)
advance           x <- x + h v                                             (C eq 38, 39)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from limpet.bodies.particles import ParticleBody
from limpet.bodies.rigid import RigidBody
from limpet.collision.primitives import Primitive
from limpet.collision.scout import Part, Place, Scout
from limpet.collision.touches import Touches
from limpet.constraints.anchor import Anchors, anchors_at
from limpet.constraints.bending import Bends, Fold, folds, rest_sizes
from limpet.constraints.inextensible import Distances, Resists, bounds, transverse, turning
from limpet.constraints.pairs import Pairs
from limpet.constraints.threads import threads
from limpet.errors import DivergedError, LimpetError, require_positive
from limpet.geometry.nets import edge_lengths
from limpet.report import StepReport
from limpet.solver.averaged import averaged
from limpet.solver.sliding import Forms, slide
from limpet.solver.stack import (
    Poses,
    Stack,
    TouchMemory,
    follow_rows,
    moving,
    touch_pairs,
)
from limpet.solver.sweep import Impulses, Moving, Rows, Swept, fade, reactions, sweep, warm_start

Array = np.ndarray


CALM = 2.0  # [rad] that the fastest thread swings in a solve: beyond, loads pass on too slowly
TURNED = 0.3  # [rad] that an edge turns in a solve: beyond, it cannot be held along where it was


@dataclass(frozen=True)
class SweepPlan:
    """How a step is swept; the defaults are C's."""

    sweeps: int = 2  # at most
    most_sweeps: int = (
        0  # while an inextensible edge would be off by a tenth, or sheets would cross
    )
    rigid_sweeps: int = 100  # at most, among the rigid bodies, before each of these
    tolerance: float = 0.0  # [m/s] sweeps end when no row changes a velocity by more
    substeps: int = 1  # solves within a step, at least, for the contacts found at its start
    most_substeps: int = 10  # taut threads swing fast across: they are given shorter steps
    share: float = 0.1  # beta h: of an error that a step takes back (Baumgarte)
    warm_start: float = 0.9  # share of the last impulses that the sweeps of nodes start from
    continuous: bool = True  # sheets: also what would pass through within the step
    averaged: bool = False  # contacts of nodes as C 4.3: masses split, impulses averaged
    margin: float = 1e-3  # [m] contacts that come this near within the step are solved for

    def __post_init__(self) -> None:
        if min(self.sweeps, self.rigid_sweeps, self.substeps) < 1:
            raise LimpetError(
                f"sweeps = {self.sweeps}, rigid_sweeps = {self.rigid_sweeps}, substeps = "
                f"{self.substeps}: expected 1 or more each"
            )
        if not 0.0 < self.share <= 1.0:
            raise LimpetError(
                f"share = {self.share:g}: expected above 0, at most 1 (C: beta <= 1/h)"
            )


@dataclass(frozen=True)
class ConstrainedState:
    """Everything that the next step depends on."""

    step: int
    bodies: tuple[dict[str, Array], ...]
    impulses: Impulses | None
    memory: TouchMemory


class Constrained:
    """A world of explicit and rigid bodies. Add bodies, then constraints, then step."""

    def __init__(
        self,
        h: float = 0.02,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        friction: float = 0.5,
        plan: SweepPlan | None = None,
    ) -> None:
        self.h = require_positive("time step h", h, " s")
        self.gravity, self.plan = np.asarray(gravity, float), plan or SweepPlan()
        self.soft: list[ParticleBody] = []
        self.rigid: list[RigidBody] = []
        self.first = np.zeros(1, np.int64)  # where each soft body's nodes begin, and their number
        self._parts: list[Part] = []
        self._friction = friction
        self._pair_friction: dict[frozenset[str], float] = {}
        self._distances: list[Distances] = []
        self._bends: list[Bends] = []
        self._anchors: list[Anchors] = []
        self._built: tuple[Scout, Stack, Forms] | None = None
        self._impulses: Impulses | None = None
        self._last_h = h  # [s] of the solve that found them
        self._memory = TouchMemory(np.zeros(0, np.int64), np.zeros((0, 3)))
        self.steps, self.time = 0, 0.0
        self.substeps = 0  # of the last step
        self.clock: Callable[[], float] = perf_counter
        self.touches = Touches.none()
        self.swept = Swept(0, np.zeros(0), np.zeros(0))

    @property
    def bodies(self) -> list[ParticleBody | RigidBody]:
        return [*self.soft, *self.rigid]

    # What the world is made of

    def add(
        self, body: ParticleBody, thickness: float = 0.0, *, collides: bool = True,
        itself: bool = False,
    ) -> ParticleBody:  # fmt: skip
        """`thickness` [m] of a sheet, all round its triangles; `itself`: it may touch itself."""
        self._new(body.name)
        self.soft.append(body)
        self.first = np.append(self.first, self.first[-1] + body.n_surface)
        if collides:
            net, first = body.net, int(self.first[-2])
            self._parts.append(
                Part(body.name, first, -1, True, net.triangles, net.closed, None, thickness, itself)
            )
        return body

    def add_rigid(
        self, body: RigidBody, shape: Primitive | None = None, *, collides: bool = True
    ) -> RigidBody:
        """`shape`: a closed form that stands for its surface in contact."""
        self._new(body.name)
        self.rigid.append(body)
        if collides:
            i, moves = len(self.rigid) - 1, body.movable
            self._parts.append(
                Part(body.name, -1, i, moves, body.triangles, True, shape, 0.0, False)
            )
        return body

    def _new(self, name: str) -> None:
        if name in [b.name for b in self.bodies]:
            raise LimpetError(f"body '{name}' is there already: give each its own name")
        self._built = None

    def set_friction(self, a: str, b: str, mu: float) -> None:
        self._pair_friction[frozenset((a, b))] = mu
        self._built = None

    def inextensible(
        self, body: ParticleBody, edges: Array | None = None, resists: Resists = Resists.BOTH,
        most: float = np.inf, stiffness: float = np.inf, damping: float = 0.0,
    ) -> None:  # fmt: skip
        """Edges (k, 2) of the body, all of them if not given, keep their length.

        `most` [N] they bear; with `stiffness` [N/m] they are springs, taken implicitly.
        """
        nodes = self._nodes(body, body.net.edges if edges is None else edges)
        rest = edge_lengths(body.net.points, nodes)
        if len(rest) and rest.min() <= 0.0:
            raise LimpetError(f"edge {int(np.argmin(rest))} of '{body.name}' has no length at rest")
        order, flip, thread = threads(body.net.points, nodes)
        nodes = np.where(flip[:, None], nodes[order, ::-1], nodes[order])
        k, (lower, upper) = len(nodes), bounds(Resists(resists), most)
        self._distances.append(
            Distances(self._global(body, nodes), rest[order], np.full(k, lower), np.full(k, upper),
                      np.full(k, stiffness), np.full(k, damping), thread)
        )  # fmt: skip
        self._built = None

    def bending(
        self, body: ParticleBody, hinges: Array | None = None, fold: Fold = Fold.ANGLE,
        most: float = np.inf, stiffness: float = np.inf, damping: float = 0.0,
    ) -> None:  # fmt: skip
        """Folds (k, 4) of the body, all if not given, keep their angle at rest.

        `most` [N m] (of Fold.DOT [N]) they bear; with `stiffness` [N m/rad] they are springs.
        """
        nodes = self._nodes(body, body.net.hinges if hinges is None else hinges)
        x, k = body.net.points, len(nodes)
        kind, size = np.full(k, int(fold), np.int8), rest_sizes(x, nodes)
        rest, _ = folds(x, nodes, kind, size)
        lower, upper = bounds(Resists.BOTH, most)
        self._bends.append(
            Bends(self._global(body, nodes), kind, size, rest, np.full(k, lower),
                  np.full(k, upper), np.full(k, stiffness), np.full(k, damping))
        )  # fmt: skip
        self._built = None

    def anchor(
        self, body: ParticleBody | RigidBody, at: Array | Sequence[int] | Sequence[float],
        to: RigidBody | None = None,
    ) -> None:  # fmt: skip
        """Hold points of a body where they are, in the world or on the rigid body `to`.

        `at`: nodes of an explicit body, or points (k, 3) [m] of a rigid one.
        """
        target, own, poses = -1 if to is None else self._index(to), -1, Poses.of(self.rigid)
        if isinstance(body, ParticleBody):
            local = self._nodes(body, np.atleast_1d(np.asarray(at)))
            place, nodes = body.x[local], self._global(body, local)
        else:
            place, own = np.atleast_2d(np.asarray(at, float)), self._index(body)
            nodes = np.full(len(place), -1, np.int32)
        self._anchors.append(anchors_at(place, nodes, own, target, poses.centre, poses.turn))
        self._built = None

    def _index(self, body: RigidBody) -> int:
        if not any(body is b for b in self.rigid):
            raise LimpetError(f"anchor to '{body.name}': it is no body of this world; add it first")
        return next(i for i, b in enumerate(self.rigid) if b is body)

    def _nodes(self, body: ParticleBody, nodes: Array) -> Array:
        if not any(body is b for b in self.soft):
            raise LimpetError(f"body '{body.name}' is not in this world: add it first")
        nodes = np.asarray(nodes)
        if nodes.dtype.kind not in "iu" or (
            nodes.size and (nodes.min() < 0 or nodes.max() >= body.n_surface)
        ):
            raise LimpetError(
                f"nodes {nodes.ravel()[:6].tolist()} of '{body.name}': expected whole numbers "
                f"from 0 to {body.n_surface - 1}"
            )
        return nodes

    def _global(self, body: ParticleBody, nodes: Array) -> Array:
        i = next(i for i, b in enumerate(self.soft) if b is body)
        return np.ascontiguousarray(nodes + self.first[i], dtype=np.int32)

    # The step

    def run(self, duration: float) -> Iterator[StepReport]:
        require_positive("duration", duration, " s")
        return (self.step() for _ in range(max(1, round(duration / self.h))))

    def step(self) -> StepReport:
        """Advance by h, in `substeps` solves for the contacts found at its start."""
        clock, plan = _Clock(self.clock), self.plan
        scout, stack, forms = self._build()
        substeps = self.substeps = self._substeps(stack)
        h = self.h / substeps
        x, poses = self.positions(), Poses.of(self.rigid)
        touches = scout.find(self._places(poses), self.h, plan.margin)
        among_rigid = (touches.rigid_a >= 0) & (touches.rigid_b >= 0)
        groups = touches.take(among_rigid), touches.take(~among_rigid)
        pairs = [touch_pairs(t, x, poses) for t in groups]
        clock.lap("collision")

        p, sweeps = self._guess(stack, groups, pairs, h), 0
        rows: Rows | None = None
        for sub in range(substeps):
            for body in self.bodies:
                body.free_velocity(h, self.gravity, self.time + sub * h)
            on = moving(self.soft, self.rigid, stack.pins, x, h)
            clock.lap("free")

            if rows is None:
                rows = stack.rows(x, poses, on, pairs[0], pairs[1], h, plan.share)
            else:
                rows = stack.again(rows, x, poses, on, h, plan.share)
            self._fade(p)
            if plan.averaged:
                p.contacts[:] = 0.0
            warm_start(rows, p, on)
            clock.lap("compliance")

            if not (np.all(np.isfinite(on.v)) and np.all(np.isfinite(on.rigid_v))):
                raise DivergedError(
                    f"step {self.steps + 1} at {self.time:.4g} s: velocities left the finite; "
                    "lower h, or take more substeps"
                )
            if plan.averaged:
                self._average(rows, p, on, h)
            self.swept = sweep(
                rows, p, on, h, plan.sweeps, plan.rigid_sweeps, plan.tolerance, plan.most_sweeps
            )
            sweeps += self.swept.sweeps
            clock.lap("solve")

            last = sub + 1 == substeps
            asked = last and self._driven()
            self._take(on, reactions(rows, p, len(x), len(self.rigid)) if asked else None)
            for body in self.bodies:
                body.advance(h)
            x, poses = self.positions(), Poses.of(self.rigid)
            if not last:
                follow_rows(rows, on, h)
                slide(rows.contacts.pairs, p.contacts, x, poses.centre, poses.turn, forms)
            clock.lap("correct")
        self._impulses, self._last_h = p, h
        self._memory = TouchMemory.of(groups, pairs, (p.rigid_contacts, p.contacts))
        self.touches = touches
        self.steps += 1
        self.time = self.steps * self.h
        clock.lap("correct")
        return self._report(clock.phases, p, sweeps)

    def _substeps(self, stack: Stack) -> int:
        """How many solves a step needs: what explicit bodies, taut threads and fast edges ask for.

        A thread of tension T swings across at about sqrt(4 T/m L).
        """
        plan = self.plan
        wanted = max((self.h / b.stable_step() for b in self.soft), default=0.0)
        if len(stack.distances.rest):
            v = np.concatenate([b.v for b in self.soft])
            wanted = max(wanted, self.h * turning(v, stack.distances) / TURNED)
        if self._impulses is not None and len(stack.distances.rest):
            mass = np.concatenate([b.inverse_mass for b in self.soft])
            swing = transverse(self._impulses.distances / self._last_h, stack.distances, mass)
            wanted = max(wanted, self.h * swing / CALM)
        most = max(plan.substeps, plan.most_substeps)
        return int(min(max(plan.substeps, np.ceil(wanted)), most))

    def _average(self, rows: Rows, p: Impulses, on: Moving, h: float) -> None:
        """Let the contacts of nodes act as C 4.3 has them; the sweep passes over them."""
        body = np.repeat(np.arange(len(self.soft)), np.diff(self.first))
        mass = np.array([b.mass for b in self.soft])
        rigid = np.array([b.mass if b.movable else 0.0 for b in self.rigid])
        pairs, wanted = rows.contacts.pairs, rows.contacts.wanted
        averaged(
            pairs, wanted, p.contacts, on, body, mass, rigid, self.gravity, h, self.plan.sweeps
        )
        rows.contacts.w[:] = 0.0  # as of what cannot move: the sweep passes over it

    def _take(self, on: Moving, pushed: tuple[Array, Array] | None) -> None:
        """Hand the velocities to the bodies; `pushed` says what drives and fixtures had to bear."""
        for i, soft in enumerate(self.soft):
            own = slice(self.first[i], self.first[i + 1])
            soft.reach(on.v[own], None if pushed is None else pushed[0][own])
        for i, rigid in enumerate(self.rigid):
            rigid.reach(on.rigid_v[i], None if pushed is None else pushed[1][i])

    def _driven(self) -> bool:
        """Whether a drive or fixture wants to know what it bears."""
        return any(len(b.driven) for b in self.soft) or any(b.prescribed for b in self.rigid)

    def positions(self) -> Array:
        """(n, 3) [m] all nodes."""
        return np.concatenate([np.zeros((0, 3)), *(b.x for b in self.soft)])

    def _places(self, poses: Poses) -> list[Place]:
        """Where the parts are, moving as they will if nothing but gravity acts."""
        out, fall = [], self.h * self.gravity
        for part in self._parts:
            if part.rigid < 0:
                soft = self._soft_of(part)
                out.append(Place(soft.x, soft.v + fall, np.zeros(3), np.eye(3), np.zeros(6)))
                continue
            i, body = part.rigid, self.rigid[part.rigid]
            v = body.surface_velocities() + (fall if body.movable else 0.0)
            motion = np.concatenate([body.v + (fall if body.movable else 0.0), body.w])
            place = body.surface_positions()
            out.append(Place(place, v, poses.centre[i], poses.turn[i], motion))
        return out

    def _build(self) -> tuple[Scout, Stack, Forms]:
        if self._built is None:
            places = self._places(Poses.of(self.rigid))
            scout = Scout.of(self._parts, places, self.friction_between, self.plan.continuous)
            stack = Stack.of(self._distances, self._bends, self._anchors)
            self._built, self._impulses = (scout, stack, self._forms()), None
        return self._built

    def _forms(self) -> Forms:
        shapes: list[Primitive | None] = [None] * len(self.rigid)
        thickness = np.zeros(self.first[-1])
        for part in self._parts:
            if part.rigid >= 0:
                shapes[part.rigid] = part.shape
            else:
                n = part.first + self._soft_of(part).n_surface
                thickness[part.first : n] = part.thickness
        return Forms.of(shapes, thickness)

    def _soft_of(self, part: Part) -> ParticleBody:
        return self.soft[int(np.searchsorted(self.first, part.first, side="right")) - 1]

    def _guess(
        self, stack: Stack, groups: tuple[Touches, Touches], pairs: list[Pairs], h: float
    ) -> Impulses:
        fresh, old = stack.zeros(len(groups[0]), len(groups[1])), self._impulses
        share = self.plan.warm_start
        if old is None or share == 0.0:
            return fresh
        recalled = [self._memory.recall(t, q) for t, q in zip(groups, pairs)]
        old = old._replace(rigid_contacts=recalled[0], contacts=recalled[1])
        return Impulses(*((h / self._last_h) * q for q in old))

    def _fade(self, p: Impulses) -> None:
        """Leave the share that a solve starts from; rigid bodies among themselves start from all.

        Directions turn from step to step: with all of the old impulses, rows that two sweeps leave
        unsolved would gain energy (C 4.6).
        """
        for q in (p.distances, p.bends, p.held, p.contacts):
            fade(q.reshape(-1), self.plan.warm_start)

    def friction_between(self, a: str, b: str) -> float:
        return self._pair_friction.get(frozenset((a, b)), self._friction)

    def get_state(self) -> ConstrainedState:
        bodies = tuple(b.get_state() for b in self.bodies)
        old = self._impulses
        kept = None if old is None else Impulses(*(q.copy() for q in old))
        return ConstrainedState(self.steps, bodies, kept, self._memory)

    def set_state(self, state: ConstrainedState) -> None:
        self._build()
        for body, own in zip(self.bodies, state.bodies):
            body.set_state(own)
        old = state.impulses
        self._impulses = None if old is None else Impulses(*(q.copy() for q in old))
        self._memory, self.steps, self.time = state.memory, state.step, state.step * self.h

    def _report(self, phases: dict[str, float], p: Impulses, sweeps: int) -> StepReport:
        pressed = int((p.contacts[:, 0] > 0.0).sum() + (p.rigid_contacts[:, 0] > 0.0).sum())
        change = float(self.swept.change[-1])
        drives = {b.name: b.drive_force(self.h) for b in self.soft if len(b.driven)}
        drives |= {b.name: b.drive_force(self.h) for b in self.rigid if b.motion is not None}
        return StepReport(
            step=self.steps, time=self.time, phases=phases,
            rows=sum(q.size for q in p), contacts=len(self.touches), touching=pressed,
            residual=change, converged=change <= self.plan.tolerance, iterations=0, sweeps=sweeps,
            max_penetration=max(0.0, -float(self.touches.gap.min(initial=0.0))),
            cavities=(), drives=drives, balance_error=0.0, air_error=0.0, remeshed=False,
        )  # fmt: skip


class _Clock:
    """Time by phase."""

    def __init__(self, now: Callable[[], float]) -> None:
        names = ("free", "collision", "cavities", "compliance", "solve", "correct")
        self.now, self.last, self.phases = now, now(), dict.fromkeys(names, 0.0)

    def lap(self, phase: str) -> None:
        now = self.now()
        self.phases[phase] += now - self.last
        self.last = now
