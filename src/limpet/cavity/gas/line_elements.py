"""What a vacuum line consists of between a cup and its source: hoses, fittings, reservoirs, valves.

Each element is a flow law with its parameters, and a volume of air. What it does within a step
stands in network.py, the laws in restrictions.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.gap_flow import DISCHARGE
from limpet.cavity.gas.restrictions import (
    OPENING,
    FlowLaw,
    linear,
    one_way,
    orifice,
    orifice_parameter,
    tube,
    tube_parameters,
)
from limpet.errors import LimpetError
from limpet.units import quantity, within

Given = float | str  # in SI units, or with a unit

AMBIENT = Atmosphere()  # at which rated flows are measured
LawOf = tuple[FlowLaw, tuple[float, ...]]  # a law and its parameters


def molar_conductance(flow: float, drop: float) -> float:
    """[mol/(s Pa)] that lets `flow` [m^3/s at ambient conditions] pass at `drop` [Pa]."""
    return flow * AMBIENT.pressure / (AMBIENT.rt * drop)


def _bore(diameter: float) -> float:
    return 0.25 * np.pi * diameter**2


@dataclass(frozen=True)
class Hose:
    """A smooth hose or pipe. Flow by Hagen and Poiseuille, at high Reynolds numbers by Blasius;
    half of its air is at the pressure of each end.
    """

    length: Given  # [m]
    diameter: Given  # [m] inside

    def __post_init__(self) -> None:
        length = within("hose length", self.length, "m", 1e-3, 1e3)
        diameter = within("hose diameter", self.diameter, "m", 1e-4, 0.2)
        if diameter >= length:
            raise LimpetError(
                f"hose diameter = {diameter:g} m is not below its length, {length:g} m: "
                "expected Hose(length, diameter); a short bore is an Orifice"
            )
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "diameter", diameter)

    @property
    def volume(self) -> float:
        """[m^3]"""
        return float(self.length) * _bore(float(self.diameter))

    def law(self, closed: bool, rt: float) -> LawOf:
        return tube, tube_parameters(float(self.length), float(self.diameter), rt)


@dataclass(frozen=True)
class Restriction:
    """A fitting, a filter or a silencer: a flow in proportion to the pressure drop. Its air is at
    the pressure of the end towards the source. Without a conductance it is a volume alone.
    """

    conductance: float = float("inf")  # [mol/(s Pa)]
    volume: Given = 0.0  # [m^3]

    def __post_init__(self) -> None:
        if not (isinstance(self.conductance, (int, float)) and self.conductance > 0.0):
            raise LimpetError(
                f"restriction conductance = {self.conductance!r} mol/(s Pa): expected a number "
                'above 0; Restriction.rated("20 l/min", "2 kPa") takes flow and pressure drop'
            )
        object.__setattr__(self, "volume", _volume("restriction volume", self.volume))

    @classmethod
    def rated(cls, flow: Given, drop: Given, volume: Given = 0.0) -> Restriction:
        """By its data sheet: `flow` [m^3/s of air at ambient conditions] at the drop [Pa]."""
        rated = within("rated flow", flow, "m^3/s", 1e-9, 1.0)
        return cls(molar_conductance(rated, within("rated drop", drop, "Pa", 1.0, 1e6)), volume)

    def law(self, closed: bool, rt: float) -> LawOf:
        return linear, (self.conductance,)


@dataclass(frozen=True)
class Reservoir:
    """A vacuum tank, or the volume of a manifold: air, and no resistance."""

    volume: Given  # [m^3]

    def __post_init__(self) -> None:
        object.__setattr__(self, "volume", _volume("reservoir volume", self.volume))

    def law(self, closed: bool, rt: float) -> LawOf:
        return linear, (float("inf"),)


@dataclass(frozen=True)
class Orifice:
    """A short bore: isentropic flow, choked below 0.528 of the pressure before it."""

    diameter: Given  # [m]
    discharge: float = DISCHARGE  # Cd: 0.61 of a sharp edge to 0.98 of a rounded one

    volume = 0.0  # [m^3]

    def __post_init__(self) -> None:
        diameter = within("orifice diameter", self.diameter, "m", 1e-6, 0.1)
        object.__setattr__(self, "diameter", diameter)
        if not 0.1 <= self.discharge <= 1.0:
            raise LimpetError(f"orifice discharge = {self.discharge:g}: expected 0.1 to 1")

    def law(self, closed: bool, rt: float) -> LawOf:
        return orifice, (orifice_parameter(_bore(float(self.diameter)), self.discharge, rt),)


@dataclass(frozen=True)
class CheckValve:
    """A non-return valve: air passes towards the source only, `flow` at a drop of `drop` beyond the
    cracking pressure.
    """

    flow: Given = 1e-3  # [m^3/s] of air at ambient conditions; 60 l/min
    drop: Given = 1e3  # [Pa]
    cracking: Given = 0.0  # [Pa]

    volume = 0.0  # [m^3]

    def __post_init__(self) -> None:
        for field, si, low, high in (("flow", "m^3/s", 1e-9, 1.0), ("drop", "Pa", OPENING, 1e6)):
            value = within(f"check valve {field}", getattr(self, field), si, low, high)
            object.__setattr__(self, field, value)
        cracking = within("check valve cracking", self.cracking, "Pa", 0.0, 1e5)
        object.__setattr__(self, "cracking", cracking)

    def law(self, closed: bool, rt: float) -> LawOf:
        conductance = molar_conductance(float(self.flow), float(self.drop) - 0.5 * OPENING)
        return one_way, (conductance, float(self.cracking))


@dataclass(frozen=True)
class FlowCheck:
    """A flow check valve at a cup: it closes when more than `flow` passes, as where the cup is off
    the part; then only its bypass is open. It opens again when the drop across it is below `reset`.

    Open, `flow` passes at a drop of `drop`. It acts a step after the flow.
    """

    flow: Given  # [m^3/s] of air at ambient conditions, at which it closes
    bypass: Given = 0.3e-3  # [m] diameter
    drop: Given = 2e3  # [Pa]
    reset: Given = 5e3  # [Pa]

    volume = 0.0  # [m^3]

    def __post_init__(self) -> None:
        bounds = {
            "flow": ("m^3/s", 1e-9, 1.0), "bypass": ("m", 1e-6, 1e-2),
            "drop": ("Pa", 1.0, 1e6), "reset": ("Pa", 1.0, 1e5),
        }  # fmt: skip
        for field, (si, low, high) in bounds.items():
            value = within(f"flow check {field}", getattr(self, field), si, low, high)
            object.__setattr__(self, field, value)

    def law(self, closed: bool, rt: float) -> LawOf:
        if closed:
            return orifice, (orifice_parameter(_bore(float(self.bypass)), DISCHARGE, rt),)
        return linear, (molar_conductance(float(self.flow), float(self.drop)),)

    def closes(self, closed: bool, flow: float, drop: float, around: Atmosphere) -> bool:
        """Whether it is closed after a step. flow [mol/s], drop [Pa]: towards the source."""
        limit = float(self.flow) * around.pressure / around.rt
        return drop >= float(self.reset) if closed else flow > limit


Element = Hose | Restriction | Reservoir | Orifice | CheckValve | FlowCheck
ELEMENTS = (Hose, Restriction, Reservoir, Orifice, CheckValve, FlowCheck)


def resists(element: Element) -> bool:
    """Whether the pressures at its ends may differ."""
    return not isinstance(element, Reservoir) and not (
        isinstance(element, Restriction) and element.conductance == np.inf
    )


def elements_of(line: object) -> tuple[Element, ...]:
    """The elements of a line as it was given: one, or several from the cup to the source."""
    if line is None:
        return ()
    given = tuple(line) if isinstance(line, (list, tuple)) else (line,)
    for element in given:
        if not isinstance(element, ELEMENTS):
            names = ", ".join(kind.__name__ for kind in ELEMENTS)
            raise LimpetError(f"line has {element!r}: expected elements of a line: {names}")
    return given


def _volume(field: str, value: Given) -> float:
    volume = quantity(value, "m^3", field)
    if not 0.0 <= volume <= 1.0:
        raise LimpetError(
            f'{field} = {volume:g} m^3: expected 0 to 1 m^3; strings may have units, as "20 ml"'
        )
    return volume
