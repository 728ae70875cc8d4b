"""Run a scene in memory: the rows of history.csv and their summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from limpet.engine.simulation import Simulation
from limpet.model.settings import Settings
from limpet.record.history import Row, column, flatten, up_direction
from limpet.record.summary import Summary, summarise
from limpet.report import StepReport
from limpet.scenes.registry import Scene

Array = np.ndarray


@dataclass(frozen=True)
class Trace:
    """Result of one run."""

    rows: list[Row]
    summary: Summary
    seconds: float  # [s] run time

    def __getitem__(self, name: str) -> Array:
        """A column over the steps; NaN where there is no value."""
        return column(self.rows, name)

    @property
    def converged(self) -> bool:
        return self.summary.converged_steps == self.summary.steps


def trace(
    scene: Scene,
    on_step: Callable[[float], None] = lambda share: None,
    settings: Settings | None = None,
    on_report: Callable[[StepReport], None] = lambda report: None,
) -> Trace:
    """Run a scene to its end; `on_step` gets the completed fraction, `on_report` every report."""
    simulation = (
        Simulation(scene.world, h=scene.h, settings=settings) if settings else scene.simulation()
    )
    up = up_direction(scene.world.gravity)
    rows: list[Row] = []
    before = perf_counter()
    for report in simulation.run(scene.duration):
        rows.append(flatten(report, up))
        on_step(report.time / scene.duration)
        on_report(report)
    seconds = perf_counter() - before
    summary = summarise(
        scene.name, scene.h, rows,
        fem_nodes=simulation.fem_nodes, collision_nodes=simulation.collision_nodes,
    )  # fmt: skip
    return Trace(rows, summary, seconds)
