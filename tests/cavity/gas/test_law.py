"""The gas law of a cavity: its root, its row, its natural map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from limpet.cavity.gas import law as gas

P_ATM = 101325.0
P_MAX = 1.0001 * P_ATM
H = 0.01

logs = st.floats(-12.0, 0.0).map(lambda e: 10.0**e)
compliances = st.floats(-12.0, -7.0).map(lambda e: 10.0**e)  # w [m^3 / (s Pa)]


def random_row(seed):
    """w, u, p, V, nRT of a cavity of some cm^3, from nearly empty to slightly above the air."""
    rng = np.random.default_rng(seed)
    volume = 10.0 ** rng.uniform(-7, -5)
    w = volume / H / P_ATM * 10.0 ** rng.uniform(-3, 2)
    u = rng.uniform(-0.5, 2.0) * volume / H
    p = rng.uniform(-1.0, 0.0) * P_ATM
    nrt = P_ATM * volume * rng.uniform(0.001, 1.0)
    return w, u, p, volume, nrt


@given(compliances, st.floats(-1.0, 1.0), logs)
@settings(max_examples=100, deadline=None)
def test_the_root_is_the_positive_one_of_numpy(a, scaled_b, nrt):
    b = scaled_b * 1e-4
    p = gas.root(a, b, nrt)
    assert p >= 0.0
    # numpy's companion matrix cancels; compare with the root that does not, by its product
    both = np.sort(np.roots([a, b, -nrt]).real)
    big = both[np.argmax(np.abs(both))]
    positive = big if big > 0.0 else -nrt / (a * big)
    assert p == pytest.approx(positive, rel=1e-9)


@given(compliances, st.floats(1e-9, 1e-4), st.floats(0.0, 1e-30))
@settings(max_examples=30, deadline=None)
def test_little_air_obeys_boyle_without_cancellation(a, b, nrt):
    """For a n R T << b^2 the root is n R T / b; the textbook formula returns 0 there."""
    assert gas.root(a, b, nrt) == pytest.approx(nrt / b, rel=1e-9, abs=0.0)


def test_no_air_leaves_no_pressure_or_what_keeps_the_volume_from_turning_over():
    assert gas.root(1e-9, 1e-6, 0.0) == 0.0
    assert gas.root(1e-9, -1e-6, 0.0) == pytest.approx(1e3)  # a P = -b: the volume stays at zero
    assert gas.root(1e-9, 0.0, 0.0) == 0.0


def test_a_cavity_between_bodies_that_cannot_move_is_boyle():
    assert gas.root(0.0, 2e-6, 0.1) == pytest.approx(0.05e6)
    assert gas.root(0.0, 0.0, 0.1) == np.inf
    assert gas.root(0.0, -1e-6, 0.1) == np.inf


@given(st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_a_solved_row_obeys_the_gas_law_or_vents(seed):
    w, u, p, volume, nrt = random_row(seed)
    new = gas.solve_row(w, u, p, volume, nrt, P_MAX, P_ATM, H)
    pressure = new + P_ATM
    end = volume + H * (u + w * (new - p))  # the volume it leads to
    if pressure < P_MAX:
        assert pressure * end == pytest.approx(nrt, rel=1e-9)
        assert end > 0.0
    else:
        assert pressure == pytest.approx(P_MAX, rel=1e-15)
        assert P_MAX * end <= nrt * (1.0 + 1e-9)  # more air than fits at P_max: some leaves


@given(st.integers(0, 10**9))
@settings(max_examples=50, deadline=None)
def test_a_solved_row_is_a_zero_of_the_natural_map_and_stays(seed):
    w, u, p, volume, nrt = random_row(seed)
    new = gas.solve_row(w, u, p, volume, nrt, P_MAX, P_ATM, H)
    there = u + w * (new - p)
    phi, _, _ = gas.pressure_map(w, there, new, volume, nrt, P_MAX, P_ATM, H)
    assert abs(phi) < 1e-9 * P_ATM
    assert gas.pressure_error(there, new, volume, nrt, P_MAX, P_ATM, H, phi) < 1e-8
    again = gas.solve_row(w, there, new, volume, nrt, P_MAX, P_ATM, H)
    assert again == pytest.approx(new, abs=1e-9 * P_ATM)


@given(st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_derivatives_are_finite_differences(seed):
    w, u, p, volume, nrt = random_row(seed)
    args = (volume, nrt, P_MAX, P_ATM, H)
    _, by_p, by_u = gas.pressure_map(w, u, p, *args)
    dp, du = 1e-4 * P_ATM, 1e-4 * volume / H
    values = [
        [gas.pressure_map(w, u, p + s * dp, *args)[0] for s in (-1, 1)],
        [gas.pressure_map(w, u + s * du, p, *args)[0] for s in (-1, 1)],
    ]
    b = [volume + H * (u + i * du - w * (p + j * dp + P_ATM)) for i in (-1, 1) for j in (-1, 1)]
    roots = [gas.root(H * w, x, nrt) for x in b]
    if min(roots) < P_MAX < max(roots):
        return  # the kink between sealed and venting
    slope_p = (values[0][1] - values[0][0]) / (2.0 * dp)
    slope_u = (values[1][1] - values[1][0]) / (2.0 * du)
    assert by_p == pytest.approx(slope_p, rel=1e-4, abs=1e-6)
    assert by_u == pytest.approx(slope_u, rel=1e-4, abs=1e-6 * P_ATM * H / volume)


@given(st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_no_flow_empties_a_cavity_further_than_its_walls_meet(seed):
    """A pump adds to V and K what it can take; V itself still ends at 0 or above."""
    w, u, p, volume, nrt = random_row(seed)
    pump = 10.0 * volume  # h b R T: much more than there is
    args = (volume + pump, 0.01 * nrt, P_MAX, P_ATM, H, 1.0, pump)
    new = gas.solve_row(w, u, p, *args)
    there = u + w * (new - p)
    end = volume + H * there
    if new + P_ATM < P_MAX:
        assert end >= -1e-9 * volume
        if end > 1e-6 * volume:
            assert (new + P_ATM) * (end + pump) == pytest.approx(0.01 * nrt, rel=1e-9)
    phi, *_ = gas.pressure_map(w, there, new, *args)
    assert abs(phi) < 1e-8 * P_ATM
    args = args[:5]
    assert gas.pressure_error(there, new, *args, phi, 1.0, pump) < 1e-8


def test_a_venting_row_does_not_look_at_the_volume():
    phi, by_p, by_u = gas.pressure_map(1e-12, 0.0, -5.0, 1e-6, 1.0, P_MAX, P_ATM, H)
    assert phi == pytest.approx(P_ATM - 5.0 - P_MAX)
    assert (by_p, by_u) == (1.0, 0.0)


def test_the_error_is_the_relative_miss_of_the_gas_law():
    volume, nrt = 1e-6, 0.05
    exact = nrt / volume - P_ATM
    assert gas.pressure_error(0.0, exact, volume, nrt, P_MAX, P_ATM, H, 0.0) < 1e-14
    off = 1.01 * nrt / volume - P_ATM
    assert gas.pressure_error(0.0, off, volume, nrt, P_MAX, P_ATM, H, 0.0) == pytest.approx(0.01)
    miss = gas.pressure_error(0.0, P_MAX - P_ATM, volume, nrt, P_MAX, P_ATM, H, 0.02 * P_MAX)
    assert miss == pytest.approx(0.02)


@pytest.mark.parametrize("k", [1.0, 1.2])
def test_the_error_of_a_film_is_above_what_rounding_leaves_of_its_volume(k):
    w = np.array([[1e-11]])  # [m^3/(s Pa)]
    moved = H * w[0, 0] * P_ATM  # [m^3] by the atmosphere: V is a difference of such
    for share, least in ((1e-2, 1e-14), (1e-10, 1e-7)):  # an ordinary cavity, and a film
        volume = share * moved
        data = np.array([volume, P_ATM * volume**k, P_MAX, P_ATM, k, -np.inf])
        p = np.array([-1.0])
        u = np.array([((data[1] / (P_ATM - 1.0)) ** (1.0 / k) - volume) / H])

        def miss(rate, data=data, p=p):
            phi, d_p, d_u = np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1))
            gas.natural_map(data, H, w, rate, p, phi, d_p, d_u)
            return gas.error(data, H, w, rate, p, phi)

        assert miss(u + 1e-15 * moved / H) < 1e-10
        wrong = miss(u + least * moved / H)
        assert wrong > 1e-13 if share > 1e-3 else wrong > 1e-8  # what is more than rounding counts


exponents = st.floats(1.0, 1.7)


@given(compliances, st.floats(-1.0, 1.0), logs, exponents)
@settings(max_examples=200, deadline=None)
def test_the_polytropic_root_is_the_one_a_bracket_finds(a, scaled_b, gas_constant, k):
    b = scaled_b * 1e-4
    p = gas.root(a, b, gas_constant, k)

    def too_roomy(log_p):  # the volume that the walls give, over the one the gas takes
        return b + a * np.exp(log_p) - (gas_constant / np.exp(log_p)) ** (1.0 / k)

    found = np.exp(brentq(too_roomy, -200.0, 200.0, xtol=1e-15, rtol=1e-14))
    assert p == pytest.approx(found, rel=1e-9)


@given(compliances, st.floats(-1.0, 1.0), logs)
@settings(max_examples=100, deadline=None)
def test_near_one_the_root_is_the_closed_form(a, scaled_b, nrt):
    b = scaled_b * 1e-4
    assert gas._polytropic_root(a, b, nrt, 1.0) == pytest.approx(gas.root(a, b, nrt), rel=1e-12)


def test_polytropic_corner_cases():
    assert gas.root(1e-9, 1e-6, 0.0, 1.4) == 0.0
    assert gas.root(1e-9, -1e-6, 0.0, 1.4) == pytest.approx(1e3)
    assert gas.root(0.0, 2e-6, 0.1, 1.4) == pytest.approx(0.1 / 2e-6**1.4)
    assert gas.root(0.0, 0.0, 0.1, 1.4) == np.inf
    assert gas.root(1e-9, 1e-4, 1e-30, 1.4) == pytest.approx(1e-30 / 1e-4**1.4, rel=1e-12)


@given(st.integers(0, 10**9), exponents)
@settings(max_examples=100, deadline=None)
def test_a_polytropic_row_obeys_its_law_or_vents_and_stays(seed, k):
    w, u, p, volume, nrt = random_row(seed)
    product = nrt * volume ** (k - 1.0)
    args = (volume, product, P_MAX, P_ATM, H)
    new = gas.solve_row(w, u, p, *args, k)
    there = u + w * (new - p)
    end = volume + H * there
    if new + P_ATM < P_MAX:
        assert (new + P_ATM) * end**k == pytest.approx(product, rel=1e-8)
    else:
        assert P_MAX * end**k <= product * (1.0 + 1e-9)
    phi, _, _ = gas.pressure_map(w, there, new, *args, k)
    assert abs(phi) < 1e-9 * P_ATM
    assert gas.pressure_error(there, new, *args, phi, k) < 1e-8


@given(st.integers(0, 10**9), st.floats(1.05, 1.7))
@settings(max_examples=100, deadline=None)
def test_polytropic_derivatives_are_finite_differences(seed, k):
    w, u, p, volume, nrt = random_row(seed)
    args = (volume, nrt * volume ** (k - 1.0), P_MAX, P_ATM, H)
    _, by_p, by_u = gas.pressure_map(w, u, p, *args, k)
    dp, du = 1e-5 * P_ATM, 1e-5 * volume / H

    def slope(function, step):  # fourth order
        near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
        return (8.0 * near - far) / (12.0 * step)

    roots = [
        gas.root(H * w, volume + H * (u + i * du - w * (p + j * dp + P_ATM)), args[1], k)
        for i in (-2, 2)
        for j in (-2, 2)
    ]
    if min(roots) < P_MAX < max(roots):
        return  # the kink between sealed and venting
    slope_p = slope(lambda d: gas.pressure_map(w, u, p + d, *args, k)[0], dp)
    slope_u = slope(lambda d: gas.pressure_map(w, u + d, p, *args, k)[0], du)
    assert by_p == pytest.approx(slope_p, rel=1e-5, abs=1e-6)
    assert by_u == pytest.approx(slope_u, rel=1e-5, abs=1e-6 * P_ATM * H / volume)
