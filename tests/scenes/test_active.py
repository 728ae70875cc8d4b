"""A cup on a vacuum line: sealed, sucked down, pulled off; the force is that of the vacuum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scenes.runs import assert_sound, run

from limpet.errors import LimpetError
from limpet.scenes.registry import load
from limpet.studies.reproduce.fig8 import pull

SMALL = {"sectors": 8, "segments": 4}
PULL_OFF = 4.07  # [N] of the small mesh at 4 kPa, at h = 2.5 ms


@pytest.fixture(scope="module")
def pulled():
    return run("active-a20", duration="2.4 s", **SMALL)


def test_it_seals_holds_and_lets_go(pulled):
    assert_sound(pulled)
    sensors = [r.vacuum_sensors["plate"] for r in pulled.reports]
    held = [s for r, s in zip(pulled.reports, sensors) if 0.6 < r.time < 1.2]
    assert all(s.sealed and s.present and s.vacuum == pytest.approx(6e3, abs=1e-6) for s in held)
    last = sensors[-1]
    assert (last.vacuum, last.sealed, last.present, last.flow) == (0.0, False, False, None)
    cup = pulled.simulation.bodies[0]
    assert pulled.force[-1] == pytest.approx(9.81 * cup.mass, abs=0.05)


def test_at_the_peak_the_pull_is_nearly_vacuum_times_area(pulled):
    peak = int(pulled.force.argmax())
    (cavity,) = pulled.reports[peak].cavities
    weight = 9.81 * pulled.simulation.bodies[0].mass
    left = 6e3 * cavity.area + weight - pulled.force[peak]
    assert 0.0 <= left < 0.05 * pulled.force[peak]
    assert cavity.area < np.pi * 0.020**2 * 1.02


def test_what_the_line_took_is_what_is_missing(pulled):
    """All the air that the regulator took, less what it let in again, left the cavity."""
    upto = [r for r in pulled.reports if r.time < 1.2]
    h, rt, p_atm = 0.01, 8.314462618 * 293.15, 101325.0
    taken = h * sum(r.vacuum_sensors["plate"].flow or 0.0 for r in upto) * p_atm / rt
    first = next(r for r in upto if r.cavities)
    given = first.cavities[0].air + h * first.vacuum_sensors["plate"].flow * p_atm / rt
    assert given - taken == pytest.approx(upto[-1].cavities[0].air, rel=1e-6)


def test_the_classifier_finds_the_same_cavity(pulled):
    """It covers the hole that the line comes from, whose air then counts to the line."""
    other = run("active-a20", duration="1.1 s", cavities="classifier", **SMALL)
    assert_sound(other)
    n = len(other.reports)
    assert [r.vacuum_sensors["plate"].sealed for r in other.reports] == [
        r.vacuum_sensors["plate"].sealed for r in pulled.reports[:n]
    ]
    np.testing.assert_allclose(other.force, pulled.force[:n], atol=1e-3)
    hole = pulled.reports[n - 1].cavities[0].volume - other.reports[-1].cavities[0].volume
    assert hole == pytest.approx(np.pi * 0.002**2 * 0.010, rel=0.05)


def test_the_vacuum_is_changed_while_it_runs():
    simulation = load("active-a20", SMALL).simulation()
    last = list(simulation.run(0.7))[-1]
    assert last.vacuum_sensors["plate"].vacuum == pytest.approx(simulation.vacuum) == 6e3
    simulation.set_vacuum(3e3)
    assert simulation.step().vacuum_sensors["plate"].vacuum == pytest.approx(3e3)


def test_a_deeper_vacuum_holds_more():
    peaks = [float(pull("active-a20", v, **SMALL).force.max()) for v in (2e3, 4e3)]
    assert 1.3 < peaks[1] / peaks[0] < 2.1


@pytest.mark.parametrize("h", ["10 ms", "5 ms"])
def test_the_pull_off_force_does_not_depend_on_the_step(h):
    assert pull("active-a20", 4e3, h=h, **SMALL).force.max() == pytest.approx(PULL_OFF, rel=0.01)


def test_a_pump_against_a_leak_settles_where_flows_balance():
    """The plate lets air through: g (P_atm - P) = S(P) P/(R T), a quadratic in P."""
    g, flow, end = 2e-8, 2e-5, 20e3
    p_atm, rt = 101325.0, 8.314462618 * 293.15
    result = run(
        "active-a20", h="20 ms", duration="3 s", hold="5 s", vacuum=end, pump_flow=flow,
        leak_conductance=g, **SMALL,
    )  # fmt: skip
    assert_sound(result)
    rate, low = flow / (end * rt), p_atm - end
    b = g / rate - low
    p = 0.5 * (-b + np.sqrt(b * b + 4.0 * g * p_atm / rate))
    last = result.reports[-1].vacuum_sensors["plate"]
    assert last.vacuum == pytest.approx(p_atm - p, rel=1e-3)
    assert last.vacuum < 0.9 * end
    assert last.flow == pytest.approx(g * last.vacuum * rt / p_atm, rel=1e-3)


def test_hose_and_leak_in_the_words_of_data_sheets():
    changes = {"hose_length": "2 m", "hose_diameter": "6 mm", "leak_flow": "0.5 l/min"}
    world = load("active-a20", SMALL | changes).world
    *_, hose = world.connections["plate"].line
    assert (hose.length, hose.diameter) == (2.0, 6e-3)
    g = 0.5e-3 / 60 * 101325.0 / (8.314462618 * 293.15) / 6e3
    assert world.air_exchanges["plate"].conductance == pytest.approx(g, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hole_offset": "19 mm"}, "hole_offset = 19 mm: the hole of 4 mm is outside the cup"),
        ({"vacuum": "110 kPa"}, "vacuum = 110000 Pa is below absolute zero pressure"),
        ({"vacuum": "-6 kPa"}, "vacuum = '-6 kPa': expected a number greater than 0"),
        ({"pump_flow": "-1 l/min"}, "pump_flow = '-1 l/min'"),
        ({"line_conductance": 0.0}, "line_conductance = 0.0"),
        ({"hose_length": "2 m", "hose_diameter": "2 m"}, "hose diameter = 2.0: expected 0.1 mm to"),
    ],
)
def test_wrong_parameters_are_refused(changes, message):
    with pytest.raises(LimpetError, match=message):
        load("active-a20", changes)
