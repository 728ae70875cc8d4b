"""A slippery cube lifted off-centre slides to a corner of its top and drops (P figure 15)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.geometry.rotation import quaternion_matrix
from limpet.scenes.registry import load

from .runs import GRAVITY, Run, assert_sound, run

PRESSED = {"push_time": "0.2 s", "hold": "0.05 s"}  # faster than by default
HALF = 0.025  # [m] of the cube's edge


def test_it_lifts_slides_to_a_corner_and_drops() -> None:
    scene = load("low-friction", {"duration": "0.7 s", **PRESSED})
    simulation = scene.simulation()
    cup, cube = simulation.bodies[0], simulation.bodies[1]
    lip = cup.shape.region("lip")
    reports, lowest, corner = [], [], []
    for report in simulation.run(scene.duration):
        reports.append(report)
        lowest.append(cube.positions()[:, 2].min() + 2.0 * HALF)
        seen = (cup.node_positions()[lip] - cube.centre) @ quaternion_matrix(cube.quaternion)
        corner.append(seen[:, :2].min(axis=0))  # how far the lip reaches, in the cube's frame
    slide, corner = Run(simulation, reports), np.array(corner)

    on_top = np.all(corner > -HALF, axis=1)
    gone = int(np.flatnonzero(slide.sealed)[-1])
    assert max(lowest) > 6e-3  # the whole cube was in the air
    assert slide.force.max() > 0.52 * GRAVITY
    assert np.all(on_top[: gone - 10]) and not on_top[gone]  # the seal breaks at the edge
    assert corner[gone, 0] == pytest.approx(corner[gone, 1], abs=1e-3)  # at the corner
    assert slide.time[gone] == pytest.approx(0.43, abs=0.02)  # pinned
    assert lowest[-1] == pytest.approx(0.0, abs=1e-5) and not slide.sealed[-1]
    assert slide.force[-1] == pytest.approx(0.020 * GRAVITY, abs=0.01)  # the cup alone

    before = Run(simulation, [r for r, flat in zip(reports, on_top) if flat])
    assert_sound(before)
    assert all(r.converged for r in reports)
    assert max(r.max_penetration for r in reports) < 0.05e-3


def test_with_some_friction_the_cube_hangs_askew() -> None:
    lift = run("low-friction", friction=0.1, rise="8 mm", duration="0.6 s", **PRESSED)
    assert_sound(lift)
    assert lift.sealed[-1]
    assert lift.force[-20:].mean() == pytest.approx(0.52 * GRAVITY, rel=0.02)  # it swings a little
    assert lift.probes("cube_z")[-1] > -HALF + 5e-3
