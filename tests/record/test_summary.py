"""The figures of a run."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from limpet.record.history import flatten
from limpet.record.summary import summarise
from limpet.report import CupReport

UP = np.array([0.0, 0.0, 1.0])
ALWAYS = {
    "scene",
    "h",
    "steps",
    "fem_nodes",
    "collision_nodes",
    "mean_rows",
    "ms_per_step",
    "ms_by_phase",
    "peak_pull_force",
    "release_time",
    "min_pressure",
    "max_penetration",
    "max_gas_residual",
    "max_air_error",
    "max_residual",
    "converged_steps",
    "ended",
    "peak_time",
    "duration",
}


def summary_of(reports, **changes):
    rows = [flatten(report, UP) for report in reports]
    return summarise("toy", 0.1, rows, fem_nodes=385, collision_nodes=135, **changes)


def test_figures_of_the_story(story):
    s = summary_of(story)
    assert (s.steps, s.ended_step, s.converged_steps) == (10, 10, 10)
    assert (s.peak_pull_force, s.min_pressure) == (50.0, 30e3)
    assert s.peak_time == pytest.approx(0.7)
    assert s.release_time == pytest.approx(0.9)
    assert s.duration == pytest.approx(1.0)
    assert s.max_penetration == 1e-6
    assert s.max_gas_residual == 1e-12
    assert s.max_air_error == 1e-13
    assert s.max_residual == 1e-11
    assert s.mean_rows == 120


def test_json_always_has_every_key_even_for_no_step_at_all(story):
    for reports in (story, []):
        content = json.loads(summary_of(reports).to_json())
        assert set(content) >= ALWAYS
    assert content["steps"] == 0
    assert content["peak_pull_force"] is None
    assert content["release_time"] is None


def test_no_release_while_air_is_trapped(kit, story):
    holding = story[:8]
    assert summary_of(holding).release_time is None
    trapped = [*holding, kit.report(9, force=0.2, pressure=60e3, volume=1e-9)]
    assert summary_of(trapped).release_time is None


def test_no_release_without_a_seal_before(kit):
    lifted = [kit.report(k, force=f) for k, f in enumerate((0.2, 0.3, 0.2), 1)]
    assert summary_of(lifted).release_time is None


def test_the_jerk_of_the_first_step_is_no_peak(kit, story):
    s = summary_of([kit.report(1, force=900.0), *story[1:]])
    assert (s.peak_pull_force, s.peak_time) == (50.0, pytest.approx(0.7))


def test_a_sliver_without_air_is_no_pressure(kit, story):
    empty = replace(story[5].cavities[0], pressure=0.0, air=1e-14)
    sliver = replace(story[5], cavities=(*story[5].cavities, empty))
    assert summary_of([*story[:5], sliver, *story[6:]]).min_pressure == 30e3


def test_release_is_the_last_one_of_a_cup_that_sealed_again(kit, story):
    more = [
        kit.report(11, force=5.0, pressure=90e3, volume=1e-7), kit.report(12, force=0.2)
    ]  # fmt: skip
    s = summary_of([*story, *more])
    assert (s.cups["cup"].seals, s.release_time) == (2, pytest.approx(1.2))
    assert s.peak_pull_force == 50.0
    again = summary_of([*story, *more[:1]])
    assert (again.cups["cup"].seals, again.release_time) == (2, None)


def test_cups_are_told_apart(story):
    """Two cups: one lets go, the other never does; the drives of both are not summed."""
    other = CupReport(np.array([0.0, 0.0, 40.0]), 60e3)
    both = [replace(r, cups={**r.cups, "left cup": other}) for r in story]
    s = summary_of(both)
    assert s.release_time is None
    assert s.cups["cup"].release_time == pytest.approx(0.9)
    assert (s.cups["left_cup"].release_time, s.cups["left_cup"].peak_pull_force) == (None, 40.0)
    assert s.peak_pull_force == 50.0
    assert s.probes == {}


def test_no_peak_when_only_pushed(kit):
    s = summary_of([kit.report(1, force=-3.0), kit.report(2, force=-4.0)])
    assert s.peak_pull_force is None
    assert s.peak_time is None


def test_time_by_phase_leaves_out_steps_that_compile(kit):
    steps = [kit.report(1, ms=900.0), *(kit.report(k, ms=2.0) for k in range(2, 12))]
    s = summary_of(steps)
    assert s.ms_by_phase["solve"] == pytest.approx(2.0)
    assert s.ms_per_step == pytest.approx(12.0)


def test_mean_rows_is_over_steps_with_rows(kit):
    steps = [kit.report(1, rows=0), kit.report(2, rows=100), kit.report(3, rows=200)]
    assert summary_of(steps).mean_rows == 150.0


def test_a_step_that_did_not_converge_is_counted_out(kit):
    steps = [kit.report(1), kit.report(2, converged=False, residual=0.5)]
    s = summary_of(steps)
    assert (s.converged_steps, s.max_residual) == (1, 0.5)


def test_nan_cannot_become_json(story):
    import dataclasses

    with pytest.raises(ValueError, match="not JSON compliant"):
        dataclasses.replace(summary_of(story), max_residual=math.nan).to_json()


def test_a_cup_that_is_sealed_and_touches_nothing_has_no_push_force(kit):
    """It may begin within the sealing distance of the part."""
    sealed = kit.report(1, force=0.1, pressure=101e3, volume=1e-7)
    s = summary_of([replace(sealed, active_contacts=0)])
    assert s.cups["cup"].push_force == 0.0
