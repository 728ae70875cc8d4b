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


@dataclass(frozen=True)
class Island:
    """Some velocities and the pairs that act on them."""

    columns: Array  # (n,) the velocities among all
    which: Array  # (m,) the pairs
    bodies: Array  # (s,) the bodies with fields that these velocities move
    place: Array  # (6 s,) their velocities within the island
    slot: Array  # (b,) number of a body among these, or -1

    @staticmethod
    def of(columns: Array, which: Array, layout: Layout) -> Island:
        bodies = np.flatnonzero(np.isin(layout.column, columns))
        bodies = bodies[np.argsort(layout.column[bodies])]
        first = np.searchsorted(columns, layout.column[bodies])
        slot = np.full(len(layout.column), -1)
        slot[bodies] = np.arange(len(bodies))
        place = (first[:, None] + np.arange(6)).ravel()
        return Island(columns, which, bodies, place, slot)

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
        margin = MARGIN * self.h * float(speed.max(initial=0.0))
        near = np.flatnonzero(self.contacts.gap <= margin)
        ends = np.array([(pairs[k].a, pairs[k].b) for k in near.tolist()], int).reshape(-1, 2)
        group, moves = layout.group[ends], layout.column[ends] >= 0
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
            out.append(Island.of(columns, near[of_pair == number], layout))
        return out

    def minimum(self, island: Island) -> tuple[Minimum[IslandTerms], FrictionLoads]:
        """Under the loads of friction as the step begins; again, if these have changed."""
        loads = self.contacts.loads.take(island.which)
        found = self._minimum(island, loads)
        before, after = loads.of_pairs(), found.terms.patches.load
        if np.abs(after - before).max(initial=0.0) > LAG * max(after.max(initial=0.0), 1e-300):
            twist = self._twists(island, found.terms.velocity, self.prescribed)
            loads = self.contacts.loads_after(twist, island.which, self.h)
            objective = self.objective(island, loads)
            again = minimise(objective, objective.evaluate(found.terms.velocity))
            found = replace(again, iterations=found.iterations + again.iterations)
        return found, loads

    def _minimum(self, island: Island, loads: FrictionLoads) -> Minimum[IslandTerms]:
        """From the last velocities; where bodies might pass each other unseen, from rest."""
        objective, contacts = self.objective(island, loads), self.contacts
        moving = self.layout.twists(self.before, self.prescribed)
        if contacts.start_reach(island.which, moving, self.h) >= 1.0:
            return minimise(objective, objective.evaluate(self.before[island.columns]))
        velocity = np.zeros(len(island.columns))
        alone = self.layout.twists(np.zeros(self.layout.size), self.prescribed)
        parts = 1.0 / contacts.start_reach(island.which, alone, self.h)
        for k in range(1, int(np.clip(np.ceil(parts), 1, RAMP))):
            ramp = self.objective(island, loads, k / parts)
            velocity = minimise(ramp, ramp.evaluate(velocity)).terms.velocity
        return minimise(objective, objective.evaluate(velocity))

    def _twists(self, island: Island, velocity: Array, others: Array) -> Array:
        """(b, 6) of bodies of the island and of all others."""
        out = others.copy()
        out[island.bodies] = velocity[island.place].reshape(-1, 6)
        return out

    def objective(
        self, island: Island, loads: FrictionLoads, share: float = 1.0
    ) -> Objective[IslandTerms]:
        """share: of the prescribed motions."""
        rest, none = share * self.prescribed, np.zeros_like(self.prescribed)
        at = np.ix_(island.columns, island.columns)
        mass, mobility, free = self.mass[at], self.mobility[at], self.free[island.columns]

        def friction(velocity: Array, with_rate: bool) -> FrictionTerms:
            twist = self._twists(island, velocity, rest)
            return self.contacts.friction(
                twist, island.which, loads, island.slot, self.h, with_rate
            )

        def evaluate(velocity: Array) -> IslandTerms:
            twist = self._twists(island, velocity, rest)
            patches = self.contacts.patches(twist, island.which, island.slot, self.h)
            smooth = Terms(
                velocity, island.vector(patches.impulse), island.matrix(patches.stiffness),
                island.vector(patches.round_off),
            )  # fmt: skip
            rough = friction(velocity, with_rate=False)
            impulse = smooth.impulse + island.vector(rough.impulse)
            return IslandTerms(
                velocity, impulse, smooth.stiffness, smooth.round_off, smooth, patches, rough
            )

        def newton_step(terms: IslandTerms, residual: float) -> Array:
            """With pressure linear in the velocities, but friction as it is: it changes abruptly
            from sticking to sliding, and costs little to evaluate.
            """
            stiff = mass + terms.smooth.stiffness
            gradient = mass @ (terms.velocity - free) - terms.smooth.impulse
            aim = terms.velocity - solve_positive(stiff, gradient)
            if not terms.friction.wrench.any():
                return aim - terms.velocity
            none = np.zeros((0, 0))

            def rub(velocity: Array) -> Terms:
                impulse = island.vector(friction(velocity, with_rate=False).impulse)
                return Terms(velocity, impulse, none, none)

            def step(inner: Terms, residual: float) -> Array:
                rate = island.matrix(friction(inner.velocity, with_rate=True).stiffness)
                rest = stiff @ (inner.velocity - aim) - inner.impulse
                return -solve_positive(stiff + rate, rest)

            inner = Objective(stiff, mobility, aim, aim, rub, step, _any)
            found = minimise(inner, rub(terms.velocity), max(1.0, INEXACT * residual))
            return found.terms.velocity - terms.velocity

        def reach(terms: IslandTerms, change: Array) -> float:
            twist = self._twists(island, change, none)
            return self.contacts.reach(terms.patches, twist, self.h)

        before = self.before[island.columns]
        return Objective(mass, mobility, free, before, evaluate, newton_step, reach)

    def with_friction_stiffness(
        self, island: Island, loads: FrictionLoads, terms: IslandTerms
    ) -> IslandTerms:
        """Terms whose stiffness is that of friction, too: for what is solved with other bodies."""
        twist = self._twists(island, terms.velocity, self.prescribed)
        rough = self.contacts.friction(twist, island.which, loads, island.slot, self.h)
        return replace(terms, stiffness=terms.smooth.stiffness + island.matrix(rough.stiffness))

    def whole(self) -> Island:
        """All velocities and all pairs."""
        columns, which = np.arange(self.layout.size), np.arange(len(self.contacts.pairs))
        return Island.of(columns, which, self.layout)


def _any(terms: Terms, change: Array) -> float:
    return np.inf
