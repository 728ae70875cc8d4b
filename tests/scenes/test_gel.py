"""A cup that is solved lifts what is swept."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.scenes.registry import load

from .runs import GRAVITY, Run

QUICK = {
    "sectors": 12, "segments": 6, "divisions": 6, "layers": 3, "gel_mass": "60 g",
    "push_time": "0.15 s", "hold": "0.03 s", "speed": "40 mm/s", "rise": "14 mm",
    "duration": "0.8 s",
}  # fmt: skip


def lifted(scene: str, **more: object) -> Run:
    simulation = load(scene, {**QUICK, **more}).simulation()
    return Run(simulation, list(simulation.run(simulation.world.duration)))


def test_the_jelly_hangs_by_its_weight() -> None:
    scene = load("cup-lifts-jelly", QUICK)
    simulation = scene.simulation()
    run = Run(simulation, list(simulation.run(scene.duration)))
    jelly = next(b for b in simulation.bodies if b.name == "jelly")
    assert jelly.x[:, 2].min() > -0.03 + 3e-3  # off the table
    hanging = run.force[-60:].mean()
    assert hanging == pytest.approx((0.06 + 0.02) * GRAVITY, rel=0.02)
    assert run.sealed[-60:].all()
    lowest = min(c.pressure for r in run.reports[-60:] for c in r.cavities)
    assert lowest < 101325.0 - 300.0
    assert max(r.max_penetration for r in run.reports) < 5e-5
    assert max(r.air_error for r in run.reports) < 1e-9
    assert np.all([r.converged for r in run.reports])
