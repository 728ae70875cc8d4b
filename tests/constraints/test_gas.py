"""The gas law of a cavity: its root, its row, its natural map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.constraints import gas

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
    phi, _, _ = gas.natural_map(w, there, new, volume, nrt, P_MAX, P_ATM, H)
    assert abs(phi) < 1e-9 * P_ATM
    assert gas.error(there, new, volume, nrt, P_MAX, P_ATM, H, phi) < 1e-8
    again = gas.solve_row(w, there, new, volume, nrt, P_MAX, P_ATM, H)
    assert again == pytest.approx(new, abs=1e-9 * P_ATM)


@given(st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_derivatives_are_finite_differences(seed):
    w, u, p, volume, nrt = random_row(seed)
    args = (volume, nrt, P_MAX, P_ATM, H)
    _, by_p, by_u = gas.natural_map(w, u, p, *args)
    dp, du = 1e-4 * P_ATM, 1e-4 * volume / H
    values = [
        [gas.natural_map(w, u, p + s * dp, *args)[0] for s in (-1, 1)],
        [gas.natural_map(w, u + s * du, p, *args)[0] for s in (-1, 1)],
    ]
    b = [volume + H * (u + i * du - w * (p + j * dp + P_ATM)) for i in (-1, 1) for j in (-1, 1)]
    roots = [gas.root(H * w, x, nrt) for x in b]
    if min(roots) < P_MAX < max(roots):
        return  # the kink between sealed and venting
    slope_p = (values[0][1] - values[0][0]) / (2.0 * dp)
    slope_u = (values[1][1] - values[1][0]) / (2.0 * du)
    assert by_p == pytest.approx(slope_p, rel=1e-4, abs=1e-6)
    assert by_u == pytest.approx(slope_u, rel=1e-4, abs=1e-6 * P_ATM * H / volume)


def test_a_venting_row_does_not_look_at_the_volume():
    phi, by_p, by_u = gas.natural_map(1e-12, 0.0, -5.0, 1e-6, 1.0, P_MAX, P_ATM, H)
    assert phi == pytest.approx(P_ATM - 5.0 - P_MAX)
    assert (by_p, by_u) == (1.0, 0.0)


def test_the_error_is_the_relative_miss_of_the_gas_law():
    volume, nrt = 1e-6, 0.05
    exact = nrt / volume - P_ATM
    assert gas.error(0.0, exact, volume, nrt, P_MAX, P_ATM, H, 0.0) < 1e-14
    off = 1.01 * nrt / volume - P_ATM
    assert gas.error(0.0, off, volume, nrt, P_MAX, P_ATM, H, 0.0) == pytest.approx(0.01)
    miss = gas.error(0.0, P_MAX - P_ATM, volume, nrt, P_MAX, P_ATM, H, 0.02 * P_MAX)
    assert miss == pytest.approx(0.02)
