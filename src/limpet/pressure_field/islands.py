"""The potential of a step over islands: bodies that may touch within the step, directly or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from limpet.pressure_field.field_contacts import (
    FieldContacts,
    FrictionLoads,
    FrictionTerms,
    PatchTerms,
)
from limpet.pressure_field.minimise import Minimum, Objective, Terms, minimise, solve_positive
from limpet.pressure_field.point_terms import SurfacePoints
from limpet.pressure_field.soft_step import NO_SOFT_TERMS, SoftStep, SoftTerms

Array = np.ndarray

RAMP = 64  # parts, at most, in which a fast prescribed motion is followed
INEXACT = 0.01  # of the residual: what a Newton step may leave of friction
LAG = 0.005  # of the largest load: by which loads may change before friction takes the new ones
MARGIN = 4.0  # of what the fastest body moves in a step: pairs further apart do not meet


@dataclass(frozen=True)
class Layout:
    """Which of n velocities belong to the b bodies with fields; prescribed motions have none."""

    size: int  # n
    group: Array  # (b,) the condensed body that each belongs to
    soft_group: Array  # (s,) and that of each soft body with a field
    column: Array  # (b,) its first velocity, or -1
    columns: Sequence[Array]  # of each condensed body: its velocities

    def twists(self, velocity: Array, prescribed: Array) -> Array:
        """(b, 6) from velocities (n,), and those of prescribed motions (b, 6)."""
        out, free = prescribed.copy(), self.column >= 0
        out[free] = velocity[self.column[free, None] + np.arange(6)]
        return out


@dataclass(frozen=True)
class IslandTerms(Terms):
    """All terms over the velocities of an island."""

    smooth: Terms  # of pressure
    patches: PatchTerms
    friction: FrictionTerms
    soft: SoftTerms  # of pressure, where a body deforms
    soft_friction: SoftTerms

    @property
    def rubs(self) -> bool:
        return bool(self.friction.wrench.any() or self.soft_friction.impulse.any())

    def loads(self) -> Array:
        """[N] normal forces of all pairs."""
        return np.concatenate([self.patches.load, self.soft.load])


@dataclass(frozen=True)
class StepLoads:
    """Normal forces under which friction is taken, of rigid pairs and of those that deform."""

    rigid: FrictionLoads
    soft: Sequence[SurfacePoints | None]

    def of_pairs(self) -> Array:
        """[N]"""
        soft = [0.0 if p is None else float(p.force.sum()) for p in self.soft]
        return np.concatenate([self.rigid.of_pairs(), soft])

    @staticmethod
    def join(parts: Sequence[StepLoads]) -> StepLoads:
        return StepLoads(
            FrictionLoads.join([p.rigid for p in parts]), [s for p in parts for s in p.soft]
        )


@dataclass(frozen=True)
class Island:
    """Some velocities and the pairs that act on them."""

    columns: Array  # (n,) the velocities among all
    which: Array  # (m,) the pairs
    soft: Array  # (d,) those that deform, as the step counts them
    bodies: Array  # (s,) the bodies with fields that these velocities move
    place: Array  # (6 s,) their velocities within the island
    slot: Array  # (b,) number of a body among these, or -1

    @staticmethod
    def of(columns: Array, which: Array, soft: Array, layout: Layout) -> Island:
        bodies = np.flatnonzero(np.isin(layout.column, columns))
        bodies = bodies[np.argsort(layout.column[bodies])]
        first = np.searchsorted(columns, layout.column[bodies])
        slot = np.full(len(layout.column), -1)
        slot[bodies] = np.arange(len(bodies))
        place = (first[:, None] + np.arange(6)).ravel()
        return Island(columns, which, soft, bodies, place, slot)

    def vector(self, of_bodies: Array) -> Array:
        """(n,) over the velocities of the island, from (b, 6) of all bodies."""
        own = of_bodies[self.bodies].ravel()
        if len(own) == len(self.columns):  # in the same order
            return own
        out = np.zeros(len(self.columns))
        out[self.place] = own
        return out

    def matrix(self, of_slots: Array) -> Array:
        """(n, n) over the velocities of the island, from (6 s, 6 s)."""
        n = len(self.columns)
        if len(of_slots) == n:
            return of_slots
        out = np.zeros((n, n))
        out[self.place[:, None], self.place] = of_slots
        return out


@dataclass(frozen=True)
class StepPotential:
    """The potential of one step."""

    contacts: FieldContacts
    soft: SoftStep
    layout: Layout
    mass: Array  # (n, n)
    mobility: Array  # (n, n) its inverse
    free: Array  # (n,) velocities without fields
    before: Array  # (n,) as the step begins
    prescribed: Array  # (b, 6) velocities of prescribed motions
    h: float

    def islands(self) -> list[Island]:
        """Condensed bodies that pairs join which may touch; pairs that nothing moves."""
        layout, pairs = self.layout, self.contacts.pairs
        twists = np.array([layout.twists(v, self.prescribed) for v in (self.before, self.free)])
        speed = np.linalg.norm(twists[:, :, :3], axis=2)
        speed += np.linalg.norm(twists[:, :, 3:], axis=2) * self.contacts.radius
        near_soft = np.array([self._ends(k) for k in range(len(self.soft.pairs))], int)
        soft_group, soft_moves = near_soft.reshape(-1, 2, 2).transpose(2, 0, 1)
        margin = MARGIN * self.h * float(speed.max(initial=0.0))
        near = np.flatnonzero(self.contacts.gap <= margin)
        ends = np.array([(pairs[k].a, pairs[k].b) for k in near.tolist()], int).reshape(-1, 2)
        group = np.concatenate([layout.group[ends], soft_group])
        moves = np.concatenate([layout.column[ends] >= 0, soft_moves > 0])
        both = moves.all(axis=1)
        count = len(layout.columns)
        graph = coo_matrix((np.ones(both.sum()), group[both].T), (count, count))
        island = connected_components(graph, directed=False)[1]
        # of each pair, by an end that moves; -1: none does
        of_pair = np.where(moves[:, 0], island[group[:, 0]], island[group[:, 1]])
        of_pair = np.where(moves.any(axis=1), of_pair, -1)
        out = []
        for number in np.unique(of_pair).tolist():
            members: list[int] = np.flatnonzero(island == number).tolist()  # none is -1
            own = [np.zeros(0, int), *(layout.columns[i] for i in members)]
            columns = np.sort(np.concatenate(own))
            own_pairs, soft = of_pair[: len(near)] == number, of_pair[len(near) :] == number
            out.append(Island.of(columns, near[own_pairs], np.flatnonzero(soft), layout))
        return out

    def _ends(self, k: int) -> tuple[tuple[int, bool], tuple[int, bool]]:
        """The condensed bodies of a pair that deforms, and whether its members move."""
        layout, pair = self.layout, self.soft.pairs[k]
        first = int(layout.soft_group[pair.active.a.body]), True
        if pair.active.b is not None:
            return first, (int(layout.soft_group[pair.active.b.body]), True)
        return first, (int(layout.group[pair.rigid]), pair.column >= 0)

    def minimum(self, island: Island) -> tuple[Minimum[IslandTerms], StepLoads]:
        """Under the loads of friction as the step begins; again, if these have changed."""
        deforming = self.soft.loads(self.soft.at_start) if len(island.soft) else []
        loads = StepLoads(
            self.contacts.loads.take(island.which), [deforming[k] for k in island.soft]
        )
        found = self._minimum(island, loads)
        before, after = loads.of_pairs(), found.terms.loads()
        if np.abs(after - before).max(initial=0.0) > LAG * max(after.max(initial=0.0), 1e-300):
            twist = self._twists(island, found.terms.velocity, self.prescribed)
            rigid = self.contacts.loads_after(twist, island.which, self.h)
            loads = StepLoads(rigid, self.soft.loads(found.terms.soft))
            objective = self.objective(island, loads)
            again = minimise(objective, objective.evaluate(found.terms.velocity))
            found = replace(again, iterations=found.iterations + again.iterations)
        return found, loads

    def _minimum(self, island: Island, loads: StepLoads) -> Minimum[IslandTerms]:
        """From the last velocities; where bodies might pass each other unseen, from rest."""
        objective, contacts = self.objective(island, loads), self.contacts
        moving = self.layout.twists(self.before, self.prescribed)

        def reach(velocity: Array, twist: Array) -> float:
            own = contacts.start_reach(island.which, twist, self.h)
            return min(own, self.soft.start_reach(velocity, twist, island.soft, 1.0))

        if reach(self.before, moving) >= 1.0:
            return minimise(objective, objective.evaluate(self.before[island.columns]))
        velocity = np.zeros(len(island.columns))
        still = np.zeros(self.layout.size)
        parts = 1.0 / reach(still, self.layout.twists(still, self.prescribed))
        for k in range(1, int(np.clip(np.ceil(parts), 1, RAMP))):
            ramp = self.objective(island, loads, k / parts)
            velocity = minimise(ramp, ramp.evaluate(velocity)).terms.velocity
        return minimise(objective, objective.evaluate(velocity))

    def _twists(self, island: Island, velocity: Array, others: Array) -> Array:
        """(b, 6) of bodies of the island and of all others."""
        out = others.copy()
        out[island.bodies] = velocity[island.place].reshape(-1, 6)
        return out

    def _full(self, island: Island, velocity: Array) -> Array:
        """(n,) all velocities, from those of an island."""
        if len(velocity) == self.layout.size or not len(island.soft):
            return velocity
        out = np.zeros(self.layout.size)
        out[island.columns] = velocity
        return out

    def objective(
        self, island: Island, loads: StepLoads, share: float = 1.0
    ) -> Objective[IslandTerms]:
        """share: of the prescribed motions."""
        rest, none = share * self.prescribed, np.zeros_like(self.prescribed)
        at = np.ix_(island.columns, island.columns)
        mass, mobility, free = self.mass[at], self.mobility[at], self.free[island.columns]
        deforms = len(island.soft) > 0

        def friction(velocity: Array, with_rate: bool) -> tuple[FrictionTerms, SoftTerms]:
            return self._friction(island, velocity, loads, rest, with_rate, share)

        def rubbed(rough: tuple[FrictionTerms, SoftTerms]) -> Array:
            own = island.vector(rough[0].impulse)
            return own + rough[1].impulse[island.columns] if deforms else own

        def evaluate(velocity: Array) -> IslandTerms:
            twist = self._twists(island, velocity, rest)
            patches = self.contacts.patches(twist, island.which, island.slot, self.h)
            soft = self.soft.pressure(self._full(island, velocity), twist, island.soft, share)
            smooth = smooth_terms(island, velocity, patches)
            if deforms:
                smooth = Terms(
                    velocity, smooth.impulse + soft.impulse[island.columns],
                    smooth.stiffness + soft.stiffness[at],
                    smooth.round_off + soft.round_off[island.columns],
                )  # fmt: skip
            rough = friction(velocity, with_rate=False)
            impulse = smooth.impulse + rubbed(rough)
            return IslandTerms(
                velocity, impulse, smooth.stiffness, smooth.round_off, smooth, patches, rough[0],
                soft, rough[1],
            )  # fmt: skip

        def newton_step(terms: IslandTerms, residual: float) -> Array:
            """With pressure linear in the velocities, but friction as it is: it changes abruptly
            from sticking to sliding, and costs little to evaluate.
            """
            stiff = mass + terms.smooth.stiffness
            gradient = mass @ (terms.velocity - free) - terms.smooth.impulse
            aim = terms.velocity - solve_positive(stiff, gradient)
            if not terms.rubs:
                return aim - terms.velocity
            none = np.zeros((0, 0))

            def rub(velocity: Array) -> Terms:
                return Terms(velocity, rubbed(friction(velocity, with_rate=False)), none, none)

            def step(inner: Terms, residual: float) -> Array:
                rough, soft = friction(inner.velocity, with_rate=True)
                rate = island.matrix(rough.stiffness)
                rate = rate + soft.stiffness[at] if deforms else rate
                rest = stiff @ (inner.velocity - aim) - inner.impulse
                return -solve_positive(stiff + rate, rest)

            inner = Objective(stiff, mobility, aim, aim, rub, step, _any)
            found = minimise(inner, rub(terms.velocity), max(1.0, INEXACT * residual))
            return found.terms.velocity - terms.velocity

        def reach(terms: IslandTerms, change: Array) -> float:
            twist = self._twists(island, change, none)
            own = self.contacts.reach(terms.patches, twist, self.h)
            if not deforms:
                return own
            return min(own, self.soft.reach(terms.soft, self._full(island, change), twist))

        before = self.before[island.columns]
        return Objective(mass, mobility, free, before, evaluate, newton_step, reach)

    def _friction(
        self, island: Island, velocity: Array, loads: StepLoads, rest: Array, with_rate: bool,
        share: float,
    ) -> tuple[FrictionTerms, SoftTerms]:  # fmt: skip
        twist = self._twists(island, velocity, rest)
        rigid = self.contacts.friction(
            twist, island.which, loads.rigid, island.slot, self.h, with_rate
        )
        full = self._full(island, velocity)
        return rigid, self.soft.friction(full, twist, island.soft, loads.soft, with_rate, share)

    def with_friction_stiffness(
        self, island: Island, loads: StepLoads, terms: IslandTerms
    ) -> IslandTerms:
        """Terms whose stiffness is that of friction, too: for what is solved with other bodies."""
        rough, soft = self._friction(island, terms.velocity, loads, self.prescribed, True, 1.0)
        at = np.ix_(island.columns, island.columns)
        stiffness = terms.smooth.stiffness + island.matrix(rough.stiffness)
        if len(island.soft):
            stiffness = stiffness + soft.stiffness[at]
        return replace(terms, stiffness=stiffness, friction=rough, soft_friction=soft)

    def whole(self) -> Island:
        """All velocities and all pairs."""
        columns, which = np.arange(self.layout.size), np.arange(len(self.contacts.pairs))
        return Island.of(columns, which, np.arange(len(self.soft.pairs)), self.layout)


def join_terms(
    whole: Island, velocity: Array, islands: Sequence[Island], found: Sequence[IslandTerms]
) -> IslandTerms:
    """Terms of islands as those of the whole, whose pairs are theirs in this order.

    Only where no body deforms.
    """
    bodies, n = len(whole.slot), len(whole.bodies)
    impulse, round_off, rubbing = (np.zeros((bodies, 6)) for _ in range(3))
    stiffness = np.zeros((6 * n, 6 * n))
    room, load, none = [np.zeros(0)], [np.zeros(0)], np.zeros((0, 6))
    pressing, dragging = [none], [none]
    for island, terms in zip(islands, found):
        patches, friction = terms.patches, terms.friction
        impulse += patches.impulse
        round_off += patches.round_off
        rubbing += friction.impulse
        at = (6 * whole.slot[island.bodies][:, None] + np.arange(6)).ravel()
        stiffness[at[:, None], at] = patches.stiffness
        room.append(patches.room)
        load.append(patches.load)
        pressing.append(patches.wrench)
        dragging.append(friction.wrench)
    patches = PatchTerms(
        whole.which, impulse, stiffness, round_off, np.concatenate(room),
        np.concatenate(pressing), np.concatenate(load),
    )  # fmt: skip
    friction = FrictionTerms(rubbing, np.zeros((0, 0)), np.concatenate(dragging))
    smooth = smooth_terms(whole, velocity, patches)
    total = smooth.impulse + whole.vector(rubbing)
    return IslandTerms(
        velocity, total, smooth.stiffness, smooth.round_off, smooth, patches, friction,
        NO_SOFT_TERMS, NO_SOFT_TERMS,
    )  # fmt: skip


def smooth_terms(island: Island, velocity: Array, patches: PatchTerms) -> Terms:
    """Of pressure, over the velocities of an island."""
    return Terms(
        velocity, island.vector(patches.impulse), island.matrix(patches.stiffness),
        island.vector(patches.round_off),
    )  # fmt: skip


def _any(terms: Terms, change: Array) -> float:
    return np.inf
