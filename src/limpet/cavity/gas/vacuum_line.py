"""What a user puts on a cup: a regulator or a pump, the hose to it, and a valve (A III-A, IV-A).

How they act within a step stands in network.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.dynamics.motion import rising_times
from limpet.errors import LimpetError, require_positive

Schedule = tuple[tuple[float, float], ...]
ValveState = Literal["open", "closed", "vent"]
STATES = ("open", "closed", "vent")


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

    vacuum: float | Sequence[tuple[float, float]]  # [Pa], or ([s], [Pa]) ...

    def __post_init__(self) -> None:
        given = self.vacuum
        points = ((0.0, given),) if isinstance(given, (int, float)) else tuple(given)
        if not points:
            raise LimpetError("regulator vacuum is empty: expected a number of Pa, or (s, Pa) ...")
        for t, v in points:
            if not (np.isfinite(t) and 0.0 <= v < np.inf):
                raise LimpetError(
                    f"regulator vacuum = {v:g} Pa: expected 0 or more, as a number below the "
                    "atmosphere (6e3 for -6 kPa)"
                )
        rising_times("regulator vacuum", [t for t, _ in points])
        object.__setattr__(self, "vacuum", tuple((float(t), float(v)) for t, v in points))

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

    def with_vacuum(self, vacuum: float) -> Regulator:
        """The same, asked for another vacuum [Pa]."""
        return Regulator(vacuum)

    def takes(self, pressure: float, time: float, around: Atmosphere) -> Flow:
        return Flow(target=around.pressure - self.vacuum_at(time))


@dataclass(frozen=True)
class Pump:
    """Takes `free_flow` [m^3/s] of air at the pressure of the atmosphere, and less the deeper the
    vacuum: its volume flow S falls linearly with the pressure, to nothing at `end_vacuum` [Pa].
    No air comes back through it.
    """

    free_flow: float  # [m^3/s]
    end_vacuum: float  # [Pa] below the atmosphere

    def __post_init__(self) -> None:
        require_positive("pump free_flow", self.free_flow, " m^3/s", "1e-4 is 6 l/min")
        require_positive("pump end_vacuum", self.end_vacuum, " Pa", "below the atmosphere")

    def with_vacuum(self, vacuum: float) -> Pump:
        """The same, with another end vacuum [Pa]."""
        return replace(self, end_vacuum=vacuum)

    def takes(self, pressure: float, time: float, around: Atmosphere) -> Flow:
        """S(P) P/(R T), linear about the pressure of the last step.

        The tangent of a convex flow: it is exact where the pressure settles, and however long the
        step, its zero never lies below the end vacuum.
        """
        end = around.pressure - self.end_vacuum
        if pressure <= end:
            return Flow()
        rate = self.free_flow / (self.end_vacuum * around.rt)  # S P/(R T) = rate P (P - end)
        return Flow(a=rate * pressure**2, b=rate * (2.0 * pressure - end))


Source = Regulator | Pump


@dataclass(frozen=True)
class Hose:
    """The hose: its air is at one pressure, that of the source's end; `conductance` leads to the
    cup. Without one (infinite) hose and cup share one pressure.
    """

    volume: float = 0.0  # [m^3]
    conductance: float = float("inf")  # [mol/(s Pa)]

    def __post_init__(self) -> None:
        if not 0.0 <= self.volume < np.inf:
            raise LimpetError(f"line volume = {self.volume:g} m^3: expected 0 or more")
        if self.conductance != np.inf:
            require_positive("line conductance", self.conductance, " mol/(s Pa)")

    @property
    def is_nothing(self) -> bool:
        return self.volume == 0.0 and self.conductance == np.inf


@dataclass(frozen=True)
class Valve:
    """Between the source and the line: (time [s], state) in order, from 0 s on.

    "open" lets the source take air, "closed" shuts the line off, "vent" opens it to the atmosphere.
    """

    schedule: Sequence[tuple[float, ValveState]] = ((0.0, "open"),)  # ([s], state) ...

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

    def state(self, time: float) -> ValveState:
        """What it is at `time` [s]."""
        return [s for t, s in self.schedule if t <= time * (1.0 + 1e-12)][-1]
