"""What draws the air from cups: regulators, pumps and ejectors, and the valve before them.

What lies between them and the cups stands in line_elements.py, how they act within a step in
network.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.dynamics.motion import rising_times
from limpet.errors import LimpetError
from limpet.units import quantity, within

Given = float | str  # in SI units, or with a unit
Schedule = tuple[tuple[float, float], ...]
ValveState = Literal["open", "closed", "vent", "blow"]
STATES = ("open", "closed", "vent", "blow")
SLOWEST = 1e-9  # [m^3/s] of a pump
FASTEST = 1.0  # [m^3/s], 60000 l/min
SHALLOWEST, DEEPEST = 1e3, 1e6  # [Pa] of vacuum: less has lost its unit; more may be under water
FAINTEST = 100.0  # [Pa] of a regulator
# Of the end vacuum: so far beyond it the flow goes on falling, to less than nothing. With a kink at
# nothing, where every pump ends, solutions would jump from one side of it to the other.
LET_BACK = 1e-4


@dataclass(frozen=True)
class Flow:
    """b P - a [mol/s], what leaves a place at the pressure P; or the pressure that is imposed."""

    a: float = 0.0  # [mol/s]
    b: float = 0.0  # [mol/(s Pa)]
    target: float | None = None  # [Pa]

    def out(self, pressure: float) -> float:
        """[mol/s] that leave; not known where the pressure is imposed."""
        return self.b * pressure - self.a


@dataclass(frozen=True)
class Regulator:
    """Holds a vacuum, whatever flow that takes: [Pa] below the atmosphere, or (time [s], vacuum)
    in order, linear between. A's, whose few ms of regulation are one or two steps.
    """

    vacuum: Given | Sequence[tuple[float, Given]]  # [Pa], or ([s], [Pa]) ...

    def __post_init__(self) -> None:
        given = self.vacuum
        points = ((0.0, given),) if isinstance(given, (int, float, str)) else tuple(given)
        if not points:
            raise LimpetError("regulator vacuum is empty: expected a number of Pa, or (s, Pa) ...")
        read = [(t, quantity(v, "Pa", "regulator vacuum")) for t, v in points]
        for t, v in read:
            if not (np.isfinite(t) and 0.0 <= v < np.inf):
                raise LimpetError(
                    f"regulator vacuum = {v:g} Pa: expected 0 or more, as a number below the "
                    "atmosphere (6e3 for -6 kPa)"
                )
        if 0.0 < max(v for _, v in read) < FAINTEST:
            raise LimpetError(
                f"regulator vacuum = {max(v for _, v in read):g} Pa: expected {FAINTEST:g} Pa or "
                'more; plain numbers are in Pa, strings may have units, as "60 kPa"'
            )
        rising_times("regulator vacuum", [t for t, _ in read])
        object.__setattr__(self, "vacuum", tuple((float(t), v) for t, v in read))

    @property
    def end_vacuum(self) -> float:
        """[Pa] the deepest that it is asked for."""
        return max(v for _, v in self._points)

    @property
    def _points(self) -> Schedule:
        assert isinstance(self.vacuum, tuple)
        return self.vacuum

    def vacuum_at(self, time: float) -> float:
        """[Pa] below the atmosphere that is asked for at `time` [s]."""
        times, values = zip(*self._points)
        return float(np.interp(time, times, values))


@dataclass(frozen=True)
class Pump:
    """A vacuum pump by its volume flow S at the inlet: `free_flow` without vacuum, falling linearly
    to nothing at `end_vacuum`, or along a curve (`from_curve`). At most 1e-4 of it comes back.
    """

    free_flow: Given  # [m^3/s]
    end_vacuum: Given  # [Pa] below the atmosphere
    curve: Sequence[tuple[float, float]] = ()  # ([Pa], [m^3/s]) ...; none: linear

    def __post_init__(self) -> None:
        _read_characteristic(self, "pump")

    @classmethod
    def from_curve(cls, points: Sequence[tuple[Given, Given]]) -> Pump:
        """By the points (vacuum, flow) of its data sheet: from no vacuum to no flow, in order."""
        return cls(*_ends_of("pump", points), curve=_points_of("pump", points))

    def with_vacuum(self, vacuum: float) -> Pump:
        """The same, with another end vacuum [Pa]."""
        changed = copy(self)
        _stretch(changed, vacuum)
        return changed

    def flow(self, pressure: float, around: Atmosphere) -> tuple[float, float]:
        """S P/(R T) [mol/s] at the pressure [Pa] of its inlet, and its slope."""
        p, flat = _let_back(self, pressure, around)
        s, slope = _characteristic(self, around.pressure - p)
        return s * p / around.rt, 0.0 if flat else (s - slope * p) / around.rt


@dataclass(frozen=True)
class Ejector:
    """A venturi ejector by its suction flow, as air at ambient conditions (Nl/min of data sheets):
    `free_flow` without vacuum, falling linearly to nothing at `end_vacuum`, or along a curve
    (`from_curve`). Its non-return valve lets 1e-4 of it back at most.

    saving: the air-saving control (off, on) [Pa]: it switches off at the first vacuum, and on again
    below the second. It acts a step after the vacuum.
    """

    free_flow: Given  # [m^3/s] of air at ambient conditions
    end_vacuum: Given  # [Pa] below the atmosphere
    curve: Sequence[tuple[float, float]] = ()  # ([Pa], [m^3/s]) ...; none: linear
    saving: tuple[Given, Given] | None = None  # [Pa] off, on

    def __post_init__(self) -> None:
        _read_characteristic(self, "ejector")
        if self.saving is not None:
            if not isinstance(self.saving, (tuple, list)) or len(self.saving) != 2:
                raise LimpetError(
                    f'ejector saving = {self.saving!r}: expected (off, on), as ("65 kPa", "55 kPa")'
                )
            off, on = (quantity(v, "Pa", "ejector saving") for v in self.saving)
            if not 0.0 < on < off < float(self.end_vacuum):
                raise LimpetError(
                    f"ejector saving = ({off:g} Pa, {on:g} Pa): expected (off, on) with 0 < on < "
                    f"off < end_vacuum, {float(self.end_vacuum):g} Pa"
                )
            object.__setattr__(self, "saving", (off, on))

    @classmethod
    def from_curve(
        cls, points: Sequence[tuple[Given, Given]], saving: tuple[Given, Given] | None = None
    ) -> Ejector:
        """By the points (vacuum, flow) of its data sheet: from no vacuum to no flow, in order."""
        ends = _ends_of("ejector", points)
        return cls(*ends, curve=_points_of("ejector", points), saving=saving)

    def with_vacuum(self, vacuum: float) -> Ejector:
        """The same, with another end vacuum [Pa]; the air-saving control with it, in proportion."""
        changed, share = copy(self), vacuum / float(self.end_vacuum)
        _stretch(changed, vacuum)
        if self.saving is not None:
            levels = tuple(share * float(v) for v in self.saving)
            object.__setattr__(changed, "saving", levels)
        return changed

    def flow(self, pressure: float, around: Atmosphere) -> tuple[float, float]:
        """[mol/s] at the pressure [Pa] of its inlet, and its slope."""
        p, flat = _let_back(self, pressure, around)
        s, slope = _characteristic(self, around.pressure - p)
        molar = around.pressure / around.rt
        return s * molar, 0.0 if flat else -slope * molar

    def runs(self, running: bool, vacuum: float) -> bool:
        """Whether it runs after a step that ended at `vacuum` [Pa]."""
        if self.saving is None:
            return True
        return vacuum < float(self.saving[0 if running else 1])


Source = Regulator | Pump | Ejector
SOURCES = (Regulator, Pump, Ejector)


def _read_characteristic(source: Pump | Ejector, kind: str) -> None:
    flow = within(f"{kind} free_flow", source.free_flow, "m^3/s", SLOWEST, FASTEST)
    end = within(f"{kind} end_vacuum", source.end_vacuum, "Pa", SHALLOWEST, DEEPEST)
    object.__setattr__(source, "free_flow", flow)
    object.__setattr__(source, "end_vacuum", end)
    object.__setattr__(source, "curve", tuple(source.curve) or ((0.0, flow), (end, 0.0)))


def _points_of(kind: str, points: Sequence[tuple[Given, Given]]) -> Schedule:
    """The points of a characteristic in SI units."""
    label = f"{kind} curve"
    read = tuple(
        (quantity(v, "Pa", f"{label} vacuum"), quantity(q, "m^3/s", f"{label} flow"))
        for v, q in points
    )
    vacuum, flow = np.array(read).reshape(-1, 2).T
    if len(read) < 2 or vacuum[0] != 0.0 or flow[-1] != 0.0:
        raise LimpetError(
            f"{label}: expected points (vacuum, flow) from no vacuum, (0, free flow), to no flow, "
            "(end vacuum, 0)"
        )
    if (np.diff(vacuum) <= 0.0).any() or (np.diff(flow) > 0.0).any():
        raise LimpetError(f"{label}: expected the vacuum to rise and the flow to fall: {read}")
    return read


def _ends_of(kind: str, points: Sequence[tuple[Given, Given]]) -> tuple[float, float]:
    """Free flow and end vacuum of a curve."""
    read = _points_of(kind, points)
    return read[0][1], read[-1][0]


def _stretch(source: Pump | Ejector, vacuum: float) -> None:
    """Give a copy of a source another end vacuum [Pa]; it may be as low as a user asks for."""
    share = vacuum / float(source.end_vacuum)
    object.__setattr__(source, "curve", tuple((share * v, q) for v, q in source.curve))
    object.__setattr__(source, "end_vacuum", vacuum)


def _let_back(source: Pump | Ejector, pressure: float, around: Atmosphere) -> tuple[float, bool]:
    """[Pa] at which the flow is taken, and whether less air comes at lower pressures no more."""
    lowest = around.pressure - (1.0 + LET_BACK) * float(source.end_vacuum)
    return max(pressure, lowest, 0.0), pressure < lowest


def _characteristic(source: Pump | Ejector, vacuum: float) -> tuple[float, float]:
    """Flow [m^3/s] at a vacuum [Pa], and its slope by the vacuum."""
    points = source.curve
    if vacuum > (end := points[-1][0]):
        (v, q), (w, r) = points[-2:]
        slope = (r - q) / (w - v)
        return slope * (vacuum - end), slope
    for (v, q), (w, r) in pairwise(points):
        if vacuum <= w:
            slope = (r - q) / (w - v) if vacuum > v else 0.0
            return q + slope * (vacuum - v), slope
    raise AssertionError("a curve ends at its end vacuum")


@dataclass(frozen=True)
class Valve:
    """Between the source and the line: (time [s], state) in order, from 0 s on.

    "open" lets the source take air, "closed" shuts the line off, "vent" opens it to the atmosphere,
    "blow" to the blow-off pressure. A state holds `switching_time` after its time.
    """

    schedule: Sequence[tuple[float, ValveState]] = ((0.0, "open"),)  # ([s], state) ...
    switching_time: Given = 0.0  # [s]
    blow_off: Given = 0.0  # [Pa] above the atmosphere

    def __post_init__(self) -> None:
        schedule = tuple((float(t), s) for t, s in self.schedule)
        for t, state in schedule:
            if state not in STATES:
                raise LimpetError(
                    f"valve has '{state}' at {t:g} s: expected one of {', '.join(STATES)}"
                )
        rising_times("valve", [t for t, _ in schedule])
        if not schedule or schedule[0][0] != 0.0:
            raise LimpetError("valve schedule: expected it to begin with its state at 0 s")
        object.__setattr__(self, "schedule", schedule)
        delay = within("valve switching_time", self.switching_time, "s", 0.0, 10.0)
        object.__setattr__(self, "switching_time", delay)
        pressure = within("valve blow_off", self.blow_off, "Pa", 0.0, 1e6)
        object.__setattr__(self, "blow_off", pressure)
        if pressure == 0.0 and any(state == "blow" for _, state in schedule):
            raise LimpetError('valve blows, but has no blow_off: expected a pressure, as "50 kPa"')

    def state(self, time: float) -> ValveState:
        """What it is at `time` [s]."""
        late = time * (1.0 + 1e-12) - float(self.switching_time)
        return [s for t, s in self.schedule if t <= max(late, 0.0)][-1]
