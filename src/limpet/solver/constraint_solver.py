"""All constraint sets of a step in one problem: rows, compliance, solve, impulses.

W = h H A^-1 H^T, the Delassus operator, is the compliance of the rows (P eq 7, 10); their laws are
solved together, and the multipliers applied to the bodies (P eq 3). Nothing moves here: bodies say
where they would go, so a step that turns out to lack rows is solved again without taking it back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.clock import Clock
from limpet.dynamics.body import Body
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
MAX_RETRIES = 16  # solves with more rows when some were missed; 7 are seen between soft walls
SUNK = 1e-9  # [m] by which the regularisation may let a row give way
STALLED = 1e-9  # [m] by which a retry changes where the step ends, at least
IMPACT = 0.01  # of the regularisation, where no force was before: a ball loses 1e-5 of its speed
MAX_ADJUSTMENTS = 30  # solves of a step with other data of the laws; two to five are seen
IMMOBILE = 1e-14  # of the largest compliance: a row that acts on nothing that moves


@dataclass(frozen=True)
class StepSolution:
    """What the constraint sets did to the bodies in one step."""

    h: float  # [s]
    converged: bool  # the laws of the sets, and what bodies solve themselves
    # [m] by which a node would yet move with the true forces at the end of the step, at most
    relinearisation_residual: float
    complete: bool  # no row is missing that the end of the step violates
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
    impacts: bool = False  # solve for the velocities at the end of contacts that closed
    relinearises: bool = False  # whether sets follow where the step ends, as soft bodies do

    def solve(
        self, bodies: Sequence[Body], sets: Sequence[ConstraintSet], now: StepContext,
        free: Array, last: SolverMemory, divisible: bool = False,
    ) -> StepSolution:  # fmt: skip
        """One loop with three reasons to go on: a row that the velocities violate, a body that
        the forces have changed (staggered coupling), a collision that nobody knew of.

        free (N, 3): velocities of all points without any multiplier.
        divisible: the step can be made in parts, so one that leads astray ends at once, before
        contacts of a place where nothing will be join it.
        """
        h, applied, memory, after = now.h, now.control.applied, last, None
        iterations = retries = 0
        tried: Array | None = None  # where the last retry has led
        complete = True
        planned = sum(s.retries for s in sets)
        while True:
            layout = RowLayout.stack(sets)
            u = layout.jacobian.times(free) + layout.bias
            problem, eliminated = self._assemble(bodies, layout, u, now)
            self.clock.lap("compliance")
            first = self._solve(problem, layout, memory, now)
            adjusting = [s for s in sets if s.adjusts]
            first, result, settled = self._adjust(problem, first, layout, sets, adjusting)
            level = first.level if now.step % 10 else 0  # now and then try the direct way again
            memory = SolverMemory.of(layout.blocks, layout.part, first.multipliers, level)
            multipliers = result.multipliers
            if eliminated is not None:
                multipliers = eliminated.complete(multipliers)
            self.clock.lap("solve")
            force = layout.jacobian.transpose_times(multipliers, len(free)) + applied
            v = self._apply(bodies, h * force)  # P eq 3
            astray = divisible and any(body.astray for body in bodies)
            if not astray and any(s.activate(v) for s in sets):
                self.clock.lap("correct")
                continue
            self.clock.lap("correct")
            iterations += 1
            if not astray and self._relinearise(bodies, sets, h, force, iterations):
                free = self._apply(bodies, h * applied)
                continue
            rates = layout.jacobian.times(v)
            solved = (
                result.converged
                and settled
                and not astray
                and all(body.converged for body in bodies)
            )
            refused = divisible and not solved
            if sets and not refused:
                after = self._points_after(bodies, h)
                self.clock.lap("correct")
                complete = not self._recheck(sets, *after)
                stalled = retries > planned and _same(after[0], tried)
                if not complete and retries < MAX_RETRIES + planned and not stalled:
                    free, iterations, retries = self._apply(bodies, h * applied), 0, retries + 1
                    tried = after[0]
                    continue
            for s in sets if self.impacts and not refused else ():
                if s.name in layout.blocks and s.collides:
                    multipliers, force = self._impacts(bodies, s, now, layout, multipliers, force)
                    after = self._points_after(bodies, h)
            parts = {n: (multipliers[p], rates[p]) for n, p in layout.part.items()}
            unsettled = max(body.relinearisation_residual for body in bodies)
            return StepSolution(
                h,
                solved and complete,
                unsettled,
                complete,
                result,
                parts,
                force,
                memory.after(last),
                after,
            )

    def _impacts(
        self, bodies: Sequence[Body], constraints: ConstraintSet, now: StepContext,
        layout: RowLayout, multipliers: Array, force: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Solve the contacts that have closed for the velocities v+; where the step ends stays.

        Positions ask for H u = -gap/h; by v+ = v + (u - v)/theta that alone would throw back what
        meets. The laws hold for the whole impulse, so a contact pushes less, but never pulls.
        Returns the multipliers of all rows, and the forces on all points (N, 3).
        """
        part, h, n = layout.part[constraints.name], now.h, len(force)
        pushed = layout.blocks[constraints.name].jacobian.transpose_times(multipliers[part], n)
        if not pushed.any():
            return multipliers, force
        v_after = self._apply_impact(bodies, -h * pushed, h)
        closed, block = constraints.impacts(multipliers[part], now.v, v_after)
        u = block.jacobian.times(v_after) + block.bias
        only = RowLayout.of(constraints.name, block)
        problem, _ = self._assemble(bodies, only, u, now, impact=True)
        found = self.method.solve(problem, multipliers[part][closed], 0).multipliers
        multipliers = multipliers.copy()
        multipliers[part.start + closed] = found
        change = block.jacobian.transpose_times(found, n) - pushed
        self._apply_impact(bodies, h * change, h)
        return multipliers, force + change

    def _apply_impact(self, bodies: Sequence[Body], impulse: Array, h: float) -> Array:
        """(N, 3) velocities of all points at the end of the step."""
        for body, own in zip(bodies, self.points.of_body):
            body.apply_impact(impulse[own])
        return self._points_after(bodies, h)[1]

    def _apply(self, bodies: Sequence[Body], impulse: Array) -> Array:
        """(N, 3) velocities of all points under the impulses."""
        pairs = zip(bodies, self.points.of_body)
        return self.points.gather([body.apply_impulse(impulse[own]) for body, own in pairs])

    def _points_after(self, bodies: Sequence[Body], h: float) -> tuple[Array, Array]:
        """(N, 3) candidate positions and velocities of all points."""
        x, v = zip(*(body.points_after(h) for body in bodies))
        return self.points.gather(x), self.points.gather(v)

    def _relinearise(
        self, bodies: Sequence[Body], sets: Sequence[ConstraintSet], h: float, force: Array,
        iteration: int,
    ) -> bool:  # fmt: skip
        """Whether a body has changed by more than it may, and has iterations left; the sets then
        follow to where the step has ended.
        """
        if not any(body.staggered for body in bodies):
            return False
        again, (x_after, _) = False, self._points_after(bodies, h)
        for body, own in zip(bodies, self.points.of_body):
            if body.staggered:
                change = body.relinearise(h * force[own])
                again |= change > body.settled and iteration < body.staggered
        if again and self.relinearises:
            for constraints in sets:
                constraints.relinearise(x_after)
        return again

    def _recheck(self, sets: Sequence[ConstraintSet], x: Array, v: Array) -> bool:
        again = False
        for constraints in sets:
            again |= constraints.recheck(x, v)
        self.clock.lap("collision")
        return again

    def _assemble(
        self, bodies: Sequence[Body], layout: RowLayout, u: Array, now: StepContext,
        impact: bool = False,
    ) -> tuple[Problem, Eliminated | None]:  # fmt: skip
        """W = h sum of the bodies' H A^-1 H^T, and u (r,), what the rows do without multipliers.

        impact: of rows on v+ and impulses at the end of the step, H M^-1 H^T.
        Eliminated rows hold whatever the laws do, so the laws see bodies that are joined already.
        """
        parts = []
        for body, local in zip(bodies, self.points.local):
            if body.movable:
                index, rows = layout.jacobian.select(local)
                if len(index):
                    own = body.impact_compliance(rows) if impact else body.compliance(rows)
                    parts += [(index[at], part) for at, part in own]
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
        lone, stuck = _own_compliance(diagonal, regular, layout.start)
        u[stuck] = 1.0  # as if open
        of_row = _isotropic(diagonal + lone, regular, layout.start)
        share = IMPACT * self.regularisation if impact else self.regularisation
        regularisation = np.where(regular, share * of_row, 0.0)
        proximal = regularisation.copy()
        regularisation += layout.compliance
        few = solved > MANY_ROWS * len(reduced.s) and self.regularisation > 0.0
        if few:
            w: Array | FactoredDelassus = FactoredDelassus(reduced, lone)
        else:
            w = reduced.dense()
            w.reshape(-1)[:: len(w) + 1] += lone
        laws = layout.kind, layout.start, layout.data
        return Problem(layout.coupled(w), regularisation, u, *laws, now.h, proximal), eliminated

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

    def _adjust(
        self, problem: Problem, first: Solution, layout: RowLayout,
        sets: Sequence[ConstraintSet], adjusting: Sequence[ConstraintSet],
    ) -> tuple[Solution, Solution, bool]:  # fmt: skip
        """Solve again while sets change bias, data and coupling of their rows.

        Returns the last solution, that refined, and whether the sets have come to rest.
        """
        result = self._refine(problem, first)
        for _ in range(MAX_ADJUSTMENTS):
            found = result.multipliers
            changed = [s.adjust(found[layout.part[s.name]]) for s in adjusting]
            if not any(changed):
                return first, result, True
            before, layout = layout, RowLayout.stack(sets)
            w = layout.coupled(before.coupled(problem.w, -1.0))
            free = problem.free + (layout.bias - before.bias)[: len(problem.free)]
            problem = replace(problem, w=w, free=free, data=layout.data)
            again = self.method.solve(problem, first.multipliers, first.level)
            if not np.all(np.isfinite(again.multipliers)):
                break
            first = again.after(first)
            result = self._refine(problem, first)
        return first, result, False

    def _refine(self, problem: Problem, found: Solution) -> Solution:
        """Once more, regularised about what was found: a step of the proximal point method."""
        if not found.converged or problem.sunk(found.multipliers) <= SUNK:
            return found
        about = replace(problem, before=found.multipliers)
        again = self.method.solve_about(about, found)
        return again.after(found) if again.converged else found


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


def _isotropic(compliance: Array, regularised: Array, start: Array) -> Array:
    """(s,) with the mean of both tangents of a contact: which axes they have must not matter."""
    tangents = np.flatnonzero(regularised[start[:-1]] & (np.diff(start) == 3))
    first = start[tangents]
    out = compliance.copy()
    out[first + 1] = out[first + 2] = 0.5 * (compliance[first + 1] + compliance[first + 2])
    return out


def _same(x: Array, tried: Array | None) -> bool:
    """Whether a retry has led nowhere else, (N, 3) [m]: bodies that no force can part."""
    if tried is None:
        return False
    return bool(np.linalg.norm(x - tried, axis=1).max(initial=0.0) <= STALLED)
