"""A bellows cup collapses under vacuum, lifts a part by its stroke, and is pulled off."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scenes.runs import GRAVITY, Run, assert_sound, run

PART = 0.3  # [kg]


@pytest.fixture(scope="module")
def bellows() -> Run:
    return run("bellows", nodes=600, h="20 ms", duration="2.4 s", pull="37.5 N")


def test_every_step_is_sound(bellows: Run) -> None:
    assert_sound(bellows)


def test_the_collapse_lifts_the_part_and_the_folds_carry(bellows: Run) -> None:
    rise = bellows.probes("part_z") + 0.01
    held = np.argmax(bellows.time > 0.85)
    assert rise[0] == pytest.approx(0.0, abs=1e-6)
    assert rise[held] == pytest.approx(11.2e-3, abs=0.2e-3)
    weight = (PART + bellows.simulation.bodies[0].mass) * GRAVITY
    assert bellows.reports[held].reactions["cup"][2] == pytest.approx(weight, rel=1e-3)


def test_it_comes_off_abruptly_and_recovers(bellows: Run) -> None:
    force = np.array([r.reactions["cup"][2] for r in bellows.reports])
    assert force.max() == pytest.approx(29.9, rel=0.03)
    assert not bellows.sealed[-1]
    assert bellows.probes("part_z")[-1] == pytest.approx(-0.01, abs=1e-5)  # on the ground
    assert force[-1] == pytest.approx(bellows.simulation.bodies[0].mass * GRAVITY, rel=0.05)
    cup = bellows.simulation.bodies[0]
    assert cup.volume_ratio() == pytest.approx(1.0, abs=1e-3)


def test_without_self_contact_the_folds_pass_through_each_other() -> None:
    free = run("bellows", nodes=600, h="20 ms", duration="0.7 s", self_contact=False)
    assert free.probes("part_z")[-1] + 0.01 > 12e-3
