"""A cup lifts what it can carry, and lets go of what it cannot, at the same force."""

from __future__ import annotations

import pytest

from limpet.scenes.registry import load


def run(**parameters: object):
    scene = load("lift", parameters)
    simulation = scene.simulation()
    return simulation, list(simulation.run(scene.duration))


def test_at_rest_in_the_air_the_drive_carries_cup_and_block() -> None:
    simulation, reports = run(duration="3.4 s")
    block = simulation.bodies[1]
    assert block.positions()[:, 2].min() > -0.03 + 9e-3  # off the ground
    weight = (0.020 + 0.19) * 9.81
    assert reports[-1].reactions["cup"][2] == pytest.approx(weight, rel=1e-6)
    assert len(reports[-1].cavities) == 1
    assert all(r.converged for r in reports)
    assert max(r.max_penetration for r in reports) <= 0.02e-3
    assert max(r.momentum_residual for r in reports) <= 1e-6 * weight


def test_too_heavy_a_block_stays_and_the_cup_lets_go_at_its_peak_force() -> None:
    simulation, reports = run(block_mass="6 kg", imperfection=0.02, h="20 ms")  # as in ground
    assert simulation.bodies[1].positions()[:, 2].min() == pytest.approx(-0.03, abs=1e-6)
    assert reports[-1].cavities == ()
    scene = load("ground", {"speed": "5 mm/s", "duration": "3.3 s", "h": "20 ms"})
    alone = scene.simulation().run(scene.duration)
    peak = max(r.reactions["cup"][2] for r in alone)
    assert max(r.reactions["cup"][2] for r in reports) == pytest.approx(peak, rel=0.02)
