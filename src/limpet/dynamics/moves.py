"""Moves as a robot makes them: from place to place within speed, acceleration and jerk.

A leg starts and ends at rest. Its distance is covered as fast as the limits allow, by phases of
constant jerk: jerk up, constant acceleration, jerk down, constant speed, and the same in reverse.
Without a limit of the jerk the acceleration jumps, and the speed is a trapezoid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import cbrt, inf, sqrt

import numpy as np

from limpet.dynamics.prescribed_motion import Motion
from limpet.errors import LimpetError, require_positive, suggest

Array = np.ndarray


@dataclass(frozen=True)
class Leg:
    """A straight move, after a wait at its start."""

    by: Sequence[float]  # (3,) [m]
    speed: float  # [m/s] at most
    acceleration: float  # [m/s^2] at most
    jerk: float = inf  # [m/s^3] at most
    wait: float = 0.0  # [s] before it begins


@dataclass(frozen=True)
class Moves(Motion):
    """Legs one after the other, as phases of constant jerk along the straight line of each."""

    times: Array  # (p + 1,) [s] at which phases begin, and the end
    places: Array  # (p, 3) [m] at the beginning of each phase
    along: Array  # (p, 3) unit vector of its leg
    states: Array  # (p, 3) speed [m/s], acceleration [m/s^2] and jerk [m/s^3] at its beginning

    @property
    def duration(self) -> float:
        """[s] until the end of the last leg."""
        return float(self.times[-1])

    def offset(self, time: float) -> Array:
        """(3,) [m] from the place at rest; held constant before and after."""
        t = min(max(time, 0.0), self.duration)
        k = min(int(np.searchsorted(self.times, t, side="right")) - 1, len(self.places) - 1)
        dt, (v, a, j) = t - self.times[k], self.states[k]
        return self.places[k] + (dt * (v + dt * (a / 2.0 + dt * j / 6.0))) * self.along[k]

    def pose(self, time: float) -> tuple[Array, Array]:
        return np.eye(3), self.offset(time)


def moves(legs: Sequence[Leg | Mapping[str, object]]) -> Moves:
    """Straight moves one after the other, each within its speed, acceleration and jerk.

    legs: `Leg`, or a mapping with its fields: by (3,) [m], speed [m/s], acceleration [m/s^2], and
    if wanted jerk [m/s^3] and wait [s].
    """
    if len(legs) == 0:
        raise LimpetError("motion moves are empty: give at least one leg")
    times, places, target = [0.0], [np.zeros(3)], np.zeros(3)
    along: list[Array] = []
    states: list[tuple[float, float, float]] = []
    for number, given in enumerate(legs, 1):
        leg = _checked(given, number)
        way = np.array(leg.by, dtype=float)
        distance = float(np.linalg.norm(way))
        unit = way / distance if distance > 0.0 else np.zeros(3)
        for duration, v, a, j in _phases(distance, leg):
            if duration > 0.0:
                covered = duration * (v + duration * (a / 2.0 + duration * j / 6.0))
                times.append(times[-1] + duration)
                places.append(places[-1] + covered * unit)
                along.append(unit)
                states.append((v, a, j))
        target = target + way
        places[-1] = target  # not the sum of the phases' roundings
    if not states:
        raise LimpetError("motion moves: no leg goes anywhere or waits")
    return Moves(np.array(times), np.array(places[:-1]), np.array(along), np.array(states))


def peak_speed(distance: float, leg: Leg) -> tuple[float, float, float]:
    """Speed [m/s] that a leg reaches, and the times [s] of changing and of constant acceleration.

    The way to that speed and back is v (2 t_j + t_a).
    """
    j, a, v = leg.jerk, leg.acceleration, leg.speed

    def rise(speed: float) -> tuple[float, float]:
        if speed * j < a * a:  # the acceleration does not reach its limit
            return sqrt(speed / j), 0.0
        return a / j, speed / a - a / j

    tj, ta = rise(v)
    if v * (2.0 * tj + ta) > distance:  # the speed does not reach its limit
        lag = a / j
        v = 0.5 * a * (sqrt(lag * lag + 4.0 * distance / a) - lag)
        if v * j < a * a:
            v = cbrt(0.25 * distance * distance * j)
        tj, ta = rise(v)
    return v, tj, ta


def _phases(distance: float, leg: Leg) -> list[tuple[float, float, float, float]]:
    """Duration, and speed, acceleration and jerk at the beginning, of each phase of a leg."""
    wait = (leg.wait, 0.0, 0.0, 0.0)
    if distance == 0.0:
        return [wait]
    v, tj, ta = peak_speed(distance, leg)
    cruise = max(0.0, distance / v - (2.0 * tj + ta))
    a = v / (tj + ta)
    j = a / tj if tj > 0.0 else 0.0
    low = 0.5 * a * tj  # speed after the first phase
    return [
        wait,
        (tj, 0.0, 0.0, j), (ta, low, a, 0.0), (tj, v - low, a, -j),
        (cruise, v, 0.0, 0.0),
        (tj, v, 0.0, -j), (ta, v - low, -a, 0.0), (tj, low, -a, j),
    ]  # fmt: skip


def _checked(given: Leg | Mapping[str, object], number: int) -> Leg:
    label, known = f"leg {number} of the motion", [f.name for f in fields(Leg)]
    if isinstance(given, Mapping):
        for key in given:
            if key not in known:
                raise LimpetError(f"{label}: unknown '{key}'{suggest(str(key), known)}")
        missing = [key for key in known[:3] if key not in given]
        if missing:
            raise LimpetError(f"{label}: has no {missing[0]}")
        given = Leg(**given)  # type: ignore[arg-type]
    by = np.asarray(given.by, dtype=float)
    if by.shape != (3,) or not np.isfinite(by).all():
        raise LimpetError(f"{label}: by = {given.by}: expected three finite numbers [m]")
    require_positive(f"{label}: speed", given.speed, " m/s")
    require_positive(f"{label}: acceleration", given.acceleration, " m/s^2")
    if given.jerk != inf:
        require_positive(f"{label}: jerk", given.jerk, " m/s^3")
    if given.wait != 0.0:
        require_positive(f"{label}: wait", given.wait, " s")
    return given
