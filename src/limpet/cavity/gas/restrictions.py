"""Flow laws of what air passes on its way to a pump: conductance, tube, orifice, non-return valve.

A law takes the pressures [Pa] at both ends as arrays (e,), then its parameters, and returns the
flow [mol/s] from the first end to the second and its derivatives by both pressures. All laws rise
with the first pressure and fall with the second, continuously: what Newton's method needs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limpet.cavity.gas.atmosphere import AIR_MASS
from limpet.cavity.gas.gap_flow import CRITICAL, HEAT_RATIO, VISCOSITY

Array = np.ndarray
FlowAndSlopes = tuple[Array, Array, Array]
FlowLaw = Callable[..., FlowAndSlopes]  # as above

BLASIUS = 0.3164  # f = BLASIUS Re^(-1/4), smooth tubes up to Re 1e5
SHARPNESS = 4  # of the transition: f^4 = f_laminar^4 + f_turbulent^4
LINEAR = 1e-4  # psi^2 of an orifice below which its flow is about linear: 5 Pa at 1 bar
OPENING = 10.0  # [Pa] over which a non-return valve opens
TUBE_STEPS = 7  # of Newton for the flow through a tube: five are enough for 1e-15


def linear(first: Array, second: Array, conductance: Array) -> FlowAndSlopes:
    """conductance [mol/(s Pa)] times the pressure drop."""
    return conductance * (first - second), conductance, -conductance


def one_way(first: Array, second: Array, conductance: Array, cracking: Array) -> FlowAndSlopes:
    """A non-return valve: nothing until the drop exceeds `cracking` [Pa], linear beyond it, but for
    the first 10 Pa, in which it opens.
    """
    drop = np.maximum(first - second - cracking, 0.0)
    opening = np.minimum(drop, OPENING)
    slope = conductance * opening / OPENING
    return conductance * (drop - opening) + 0.5 * slope * opening, slope, -slope


def tube_parameters(length: float, diameter: float, rt: float) -> tuple[float, float]:
    """A and B of `tube`, for air of R T [J/mol]."""
    section = 0.25 * np.pi * diameter**2
    laminar = 256.0 * VISCOSITY * length * rt / (np.pi * diameter**4)
    by_flow = 4.0 * AIR_MASS / (np.pi * diameter * VISCOSITY)  # Re of 1 mol/s
    turbulent = BLASIUS * by_flow**-0.25 * length / diameter * AIR_MASS * rt / section**2
    return float(laminar), float(turbulent)


def tube(first: Array, second: Array, laminar: Array, turbulent: Array) -> FlowAndSlopes:
    """Isothermal flow q through a long smooth tube, from

        P1^2 - P2^2 = ((A q)^4 + (B q^(7/4))^4)^(1/4),

    Hagen and Poiseuille's law at low and Blasius's at high Reynolds numbers; they meet at Re 1190,
    where the loss is 19 % above either. Losses at the ends and choking are not in it.
    """
    square = first**2 - second**2
    size = np.abs(square)
    ratio = (turbulent / laminar) ** SHARPNESS
    with np.errstate(divide="ignore"):
        wanted = SHARPNESS * np.log(size / laminar)
        z = np.minimum(np.log(size / laminar), 4.0 / 7.0 * np.log(size / turbulent))  # ln q, above
    z = np.where(size > 0.0, z, -100.0)
    slope = np.full_like(z, 4.0)
    for _ in range(TUBE_STEPS):
        more = ratio * np.exp(3.0 * z)
        slope = 4.0 + 3.0 * more / (1.0 + more)
        z = np.where(size > 0.0, z - (4.0 * z + np.log1p(more) - wanted) / slope, z)
    flow = np.where(size > 0.0, np.exp(z), 0.0)
    by_square = np.where(size > 0.0, flow / np.where(size > 0.0, size, 1.0), 1.0 / laminar)
    by_square = by_square * 4.0 / slope
    return np.sign(square) * flow, 2.0 * first * by_square, -2.0 * second * by_square


def orifice_parameter(area: float, discharge: float, rt: float) -> float:
    """Cd A/sqrt(M R T) [mol/(s Pa)], of `orifice`."""
    return float(discharge * area / np.sqrt(AIR_MASS * rt))


def orifice(first: Array, second: Array, size: Array) -> FlowAndSlopes:
    """Cd A P psi(r)/sqrt(M R T): isentropic flow through a nozzle, choked below r = 0.528,

        psi^2 = f = 2 g/(g - 1) (r^(2/g) - r^((g + 1)/g)),

    P being the higher pressure, r the lower one by it. psi = sqrt(f) has no slope at r = 1; here it
    is f/(f^2 + e^2)^(1/4) with e = 1e-4: 1e-8 less where the flow is choked. psi has its largest
    value at the critical ratio, so the flow and its slopes are continuous there.
    """
    g = HEAT_RATIO
    forward = first >= second
    high, low = np.where(forward, first, second), np.where(forward, second, first)
    high = np.maximum(high, 1e-300)
    r = low / high
    choked = r <= CRITICAL
    r = np.maximum(r, CRITICAL)
    f = 2.0 * g / (g - 1.0) * r ** (2.0 / g) * -np.expm1((g - 1.0) / g * np.log(r))
    by_r = 2.0 / (g - 1.0) * (2.0 * r ** (2.0 / g - 1.0) - (g + 1.0) * r ** (1.0 / g))
    by_r = np.where(choked, 0.0, by_r)
    whole = f**2 + LINEAR**2
    psi, slope = f / whole**0.25, (0.5 * f**2 + LINEAR**2) / whole**1.25 * by_r
    flow, by_high, by_low = size * high * psi, size * (psi - r * slope), size * slope
    return (
        np.where(forward, flow, -flow),
        np.where(forward, by_high, -by_low),
        np.where(forward, by_low, -by_high),
    )
