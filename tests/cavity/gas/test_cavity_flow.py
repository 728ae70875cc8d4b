"""Flows that are condensed into the gas law of a cavity."""

import pytest

from limpet.cavity.gas.atmosphere import Atmosphere, Gas
from limpet.cavity.gas.cavity_flow import CavityFlow
from limpet.cavity.gas.vacuum_line import Flow

AIR = Atmosphere()
H = 0.01  # [s]


@pytest.mark.parametrize("growth", [2e-6, -2e-6])
def test_a_wide_gap_lets_in_what_the_volume_asks_for(growth: float) -> None:
    """By a difference of pressures of 4e-6 Pa, which the solver need not resolve."""
    g, n = 4e-4, 7.7e-6  # [mol/s/Pa], [mol]
    flow = CavityFlow(Flow(a=g * AIR.pressure, b=g))
    gas = Gas(n, AIR.constant, AIR.exponent)
    volume = (1.0 + growth) * n * AIR.rt / AIR.pressure
    after, seeped, drawn = flow.after(gas, AIR.pressure, volume, H)
    assert after.miss(AIR.pressure, volume) < 1e-12
    assert seeped == pytest.approx(growth * n)
    assert drawn == pytest.approx(0.0, abs=1e-20)


def test_a_narrow_gap_lets_in_what_flows() -> None:
    g, n, p = 1e-12, 7.7e-6, 9e4
    flow = CavityFlow(Flow(a=g * AIR.pressure, b=g))
    after, seeped, _ = flow.after(Gas(n, AIR.constant, AIR.exponent), p, n * AIR.rt / p, H)
    assert seeped == pytest.approx(H * g * (AIR.pressure - p))
    assert after.amount == pytest.approx(n + seeped)
