"""The potential of a step over islands: bodies that may touch within the step, directly or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from limpet.pressure_field.minimise import Minimum, Objective, Terms, minimise

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
        first = np.searchsorted(columns, layout.column[bodies])
        slot = np.full(len(layout.column), -1)
        slot[bodies] = np.arange(len(bodies))
        place = (first[:, None] + np.arange(6)).ravel()
        return Island(columns, which, bodies, place, slot)

    def spread(self, velocity: Array, of: PatchTerms | FrictionTerms) -> Terms:
        """Terms of the bodies over the velocities of the island."""
        n, at = len(velocity), self.place
        impulse, round_off, stiffness = np.zeros(n), np.zeros(n), np.zeros((n, n))
        impulse[at] = of.impulse[self.bodies].ravel()
        stiffness[at[:, None], at] = of.stiffness
        if isinstance(of, PatchTerms):
            round_off[at] = of.round_off[self.bodies].ravel()
        return Terms(velocity, impulse, stiffness, round_off)


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

        def rub(velocity: Array) -> Terms:
            twist = self._twists(island, velocity, rest)
            found = self.contacts.friction(twist, island.which, loads, island.slot, self.h)
            return island.spread(velocity, found)

        def evaluate(velocity: Array) -> IslandTerms:
            twist = self._twists(island, velocity, rest)
            patches = self.contacts.patches(twist, island.which, island.slot, self.h)
            friction = self.contacts.friction(twist, island.which, loads, island.slot, self.h)
            one, two = island.spread(velocity, patches), island.spread(velocity, friction)
            return IslandTerms(
                velocity, one.impulse + two.impulse, one.stiffness + two.stiffness,
                one.round_off, one, patches, friction,
            )  # fmt: skip

        def newton_step(terms: IslandTerms, residual: float) -> Array:
            """With pressure linear in the velocities, but friction as it is: it changes abruptly
            from sticking to sliding, and costs little to evaluate.
            """
            stiff = mass + terms.smooth.stiffness
            gradient = mass @ (terms.velocity - free) - terms.smooth.impulse
            aim = terms.velocity - np.linalg.solve(stiff, gradient)
            if not terms.friction.wrench.any():
                return aim - terms.velocity
            inner = Objective(stiff, mobility, aim, aim, rub, _newton_step(stiff, aim), _any)
            found = minimise(inner, rub(terms.velocity), max(1.0, INEXACT * residual))
            return found.terms.velocity - terms.velocity

        def reach(terms: IslandTerms, change: Array) -> float:
            twist = self._twists(island, change, none)
            return self.contacts.reach(terms.patches, twist, self.h)

        before = self.before[island.columns]
        return Objective(mass, mobility, free, before, evaluate, newton_step, reach)

    def whole(self) -> Island:
        """All velocities and all pairs."""
        columns, which = np.arange(self.layout.size), np.arange(len(self.contacts.pairs))
        return Island.of(columns, which, self.layout)


def _newton_step(mass: Array, free: Array) -> Callable[[Terms, float], Array]:
    def step(terms: Terms, residual: float) -> Array:
        gradient = mass @ (terms.velocity - free) - terms.impulse
        return -np.linalg.solve(mass + terms.stiffness, gradient)

    return step


def _any(terms: Terms, change: Array) -> float:
    return np.inf
