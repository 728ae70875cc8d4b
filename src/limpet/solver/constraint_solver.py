"""All constraint sets of a step in one problem: rows, compliance, solve, impulses.

W = h H A^-1 H^T, the Delassus operator, is the compliance of the rows (P eq 7, 10); their laws are
solved together, and the multipliers applied to the bodies (P eq 3). Nothing moves here: bodies say
where they would go, so a step that turns out to lack rows is solved again without taking it back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.clock import Clock
from limpet.dynamics.body import COUPLED, Body
from limpet.dynamics.constraint_set import ConstraintSet, PointMap, StepContext
from limpet.dynamics.warm_start import SolverMemory
from limpet.errors import DivergedError, LimpetError
from limpet.linalg.reduced_compliance import join
from limpet.solver.elimination import Eliminated, eliminate
from limpet.solver.gauss_seidel import GaussSeidelSettings, Solution
from limpet.solver.laws import REGULARISED
from limpet.solver.layout import RowLayout
from limpet.solver.newton import NewtonSettings
from limpet.solver.problem import FactoredDelassus, Problem

Array = np.ndarray

MANY_ROWS = 1.5  # for each coordinate that they act on: then W is not written out
MAX_RETRIES = 4  # solves with more rows when some were missed
IMMOBILE = 1e-14  # of the largest compliance: a row that acts on nothing that moves


@dataclass(frozen=True)
class StepSolution:
    """What the constraint sets did to the bodies in one step."""

    h: float  # [s]
    converged: bool  # the laws of the sets, and what bodies solve themselves
    result: Solution
    parts: Mapping[str, tuple[Array, Array]]  # by set: multipliers and H v of its rows
    force: Array  # (N, 3) [N] on all points, the user's included
    memory: SolverMemory
    after: tuple[Array, Array] | None  # (N, 3) where the points will be, and their velocities


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
        free: Array, last: SolverMemory,
    ) -> StepSolution:  # fmt: skip
        """One loop with three reasons to go on: a row that the velocities violate, a body that
        the forces have changed (staggered coupling), a collision that nobody knew of.

        free (N, 3): velocities of all points without any multiplier.
        """
        h, applied, memory, after = now.h, now.control.applied, last, None
        iterations = retries = 0
        most = MAX_RETRIES + sum(s.retries for s in sets)
        while True:
            layout = RowLayout.stack(sets)
            u = layout.jacobian.times(free) + layout.bias
            problem, eliminated = self._assemble(bodies, layout, u, now)
            self.clock.lap("compliance")
            result = self._solve(problem, layout, memory, now)
            level = result.level if now.step % 10 else 0  # now and then try the direct way again
            memory = SolverMemory.of(layout.blocks, layout.part, result.multipliers, level)
            multipliers = result.multipliers
            if eliminated is not None:
                multipliers = eliminated.complete(multipliers)
            self.clock.lap("solve")
            force = layout.jacobian.transpose_times(multipliers, len(free)) + applied
            v = self._apply(bodies, h * force)  # P eq 3
            if any(s.activate(v) for s in sets):
                self.clock.lap("correct")
                continue
            self.clock.lap("correct")
            iterations += 1
            if self._relinearise(bodies, h * force, iterations) > COUPLED:
                free = self._apply(bodies, h * applied)
                continue
            rates = layout.jacobian.times(v)
            if sets:
                after = self._points_after(bodies, h)
                self.clock.lap("correct")
                if self._recheck(sets, *after) and retries < most:
                    free, iterations, retries = self._apply(bodies, h * applied), 0, retries + 1
                    continue
            parts = {n: (multipliers[p], rates[p]) for n, p in layout.part.items()}
            converged = result.converged and all(body.converged for body in bodies)
            return StepSolution(h, converged, result, parts, force, memory.after(last), after)

    def _apply(self, bodies: Sequence[Body], impulse: Array) -> Array:
        """(N, 3) velocities of all points under the impulses."""
        pairs = zip(bodies, self.points.of_body)
        return self.points.gather([body.apply_impulse(impulse[own]) for body, own in pairs])

    def _points_after(self, bodies: Sequence[Body], h: float) -> tuple[Array, Array]:
        """(N, 3) candidate positions and velocities of all points."""
        x, v = zip(*(body.points_after(h) for body in bodies))
        return self.points.gather(x), self.points.gather(v)

    def _relinearise(self, bodies: Sequence[Body], impulse: Array, iteration: int) -> float:
        """[m/s] by which bodies changed that have iterations left."""
        changes = [
            change
            for body, own in zip(bodies, self.points.of_body)
            if body.staggered
            and (change := body.relinearise(impulse[own])) > 0.0
            and iteration < body.staggered
        ]
        return max(changes, default=0.0)

    def _recheck(self, sets: Sequence[ConstraintSet], x: Array, v: Array) -> bool:
        again = False
        for constraints in sets:
            again |= constraints.recheck(x, v)
        self.clock.lap("collision")
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
                if len(index):
                    parts += [(index[at], part) for at, part in body.compliance(rows)]
        reduced, eliminated, solved = join(parts, len(u), now.h), None, len(layout.compliance)
        if solved < len(u):
            try:
                eliminated = eliminate(reduced, u, solved)
            except np.linalg.LinAlgError:
                raise LimpetError(
                    f"{now.label}: joints are redundant: two of them, or a joint and the guide of "
                    "an actuator, hold the same point or axis, or bodies that cannot move; remove "
                    "one"
                ) from None
            reduced, u = eliminated.compliance, eliminated.free
        regular = np.repeat(REGULARISED[layout.kind], np.diff(layout.start))  # (s,) bool
        diagonal = reduced.diagonal()
        own, stuck = _own_compliance(diagonal, regular, layout.start)
        u[stuck] = 1.0  # as if open
        regularisation = np.where(regular, self.regularisation * (diagonal + own), 0.0)
        regularisation += layout.compliance
        few = solved > MANY_ROWS * len(reduced.s) and self.regularisation > 0.0
        if few:
            w: Array | FactoredDelassus = FactoredDelassus(reduced, own)
        else:
            w = reduced.dense()
            w.reshape(-1)[:: len(w) + 1] += own
        laws = layout.kind, layout.start, layout.data
        return Problem(w, regularisation, u, *laws, now.h), eliminated

    def _solve(
        self, problem: Problem, layout: RowLayout, memory: SolverMemory, now: StepContext
    ) -> Solution:
        if not np.all(np.isfinite(problem.free)):
            raise DivergedError(
                f"{now.label}: velocities diverged (NaN or Inf); lower the time step"
            )
        guess = memory.recall(layout.blocks) if self.warm_start else np.zeros(len(problem.free))
        result = self.method.solve(problem, guess, memory.level)
        if not np.all(np.isfinite(result.multipliers)):
            raise DivergedError(
                f"{now.label}: constraint forces diverged (NaN or Inf); lower the time step"
            )
        return result


def _own_compliance(diagonal: Array, regularised: Array, start: Array) -> tuple[Array, Array]:
    """(s,) compliance that rows need which act on nothing that moves, and whether they are stuck.

    A block whose first row does so is left out of the solve. In other blocks, such as contacts of
    a body that slides along one axis, the row takes the largest compliance of its block: its
    velocity is zero, and so becomes its multiplier.
    """
    block = np.repeat(np.arange(len(start) - 1), np.diff(start))
    largest = diagonal[regularised].max(initial=0.0)
    tiny = regularised & (diagonal <= IMMOBILE * largest)
    if not tiny.any():
        return np.zeros(len(diagonal)), tiny
    stuck = tiny[start[:-1]][block] & regularised
    of_block = np.maximum.reduceat(diagonal, start[:-1])[block]
    return np.where(stuck, 1.0, np.where(tiny, of_block, 0.0)), stuck
