"""How the air of a cavity is fed and taken away: leaks, pumps, rough surfaces, a second chamber."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere, Gas
from limpet.cavity.gas.gap_flow import VISCOSITY
from limpet.errors import LimpetError, require_positive
from limpet.units import within


@dataclass(frozen=True)
class AirExchange:
    """How the cavities on one body exchange air (World.set_air_exchange).

    leak: a constant rate into the cavity (P eq 15); a pump if negative.
    conductance: a rough surface lets air through at conductance (P_atm - P) exp(-t/traction), t
    being the contact traction on the weakest leak path. That the leak rate of a seal falls about
    exponentially with the contact pressure is Persson's result for randomly rough surfaces (Persson
    and Yang, J. Phys.: Condens. Matter 20, 315011, 2008; for suction cups Tiwari and Persson, Soft
    Matter 15, 9482, 2019).
    chamber: (time, share), linear between: how much of the trapped air is in the cavity. The rest
    is in a chamber above, as in an octopus's sucker, and comes back when the share rises (P 3.5).
    """

    leak: float = 0.0  # [mol/s]
    conductance: float = 0.0  # [mol/(s Pa)]
    traction: float = float("inf")  # [Pa]; infinite: the contact does not hinder the leak
    chamber: Sequence[tuple[float, float]] = ()  # ([s], 0 to 1)

    def __post_init__(self) -> None:
        if not np.isfinite(self.leak):
            raise LimpetError(f"leak = {self.leak:g} mol/s: expected a finite number")
        if not 0.0 <= self.conductance < np.inf:
            raise LimpetError(f"conductance = {self.conductance:g} mol/(s Pa): expected 0 or more")
        if self.traction != np.inf:
            require_positive("traction", self.traction, " Pa", "over which a leak falls by e")
        object.__setattr__(self, "chamber", tuple((float(t), float(s)) for t, s in self.chamber))
        for t, share in self.chamber:
            if not (np.isfinite(t) and 0.0 <= share <= 1.0):
                raise LimpetError(
                    f"chamber has ({t:g} s, {share:g}): expected a time and a share from 0 to 1"
                )
        for (before, _), (after, _) in zip(self.chamber, self.chamber[1:]):
            if not before < after:
                raise LimpetError(
                    f"chamber has {after:g} s after {before:g} s: expected times that rise"
                )

    @classmethod
    def rated(cls, flow: float | str, vacuum: float | str, traction: float = np.inf) -> AirExchange:
        """A leak as it is measured: `flow` [m^3/s of air at ambient conditions, at sea level and 20
        C] at a vacuum [Pa], and in proportion at others.
        """
        rate = within("leak flow", flow, "m^3/s", 1e-12, 1.0)
        drop = within("leak vacuum", vacuum, "Pa", 1.0, 1e6)
        air = Atmosphere()
        return cls(conductance=rate * air.pressure / (air.rt * drop), traction=traction)

    @classmethod
    def porous(
        cls, permeability: float | str, thickness: float | str, area: float | str,
        vacuum: float | str = 0.0, traction: float = np.inf,
    ) -> AirExchange:  # fmt: skip
        """A part that air passes by Darcy's law: k A (P_atm^2 - P^2)/(2 mu L R T), taken in
        proportion to the vacuum, and exact at the one given [Pa].

        permeability k [m^2], or in mD; thickness L [m] that the air passes; area A [m^2] under the
        cup.
        """
        k = within("permeability", permeability, "m^2", 1e-21, 1e-6)
        length = within("porous thickness", thickness, "m", 1e-6, 1.0)
        size = within("porous area", area, "m^2", 1e-9, 1.0)
        air = Atmosphere()
        drop = within("porous vacuum", vacuum, "Pa", 0.0, air.pressure)
        mean = air.pressure - 0.5 * drop
        g = k * size * mean / (VISCOSITY * length * air.rt)
        return cls(conductance=g, traction=traction)

    def share(self, time: float) -> float:
        """The part of the trapped air that is in the cavity."""
        if not self.chamber:
            return 1.0
        times, shares = zip(*self.chamber)
        return float(np.interp(time, times, shares))

    def conductance_at(self, traction: float) -> float:
        """[mol/(s Pa)] under a contact traction [Pa] on the weakest leak path."""
        hindered = self.traction < np.inf
        return self.conductance * (float(np.exp(-traction / self.traction)) if hindered else 1.0)


@dataclass(frozen=True)
class ExchangeResult:
    """The air exchange of one step."""

    gas: Gas
    stored: float  # [mol] in the chamber afterwards
    leaked: float  # [mol] that came from outside; negative if it went there


def exchange_air(
    exchange: AirExchange, gas: Gas, stored: float, volume: float, traction: float,
    around: Atmosphere, time: float, h: float,
) -> ExchangeResult:  # fmt: skip
    """Feed the air of a cavity for a step h that ends at `time` [s].

    volume [m^3]: of the air at the start; traction [Pa]: on its weakest leak path.
    """
    before = gas.amount
    gas = _changed(gas, max(h * exchange.leak, -gas.amount), volume, around)
    gas = _seep(exchange, gas, volume, traction, around, h)
    leaked = gas.amount - before
    if exchange.chamber or stored > 0.0:
        total = gas.amount + stored
        gas = _changed(gas, exchange.share(time) * total - gas.amount, volume, around)
        stored = total - gas.amount
    return ExchangeResult(gas, stored, leaked)


def _changed(gas: Gas, change: float, volume: float, around: Atmosphere) -> Gas:
    if change > 0.0:
        return gas.with_more(change, volume, around)
    return gas.with_less(max(gas.amount + change, 0.0)) if change < 0.0 else gas


def _seep(
    exchange: AirExchange, gas: Gas, volume: float, traction: float, around: Atmosphere, h: float
) -> Gas:
    """What seeps through the contact in h at constant volume: P goes to P_atm and never past it.

    Air that enters raises the pressure by dP = k R T0/V dn, air that leaves lowers it by k R T/V dn
    (T being its own): either way P - P_atm decays exponentially, exactly if T stays.
    """
    conductance = exchange.conductance_at(traction)
    if conductance == 0.0 or volume <= 0.0:
        return gas
    pressure, p_atm, k = gas.pressure_in(volume), around.pressure, gas.exponent
    if pressure <= p_atm:
        stiffness = k * around.rt / volume  # [Pa/mol]
        missing = (p_atm - pressure) / stiffness
        return gas.with_more(missing * -np.expm1(-h * conductance * stiffness), volume, around)
    stiffness = k * pressure / gas.amount
    after = p_atm + (pressure - p_atm) * np.exp(-h * conductance * stiffness)
    return gas.with_less(min(gas.amount, gas.amount_at(float(after), volume)))
