"""Leaks, pumps, rough surfaces and chambers, on the air of one rigid cavity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import limpet as lp
from limpet.cavity.gas.atmosphere import Atmosphere, Gas
from limpet.cavity.gas.exchange import AirExchange, exchange_air

VOLUME = 2e-6
CONDUCTANCE = 1e-9  # [mol/(s Pa)]


def held(around, share=1.0):
    """Air of the surroundings, `share` of what fills the volume."""
    return Gas(share * around.pressure * VOLUME / around.rt, around.constant, around.exponent)


def fill(around, gas, breath, duration, steps, traction=0.0):
    """Pressures [Pa] after each step in a rigid cavity, and its air."""
    pressures = []
    for step in range(1, steps + 1):
        h = duration / steps
        after = exchange_air(breath, gas, 0.0, VOLUME, traction, around, step * h, h)
        assert after.gas.amount - gas.amount == pytest.approx(after.leaked, abs=1e-20)
        gas = after.gas
        pressures.append(gas.pressure_in(VOLUME))
    return np.array(pressures), gas


@pytest.mark.parametrize("steps", [1, 7, 100])
@pytest.mark.parametrize("exponent", [1.0, 1.4])
def test_an_evacuated_cavity_fills_exponentially_whatever_the_step(steps, exponent):
    around = Atmosphere(exponent=exponent)
    tau = VOLUME / (exponent * CONDUCTANCE * around.rt)
    duration = 2.5 * tau
    pressures, gas = fill(
        around, held(around, 0.0), AirExchange(conductance=CONDUCTANCE), duration, steps
    )
    time = duration * np.arange(1, steps + 1) / steps
    missing = around.pressure * np.exp(-time / tau)
    np.testing.assert_allclose(around.pressure - pressures, missing, rtol=1e-9)
    # all of it came with its enthalpy
    assert gas.temperature_at(pressures[-1]) == pytest.approx(exponent * 293.15, rel=1e-9)


@given(st.floats(-3.0, 6.0), st.floats(0.0, 3.0), st.sampled_from([1.0, 1.2, 1.4]))
def test_seeping_never_passes_the_atmosphere(log_h, share, exponent):
    around = Atmosphere(exponent=exponent)
    gas = held(around, share)
    before = gas.pressure_in(VOLUME)
    (after,), _ = fill(around, gas, AirExchange(conductance=CONDUCTANCE), 10.0**log_h, 1)
    low, high = sorted((before, around.pressure))
    assert low * (1.0 - 1e-12) <= after <= high * (1.0 + 1e-12)


def test_what_seeps_out_of_a_pressed_cavity_decays_as_it_fills():
    around = Atmosphere()
    tau = VOLUME / (CONDUCTANCE * around.rt)
    pressures, _ = fill(around, held(around, 1.5), AirExchange(conductance=CONDUCTANCE), tau, 10)
    excess = 0.5 * around.pressure * np.exp(-np.arange(1, 11) / 10)
    np.testing.assert_allclose(pressures - around.pressure, excess, rtol=1e-9)


def test_a_rated_leak_lets_its_flow_through():
    around = Atmosphere()
    leak = AirExchange.rated("0.5 l/min", "60 kPa")
    rate = leak.conductance * 60e3 * around.rt / around.pressure
    assert rate == pytest.approx(0.5e-3 / 60, rel=1e-12)
    with pytest.raises(lp.LimpetError, match="leak flow = 5: expected 6e-08 l/min to"):
        AirExchange.rated(5, "60 kPa")
    with pytest.raises(lp.LimpetError, match="leak flow = '60 kPa': expected a volume flow"):
        AirExchange.rated("60 kPa", "0.5 l/min")


def test_a_porous_part_follows_darcy_at_its_vacuum():
    """n' = k A (P_atm^2 - P^2)/(2 mu L R T); 1 D = 9.869233e-13 m^2."""
    around, p = Atmosphere(), 101325.0 - 50e3
    leak = AirExchange.porous("20 mD", "3 mm", "8 cm^2", vacuum="50 kPa")
    k, mu = 20e-3 * 9.869233e-13, 1.81e-5
    darcy = k * 8e-4 * (around.pressure**2 - p**2) / (2.0 * mu * 3e-3 * around.rt)
    assert leak.conductance * 50e3 == pytest.approx(darcy, rel=1e-12)
    with pytest.raises(lp.LimpetError, match=r"permeability = 20: expected .* in m\^2"):
        AirExchange.porous(20, "3 mm", "8 cm^2")
    with pytest.raises(lp.LimpetError, match="porous thickness = 3: expected"):
        AirExchange.porous("20 mD", 3, "8 cm^2")


