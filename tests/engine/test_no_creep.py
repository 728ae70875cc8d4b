"""Rows are regularised about the forces that they find, so what friction holds hardly creeps."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp

SLOPE = 0.35  # [rad] below the friction angle of 0.46


def creep(regularisation: float, h: float) -> float:
    """[m/s] of a box that rests on a slope."""
    gravity = (9.81 * np.sin(SLOPE), 0.0, -9.81 * np.cos(SLOPE))
    world = lp.World(gravity=gravity, friction=0.5)
    world.add_rigid(lp.shapes.box(0.3, 0.3, 0.02), 1.0, name="ground", fixed=True)
    world.add_rigid(lp.shapes.box(0.04, 0.04, 0.02), 0.1, name="box", position=(0, 0, 0.02))
    sim = lp.Simulation(world, h=h, settings=lp.Settings(regularisation=regularisation))
    list(sim.run(20 * h))
    before = sim.body("box").positions().mean(axis=0)
    list(sim.run(50 * h))
    return float(np.linalg.norm(sim.body("box").positions().mean(axis=0) - before) / (50 * h))


@pytest.mark.parametrize("regularisation", (1e-4, 1e-3))
@pytest.mark.parametrize("h", (0.001, 0.01))
def test_a_box_on_a_slope_stays(regularisation: float, h: float) -> None:
    about_zero = regularisation * 9.81 * h * np.sin(SLOPE)  # 34 um/s at 1e-3 and 10 ms
    assert creep(regularisation, h) < 2.0 * regularisation * about_zero
