"""All constraint sets of a step in one problem: rows, compliance, solve, impulses.

W = h H A^-1 H^T, the Delassus operator, is the compliance of the rows (P eq 7, 10); their laws are
solved together, and the multipliers applied to the bodies (P eq 3). Nothing moves here: bodies say
where they would go, so a step that turns out to lack rows is solved again without taking it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.clock import Clock
from limpet.dynamics.body import Body
from limpet.dynamics.constraint_set import ConstraintSet, PointMap, StepContext
from limpet.errors import DivergedError, LimpetError
from limpet.linalg.reduced_compliance import join
from limpet.solver.elimination import Eliminated, eliminate
from limpet.solver.gauss_seidel import GaussSeidelSettings, Solution
from limpet.solver.laws import REGULARISED
from limpet.solver.layout import RowLayout, SolverMemory
from limpet.solver.newton import NewtonSettings
from limpet.solver.problem import FactoredDelassus, Problem

Array = np.ndarray

MANY_ROWS = 1.5  # for each coordinate that they act on: then W is not written out
MAX_ITERATIONS = 3  # of staggered coupling
COUPLED = 1e-4  # [m/s] by which a staggered body may yet change its velocities
MAX_RETRIES = 4  # solves with more rows when some were missed
IMMOBILE = 1e-14  # of the largest compliance: a row that acts on nothing that moves


@dataclass(frozen=True)
class StepSolution:
    """What the constraint sets did to the bodies in one step."""

    layout: RowLayout
    result: Solution
    multipliers: Array  # (r,) of all rows
    rates: Array  # (r,) H v
    force: Array  # (N, 3) [N] on all points, the user's included
    memory: SolverMemory

    def of(self, constraints: ConstraintSet) -> tuple[Array, Array]:
        """Multipliers and rates of one set."""
        name = constraints.name
        return self.layout.of(name, self.multipliers), self.layout.of(name, self.rates)


@dataclass(frozen=True)
class ConstraintSolver:
    """What stays the same from step to step."""

    points: PointMap
    method: NewtonSettings | GaussSeidelSettings
    regularisation: float
    warm_start: bool
    clock: Clock

    def solve(
        self, bodies: Sequence[Body], sets: Sequence[ConstraintSet], now: StepContext,
        last: SolverMemory,
    ) -> StepSolution:  # fmt: skip
        """One loop with three reasons to go on: a row that the velocities violate, a body that
        the forces have changed (staggered coupling), a collision that nobody knew of.
        """
        h, applied, memory = now.h, now.control.applied, last
        free, iterations, retries = self._velocities(bodies), 0, 0
        while True:
            layout = RowLayout.stack(sets)
            u = layout.jacobian.times(free) + layout.join("bias")
            problem, eliminated = self._assemble(bodies, layout, u, now)
            self.clock.lap("compliance")
            result = self._solve(problem, layout, memory, now)
            level = result.level if now.step % 10 else 0  # now and then try the direct way again
            memory = SolverMemory.of(layout, result.multipliers, level)
            multipliers = result.multipliers
            if eliminated is not None:
                multipliers = eliminated.complete(multipliers)
            self.clock.lap("solve")
            force = layout.jacobian.transpose_times(multipliers, len(free)) + applied
            self._apply(bodies, h * force)  # P eq 3
            v = self._velocities(bodies)
            if any(s.activate(v) for s in sets):
                self.clock.lap("correct")
                continue
            rates = layout.jacobian.times(v)
            self.clock.lap("correct")
            iterations += 1
            if self._relinearise(bodies, h * force) > COUPLED and iterations < MAX_ITERATIONS:
                free = self._free(bodies, h * applied)
                continue
            if self._recheck(bodies, sets, h) and retries < MAX_RETRIES:
                free, iterations, retries = self._free(bodies, h * applied), 0, retries + 1
                continue
            return StepSolution(layout, result, multipliers, rates, force, memory.after(last))

    def _velocities(self, bodies: Sequence[Body]) -> Array:
        return self.points.gather([body.velocities() for body in bodies])

    def _apply(self, bodies: Sequence[Body], impulse: Array) -> None:
        for body, own in zip(bodies, self.points.of_body):
            body.apply_impulse(impulse[own])

    def _free(self, bodies: Sequence[Body], impulse: Array) -> Array:
        """(N, 3) velocities without any multiplier."""
        self._apply(bodies, impulse)
        return self._velocities(bodies)

    def _relinearise(self, bodies: Sequence[Body], impulse: Array) -> float:
        pairs = zip(bodies, self.points.of_body)
        return max([body.relinearise(impulse[own]) for body, own in pairs])

    def _recheck(self, bodies: Sequence[Body], sets: Sequence[ConstraintSet], h: float) -> bool:
        if not sets:
            return False
        x, v = map(self.points.gather, zip(*(body.points_after(h) for body in bodies)))
        self.clock.lap("correct")
        again = False
        for constraints in sets:
            again |= constraints.recheck(x, v)
            self.clock.lap(constraints.phase)
        return again

    def _assemble(
        self, bodies: Sequence[Body], layout: RowLayout, u: Array, now: StepContext
    ) -> tuple[Problem, Eliminated | None]:
        """W = h sum of the bodies' H A^-1 H^T, and u (r,), what the rows do without multipliers.

        Eliminated rows hold whatever the laws do, so the laws see bodies that are joined already.
        """
        parts = []
        for body, local in zip(bodies, self.points.local):
            if body.movable:
                index, rows = layout.jacobian.select(local)
                if len(rows):
                    parts += [(index[at], part) for at, part in body.compliance(rows)]
        reduced, eliminated = join(parts, len(layout), now.h), None
        if layout.solved < len(layout):
            try:
                eliminated = eliminate(reduced, u, layout.solved)
            except np.linalg.LinAlgError:
                raise LimpetError(
                    f"{now.label}: joints are redundant: two of them hold the same point or axis, "
                    "or bodies that cannot move; remove one"
                ) from None
            reduced, u = eliminated.compliance, eliminated.free
        kind, start, data = layout.laws()
        regular = np.repeat(REGULARISED[kind], np.diff(start))  # (r,) bool
        diagonal, own = reduced.diagonal(), np.zeros(layout.solved)
        stuck = self._immobile(diagonal, regular, start)
        own[stuck] = 1.0
        regularisation = np.where(regular, self.regularisation * (diagonal + own), 0.0)
        regularisation += layout.join("compliance")[: layout.solved]
        u[stuck] = 1.0  # as if open
        w = FactoredDelassus(reduced, own)
        few = layout.solved > MANY_ROWS * len(reduced.s) and self.regularisation > 0.0
        problem = Problem(w if few else w.dense(), regularisation, u, kind, start, data, now.h)
        return problem, eliminated

    @staticmethod
    def _immobile(diagonal: Array, regularised: Array, start: Array) -> Array:
        """(r,) bool: blocks whose first row acts on nothing that moves; they are left out."""
        out = np.zeros(len(diagonal), bool)
        largest = diagonal[regularised].max(initial=0.0)
        block = np.repeat(np.arange(len(start) - 1), np.diff(start))
        stiff = diagonal[start[:-1]] <= IMMOBILE * largest
        out[regularised] = stiff[block][regularised]
        return out

    def _solve(
        self, problem: Problem, layout: RowLayout, memory: SolverMemory, now: StepContext
    ) -> Solution:
        if not np.all(np.isfinite(problem.free)):
            raise DivergedError(
                f"{now.label}: velocities diverged (NaN or Inf); lower the time step"
            )
        guess = memory.recall(layout) if self.warm_start else np.zeros(len(problem.free))
        result = self.method.solve(problem, guess, memory.level)
        if not np.all(np.isfinite(result.multipliers)):
            raise DivergedError(
                f"{now.label}: constraint forces diverged (NaN or Inf); lower the time step"
            )
        return result
