"""The toy sticks, leaks and jumps; twice the leak, about half the delay."""

from __future__ import annotations

import pytest

from limpet.report import StepReport
from limpet.scenes.registry import load

FINGER_LEAVES = 0.6  # [s]
SMALL = {"element": "tet4", "nodes": 220, "spring_element": "hex8", "per_turn": 12}


def play(duration: float, **changes: object) -> list[StepReport]:
    scene = load("toy", {**SMALL, "duration": duration, **changes})
    return list(scene.simulation().run(duration))


def let_go(reports: list[StepReport]) -> float:
    """When the cavity is lost for good."""
    return next(r.time for r in reports if r.time > FINGER_LEAVES and not r.cavities)


@pytest.fixture(scope="module")
def quick() -> list[StepReport]:
    return play(1.6, leak="12e-5 mol/s")


def test_it_sticks_and_then_jumps_off_the_ground(quick) -> None:
    free = let_go(quick)
    held = [r for r in quick if FINGER_LEAVES + 0.1 < r.time < free - 0.05]
    assert held and all(c.pressure < 9.6e4 for r in held for c in r.cavities)
    # the finger is gone and the head stays down: only the cup holds it
    assert all(r.probes["head_z"] < 0.040 for r in held)
    assert max(r.probes["base_z"] for r in quick) > quick[0].probes["base_z"] + 5e-3
    assert all(r.converged for r in quick if r.time < free + 0.2)  # until it lands
    assert max(r.max_penetration for r in quick) < 5e-5
    assert max(r.air_error for r in quick) < 1e-9
    assert max(r.momentum_residual for r in quick) < 1e-6


def test_twice_the_leak_is_about_half_the_delay(quick) -> None:
    slow = play(2.2, leak="6e-5 mol/s")
    ratio = (let_go(slow) - FINGER_LEAVES) / (let_go(quick) - FINGER_LEAVES)
    assert 1.7 < ratio < 2.4


def test_without_a_leak_it_stays(quick) -> None:
    still = play(1.4, leak="0 mol/s")
    assert all(r.cavities for r in still if r.time > FINGER_LEAVES)
    assert still[-1].probes["base_z"] == pytest.approx(still[0].probes["base_z"], abs=1e-5)


def jump(reports: list[StepReport]) -> float:
    """[m] how high the base leaps."""
    start = reports[0].probes["base_z"]
    free = let_go(reports)
    return max(r.probes["base_z"] for r in reports if r.time > free) - start


def test_the_jump_hardly_depends_on_the_step(quick) -> None:
    """With its spring linearised once in each step it was off by 40 %."""
    fine = play(1.6, leak="12e-5 mol/s", h="5 ms")
    assert let_go(quick) == pytest.approx(let_go(fine), rel=0.03)
    assert jump(quick) == pytest.approx(jump(fine), rel=0.1)
    for reports in (quick, fine):
        assert all(r.converged and r.relinearisation_residual < 5e-5 for r in reports)
        assert 0.1 < jump(reports) < 0.25  # what the spring stores lifts it by 0.26 m at most
