"""Flow laws of vacuum lines against closed forms; their slopes against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import limpet as lp
from limpet.cavity.gas.restrictions import (
    linear,
    one_way,
    orifice,
    orifice_parameter,
    tube,
    tube_parameters,
)

AIR = lp.Atmosphere()
P0, RT, M = AIR.pressure, AIR.rt, 0.0289644
AREA, CD = 1e-6, 0.8
ORIFICE = orifice_parameter(AREA, CD, RT)
TUBE = tube_parameters(1.0, 4e-3, RT)

LAWS = {
    "linear": (linear, (3e-9,)),
    "one way": (one_way, (3e-9, 500.0)),
    "tube": (tube, TUBE),
    "orifice": (orifice, (ORIFICE,)),
}
PAIRS = [(P0, 9e4), (P0, 6e4), (P0, 2e4), (2e4, P0), (7e4, 7e4 - 3.0), (P0, P0 - 300.0), (4e4, 6e4)]


def flow(law, first, second, parameters):
    return [float(v[0]) for v in law(*np.array([[first], [second]]), *np.array([parameters]).T)]


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_slopes_are_those_of_finite_differences(name, first, second):
    law, parameters = LAWS[name]
    d = 1e-2
    _, by_first, by_second = flow(law, first, second, parameters)
    ahead, back = (flow(law, first + s * d, second, parameters)[0] for s in (1, -1))
    assert by_first == pytest.approx((ahead - back) / (2 * d), rel=2e-6, abs=1e-17)
    ahead, back = (flow(law, first, second + s * d, parameters)[0] for s in (1, -1))
    assert by_second == pytest.approx((ahead - back) / (2 * d), rel=2e-6, abs=1e-17)
    assert by_first >= 0.0 >= by_second


@pytest.mark.parametrize("name", ["linear", "tube", "orifice"])
def test_flow_back_is_the_reverse_and_nothing_flows_without_a_drop(name):
    law, parameters = LAWS[name]
    there, back = flow(law, P0, 5e4, parameters), flow(law, 5e4, P0, parameters)
    assert there[0] == -back[0]
    q, by_first, by_second = flow(law, 8e4, 8e4, parameters)
    assert q == 0.0
    assert by_first == pytest.approx(-by_second) and by_first > 0.0


def test_a_choked_orifice_passes_the_mass_flow_of_the_closed_form():
    """m' = Cd A P sqrt(g M/(R T)) (2/(g + 1))^((g + 1)/(2 (g - 1))), whatever lies behind it."""
    g = 1.4
    mass = CD * AREA * P0 * np.sqrt(g * M / RT) * (2 / (g + 1)) ** ((g + 1) / (2 * (g - 1)))
    for behind in (0.0, 2e4, 5e4):
        q, _, by_second = flow(orifice, P0, behind, (ORIFICE,))
        assert q * M == pytest.approx(mass, rel=1e-6)
        assert by_second == 0.0


def test_a_subsonic_orifice_passes_that_of_saint_venant_and_wantzel():
    g = 1.4
    for r in (0.6, 0.8, 0.95, 0.99):
        psi = np.sqrt(2 * g / (g - 1) * (r ** (2 / g) - r ** ((g + 1) / g)))
        mass = CD * AREA * P0 * psi * np.sqrt(M / RT)
        assert flow(orifice, P0, r * P0, (ORIFICE,))[0] * M == pytest.approx(mass, rel=1e-5)


def test_flow_and_slopes_are_continuous_at_the_critical_ratio():
    r = (2 / 2.4) ** (1.4 / 0.4)
    below, above = (flow(orifice, P0, (r + s * 1e-7) * P0, (ORIFICE,)) for s in (-1, 1))
    assert below[0] == pytest.approx(above[0], rel=1e-12)
    assert below[1] == pytest.approx(above[1], rel=1e-6)
    assert abs(below[2] - above[2]) < 1e-6 * below[1]


def test_a_slow_tube_follows_hagen_and_poiseuille():
    """q = pi d^4 (P1^2 - P2^2)/(256 mu L R T); at Re 100 turbulence adds 2e-6."""
    length, d, mu = 2.0, 2e-3, 1.81e-5
    laminar = np.pi * d**4 / (256 * mu * length * RT)
    drop = 10.0
    exact = laminar * (P0**2 - (P0 - drop) ** 2)
    assert 4 * M * exact / (np.pi * d * mu) < 100
    q = flow(tube, P0, P0 - drop, tube_parameters(length, d, RT))[0]
    assert q == pytest.approx(exact, rel=1e-4)


def test_a_fast_tube_follows_blasius():
    """P1^2 - P2^2 = f L/d G^2 R T/M with f = 0.3164 Re^-1/4, at Re 2e4."""
    length, d, mu = 1.0, 6e-3, 1.81e-5

    def miss(q):
        g, re = M * q / (np.pi * d**2 / 4), 4 * M * q / (np.pi * d * mu)
        return 0.3164 * re**-0.25 * length / d * g**2 * RT / M - (P0**2 - 8e4**2)

    exact = brentq(miss, 1e-4, 1.0)
    assert 4 * M * exact / (np.pi * d * mu) > 2e4
    q = flow(tube, P0, 8e4, tube_parameters(length, d, RT))[0]
    assert q == pytest.approx(exact, rel=1e-3)


def test_a_non_return_valve_opens_at_its_cracking_pressure():
    assert flow(one_way, 5e4, 6e4, (3e-9, 500.0))[0] == 0.0
    assert flow(one_way, 6e4, 6e4 - 400.0, (3e-9, 500.0))[0] == 0.0
    assert flow(one_way, 6e4, 5e4, (3e-9, 500.0))[0] == pytest.approx(3e-9 * 9495.0)
