"""The air: what surrounds the bodies, and what a cavity holds of it.

A cavity holds n [mol] of polytropic gas, P = a (n/V)^k: k = 1 keeps the temperature (the paper's
law, a = R T), k = 1.4 keeps the heat, what lies between keeps some of it (P 6 names both ends). The
constant `a` is a state of the air. It does not change when the volume does, nor when air leaves;
only air that enters, at the temperature of the surroundings, changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from limpet.cavity.gas.limit import ConstantLimit, Limit
from limpet.errors import LimpetError, require_positive

Array = np.ndarray

GAS_CONSTANT = 8.314462618  # R [J/(mol K)]
GRAVITY = 9.80665  # [m/s^2] standard
SEA_LEVEL = (101325.0, 288.15)  # [Pa], [K] of the standard atmosphere (ISO 2533)
LAPSE = 0.0065  # [K/m] up to the tropopause
TROPOPAUSE = 11000.0  # [m]
LOWEST = -2000.0  # [m]
AIR_MASS = 0.0289644  # [kg/mol] of the standard atmosphere
STANDARD_R = 8.31432  # [J/(mol K)] as the standard has it


@dataclass(frozen=True)
class Atmosphere:
    """The air around: its state, how trapped air answers, and what a lip holds (P 3.6)."""

    pressure: float = 101325.0  # P_atm [Pa]
    temperature: float = 293.15  # T0 [K]
    overpressure: float = 0.0  # P_max - P_atm [Pa]: beyond it air blows out under the lip
    exponent: float = 1.0  # k of trapped air: 1 isothermal, 1.4 adiabatic
    limit: Limit | None = None  # another rule for P_max, instead of the overpressure

    def __post_init__(self) -> None:
        require_positive("atmosphere pressure", self.pressure, " Pa")
        require_positive("atmosphere temperature", self.temperature, " K")
        if not 0.0 <= self.overpressure < float("inf"):
            raise LimpetError(f"overpressure = {self.overpressure:g} Pa: expected 0 or more")
        require_positive("exponent", self.exponent)
        if self.exponent < 1.0:
            raise LimpetError(
                f"exponent = {self.exponent:g}: expected 1 (isothermal) or more; "
                "1.4 is air that keeps its heat"
            )
        if self.limit is not None and self.overpressure > 0.0:
            raise LimpetError(
                f"overpressure = {self.overpressure:g} Pa: there is a limit, too; give one of them"
            )

    @classmethod
    def at_altitude(cls, metres: float, **others: Any) -> Atmosphere:
        """The standard atmosphere (ICAO, ISO 2533) at a height above the sea, up to 11 km."""
        if not LOWEST <= metres <= TROPOPAUSE:
            raise LimpetError(
                f"altitude = {metres:g} m: expected {LOWEST:g} to {TROPOPAUSE:g} m, where the "
                "standard atmosphere cools evenly; give pressure and temperature instead"
            )
        p0, t0 = SEA_LEVEL
        temperature = t0 - LAPSE * metres
        power = GRAVITY * AIR_MASS / (STANDARD_R * LAPSE)
        return cls(p0 * (temperature / t0) ** power, temperature, **others)

    @classmethod
    def under_water(cls, depth: float, density: float = 1000.0, **others: Any) -> Atmosphere:
        """What surrounds the bodies `depth` [m] under water: rho g d on top of the air's pressure.

        Cavities still trap air, as under a diving bell.
        """
        if not 0.0 <= depth < float("inf"):
            raise LimpetError(f"depth = {depth:g} m: expected 0 or more, downward")
        above = cls(**others)
        weight = require_positive("density", density, " kg/m^3") * GRAVITY * depth
        return replace(above, pressure=above.pressure + weight)

    @cached_property
    def rt(self) -> float:
        """R T0 [J/mol]"""
        return GAS_CONSTANT * self.temperature

    @cached_property
    def constant(self) -> float:
        """`a` of air just trapped, at P_atm and T0; R T0 if it stays at that temperature."""
        return self.rt * (self.rt / self.pressure) ** (self.exponent - 1.0)

    @cached_property
    def rule(self) -> Limit:
        """What says P_max."""
        return self.limit or ConstantLimit(self.overpressure)

    @property
    def p_max(self) -> float:
        """The pressure at which air leaves a cavity [Pa], where that is one for all cavities."""
        return self.pressure + self.overpressure


@dataclass(frozen=True)
class Gas:
    """The air of one cavity. Its pressure belongs to a volume: see `pressure_in`."""

    amount: float  # n [mol]
    constant: float  # a, P = a (n/V)^k
    exponent: float  # k

    @property
    def product(self) -> float:
        """K = P V^k = a n^k, which is n R T at k = 1."""
        return self.constant * self.amount**self.exponent

    def pressure_in(self, volume: float) -> float:
        """P [Pa] in a volume above 0."""
        return self.product / volume**self.exponent

    def volume_at(self, pressure: float) -> float:
        """V [m^3] at a pressure above 0."""
        return self.amount * (self.constant / pressure) ** (1.0 / self.exponent)

    def temperature_at(self, pressure: float) -> float:
        """T [K] at that pressure."""
        power = 1.0 - 1.0 / self.exponent
        return self.constant * (max(pressure, 0.0) / self.constant) ** power / GAS_CONSTANT

    def amount_at(self, pressure: float, volume: float) -> float:
        """How much of such air a volume holds at that pressure; 0 if there is no volume."""
        k = self.exponent
        return (pressure * max(volume, 0.0) ** k / self.constant) ** (1.0 / k)

    def miss(self, pressure: float, volume: float) -> float:
        """|P V^k - K| / K: how far pressure and volume are from the law."""
        k = self.product
        error = abs(pressure * max(volume, 0.0) ** self.exponent - k)
        return error / k if k > 0.0 else error

    def with_less(self, amount: float) -> Gas:
        """After some has left: what stays does not notice."""
        return replace(self, amount=amount)

    def with_more(self, entering: float, volume: float, around: Atmosphere) -> Gas:
        """After `entering` mol have come in at constant volume, with their enthalpy.

        n T + k dn T0 = (n + dn) T', which in terms of K is K' = K + k dn R T0 V^(k-1): filled from
        empty, air of k = 1.4 is 40 % hotter than outside. Where there is no volume to push into it
        comes as it was outside.
        """
        k, amount = self.exponent, self.amount + entering
        if k == 1.0 or amount <= 0.0:
            return replace(self, amount=amount)
        if volume <= 0.0:
            share = entering / amount
            return Gas(amount, (1.0 - share) * self.constant + share * around.constant, k)
        product = self.product + k * entering * around.rt * volume ** (k - 1.0)
        return Gas(amount, product / amount**k, k)


def mixed(parts: list[tuple[Gas, float]], volume: float) -> tuple[Gas, float]:
    """The air of cavities that become one, each part with its last pressure; and a mean pressure.

    Energy is kept: T = sum n_i T_i / sum n_i in the common volume [m^3]; where that is flat, in the
    volumes that the parts had.
    """
    (first, pressure), *others = parts
    if not others:
        return first, pressure
    amount = sum(gas.amount for gas, _ in parts)
    heat = sum(gas.amount * GAS_CONSTANT * gas.temperature_at(p) for gas, p in parts)  # n R T
    room = sum(gas.volume_at(p) for gas, p in parts if p > 0.0)
    if amount <= 0.0 or room <= 0.0:
        return first, pressure
    k, volume = first.exponent, volume if volume > 0.0 else room
    constant = first.constant if k == 1.0 else heat / amount * (volume / amount) ** (k - 1.0)
    return Gas(amount, constant, k), heat / room
