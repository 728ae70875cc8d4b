"""How all bodies of a world answer to each other within one step: rows, compliance, solve.

The bodies have their free velocities. What acts between them is rows of H: contacts, points of
pressure-field patches, cavities, ties. W = h H A^-1 H^T is their compliance (P eq 7, 10); the laws
of all rows are solved together, and the multipliers applied (P eq 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.ledger import Cavity
from limpet.contact.contact_set import ContactSet
from limpet.contact.contacts import Contacts, contact_keys
from limpet.contact.rows import PatchRows, stack_rows
from limpet.dynamics.body import Body, Rows, rows_times, rows_transpose_times, select_rows
from limpet.errors import DivergedError
from limpet.fem.attachments import Attachments
from limpet.linalg.reduced_compliance import join
from limpet.model.settings import Settings
from limpet.pressure_field.patches import QuadraturePoints
from limpet.rigid.joints import Joints
from limpet.solver.elimination import Eliminated, eliminate
from limpet.solver.gauss_seidel import Solution, solve_by_sweeps
from limpet.solver.newton import NewtonSettings, solve_by_newton
from limpet.solver.problem import CONTACT, DATA, GAS, REGULATED, FactoredDelassus, Problem
from limpet.solver.warm_start import WarmStart

Array = np.ndarray

MANY_ROWS = 1.5  # for each coordinate that they act on: then W is not written out


@dataclass(frozen=True)
class Between:
    """What acts between the bodies in one step."""

    contacts: Contacts  # that may close; those that do are found
    patches: QuadraturePoints
    patch_rows: PatchRows
    cavities: tuple[Cavity, ...]


@dataclass(frozen=True)
class StepSolution:
    """What they did to each other."""

    contacts: Contacts  # solved for
    solution: Solution  # multipliers: of contacts, patches (three each), cavities
    force: Array  # (n, 3) [N] on all vertices
    rates: Array  # (r,) of each row
    memory: WarmStart

    @property
    def pressed(self) -> Array:
        """(k,) [N] normal forces of the contacts."""
        return self.solution.multipliers[: 3 * len(self.contacts) : 3]


@dataclass(frozen=True)
class ConstraintSolver:
    """What stays the same from step to step."""

    bodies: Sequence[Body]
    offset: Array  # (bodies + 1,) where each body's vertices begin
    joints: Joints
    carriers: Attachments
    friction: Array  # (bodies, bodies)
    touch: ContactSet
    atmosphere: Atmosphere
    settings: Settings
    h: float  # [s]

    def __call__(
        self,
        x: Array,
        free: Array,
        pull: Array,
        between: Between,
        solved: Array,
        memory: WarmStart,
        when: str,
        try_anew: bool,
        lap: Callable[[str], None],
    ) -> StepSolution:
        """Solve for the contacts `solved` (k,) and all others that would close if left out.

        x, free (n, 3): where the vertices are, and their velocities without any multiplier. pull
        (n, 3) [N]: forces from outside. when: for messages. try_anew: begin Newton with its direct
        way, whatever the last step needed.
        """
        while True:
            used = between.contacts.take(solved)
            rows, gaps = stack_rows(
                self.offset, used, between.patch_rows,
                [(c.mesh.support, c.gradient) for c in between.cavities], self.joints, x,
            )  # fmt: skip
            u = rows_times(rows.start, rows.vertex, rows.vector, free) + gaps / self.h
            problem, tied = self._problem(rows, u, used, between)
            lap("compliance")

            solution, memory = self._solve(problem, used, between, memory, when, try_anew)
            multipliers = tied.complete(solution.multipliers) if tied else solution.multipliers
            lap("solve")

            force = rows_transpose_times(rows.start, rows.vertex, rows.vector, multipliers, len(x))
            force = self.apply(force + pull)  # P eq 3
            v = np.concatenate([b.velocities() for b in self.bodies])
            violated = self.touch.violated(between.contacts, solved, v, self.h)
            lap("correct")
            if not violated.any():
                rates = rows_times(rows.start, rows.vertex, rows.vector, v)
                return StepSolution(used, solution, force, rates, memory)
            solved = solved | violated

    def begin(self, pull: Array) -> None:
        """With every body's own free velocity known: those of all that ride on others, and `pull`
        (n, 3) [N] from outside.
        """
        if len(self.carriers):
            self.carriers.begin()
        if pull.any():
            self.apply(pull)

    def apply(self, force: Array) -> Array:
        """Forces (n, 3) [N] on all vertices over the step, on top of the free velocities.

        Returns them with those between soft bodies and what they are attached to.
        """
        for i, body in enumerate(self.bodies):
            body.apply_impulse(self.h * force[self.offset[i] : self.offset[i + 1]])
        return self.carriers.apply(self.h * force) / self.h if len(self.carriers) else force

    def _problem(
        self, rows: Rows, free: Array, contacts: Contacts, between: Between
    ) -> tuple[Problem, Eliminated | None]:
        """W = h sum of the bodies' H A^-1 H^T, and `free` (r,), what the rows do without it.

        Ties hold whatever the laws do, so the laws see bodies that are tied already.
        """
        patches, cavities = between.patches, between.cavities
        n, h, c = len(rows), self.h, len(contacts)
        k = c + len(patches)
        parts = []
        for i, body in enumerate(self.bodies):
            if body.movable and not self.carriers.carries(i):
                index, its = select_rows(rows, self.offset[i], self.offset[i + 1])
                if len(its):
                    parts.append((index, body.compliance(its)))
        if len(self.carriers):
            parts.append((np.arange(n), self.carriers.compliance(rows)))
        reduced = join(parts, n, h)
        tied: Eliminated | None = None
        if len(self.joints):
            n = 3 * k + len(cavities)
            tied = eliminate(reduced, free, n)
            reduced, free = tied.compliance, tied.free
        diagonal = reduced.diagonal()
        # a contact whose vertices are all driven gives way to nothing: leave it out of the solve
        stiff = diagonal[: 3 * k : 3] <= 1e-14 * diagonal[: 3 * k].max(initial=0.0)
        stuck = np.repeat(stiff, 3)
        own, regularisation = np.zeros(n), np.zeros(n)
        own[: 3 * k][stuck] = 1.0
        regularisation[: 3 * k] = self.settings.regularisation * (diagonal + own)[: 3 * k]
        closed_by, gives_way = patches.contact_law_terms(h)
        free[3 * c : 3 * k : 3] -= closed_by
        regularisation[3 * c : 3 * k : 3] += gives_way
        creeps = patches.stiction_compliance()
        for way in (1, 2):
            regularisation[3 * c + way : 3 * k : 3] += creeps
        w = FactoredDelassus(reduced, own)
        few = n > MANY_ROWS * len(reduced.s) and self.settings.regularisation > 0.0
        free[: 3 * k][stuck] = 1.0  # as if open
        data = np.zeros((k + len(cavities), DATA))
        data[:c, 0] = self.friction[contacts.body_a, contacts.body_b]
        data[c:k, 0] = self.friction[patches.body_a, patches.body_b]
        around = self.atmosphere
        kind = np.array([CONTACT] * k + [GAS] * len(cavities), dtype=np.int32)
        for i, cavity in enumerate(cavities):
            volume, product = cavity.volume, cavity.gas.product
            if cavity.port_flow is not None:
                if (target := cavity.port_flow.to_line.target) is not None:
                    kind[k + i], data[k + i, :2] = REGULATED, (target, around.pressure)
                    continue
                volume, product = cavity.port_flow.gas_row(volume, cavity.air, h, around.rt)
            data[k + i] = volume, product, cavity.p_max, around.pressure, cavity.gas.exponent
        start = np.concatenate([3 * np.arange(k + 1), 3 * k + 1 + np.arange(len(cavities))])
        shape = kind, start.astype(np.int32), data, h
        return Problem(w if few else w.dense(), regularisation, free, *shape), tied

    def _solve(
        self, problem: Problem, contacts: Contacts, between: Between, memory: WarmStart, when: str,
        try_anew: bool,
    ) -> tuple[Solution, WarmStart]:  # fmt: skip
        keys = np.concatenate([contact_keys(contacts, self.offset), between.patches.key])
        normal = np.concatenate([contacts.normal, between.patches.normal])
        ids = np.array([c.id for c in between.cavities], dtype=np.int64)
        guess = np.zeros(len(problem.free))
        if self.settings.warm_start:
            guess = memory.recall(keys, normal, ids)
        if not np.all(np.isfinite(problem.free)):
            raise DivergedError(f"{when}: velocities left the finite; lower the time step")
        if isinstance(self.settings.solver, NewtonSettings):
            solution = solve_by_newton(problem, guess, self.settings.solver, memory.level)
        else:
            solution = solve_by_sweeps(problem, guess, self.settings.solver)
        if not np.all(np.isfinite(solution.multipliers)):
            raise DivergedError(f"{when}: the contact forces left the finite; lower the time step")
        level = 0 if try_anew else solution.level
        return solution, WarmStart.of(keys, normal, ids, solution.multipliers, level)
