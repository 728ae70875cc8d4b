"""Run and record a world that was built in Python, as ``limpet run`` does a scene."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.model.world import World
from limpet.record.run import record_run
from limpet.record.summary import Summary
from limpet.report import StepReport
from limpet.scenes.of_world import scene_of


def run(
    given: World | Simulation, folder: str | PathLike[str], duration: float | str, *,
    force: bool = False, plots: bool = True, on_step: Callable[[StepReport], None] | None = None,
) -> Summary:  # fmt: skip
    """Run a World, or a Simulation from its start, for `duration` [s] and record it in a folder.

    The folder has history, summary, frames and plots, for ``limpet summary``, ``replay``,
    ``render`` and ``view``. force: overwrite an earlier run. on_step gets each step's report.
    """
    path = Path(folder)
    simulation = Simulation(given) if isinstance(given, World) else given
    if isinstance(simulation, Simulation) and simulation.steps > 0:
        raise LimpetError(
            f"run: the simulation is at step {simulation.steps}; expected one at its start"
        )
    scene = scene_of(simulation, duration, path.name or "world")
    return record_run(scene, simulation, path, force=force, plots=plots, on_step=on_step)
