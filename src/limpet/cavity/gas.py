"""The air: what surrounds the bodies, and what a cavity holds of it."""

from __future__ import annotations

from dataclasses import dataclass

from limpet.errors import LimpetError, require_positive

GAS_CONSTANT = 8.314462618  # R [J/(mol K)]


@dataclass(frozen=True)
class Atmosphere:
    """The air around: its pressure and temperature, and what a lip holds above it (P 3.6)."""

    pressure: float = 101325.0  # P_atm [Pa]
    temperature: float = 293.15  # T [K]
    overpressure: float = 0.0  # P_max - P_atm [Pa]: beyond it air blows out under the lip

    def __post_init__(self) -> None:
        require_positive("atmosphere pressure", self.pressure, " Pa")
        require_positive("atmosphere temperature", self.temperature, " K")
        if not 0.0 <= self.overpressure < float("inf"):
            raise LimpetError(f"overpressure = {self.overpressure:g} Pa: expected 0 or more")

    @property
    def rt(self) -> float:
        """R T [J/mol]"""
        return GAS_CONSTANT * self.temperature

    @property
    def p_max(self) -> float:
        """The pressure at which air leaves a cavity [Pa]."""
        return self.pressure + self.overpressure
