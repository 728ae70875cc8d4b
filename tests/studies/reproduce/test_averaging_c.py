"""Exact and averaged contacts in small, and how they are judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from limpet.scenes import cloth as cloth_scene
from limpet.scenes import jellies
from limpet.studies.reproduce.averaging_c import (
    Comparison,
    atwood,
    compare_cloth,
    compare_flight,
    judge,
)
from limpet.studies.reproduce.rest_states import cloth, jelly


def test_a_small_cloth_sinks_into_the_sphere_only_with_averages():
    lines = {x.figure: x for x in compare_cloth(cloth_scene.SOLVER_SETTINGS, "small", 10, 1.0)}
    deep = lines["largest penetration [mm]"]
    assert deep.exact < 0.01 < 0.5 < deep.averaged
    assert all(x.case == "cloth, small" for x in lines.values())


def test_averages_make_momentum_and_energy():
    momentum, kinetic = compare_flight()
    assert momentum.exact < 1e-10 and momentum.averaged > 10.0
    assert kinetic.exact < 100.0 < kinetic.averaged


def test_atwood_without_a_rope_is_the_textbook_s():
    a = atwood(1.2, 0.8, 1e-9, 1.0, 0.4, 0.5)
    assert a == pytest.approx(9.81 * 0.4 / 2.4, rel=1e-6)
    assert atwood(1.2, 0.8, 0.1, 1.6, 0.4, 0.5) > atwood(1.2, 0.8, 0.1, 1e9, 0.4, 0.5)


@pytest.mark.parametrize(
    "spoilt",
    [
        Comparison("cloth", "largest penetration [mm]", 2.0, 2.0, 0.0),
        Comparison("free flight", "momentum changed [%]", 1e-6, 1.0, 0.0),
        Comparison("rope", "acceleration [m/s^2]", 1.0, 1.0, 1.1),
    ],
)
def test_one_wrong_figure_of_the_exact_way_is_enough(spoilt, tmp_path):
    good = [
        Comparison("cloth", "largest penetration [mm]", 0.1, 2.0, 0.0),
        Comparison("free flight", "momentum changed [%]", 1e-13, 1.0, 0.0),
        Comparison("rope", "acceleration [m/s^2]", 1.0, 2.0, 1.001),
    ]
    assert judge(good).ok
    assert not judge([*good, spoilt]).ok
    assert (tmp_path / "averaging-c.png") in judge(good).save(tmp_path)


def test_jellies_to_a_tolerance_stretch_and_sink_less():
    few = jelly(jellies.SOLVER_SETTINGS, (3, 3), 0.4)
    solved = jelly(replace(jellies.SOLVER_SETTINGS, sweeps=200, tolerance=1e-4), (3, 3), 0.4)
    assert few.done and solved.done
    assert solved.sweeps > few.sweeps
    assert solved.stretch < 0.1 * few.stretch
    assert solved.penetration < 0.1 * few.penetration


def test_a_run_says_what_it_did():
    told = cloth(cloth_scene.SOLVER_SETTINGS, 8, 0.6)
    assert told.done and told.ms > 0.0 and told.sweeps >= 2.0
    assert 0.0 < told.sunk < 0.4
    assert told.stretch >= told.stretch_at_rest >= 0.0
