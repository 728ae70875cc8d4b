"""A slippery cube lifted off-centre slides until the lip passes its edge and drops (P fig 15)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.geometry.rotation import quaternion_matrix
from limpet.scenes.registry import load

from .runs import GRAVITY, Run, assert_sound, run

PRESSED = {"push_time": "0.2 s", "hold": "0.05 s"}  # faster than by default
HALF = 0.025  # [m] of the cube's edge


def test_it_lifts_slides_to_the_edge_and_drops() -> None:
    scene = load("low-friction", {"duration": "0.7 s", **PRESSED})
    simulation = scene.simulation()
    cup, cube = simulation.bodies[0], simulation.bodies[1]
    lip = cup.shape.region("lip")
    reports, lowest, reach = [], [], []
    for report in simulation.run(scene.duration):
        reports.append(report)
        lowest.append(cube.positions()[:, 2].min() + 2.0 * HALF)
        seen = (cup.node_positions()[lip] - cube.centre) @ quaternion_matrix(cube.quaternion)
        reach.append([seen[:, 0].min(), seen[:, 1].mean()])  # of the lip, in the cube's frame
    slide, reach = Run(simulation, reports), np.array(reach)

    on_top = reach[:, 0] > -HALF
    gone = int(np.flatnonzero(slide.sealed)[-1])
    assert max(lowest) > 6e-3  # the whole cube was in the air
    assert slide.force.max() > 0.52 * GRAVITY
    passed = int(np.argmin(on_top))  # when the lip reaches the edge; soon after the seal breaks
    assert slide.time[gone] - 0.15 < slide.time[passed] < slide.time[gone]
    assert np.abs(reach[: gone + 1, 1]).max() < 0.2e-3  # to the side to which it was shifted
    assert slide.time[gone] == pytest.approx(0.41, abs=0.02)  # pinned
    assert lowest[-1] == pytest.approx(0.0, abs=1e-5) and not slide.sealed[-1]
    assert slide.force[-1] == pytest.approx(0.020 * GRAVITY, abs=0.01)  # the cup alone

    before = Run(simulation, [r for r, flat in zip(reports, on_top) if flat])
    assert_sound(before)
    assert all(r.converged for r in reports)
    assert max(r.max_penetration for r in reports) < 0.05e-3


def test_with_some_friction_the_cube_hangs_askew() -> None:
    lift = run("low-friction", friction=0.1, rise="8 mm", duration="0.9 s", **PRESSED)
    assert_sound(lift)
    assert lift.sealed[-1]
    assert lift.force[-60:].mean() == pytest.approx(0.52 * GRAVITY, rel=0.02)  # it swings a little
    assert lift.probes("cube_z")[-1] > -HALF + 5e-3
