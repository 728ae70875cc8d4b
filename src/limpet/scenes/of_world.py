"""A world that was built in Python as a scene, so that it can be recorded and viewed."""

from __future__ import annotations

from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.model.world import World
from limpet.scenes.parameters import RunParameters
from limpet.scenes.registry import Scene, checked_parameters


def scene_of(given: World | Simulation, duration: float | str, name: str = "world") -> Scene:
    """A scene of a World, or of a Simulation with its settings and its h; it starts at rest."""
    if isinstance(given, World):
        given = Simulation(given)
    if not isinstance(given, Simulation):
        raise LimpetError(f"{type(given).__name__}: expected a World or a Simulation")
    parameters = checked_parameters(RunParameters, {"h": given.h, "duration": duration})
    return Scene(
        name, "a world built in Python", parameters, given.world, given.h, parameters.duration, "",
        given.settings, "",
    )  # fmt: skip