def test_contact_hinders_the_leak_exponentially():
    around = Atmosphere()
    breath = AirExchange(conductance=CONDUCTANCE, traction=5e3)
    rates = []
    for traction in (0.0, 5e3, 10e3, np.inf):
        _, gas = fill(around, held(around, 0.5), breath, 1e-6, 1, traction)
        rates.append(gas.amount - held(around, 0.5).amount)
    assert rates[1] / rates[0] == pytest.approx(np.exp(-1.0), rel=1e-4)
    assert rates[2] / rates[0] == pytest.approx(np.exp(-2.0), rel=1e-4)
    assert rates[3] == 0.0
    _, free = fill(around, held(around, 0.5), AirExchange(conductance=CONDUCTANCE), 1e-6, 1, 1e9)
    assert free.amount - held(around, 0.5).amount == pytest.approx(rates[0], rel=1e-9)


def test_a_pump_empties_and_stops_at_nothing():
    around = Atmosphere(exponent=1.4)
    gas = held(around)
    rate = gas.amount / 2.0
    pressures, rest = fill(around, gas, AirExchange(leak=-rate), 3.0, 30)
    assert rest.amount == 0.0
    assert pressures[-1] == 0.0
    # what stays expands without heat: P follows n^1.4
    assert pressures[9] == pytest.approx(around.pressure * 0.5**1.4, rel=1e-9)


def test_twice_the_leak_takes_half_the_time():
    around = Atmosphere()
    slow, _ = fill(around, held(around, 0.2), AirExchange(leak=1e-6), 200.0, 2000)
    fast, _ = fill(around, held(around, 0.2), AirExchange(leak=2e-6), 200.0, 2000)
    reached = [int(np.argmax(p >= around.pressure)) + 1 for p in (slow, fast)]
    assert reached[0] == pytest.approx(2 * reached[1], abs=2)


def test_a_chamber_takes_its_share_and_gives_it_back():
    around = Atmosphere()
    breath = AirExchange(chamber=[(1.0, 1.0), (2.0, 0.2), (3.0, 0.2), (4.0, 1.0)])
    gas, stored, total = held(around), 0.0, held(around).amount
    for time, share in ((0.5, 1.0), (1.5, 0.6), (2.5, 0.2), (3.5, 0.6), (9.0, 1.0)):
        after = exchange_air(breath, gas, stored, VOLUME, 0.0, around, time, 0.5)
        gas, stored = after.gas, after.stored
        assert gas.amount == pytest.approx(share * total, rel=1e-12)
        assert gas.amount + stored == pytest.approx(total, rel=1e-15)
        assert gas.pressure_in(VOLUME) == pytest.approx(share * around.pressure, rel=1e-12)
        assert after.leaked == 0.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: AirExchange(leak=float("nan")), "leak = nan mol/s"),
        (lambda: AirExchange(conductance=-1e-9), r"conductance = -1e-09 mol/\(s Pa\): expected 0"),
        (lambda: AirExchange(conductance=np.inf), "conductance = inf"),
        (lambda: AirExchange(traction=0.0), "traction = 0 Pa: expected a finite number above 0"),
        (
            lambda: AirExchange(chamber=[(1.0, 0.5), (1.0, 0.2)]),
            "1 s after 1 s: expected times that",
        ),
        (
            lambda: AirExchange(chamber=[(2.0, 0.5), (1.0, 0.2)]),
            "1 s after 2 s: expected times that",
        ),
        (lambda: AirExchange(chamber=[(1.0, 1.5)]), r"\(1 s, 1\.5\): expected a time and a share"),
        (lambda: AirExchange(chamber=[(np.inf, 0.5)]), r"\(inf s, 0\.5\)"),
    ],
)
def test_wrong_breaths_are_refused(build, message):
    with pytest.raises(lp.LimpetError, match=message):
        build()


def test_a_breath_belongs_to_one_body_of_its_world():
    world, other = lp.World(), lp.World()
    box = world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="a")
    alien = other.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="a")
    with pytest.raises(lp.LimpetError, match="'a': it is not a body of this world"):
        world.set_air_exchange(alien, AirExchange())
    with pytest.raises(lp.LimpetError, match="expected a body of this world, and an AirExchange"):
        world.set_air_exchange(box, 1e-6)
    world.set_air_exchange(box, AirExchange(leak=1e-6))
    with pytest.raises(lp.LimpetError, match="'a' has an air exchange already"):
        world.set_air_exchange(box, AirExchange())
