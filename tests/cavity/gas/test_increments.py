"""A regulated vacuum in increments within a step (A III-C)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.cavity.gas.increments import PressureIncrement
from limpet.errors import LimpetError
from limpet.model.settings import Settings
from limpet.scenes.registry import load

SMALL = {"sectors": 8, "segments": 4, "cavities": "classifier", "rise": "0 s", "duration": "0.7 s"}


def shares(count: int, changed: bool, changes: bool = True) -> list[float]:
    at: PressureIncrement | None = PressureIncrement.first(count, changes)
    seen = []
    while at is not None:
        seen.append(at.share)
        at = at.next(changed)
    assert len(seen) <= 1 + PressureIncrement(count).retries
    return seen


def test_the_whole_pressure_is_reached_and_the_step_ends() -> None:
    assert shares(1, True) == [1.0]
    assert shares(4, False) == [0.25, 0.5, 0.75, 1.0]
    assert shares(4, True) == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert shares(4, False, changes=False) == [1.0]
    assert shares(4, True, changes=False) == [1.0, 1.0]


@pytest.fixture(scope="module")
def cups():
    """The A20 cup under a vacuum that comes at once, with one increment and with five."""
    runs = {}
    for n in (1, 5):
        scene = load("active-a20", {**SMALL, "pressure_increments": n})
        simulation = scene.simulation()
        runs[n] = simulation, list(simulation.run(scene.duration))
    return runs


def test_the_vacuum_and_the_shape_are_the_same(cups) -> None:
    (one, at_once), (five, in_steps) = cups[1], cups[5]
    assert all(r.converged for r in in_steps)
    for r in in_steps:
        if r.time > 0.35:
            assert r.cavities[0].pressure == pytest.approx(101325.0 - 6e3, rel=1e-9)
    assert max(r.air_error for r in in_steps) <= 1e-9
    top = [[r.probes["top_z"] for r in run] for run in (at_once, in_steps)]
    assert top[0] == pytest.approx(top[1], abs=1e-9)  # the stem is held
    apart = np.abs(one.snapshot().positions - five.snapshot().positions).max()
    assert apart < 2e-6  # [m] while the dome sinks by 1 mm
    force = [run[-1].reactions["cup"][2] for run in (at_once, in_steps)]
    assert force[1] == pytest.approx(force[0], rel=1e-3)


def test_settings_say_what_is_wrong() -> None:
    with pytest.raises(LimpetError, match=r"^pressure_increments = 0: expected 1 or more"):
        Settings(pressure_increments=0)
    with pytest.raises(LimpetError, match=r"^pressure_increments = 4: .* cavities = 'classifier'"):
        Settings(pressure_increments=4)
