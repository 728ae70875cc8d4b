"""Time by phase of the steps around the suction, as in the papers.

A run is deterministic, so step i does the same work in every repeat. The minimum over the repeats,
by step and phase, is the time on an idle core; the mean over the steps includes those that remesh.
The plain mean over all repeats, and the median step, stand beside it. Thread time is measured,
which excludes waiting for the core, unless several threads share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time

import numpy as np

from limpet.clock import PHASES
from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.report import StepReport

Array = np.ndarray

STEPS = 150  # as in P section 5.1
SUCTION = 0.01  # of a cavity: pressure below the atmosphere, relative


@dataclass(frozen=True)
class Timing:
    """Means over the timed steps."""

    fem_nodes: int
    collision_nodes: int
    rows: float
    ms: dict[str, float]  # by phase
    converged: bool
    repeats: int
    plain: float = 0.0  # [ms] mean over all steps of all repeats
    median: float = 0.0  # [ms] of the steps, minimum over the repeats

    @property
    def total(self) -> float:
        return sum(self.ms.values())


def time_steps(
    build: Callable[[], Simulation], start: float, repeats: int, tick: Callable[[], None],
    clock: Callable[[], float] = thread_time,
) -> Timing:  # fmt: skip
    """Run to `start` [s], then time STEPS steps; all of it `repeats` times and once to compile."""
    best: Array | None = None
    totals: list[float] = []
    for repeat in range(repeats + 1):
        simulation = build()
        simulation.clock = clock
        reports = _timed(simulation, start)
        times = np.array([[r.phases[p] for p in PHASES] for r in reports])
        if repeat:
            totals.append(float(times.sum(axis=1).mean()))
            best = times if best is None else np.minimum(best, times)
        tick()
    assert best is not None
    return Timing(
        fem_nodes=simulation.fem_nodes,
        collision_nodes=simulation.collision_nodes,
        rows=float(np.mean([r.rows for r in reports])),
        ms={p: float(t) * 1e3 for p, t in zip(PHASES, best.mean(axis=0))},
        converged=all(r.converged for r in reports),
        repeats=repeats,
        plain=1e3 * float(np.mean(totals)),
        median=1e3 * float(np.median(best.sum(axis=1))),
    )


def suction_begins(simulation: Simulation, within: int = 3000) -> float:
    """[s] Run until the end of the first step with a cavity in suction; returns its time."""
    lowest = (1.0 - SUCTION) * simulation.world.atmosphere.pressure
    for report in _first(simulation, within):
        if any(c.pressure < lowest for c in report.cavities):
            return report.time
    raise LimpetError(f"no suction within {within} steps: set the start of the row")


def _timed(simulation: Simulation, start: float) -> list[StepReport]:
    before = round(start / simulation.h)
    return [r for r in _first(simulation, before + STEPS) if r.step > before]


def _first(simulation: Simulation, count: int) -> Iterator[StepReport]:
    for _ in range(count):
        yield simulation.step()
