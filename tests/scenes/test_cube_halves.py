"""Two halves of a jelly cube: pressed together, the upper one carries the lower one."""

from __future__ import annotations

import pytest

from limpet.scenes.registry import load

QUICK = {"h": "20 ms", "push_time": "0.12 s", "hold": "0.04 s", "speed": "40 mm/s", "rise": "6 mm"}


def run(**parameters: object):
    scene = load("cube-halves", QUICK | parameters)
    simulation = scene.simulation()
    return scene.world, simulation, list(simulation.run(scene.duration))


def test_the_lower_half_hangs_by_the_air_that_left_the_hole() -> None:
    world, simulation, reports = run(duration="0.5 s")
    assert simulation.fem_nodes == pytest.approx(644, rel=0.03)  # P table 1
    assert all(r.converged for r in reports)
    assert max(r.max_penetration for r in reports) < 0.05e-3
    assert max(r.air_error for r in reports) <= 1e-9
    first = next(r for r in reports if r.cavities)
    largest = max(c.air for c in first.cavities)
    last = reports[-1]
    assert len(last.cavities) == 1
    assert last.cavities[0].air < 0.97 * largest  # some of it has left
    weight = 9.81 * sum(world.specs[name].mass for name in ("lower", "upper"))
    assert last.reactions["upper"][2] == pytest.approx(weight, rel=2e-3)
    assert last.probes["lower_z"] > -0.03 + 4e-3  # off the ground
    # the vacuum over the hole alone is about what the lower half weighs
    suction = 101_325.0 - last.cavities[0].pressure
    assert suction * 3.14 * 0.016**2 > 0.5 * 9.81 * world.specs["lower"].mass


def test_hardly_pressed_the_lower_half_stays() -> None:
    _, _, reports = run(push="0.02 mm", duration="0.4 s")
    assert reports[-1].probes["lower_z"] == pytest.approx(-0.03, abs=1e-4)
    assert reports[-1].cavities == ()
