"""Prescribed motions of regions and bodies: a rigid displacement as a function of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.dynamics.moves import Leg, Moves, moves
from limpet.dynamics.prescribed_motion import Motion
from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_matrix

# as limpet.motion
__all__ = ["Leg", "Motion", "Moves", "Path", "Rotation", "moves", "path", "rotation"]

Array = np.ndarray


@dataclass(frozen=True)
class Path(Motion):
    """Translation along straight lines between given times."""

    times: Array  # (k,) [s], rising
    offsets: Array  # (k, 3) [m] from the place at rest

    def offset(self, time: float) -> Array:
        """(3,) [m]; held constant before the first and after the last time."""
        return np.array([np.interp(time, self.times, self.offsets[:, d]) for d in range(3)])

    def pose(self, time: float) -> tuple[Array, Array]:
        return np.eye(3), self.offset(time)


def path(
    stations: Sequence[tuple[float, float | Sequence[float]]],
    direction: Sequence[float] | Array = (0.0, 0.0, 1.0),
) -> Path:
    """Stations (time [s], displacement [m] along `direction`, or a vector of three)."""
    if len(stations) == 0:
        raise LimpetError("motion path is empty: give at least one (time, displacement)")
    if any(not isinstance(s, Sequence | np.ndarray) or len(s) != 2 for s in stations):
        raise LimpetError("motion path: expected pairs (time, displacement)")
    times = rising_times("motion path", [t for t, _ in stations])
    along = np.asarray(direction, dtype=float)
    if along.shape != (3,) or not np.all(np.isfinite(along)) or not along.any():
        raise LimpetError(
            f"motion path direction {direction}: expected three finite numbers, not all 0"
        )
    offsets = np.empty((len(times), 3))
    for row, (_, u) in zip(offsets, stations):
        value = np.asarray(u, dtype=float)
        if value.shape not in ((), (3,)) or not np.isfinite(value).all():
            raise LimpetError(f"motion path displacement {u}: expected a number or three, finite")
        row[:] = value if value.ndim else value * along
    return Path(times, offsets)


@dataclass(frozen=True)
class Rotation(Motion):
    """Rotation about a fixed axis, even between given times."""

    times: Array  # (k,) [s], rising
    angles: Array  # (k,) [rad] from the place at rest
    axis: Array  # (3,) of any length
    centre: Array  # (3,) [m] a point of the axis

    def pose(self, time: float) -> tuple[Array, Array]:
        rotation = rotation_matrix(self.axis, float(np.interp(time, self.times, self.angles)))
        return rotation, self.centre - rotation @ self.centre


def rotation(
    stations: Sequence[tuple[float, float]],
    axis: Sequence[float] | Array = (0.0, 0.0, 1.0),
    centre: Sequence[float] | Array = (0.0, 0.0, 0.0),
) -> Rotation:
    """Stations (time [s], angle [rad] about `axis` through `centre` [m])."""
    if len(stations) == 0:
        raise LimpetError("motion rotation is empty: give at least one (time, angle)")
    times = rising_times("motion rotation", [t for t, _ in stations])
    angles = np.array([float(a) for _, a in stations])
    about, point = np.asarray(axis, dtype=float), np.asarray(centre, dtype=float)
    if about.shape != (3,) or not np.all(np.isfinite(about)) or not about.any():
        raise LimpetError(f"motion rotation axis {axis}: expected three finite numbers, not all 0")
    if point.shape != (3,) or not np.all(np.isfinite(point)):
        raise LimpetError(f"motion rotation centre {centre}: expected three finite numbers [m]")
    if not np.all(np.isfinite(angles)):
        raise LimpetError(f"motion rotation angles {angles.tolist()}: expected finite numbers")
    return Rotation(times, angles, about, point)


def rising_times(label: str, values: Sequence[float]) -> Array:
    """(k,) [s], or a line that says they are out of order."""
    times = np.array([float(t) for t in values])
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0.0):
        raise LimpetError(f"{label} times {times.tolist()}: expected finite, rising times")
    return times


HOLD = Path(np.zeros(1), np.zeros((1, 3)))
