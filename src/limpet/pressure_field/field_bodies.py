"""All bodies that touch by their pressure fields as one body of the step (F).

Contact by pressure fields has a potential energy U (F V), so a step minimises

    1/2 (v - v*)^T M (v - v*) + U(q + h v) + h D(v),

v* being the free velocities and D friction and dissipation: whatever the modulus, the mass and the
time step, no energy is created. The constraint sets see a body of the mass M + h^2 U'' + h D'' at
the last iterate. As that changes with the velocities, the coupling is iterated (`relinearise`): a
Newton step together with the sets, then a line search along it under their impulses (sequential
quadratic programming). Exact in every iteration: the constraints of the sets, and momentum.
Iterated: the contact forces of the fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from limpet.dynamics.body import BodyReport, CondensedBody, OwnSolve
from limpet.dynamics.composite import CompositeBody
from limpet.errors import LimpetError
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.pressure_field.field_contacts import FieldContacts, FieldPair, FrictionLoads
from limpet.pressure_field.islands import Island, IslandTerms, Layout, StepPotential
from limpet.pressure_field.minimise import TOLERANCE, search
from limpet.pressure_field.surface import ContactSurface, contact_surface
from limpet.pressure_field.wrench import area
from limpet.report import PatchReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray

BEHIND = 0.5  # of a pair's force
DEEPEST = 0.999  # of the lower modulus: pressure at the core
ITERATIONS = 40  # of the coupling with constraint sets
SETTLED = 1e-9  # of the velocities: a line search that took the whole step


class FieldBodies(CompositeBody):
    """Rigid bodies with pressure fields, and what is attached to them."""

    name = "pressure fields"
    deformable = movable = True
    staggered = ITERATIONS

    def __init__(
        self,
        bodies: Sequence[CondensedBody],
        members: Sequence[int],  # numbers of the members of each body, one body after the other
        framed: Mapping[int, RigidBody],  # the members that have a field, by number
        pairs: Sequence[FieldPair],
    ) -> None:
        self._bodies = bodies
        flat = [m for body in bodies for m in body.members]
        super().__init__([flat[i] for i in np.argsort(members)])
        ends = np.cumsum([0, *(m.n_points for m in self._members)])
        place = {m.name: np.arange(ends[i], ends[i + 1]) for i, m in enumerate(self._members)}
        self._own = [np.concatenate([place[m.name] for m in b.members]) for b in bodies]
        self._local = []  # (n_points,) int32 number of a point within each body, or -1
        for own in self._own:
            self._local.append(np.full(ends[-1], -1, np.int32))
            self._local[-1][own] = np.arange(len(own))

        number = {m: i for i, m in enumerate(framed)}
        self._framed = list(framed.values())
        self._marker = [place[b.name][b.frame : b.frame + 4] for b in self._framed]
        self.pairs = [replace(p, a=number[p.a], b=number[p.b]) for p in pairs]
        self.contacts = FieldContacts(self.pairs, np.array([b.rest_centre for b in self._framed]))
        self._layout = _layout(bodies, self._framed)
        self._others = np.zeros((self.n_points, 3))  # [N] of the constraint sets, in the last step
        self._step: FieldStep | None = None
        self._checked = False
        self._begun = False  # the contacts are those at the present poses

    @property
    def converged(self) -> bool:  # type: ignore[override]
        return self._step is None or self._step.residual <= 1.0

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        """The minimum under the forces that the sets are expected to exert: those of the last
        step.
        """
        force = np.zeros((self.n_points, 3)) if applied is None else applied
        before = self._velocity()
        self._locate()
        if not self._checked:
            self._check_depth()
        for body in self._bodies:
            body.compute_free_velocity(h, gravity, time)
        n = self._layout.size
        mass, mobility = np.zeros((n, n)), np.zeros((n, n))
        for body, own in zip(self._bodies, self._layout.columns):
            mass[own[:, None], own] = body.condensed_mass()
            mobility[own[:, None], own] = body.condensed_mobility()
        free = self._without_fields(h * (self._others + force))
        prescribed = np.array([b.velocity() * (not b.movable) for b in self._framed])
        potential = StepPotential(
            self.contacts, self._layout, mass, mobility, free, before, prescribed, h
        )
        self._step = _first_minimum(potential, force)
        return self.apply_impulse(h * force)

    def _locate(self) -> None:
        """The patches at the present poses."""
        if self._begun:
            return
        centre = np.array([b.centre for b in self._framed])
        self.contacts.begin(centre, np.array([b.quaternion for b in self._framed]))
        self._begun = True

    def _check_depth(self) -> None:
        """A run may press bodies to the core of a field, but not begin beyond it."""
        self._checked, loads = True, self.contacts.loads
        for k in range(len(self.pairs)):
            points = loads.points[loads.start[k] : loads.start[k + 1]]
            behind = points[points[:, 7] <= 0.0, 6].sum()  # where the pressure falls on approach
            if self.contacts.highest[k] > DEEPEST or behind > BEHIND * points[:, 6].sum():
                raise LimpetError(
                    f"{self.pairs[k].label} overlap deeper than their pressure field as the run "
                    "begins; move them apart"
                )

    def _without_fields(self, impulse: Array) -> Array:
        """(n,) velocities under impulses on the points, were there no fields."""
        for body, own in zip(self._bodies, self._own):
            body.apply_impulse(impulse[own])
        return self._velocity()

    def _velocity(self) -> Array:
        return np.concatenate([b.condensed_velocity() for b in self._bodies])

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        n, size, step = len(rows), self._layout.size, self._now()
        parts, b = [], np.zeros((n, size))
        for body, local, columns in zip(self._bodies, self._local, self._layout.columns):
            index, own = rows.select(local)
            if len(index):
                alone, carried = body.split_compliance(own)
                parts += [(index[at], part) for at, part in alone]
                b[index[:, None], columns] = carried
        column = np.tile(np.arange(size, dtype=np.int32), n)
        start = size * np.arange(n + 1, dtype=np.int32)
        s = np.linalg.inv(step.potential.mass + step.terms.stiffness)
        return [*parts, (np.arange(n), ReducedCompliance(start, column, b.ravel(), s))]

    def apply_impulse(self, impulse: Array) -> Array:
        """The Newton step from the last iterate, under these impulses."""
        step = self._now()
        if step.fresh and np.array_equal(step.impulse, impulse):
            return self.velocities()
        terms, free = step.terms, self._without_fields(impulse)
        mass = step.potential.mass
        gradient = mass @ (terms.velocity - free) - terms.impulse
        change = -np.linalg.solve(mass + terms.stiffness, gradient)
        at, bodies = step.whole.place, step.whole.bodies
        wrenches = terms.patches.impulse + terms.friction.impulse
        wrenches[bodies] -= (terms.stiffness @ change)[at].reshape(-1, 6)
        by_fields = np.zeros((self.n_points, 3))
        for rigid, marker, wrench in zip(self._framed, self._marker, wrenches):
            by_fields[marker] = rigid.marker_impulses(wrench)
        for body, own in zip(self._bodies, self._own):
            body.apply_impulse(impulse[own] + by_fields[own])
        self._step = replace(
            step, potential=replace(step.potential, free=free), impulse=impulse, fresh=True,
            by_fields=by_fields, change=change,
        )  # fmt: skip
        return self.velocities()

    def relinearise(self, impulse: Array) -> float:
        """A line search along the step just solved for. Zero: it has converged."""
        step = self._now()
        objective = step.potential.objective(step.whole, step.loads)
        found = search(objective, step.terms, step.change)
        residual = objective.residual(found)
        aim = step.terms.velocity + step.change
        off = float(np.abs(found.velocity - aim).max(initial=0.0))
        settled = off <= SETTLED * (1.0 + float(np.abs(aim).max(initial=0.0)))
        if residual <= 1.0 and settled:
            self._step = replace(step, residual=residual)
            return 0.0
        found = step.potential.with_friction_stiffness(step.whole, step.loads, found)
        self._step = replace(
            step, terms=found, residual=np.inf, iterations=step.iterations + 1, fresh=False
        )
        return np.inf

    def _now(self) -> FieldStep:
        assert self._step is not None, "compute_free_velocity comes first"
        return self._step

    def advance(self, h: float) -> None:
        step = self._now()
        self._others = step.impulse / h - step.applied
        super().advance(h)
        self._begun = False

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        step = self._now()
        total = force + step.by_fields / h
        each = [b.report(h, gravity, total[own]) for b, own in zip(self._bodies, self._own)]
        wrenches = {name: w for r in each for name, w in r.wrenches.items()}
        known = [r.momentum_residual for r in each if r.momentum_residual is not None]
        residual = TOLERANCE * step.residual
        own = OwnSolve(0, 0, 0, step.iterations, residual, step.residual <= 1.0, 0.0)
        return BodyReport(wrenches, float(np.max(known, initial=0.0)), own)

    def patches(self) -> tuple[PatchReport, ...]:
        """The pairs that touch."""
        if self._step is None:
            return ()
        found, terms = [], self._step.terms
        wrenches = terms.patches.wrench + terms.friction.wrench
        forces = dict(zip(terms.patches.which.tolist(), wrenches))
        for k, surface in self._surfaces():
            fx, fy, fz = forces.get(k, np.zeros(6))[:3].tolist()
            highest = float(surface.corner_pressure.max())
            names, size = self.pairs[k].names, area(surface)[0]
            found.append(PatchReport(names, (fx, fy, fz), size, highest, len(surface)))
        return tuple(found)

    def _surfaces(self) -> list[tuple[int, ContactSurface]]:
        """The pairs that touch, and where."""
        self._locate()
        out = []
        for k in np.flatnonzero(self.contacts.highest > 0.0).tolist():
            p = self.pairs[k]
            poses = []
            for i, (rotation, shift) in ((p.a, p.pose_a), (p.b, p.pose_b)):
                r, t = self._framed[i].pose()
                poses.append((r @ rotation, r @ shift + t))
            surface = contact_surface(p.field_a, poses[0], p.field_b, poses[1])
            if len(surface):
                out.append((k, surface))
        return out

    def contact_surfaces(self) -> tuple[ContactSurface, ...]:
        """Where pairs touch."""
        return tuple(surface for _, surface in self._surfaces())

    def pressing(self) -> tuple[Array, Array]:
        """Where pairs press, (m, 3) [m], and the forces (m, 3) [N] on the first of each two."""
        self._locate()
        points = self.contacts.loads.points
        return points[:, :3], points[:, 6:7] * points[:, 3:6]

    def get_state(self) -> dict[str, Array]:
        return {"others": self._others.copy(), **super().get_state()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        super().set_state(state)
        self._others, self._step, self._begun = state["others"].copy(), None, False


@dataclass(frozen=True)
class FieldStep:
    """How far a step has come."""

    potential: StepPotential  # with the free velocities under the impulses last given
    applied: Array  # (n_points, 3) [N] by the user
    terms: IslandTerms  # the last iterate, over all velocities
    residual: float  # 1 or less: converged
    iterations: int
    impulse: Array  # (n_points, 3) [N s] last given
    fresh: bool  # at the last iterate, so that the bodies move accordingly
    by_fields: Array  # (n_points, 3) [N s] of the fields, on the markers
    change: Array  # (n,) Newton step from the last iterate
    whole: Island  # all velocities, and the pairs that may touch
    loads: FrictionLoads  # of these pairs


def _first_minimum(potential: StepPotential, applied: Array) -> FieldStep:
    """Island by island, without rows of the sets."""
    velocity, residual, iterations = potential.free.copy(), 0.0, 0
    which, parts, islands = [np.zeros(0, int)], [], potential.islands()
    for island in islands:
        found, own = potential.minimum(island)
        parts.append(own)
        velocity[island.columns] = found.terms.velocity
        residual, iterations = max(residual, found.residual), max(iterations, found.iterations)
        which.append(island.which)
    whole = replace(potential.whole(), which=np.concatenate(which))
    loads = FrictionLoads.join(parts)
    if len(islands) == 1 and len(islands[0].columns) == potential.layout.size:
        terms = found.terms  # the surfaces are known
    else:
        terms = potential.objective(whole, loads).evaluate(velocity)
    terms = potential.with_friction_stiffness(whole, loads, terms)
    return FieldStep(
        potential, applied, terms, residual, iterations, np.zeros_like(applied), False,
        np.zeros_like(applied), np.zeros(potential.layout.size), whole, loads,
    )  # fmt: skip


def _layout(bodies: Sequence[CondensedBody], framed: Sequence[RigidBody]) -> Layout:
    first = np.cumsum([0, *(b.n_condensed for b in bodies)])
    group, column = np.zeros(len(framed), int), np.full(len(framed), -1)
    for k, body in enumerate(bodies):
        names = [m.name for m in body.members]
        for i, rigid in enumerate(framed):
            if rigid.name in names:
                group[i] = k
                if (at := body.condensed_columns(rigid)) is not None:
                    column[i] = first[k] + at
    columns = [np.arange(i, j) for i, j in pairwise(first)]
    return Layout(int(first[-1]), group, column, columns)
