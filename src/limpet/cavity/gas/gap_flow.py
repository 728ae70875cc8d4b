"""Air through the gap under a lip: viscous with slip, or a nozzle, and both in series.

Pure laws in SI units, for air of the pressure Pa and R T [J/mol] outside and P < Pa inside. A flow
is in mol/s; per metre of lip where the gap is given per metre of lip. A ring of any shape is two
numbers: the integral of ds / (integral of dr/h^3) along it [m^3], and the area of its throat, the
integral of h ds [m^2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.atmosphere import AIR_MASS

Array = np.ndarray

VISCOSITY = 1.81e-5  # mu [Pa s] of air at 20 C; it hardly depends on the pressure
HEAT_RATIO = 1.4  # gamma of air
DISCHARGE = 0.8  # Cd of a short slot: between a sharp edge (0.61) and a rounded one (0.98)
CRITICAL = (2.0 / (HEAT_RATIO + 1.0)) ** (HEAT_RATIO / (HEAT_RATIO - 1.0))  # P/Pa: 0.528


def wedge_resistance(first: float, last: float, length: float) -> float:
    """The integral of dr/h^3 [1/m^2] where h is linear from `first` to `last` over `length` [m]."""
    return length * (first + last) / (2.0 * first**2 * last**2)


def mean_speed(rt: float) -> float:
    """v = sqrt(8 R T/(pi M)) [m/s] of the molecules, 463 m/s at 20 C."""
    return float(np.sqrt(8.0 * rt / (np.pi * AIR_MASS)))


def slip_length(mean_pressure: float, rt: float) -> float:
    """k [m] of the slip factor 1 + k/h, k = 6 mu v/p_m, at the mean pressure p_m [Pa] in the gap.

    First-order slip: within 1 % of kinetic theory (plane Poiseuille flow, BGK) at a Knudsen number
    of 0.09, 16 % low at 0.9, 44 % low at 9.
    """
    return 6.0 * VISCOSITY * mean_speed(rt) / mean_pressure


def viscous_flow(shape: float, inside: float, outside: float, rt: float) -> float:
    """shape (Pa^2 - P^2)/(24 mu R T), the cubic law of lubrication for a gas of constant
    temperature: n' = h^3 p/(12 mu R T) dp/dr, integrated over the gap.

    shape: 1/(integral of dr/h^3) [m^2] for the flow per metre; its integral along the lip [m^3]
    for the whole.
    """
    return shape * (outside**2 - inside**2) / (24.0 * VISCOSITY * rt)


def nozzle_flow(
    throat: float, inside: float, outside: float, rt: float, discharge: float = DISCHARGE
) -> float:
    """Cd A Pa psi sqrt(R T/M)/(R T) through a throat of the area A [m^2], or of the gap h [m] per
    metre: isentropic flow of a perfect gas, choked below P/Pa = 0.528.

    psi = sqrt(2 g/(g - 1) (r^(2/g) - r^((g + 1)/g))), at r = max(P/Pa, 0.528).
    """
    scale = discharge * throat * outside * np.sqrt(rt / AIR_MASS) / rt
    return float(scale * np.sqrt(_psi_squared(outside - inside, outside)))


def in_series(viscous: float, nozzle: float) -> float:
    """The flow q through both, one behind the other: q/viscous + (q/nozzle)^2 = 1.

    The viscous loss grows with q, that of the nozzle with its square.
    """
    if viscous <= 0.0 or nozzle <= 0.0:
        return 0.0
    return 2.0 * viscous / (1.0 + float(np.sqrt(1.0 + 4.0 * (viscous / nozzle) ** 2)))


@dataclass(frozen=True)
class RingGap:
    """The gap round a cavity, as far as the flow through it asks."""

    shape: float = 0.0  # [m^3] integral of ds / (integral of dr/h^3), slip included
    throat: float = 0.0  # [m^2] least integral of h ds round the cavity

    def flow(self, inside: float, outside: float, rt: float) -> float:
        """[mol/s] into the cavity at P = `inside` [Pa]; none where P is above the atmosphere's."""
        return self.conductance(inside, outside, rt) * max(outside - inside, 0.0)

    def conductance(self, inside: float, outside: float, rt: float) -> float:
        """G = F(P)/(Pa - P) [mol/(s Pa)], the secant of the flow about Pa; at P = Pa its limit,
        that of the viscous flow. None where P is above the atmosphere's.
        """
        drop = outside - inside
        if drop < 0.0 or self.shape <= 0.0 or self.throat <= 0.0:
            return 0.0
        viscous = self.shape * (outside + inside) / (24.0 * VISCOSITY * rt)  # by Pa - P
        scale = DISCHARGE * self.throat * outside * np.sqrt(rt / AIR_MASS) / rt
        # (q_v/q_n)^2 with one Pa - P cancelled, as psi^2 is proportional to it near Pa
        loss = viscous**2 * drop / scale**2 * _drop_by_psi_squared(drop, outside)
        return 2.0 * viscous / (1.0 + float(np.sqrt(1.0 + 4.0 * loss)))


def flattened_lip(
    height: Array, width: Array | float, spacing: Array, slip: float = 0.0
) -> RingGap:
    """The ring gap of a lip that lies flat: its gap h (n,) [m] at points along it, the width [m] of
    the lip there, and the length of lip [m] that each point stands for.
    """
    conducts = height**2 * (height + slip) / width
    return RingGap(float(np.sum(conducts * spacing)), float(np.sum(height * spacing)))


def _psi_squared(drop: float, outside: float) -> float:
    if drop <= 0.0:
        return 0.0
    g = HEAT_RATIO
    share = min(drop / outside, 1.0 - CRITICAL)
    ratio = np.log1p(-share)  # ln r
    power = (g - 1.0) / g
    return float(-2.0 / power * np.exp(2.0 / g * ratio) * np.expm1(power * ratio))


def _drop_by_psi_squared(drop: float, outside: float) -> float:
    """(Pa - P)/psi^2 [Pa]; Pa/2 at P = Pa."""
    if drop < 1e-9 * outside:
        return 0.5 * outside
    return drop / _psi_squared(drop, outside)
