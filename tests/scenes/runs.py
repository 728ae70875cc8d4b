"""Scenes run for tests, and what every run of a scene must satisfy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.engine.simulation import Simulation
from limpet.report import StepReport
from limpet.scenes.registry import load

GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Run:
    """A scene that has run to its end."""

    simulation: Simulation
    reports: list[StepReport]

    @property
    def time(self) -> np.ndarray:
        return np.array([r.time for r in self.reports])

    @property
    def force(self) -> np.ndarray:
        """(steps,) [N] pull of all drives."""
        return np.array([sum(w[2] for w in r.reactions.values()) for r in self.reports])

    def probes(self, name: str) -> np.ndarray:
        return np.array([r.probes[name] for r in self.reports])

    @property
    def sealed(self) -> np.ndarray:
        """(steps,) whether any air is trapped."""
        return np.array([len(r.cavities) > 0 for r in self.reports])


def run(scene_name: str, **parameters: object) -> Run:
    scene = load(scene_name, parameters)
    simulation = scene.simulation()
    return Run(simulation, list(simulation.run(scene.duration)))


def assert_sound(run: Run) -> None:
    """Solved in every step, nothing inside anything, no air lost, the gas law kept."""
    reports = run.reports
    assert all(r.converged for r in reports)
    assert max(r.max_penetration for r in reports) < 0.05e-3
    assert max(r.air_error for r in reports) <= 1e-9
    assert max((c.gas_residual for r in reports for c in r.cavities), default=0.0) <= 1e-8
    assert max(r.momentum_residual for r in reports) <= 1e-6 * np.abs(run.force).max()
