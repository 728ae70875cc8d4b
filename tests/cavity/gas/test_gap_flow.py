"""Flow through a gap against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import limpet as lp
from limpet.cavity.gas.atmosphere import AIR_MASS
from limpet.cavity.gas.gap_flow import (
    DISCHARGE,
    HEAT_RATIO,
    VISCOSITY,
    RingGap,
    flattened_lip,
    in_series,
    nozzle_flow,
    slip_length,
    viscous_flow,
    wedge_resistance,
)

AIR = lp.Atmosphere()
PA, RT = AIR.pressure, AIR.rt
RADIUS, WIDTH = 0.0175, 1e-3  # [m]


@pytest.mark.parametrize("inside", [0.0, 20e3, 90e3])
@pytest.mark.parametrize("gap", [1e-7, 1e-5, 3e-4])
def test_a_concentric_ring_follows_the_cubic_law(gap, inside):
    """n' = pi h^3 (Pa^2 - P^2)/(12 mu R T ln(r2/r1)): the radial integral is exact."""
    inner = RADIUS - WIDTH
    resistance, _ = quad(lambda r: 1.0 / (2.0 * np.pi * r * gap**3), inner, RADIUS, epsrel=1e-12)
    exact = np.pi * gap**3 * (PA**2 - inside**2) / (12.0 * VISCOSITY * RT * np.log(RADIUS / inner))
    assert viscous_flow(1.0 / resistance, inside, PA, RT) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("slip", [0.0, slip_length(60e3, RT)])
@pytest.mark.parametrize("tilt", [0.0, 0.5, 1.0])
def test_a_tilted_plane_ring_is_the_angular_integral(tilt, slip):
    """h = h0 (1 + t cos a): the mean of h^3 is h0^3 (1 + 3/2 t^2), that of h^2 h0^2 (1 + t^2/2)."""
    h0, inside = 2e-5, 30e3
    angle = 2.0 * np.pi * np.arange(64) / 64
    height = h0 * (1.0 + tilt * np.cos(angle))
    ring = flattened_lip(height, WIDTH, np.full(64, 2.0 * np.pi * RADIUS / 64), slip)
    mean = h0**3 * (1.0 + 1.5 * tilt**2) + slip * h0**2 * (1.0 + 0.5 * tilt**2)
    exact = 2.0 * np.pi * RADIUS * mean / WIDTH * (PA**2 - inside**2) / (24.0 * VISCOSITY * RT)
    assert viscous_flow(ring.shape, inside, PA, RT) == pytest.approx(exact, rel=1e-9)
    assert ring.throat == pytest.approx(2.0 * np.pi * RADIUS * h0, rel=1e-9)


def test_the_resistance_of_a_wedge_is_its_integral():
    exact, _ = quad(lambda r: 1.0 / (1e-5 + 0.09 * r) ** 3, 0.0, 1e-3, epsrel=1e-12)
    assert wedge_resistance(1e-5, 1e-4, 1e-3) == pytest.approx(exact, rel=1e-9)
    assert wedge_resistance(1e-4, 1e-5, 1e-3) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5282])
def test_a_nozzle_is_choked_below_the_critical_pressure(ratio):
    """m' = Cd A p0 sqrt(g/(Rs T)) (2/(g + 1))^((g + 1)/(2 (g - 1))), whatever P behind it."""
    g, area = HEAT_RATIO, 1e-5
    specific = RT / AIR_MASS  # Rs T [J/kg]
    power = (g + 1.0) / (2.0 * (g - 1.0))
    mass = DISCHARGE * area * PA * np.sqrt(g / specific) * (2.0 / (g + 1.0)) ** power
    assert nozzle_flow(area, ratio * PA, PA, RT) == pytest.approx(mass / AIR_MASS, rel=1e-6)


def test_a_nozzle_is_bernoullis_at_a_small_drop():
    area, drop = 1e-5, 10.0
    density = PA * AIR_MASS / RT
    volume = DISCHARGE * area * np.sqrt(2.0 * drop / density)
    assert nozzle_flow(area, PA - drop, PA, RT) == pytest.approx(volume * PA / RT, rel=1e-4)
    assert nozzle_flow(area, PA, PA, RT) == 0.0


def test_in_series_both_losses_add():
    for viscous, nozzle in ((1.0, 1e-6), (1.0, 1.0), (1e-6, 1.0)):
        q = in_series(viscous, nozzle)
        assert q / viscous + (q / nozzle) ** 2 == pytest.approx(1.0, rel=1e-12)
    assert in_series(0.0, 1.0) == in_series(1.0, 0.0) == 0.0


@pytest.mark.parametrize("gap", [1e-8, 1e-6, 1e-5, 1e-4, 1e-3])
def test_the_secant_is_the_flow_by_the_drop(gap):
    length = 2.0 * np.pi * RADIUS
    ring = RingGap(length * gap**3 / WIDTH, length * gap)
    for inside in (0.0, 40e3, 100e3, PA - 1.0, PA - 1e-3):
        q = in_series(
            viscous_flow(ring.shape, inside, PA, RT), nozzle_flow(ring.throat, inside, PA, RT)
        )
        assert ring.flow(inside, PA, RT) == pytest.approx(q, rel=1e-6)
    # at Pa the secant is the tangent of the viscous flow, and it gets there without a leap
    limit = ring.shape * 2.0 * PA / (24.0 * VISCOSITY * RT)
    assert ring.conductance(PA, PA, RT) == pytest.approx(limit, rel=1e-12)
    assert ring.conductance(PA - 1e-9, PA, RT) == pytest.approx(limit, rel=1e-3)


def test_no_air_passes_outward_and_none_through_a_closed_ring():
    assert RingGap(1e-15, 1e-6).flow(PA + 100.0, PA, RT) == 0.0
    assert RingGap().flow(20e3, PA, RT) == 0.0


def test_flows_of_known_gaps():
    """At 60 kPa of vacuum through a lip 1 mm wide: litres per minute of outside air."""
    inside = PA - 60e3
    for gap, litres in ((1e-6, 0.0022), (1e-5, 1.35), (5e-5, 44.6), (1e-4, 100.7)):
        length = 2.0 * np.pi * RADIUS
        slip = slip_length(0.5 * (PA + inside), RT)
        ring = flattened_lip(np.array([gap]), WIDTH, np.array([length]), slip)
        flow = ring.flow(inside, PA, RT) * RT / PA * 6e4
        assert flow == pytest.approx(litres, rel=0.01)
