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
from dataclasses import replace
from itertools import pairwise

import numpy as np

from limpet.dynamics.body import BodyReport, CondensedBody, OwnSolve
from limpet.dynamics.composite import CompositeBody, join_reports
from limpet.errors import LimpetError
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.pressure_field.condensed_soft import CondensedSoft
from limpet.pressure_field.field_contacts import FieldContacts, FieldPair
from limpet.pressure_field.field_step import FieldStep, first_minimum
from limpet.pressure_field.islands import Layout, StepPotential
from limpet.pressure_field.minimise import TOLERANCE, search
from limpet.pressure_field.soft_members import SoftMember, SoftMembers
from limpet.pressure_field.surface import ContactSurface
from limpet.pressure_field.wrench import area
from limpet.report import PatchReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray

BEHIND = 0.5  # of a pair's force
DEEPEST = 0.999  # of the lower modulus: pressure at the core
ITERATIONS = 40  # of the coupling with constraint sets
WIDER = (1.0, 4.0, 16.0)  # of the reach within which parts of a field may come to touch
SETTLED = 1e-9  # of the velocities: a line search that took the whole step


class FieldBodies(CompositeBody):
    """Bodies with pressure fields, and what is attached to them."""

    name = "pressure fields"
    deformable = movable = True
    staggered = ITERATIONS

    def __init__(
        self,
        bodies: Sequence[CondensedBody],
        members: Sequence[int],  # numbers of the members of each body, one body after the other
        framed: Mapping[int, RigidBody],  # the rigid members that have a field, by number
        soft: Mapping[int, SoftMember],  # and those that deform
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

        number = {m: i for each in (framed, soft) for i, m in enumerate(each)}
        self._framed = list(framed.values())
        self._marker = [place[b.name][b.frame : b.frame + 4] for b in self._framed]
        known = [replace(p, a=number[p.a], b=number[p.b]) for p in pairs]
        self.pairs = [p for p in known if not p.deforms]
        centres = np.array([b.rest_centre for b in self._framed]).reshape(-1, 3)
        self.contacts = FieldContacts(self.pairs, centres)
        deforming = [p for p in known if p.deforms]
        self._soft = SoftMembers(bodies, list(soft.values()), deforming, centres, place, self._own)
        self._layout = self._make_layout()
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
        deforms = len(self._soft.names) > 0
        carried = [_carried(b) for b in self._bodies]
        points = self.velocities() if deforms else np.zeros((0, 3))
        self._locate()
        if not self._checked:
            self._check_depth()
        for body in self._bodies:
            body.compute_free_velocity(h, gravity, time)
        after = self.velocities() if deforms else points
        for widen in WIDER:
            if deforms:
                self._soft.activate(h, *self._speeds(points, after), widen)
                self._layout = self._make_layout()
            before = self._soft.before(carried, points)
            self._step = first_minimum(self._potential(h, force, before), force)
            velocities = self.apply_impulse(h * force)
            if self._soft.complete(h, velocities, self._framed):
                return velocities
        self._step = replace(self._now(), residual=np.inf)
        return velocities

    def _potential(self, h: float, force: Array, before: Array) -> StepPotential:
        layout, n = self._layout, self._layout.size
        mass, mobility = np.zeros((n, n)), np.zeros((n, n))
        for body, own in zip(self._bodies, layout.columns):
            mass[own[:, None], own] = body.condensed_mass()
            mobility[own[:, None], own] = body.condensed_mobility()
        free = self._without_fields(h * (self._others + force))
        soft = self._soft.step(layout.columns, layout.column, self.velocities, h)
        prescribed = np.array([b.velocity() * (not b.movable) for b in self._framed])
        return StepPotential(
            self.contacts, soft, layout, mass, mobility, free, before, prescribed.reshape(-1, 6), h
        )

    def _speeds(self, *velocities: Array) -> tuple[list[float], Array]:
        """[m/s] of the fastest point of each soft body with a field, and of each rigid one."""
        fastest = np.max([np.linalg.norm(v, axis=1) for v in velocities], axis=0)
        place, out = 0, {}
        for m in self._members:
            out[m.name] = float(fastest[place : place + m.n_points].max(initial=0.0))
            place += m.n_points
        soft = [out[name] for name in self._soft.names]
        return soft, np.array([out[b.name] for b in self._framed])

    def _locate(self) -> None:
        """The patches at the present poses."""
        if self._begun:
            return
        centre = np.array([b.centre for b in self._framed]).reshape(-1, 3)
        quaternion = np.array([b.quaternion for b in self._framed]).reshape(-1, 4)
        self.contacts.begin(centre, quaternion)
        self._soft.begin(self.positions(), centre, quaternion)
        self._begun = True

    def _check_depth(self) -> None:
        """A run may press bodies to the core of a field, but not begin beyond it."""
        self._checked, loads = True, self.contacts.loads
        for k in range(len(self.pairs)):
            points = loads.points[loads.start[k] : loads.start[k + 1]]
            behind = points[points[:, 7] <= 0.0, 6].sum()  # where the pressure falls on approach
            if self.contacts.highest[k] > DEEPEST or behind > BEHIND * points[:, 6].sum():
                raise _too_deep(self.pairs[k])
        for k, touch in self._soft.overlapping():
            if touch.points is None:  # immersed
                raise _too_deep(self._soft.contacts.pairs[k])
            force = touch.points.force
            behind = force[touch.points.rise <= 0.0].sum()
            if touch.highest > DEEPEST or behind > BEHIND * force.sum():
                raise _too_deep(self._soft.contacts.pairs[k])

    def _make_layout(self) -> Layout:
        bodies, framed = self._bodies, self._framed
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
        return Layout(int(first[-1]), group, self._soft.groups, column, columns)

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
        wrenches, sides = step.potential.soft.markers(
            (terms.soft, terms.soft_friction), change, len(self._framed)
        )
        wrenches += terms.patches.impulse + terms.friction.impulse
        stiffness = terms.patches.stiffness + terms.friction.stiffness
        wrenches[bodies] -= (stiffness @ change[at]).reshape(-1, 6)
        by_fields = np.zeros((self.n_points, 3))
        for rigid, marker, wrench in zip(self._framed, self._marker, wrenches):
            by_fields[marker] = rigid.marker_impulses(wrench)
        self._soft.add_impulses(sides, by_fields)
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
            if not self._soft.complete(step.potential.h, self.velocities(), self._framed):
                residual = np.inf
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
        residual = TOLERANCE * step.residual
        own = OwnSolve(0, 0, 0, step.iterations, residual, step.residual <= 1.0, 0.0)
        return join_reports(each, own)

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
        return tuple(found) + self._soft_patches()

    def _soft_patches(self) -> tuple[PatchReport, ...]:
        """The pairs that touch of which one deforms."""
        found, step = [], self._now()
        forces: dict[int, Array] = {}
        for terms in (step.terms.soft, step.terms.soft_friction):
            for k, f in zip(terms.which, terms.pairs):
                active = step.potential.soft.pairs[k].active
                own = f.force[: len(active.a.vertices)].sum(axis=0)
                forces[active.number] = forces.get(active.number, np.zeros(3)) + own
        self._locate()
        for k, touch in self._soft.touching():
            fx, fy, fz = forces.get(k, np.zeros(3)).tolist()
            surface, pair = touch.surface, self._soft.contacts.pairs[k]
            highest = float(surface.corner_pressure.max())
            size = area(surface)[0]
            found.append(PatchReport(pair.names, (fx, fy, fz), size, highest, len(surface)))
        return tuple(found)

    def _surfaces(self) -> list[tuple[int, ContactSurface]]:
        """The pairs that touch, and where."""
        self._locate()
        touching = np.flatnonzero(self.contacts.highest > 0.0).tolist()
        return [(k, self.contacts.surface(k)) for k in touching]

    def contact_surfaces(self) -> tuple[ContactSurface, ...]:
        """Where pairs touch."""
        rigid = tuple(surface for _, surface in self._surfaces())
        return rigid + tuple(touch.surface for _, touch in self._soft.touching())

    def pressing(self) -> tuple[Array, Array]:
        """Where pairs press, (m, 3) [m], and the forces (m, 3) [N] on the first of each two."""
        self._locate()
        points, soft = self.contacts.loads.points, self._soft.pressing()
        place = np.concatenate([points[:, :3], *(p.place for p in soft)])
        forces = [p.force[:, None] * p.normal for p in soft]
        return place, np.concatenate([points[:, 6:7] * points[:, 3:6], *forces])

    def get_state(self) -> dict[str, Array]:
        return {"others": self._others.copy(), **super().get_state()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        super().set_state(state)
        self._others, self._step, self._begun = state["others"].copy(), None, False


def _carried(body: CondensedBody) -> Array:
    """Velocities that it has in every step."""
    velocity = body.condensed_velocity()
    return velocity[: body.n_carried] if isinstance(body, CondensedSoft) else velocity


def _too_deep(pair: FieldPair) -> LimpetError:
    return LimpetError(
        f"{pair.label} overlap deeper than their pressure field as the run begins; move them apart"
    )
