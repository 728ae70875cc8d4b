"""The cup lifts a cube of 100 g that is softer than itself; both deform (P figure 7)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.scenes.registry import load

from .runs import GRAVITY, Run, assert_sound

QUICK = {
    "push_time": "0.2 s",
    "hold": "0.05 s",
    "speed": "20 mm/s",
    "rise": "6 mm",
    "duration": "0.75 s",
}


def test_both_deform_and_the_cube_hangs() -> None:
    scene = load("soft-cube", QUICK)
    simulation = scene.simulation()
    cup, cube = simulation.bodies[0], simulation.bodies[1]
    top, rim = cube.shape.region("top"), cup.shape.region("rim")
    arch = np.ptp(cup.node_positions()[rim, 2])
    reports = [simulation.step() for _ in range(25)]
    depth = -cube.node_positions()[top, 2]
    assert depth.mean() > 0.7e-3  # the cube is pressed together
    assert np.ptp(depth) > 0.3e-3  # and the lip sinks in
    assert np.ptp(cup.node_positions()[rim, 2]) < 0.8 * arch  # and the cup flattens
    pressed = reports[-1].cavities[0]
    assert pressed.air < 0.5 * max(c.air for r in reports for c in r.cavities)
    reports += [simulation.step() for _ in range(50)]

    lift = Run(simulation, reports)
    assert_sound(lift)
    assert cube.node_positions()[:, 2].min() > -0.045 + 2e-3  # off the ground
    assert lift.force[-1] == pytest.approx(0.120 * GRAVITY, rel=5e-3)
    assert len(reports[-1].cavities) == 1
    # hanging, the bottom of the cube is lower under its top than it was at rest
    stretched = lift.probes("cube_top_z")[-1] - lift.probes("cube_bottom_z")[-1]
    assert stretched > 0.045 + 0.1e-3


def test_about_the_papers_nodes() -> None:
    scene = load("soft-cube", {})
    simulation = scene.simulation()
    assert simulation.fem_nodes == pytest.approx(820, rel=0.06)
    assert simulation.collision_nodes == pytest.approx(325, rel=0.06)


def test_a_cube_of_negative_mass_is_refused() -> None:
    with pytest.raises(LimpetError, match=r"^block_mass = '-100 g': expected a number greater"):
        load("soft-cube", {"block_mass": "-100 g"})
