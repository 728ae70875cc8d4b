"""Trapped air: its law, what enters and leaves, what mixes; the air around."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import limpet as lp
from limpet.cavity.gas.atmosphere import GAS_CONSTANT, Atmosphere, Gas, mixed

AIR = Atmosphere(exponent=1.4)
VOLUME = 2e-6

exponents = st.floats(1.0, 1.67)
shares = st.floats(0.05, 3.0)


def trapped(around, volume):
    """Air of the surroundings, just closed in."""
    return Gas(around.pressure * volume / around.rt, around.constant, around.exponent)


@given(exponents, shares)
def test_trapped_air_has_the_pressure_and_temperature_of_outside(k, size):
    around = Atmosphere(pressure=8e4, temperature=280.0, exponent=k)
    gas = trapped(around, size * VOLUME)
    assert gas.pressure_in(size * VOLUME) == pytest.approx(8e4, rel=1e-12)
    assert gas.temperature_at(8e4) == pytest.approx(280.0, rel=1e-12)
    assert gas.volume_at(8e4) == pytest.approx(size * VOLUME, rel=1e-12)
    assert gas.amount_at(8e4, size * VOLUME) == pytest.approx(gas.amount, rel=1e-12)


@given(exponents, shares)
def test_a_change_of_volume_follows_the_polytrope_and_the_ideal_gas(k, ratio):
    gas = trapped(replace(AIR, exponent=k), VOLUME)
    p = gas.pressure_in(ratio * VOLUME)
    assert p == pytest.approx(AIR.pressure * ratio**-k, rel=1e-12)
    t = gas.temperature_at(p)
    assert t == pytest.approx(AIR.temperature * ratio ** (1.0 - k), rel=1e-12)
    assert p * ratio * VOLUME == pytest.approx(gas.amount * GAS_CONSTANT * t, rel=1e-12)
    assert gas.miss(p, ratio * VOLUME) < 1e-14


@given(exponents, shares, st.floats(0.0, 2.0))
def test_entering_air_brings_its_enthalpy(k, ratio, more):
    """n T + k dn T0 = (n + dn) T', at constant volume."""
    around = replace(AIR, exponent=k)
    gas, v = trapped(around, VOLUME), ratio * VOLUME
    t = gas.temperature_at(gas.pressure_in(v))
    entering = more * gas.amount
    after = gas.with_more(entering, v, around)
    expected = (gas.amount * t + k * entering * around.temperature) / (gas.amount + entering)
    assert after.temperature_at(after.pressure_in(v)) == pytest.approx(expected, rel=1e-12)
    assert after.amount == gas.amount + entering


def test_a_vessel_filled_from_empty_is_k_times_as_hot():
    empty = Gas(0.0, AIR.constant, 1.4)
    full = empty.with_more(1e-5, VOLUME, AIR)
    assert full.temperature_at(full.pressure_in(VOLUME)) == pytest.approx(1.4 * 293.15, rel=1e-12)


def test_air_that_enters_a_flattened_cavity_comes_as_it_was_outside():
    for volume in (0.0, -1e-12):
        gas = Gas(0.0, 7.0, 1.4).with_more(1e-6, volume, AIR)
        assert gas.constant == pytest.approx(AIR.constant, rel=1e-14)
        more = gas.with_more(1e-6, volume, AIR)
        assert (more.amount, more.constant) == (2e-6, pytest.approx(AIR.constant, rel=1e-14))


def test_air_that_leaves_does_not_change_the_rest():
    gas = trapped(AIR, VOLUME)
    assert gas.with_less(0.3 * gas.amount).constant == gas.constant


@given(exponents, shares, shares, st.floats(0.2, 1.0))
def test_mixing_keeps_air_and_energy(k, one, two, low):
    around = replace(AIR, exponent=k)
    parts = []
    for size, ratio in ((one, low), (two, 1.0)):
        gas = trapped(around, size * VOLUME)
        parts.append((gas, gas.pressure_in(size * VOLUME / ratio)))
    room = one * VOLUME / low + two * VOLUME
    gas, pressure = mixed(parts, room)
    assert gas.amount == pytest.approx(sum(g.amount for g, _ in parts), rel=1e-14)
    energy = sum(g.amount * g.temperature_at(p) for g, p in parts)
    assert gas.amount * gas.temperature_at(gas.pressure_in(room)) == pytest.approx(energy, rel=1e-9)
    assert pressure == pytest.approx(gas.pressure_in(room), rel=1e-9)
    flat, _ = mixed(parts, 0.0)  # the volumes they had
    assert flat.constant == pytest.approx(gas.constant, rel=1e-9)


def test_free_expansion_into_an_empty_pocket_keeps_the_temperature():
    full, empty = trapped(AIR, VOLUME), Gas(0.0, AIR.constant, 1.4)
    gas, _ = mixed([(full, AIR.pressure), (empty, 0.0)], 3.0 * VOLUME)
    p = gas.pressure_in(3.0 * VOLUME)
    assert p == pytest.approx(AIR.pressure / 3.0, rel=1e-12)
    assert gas.temperature_at(p) == pytest.approx(293.15, rel=1e-12)


def test_isothermal_air_has_one_constant_to_the_bit():
    around = Atmosphere()
    gas = trapped(around, VOLUME)
    assert gas.constant == around.rt
    assert gas.product == gas.amount * around.rt
    assert gas.with_more(1e-6, VOLUME, around).constant == around.rt
    assert mixed([(gas, 1e5), (gas, 5e4)], VOLUME)[0].constant == around.rt


# ISO 2533, table 1 (geopotential altitude)
@pytest.mark.parametrize(
    ("metres", "pressure", "kelvin"),
    [(0, 101325.0, 288.15), (1000, 89874.6, 281.65), (5000, 54019.9, 255.65),
     (11000, 22632.0, 216.65), (-1000, 113929.0, 294.65)],
)  # fmt: skip
def test_the_standard_atmosphere(metres, pressure, kelvin):
    air = lp.Atmosphere.at_altitude(metres, exponent=1.2)
    assert air.pressure == pytest.approx(pressure, rel=1e-5)
    assert air.temperature == pytest.approx(kelvin, rel=1e-12)
    assert air.exponent == 1.2


def test_ten_metres_of_water_weigh_as_much_as_the_air():
    assert lp.Atmosphere.under_water(0.0) == lp.Atmosphere()
    deep = lp.Atmosphere.under_water(10.0, overpressure=5.0)
    assert deep.pressure == pytest.approx(101325.0 + 98066.5, rel=1e-12)
    assert deep.p_max == deep.pressure + 5.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Atmosphere(exponent=0.9), r"exponent = 0\.9: expected 1 \(isothermal\) or more"),
        (lambda: Atmosphere(exponent=np.inf), "exponent = inf"),
        (lambda: Atmosphere(exponent=float("nan")), "exponent = nan"),
        (lambda: Atmosphere(overpressure=-1.0), "overpressure = -1 Pa"),
        (lambda: Atmosphere(overpressure=1.0, limit=lp.TractionPath()), "give one of them"),
        (lambda: Atmosphere.at_altitude(12000.0), "altitude = 12000 m: expected -2000 to 11000 m"),
        (lambda: Atmosphere.under_water(-1.0), "depth = -1 m: expected 0 or more"),
        (lambda: Atmosphere.under_water(1.0, density=0.0), "density = 0"),
    ],
)
def test_wrong_air_is_refused(build, message):
    with pytest.raises(lp.LimpetError, match=message):
        build()
