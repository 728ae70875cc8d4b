"""An articulated arm that follows a path: hinges in a row, moved as their joint angles say.

A position-controlled robot is far stiffer than what it handles, so its links are driven bodies. The
pose of a link is the product of the turns of the joints before it, each about its axis at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from limpet.compiled import njit
from limpet.dynamics.motion import Motion, rising_times
from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_matrix, rotation_vector

Array = np.ndarray

REACHED = 1e-6  # [m], [rad] what the inverse kinematics may miss
SAMPLES = 20  # of each straight move of the tool


@njit(cache=True)
def _poses(origins: Array, axes: Array, angles: Array) -> tuple[Array, Array]:
    """Rotations (j, 3, 3) and shifts (j, 3) of the links from their places at rest."""
    turns, shifts = np.empty((len(axes), 3, 3)), np.empty((len(axes), 3))
    rotation, shift = np.eye(3), np.zeros(3)
    for k in range(len(axes)):
        r = rotation_matrix(axes[k], angles[k])
        shift = shift + rotation @ (origins[k] - r @ origins[k])
        rotation = rotation @ r
        turns[k], shifts[k] = rotation, shift
    return turns, shifts


@dataclass(frozen=True)
class Arm:
    """Joints at rest, from the base to the tool; all angles are zero at rest."""

    origins: Array  # (j, 3) [m] a point on each joint's axis
    axes: Array  # (j, 3) unit
    tool: Array  # (3,) [m] the tool's point

    def poses(self, angles: Array) -> list[tuple[Array, Array]]:
        """(rotation, shift) of each link from its place at rest; link i follows joint i."""
        return list(zip(*_poses(self.origins, self.axes, angles)))

    def tool_pose(self, angles: Array) -> tuple[Array, Array]:
        """(rotation from rest, place [m]) of the tool's point."""
        rotation, shift = self.poses(angles)[-1]
        return rotation, rotation @ self.tool + shift

    def reach(self, place: Array, rotation: Array, near: Array) -> Array:
        """Joint angles (j,) [rad] that bring the tool there, starting the search `near`."""
        from scipy.optimize import least_squares

        size = float(np.linalg.norm(self.tool - self.origins[0]))

        def miss(angles: Array) -> Array:
            now, where = self.tool_pose(angles)
            return np.concatenate([(where - place) / size, rotation_vector(now @ rotation.T)])

        def slope(angles: Array) -> Array:
            """Each joint turns the tool about its axis (exact where the directions agree)."""
            poses = self.poses(angles)
            where = self.tool_pose(angles)[1]
            columns = []
            for (now, shift), origin, axis in zip(poses, self.origins, self.axes):
                about = now @ axis
                columns.append([*np.cross(about, where - now @ origin - shift) / size, *about])
            return np.array(columns).T

        found = least_squares(miss, near, slope, xtol=1e-12, ftol=1e-12, gtol=1e-12)
        worst = float(np.abs(found.fun).max())
        if worst * max(size, 1.0) > REACHED:
            raise LimpetError(
                f"arm: the tool cannot reach {np.round(place, 4).tolist()} m turned as asked; "
                f"it misses by {worst * size:.3g} m, move the target nearer to the base"
            )
        return found.x

    def follow(self, stations: Sequence[tuple[float, Sequence[float]]]) -> JointPath:
        """The joint-space path whose tool moves straight between (time [s], offset [m] from rest).

        The tool keeps its direction; it starts and stops at each station with the least jerk
        (a polynomial of fifth degree), so that it does not shake its load.
        """
        times = rising_times("arm path", [t for t, _ in stations])
        offsets = np.array([np.asarray(p, dtype=float) for _, p in stations]).reshape(-1, 3)
        if not np.all(np.isfinite(offsets)):
            raise LimpetError("arm path: expected finite offsets [m]")
        angles = [self.reach(self.tool + offsets[0], np.eye(3), np.zeros(len(self.axes)))]
        when = [times[0]]
        for k in range(len(times) - 1):
            still = np.allclose(offsets[k], offsets[k + 1])
            count = 1 if still else SAMPLES
            for u in np.arange(1, count + 1) / count:
                part = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)  # least jerk
                place = self.tool + (1.0 - part) * offsets[k] + part * offsets[k + 1]
                angles.append(self.reach(place, np.eye(3), angles[-1]))
                when.append((1.0 - u) * times[k] + u * times[k + 1])
        return JointPath(self, np.array(when), np.array(angles))


@dataclass(frozen=True)
class JointPath:
    """Joint angles over time, by a cubic spline through the samples."""

    arm: Arm
    times: Array  # (k,) [s]
    angles: Array  # (k, j) [rad]

    def at(self, time: float) -> Array:
        """(j,) [rad]; held before the first and after the last sample."""
        return np.asarray(self._curve(np.clip(time, self.times[0], self.times[-1])))

    @cached_property
    def _curve(self) -> CubicSpline:
        return CubicSpline(self.times, self.angles, bc_type="clamped")

    def link(self, number: int) -> LinkMotion:
        """How the link after joint `number` moves; -1 is the tool's."""
        return LinkMotion(self, number)


@dataclass(frozen=True)
class LinkMotion(Motion):
    """The motion of one link of an arm on its path."""

    path: JointPath
    number: int

    def pose(self, time: float) -> tuple[Array, Array]:
        return self.path.arm.poses(self.path.at(time))[self.number]


def six_joints(base: Sequence[float], tool: Sequence[float]) -> Arm:
    """An arm with the joints of a common robot: yaw, shoulder, elbow, and three at the wrist.

    It stands at `base` [m] and points its tool straight down at `tool` [m] when at rest.
    """
    foot, tip = np.asarray(base, dtype=float), np.asarray(tool, dtype=float)
    away = tip - foot
    flat = np.array([away[0], away[1], 0.0])
    reach = float(np.linalg.norm(flat))
    if not reach > 0.05:
        raise LimpetError(f"arm base = {base}, tool = {tool}: expected 5 cm or more apart in x, y")
    ahead, up = flat / reach, np.array([0.0, 0.0, 1.0])
    side = np.cross(up, ahead)
    shoulder = foot + 0.35 * reach * up
    wrist = tip + 0.3 * reach * up
    elbow = 0.5 * (shoulder + wrist) + 0.7 * reach * up
    origins = [foot, shoulder, elbow, wrist, wrist, tip]
    # The tool's roll and the wrist's turns cross in no common plane: no direction is lost at rest.
    axes = [up, side, side, side, ahead, up]
    return Arm(np.array(origins), np.array(axes), tip)
