"""Bodies that are driven along one axis by a force, and guided in all other directions.

A guide makes a body follow a motion but for its offset s along an axis that moves with the motion.
The drive along the axis is an impedance with a limit, implicit in the step:

    F = clamp(force - k s+ - d (s+ - s)/h, -max_force, max_force),   s+ = s* + h a.v,

s* being the offset from the motion's next pose before the body moves. With c = 1/(h k + d) that is

    u = a.v + c (k s* + d (s* - s)/h - force) + c F = 0   as far as the limits allow:

a row of the law `limited` with the compliance c, solved together with all contacts. So any
stiffness is stable, and the limit holds within the step. Five bilateral rows are the guide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limpet.dynamics.constraint_set import DATA, ConstraintSet, RowBlock, StepContext
from limpet.dynamics.motion import Motion, rising_times
from limpet.errors import LimpetError, require_positive
from limpet.geometry.rotation import rotation_vector
from limpet.linalg.rows import Rows
from limpet.rigid import bilateral, limited

Array = np.ndarray

DriveForce = float | Sequence[tuple[float, float]]  # [N], or stations (time [s], force [N])


@dataclass(frozen=True)
class Actuator:
    """What drives a body along an axis, as the user described it."""

    axis: Array  # (3,) unit, in the world as the motion begins
    motion: Motion  # of the guide, and of the spring's other end
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    times: Array  # (k,) [s]
    forces: Array  # (k,) [N] along the axis at these times
    max_force: float  # [N]

    def force(self, time: float) -> float:
        """[N] linear between the given times."""
        return float(np.interp(time, self.times, self.forces))


def actuator(
    name: str, axis: Sequence[float] | Array, motion: Motion, stiffness: float, damping: float,
    force: DriveForce, max_force: float | None,
) -> Actuator:  # fmt: skip
    """Raises LimpetError where a value makes no sense; `name` is that of the body."""
    label = f"actuate '{name}'"
    along = np.asarray(axis, dtype=float)
    if along.shape != (3,) or not 0.0 < float(np.linalg.norm(along)) < np.inf:
        raise LimpetError(f"{label}: axis = {axis}: expected three finite numbers, not all 0")
    for what, value, unit in (("stiffness", stiffness, "N/m"), ("damping", damping, "N s/m")):
        if not 0.0 <= value < np.inf:
            raise LimpetError(f"{label}: {what} = {value:g} {unit}: expected 0 or more, finite")
    stations = [(0.0, force)] if isinstance(force, int | float) else list(force)
    if not stations or any(np.shape(s) != (2,) for s in stations):
        raise LimpetError(f"{label}: force = {force}: expected a number [N] or pairs (time, force)")
    times = rising_times(f"{label}: force", [t for t, _ in stations])
    forces = np.array([float(f) for _, f in stations])
    limit = np.inf if max_force is None else require_positive(f"{label}: max_force", max_force)
    if not np.all(np.isfinite(forces)) or np.abs(forces).max() > limit:
        raise LimpetError(
            f"{label}: force = {force} N: expected finite forces up to max_force = {limit:g} N"
        )
    unit_axis = along / np.linalg.norm(along)
    return Actuator(unit_axis, motion, stiffness, damping, times, forces, limit)


@dataclass(frozen=True)
class ActuatedBody:
    """A rigid body with an actuator, and the four points that show its pose."""

    name: str
    actuator: Actuator
    markers: Array  # (4,) among all points: the centre, and `extent` along each axis of the body
    extent: float  # [m]
    rest_centre: Array  # (3,) [m]


class _Target(NamedTuple):
    """Where the motion wants a body, and where it is."""

    rotation: Array  # (3, 3) of the motion
    centre: Array  # (3,) [m] of the body, without an offset along the axis
    axis: Array  # (3,) unit
    away: Array  # (3,) [m] from there to the body's centre


def _target(body: ActuatedBody, x: Array, time: float) -> _Target:
    rotation, shift = body.actuator.motion.pose(time)
    centre = rotation @ body.rest_centre + shift
    away = x[body.markers[0]] - centre
    return _Target(rotation, centre, rotation @ body.actuator.axis, away)


class _ActuatorRows(ConstraintSet):
    """Rows on the markers of actuated bodies; none has a state: all follows from poses and time."""

    phase = "compliance"

    def __init__(self, bodies: Sequence[ActuatedBody]) -> None:
        self._bodies = bodies
        self._wrenches: dict[str, Array] = {}

    def update(self, now: StepContext) -> None:
        self._now = now

    def _wrench(self, body: ActuatedBody, forces: Array) -> Array:
        """(6,) about the centre, of forces (4, 3) [N] on the markers."""
        arms = self._now.x[body.markers] - self._now.x[body.markers[0]]
        return np.concatenate([forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)])

    def wrenches(self) -> Mapping[str, Array]:
        return self._wrenches

    def get_state(self) -> dict[str, object]:
        return {}

    def set_state(self, state: Mapping[str, object]) -> None: ...


class GuideSet(_ActuatorRows):
    """Actuated bodies turn and move as their motions do, but for their offset along the axis."""

    name = "guides"

    def rows(self) -> RowBlock:
        x, h, t = self._now.x, self._now.h, self._now.time
        vectors, points, bias = [], [], []
        for body in self._bodies:
            to = _target(body, x, t + h)
            across = np.linalg.svd(to.axis[None, :])[2][1:]  # (2, 3)
            vectors += [*across]
            points += [body.markers[:1]] * 2
            bias += (across @ to.away / h).tolist()
            own = (x[body.markers[1:]] - x[body.markers[0]]).T / body.extent  # rotation of the body
            spin = rotation_vector(to.rotation @ own.T) / h
            for k in range(3):
                # the end of axis k + 1 moves along axis k + 2 by the spin about axis k
                i, j = (k + 1) % 3, (k + 2) % 3
                vectors += [own[:, j], -own[:, j]]
                points.append(body.markers[[1 + i, 0]])
                bias.append(-body.extent * float(own[:, k] @ spin))
        sizes = [len(p) for p in points]
        jacobian = Rows(
            np.cumsum([0, *sizes]).astype(np.int32), np.concatenate(points).astype(np.int32),
            np.ascontiguousarray(vectors),
        )  # fmt: skip
        self._vectors, r = jacobian.vector, len(bias)
        return RowBlock(
            jacobian, np.array(bias), np.zeros(r), np.array([bilateral.KIND], np.int32),
            np.array([0, r], np.int32), np.zeros((1, DATA)), np.zeros(1, np.int64),
        )  # fmt: skip

    def accept(self, multipliers: Array, rates: Array) -> None:
        vectors = self._vectors.reshape(-1, 8, 3)  # 2 rows of one point, 3 of two
        for body, own, at in zip(self._bodies, multipliers.reshape(-1, 5), vectors):
            forces = np.zeros((4, 3))
            forces[0] = own[:2] @ at[:2]
            for k in range(3):
                push = own[2 + k] * at[2 + 2 * k]
                forces[1 + (k + 1) % 3] += push
                forces[0] -= push
            self._wrenches[body.name] = self._wrench(body, forces)


class DriveSet(_ActuatorRows):
    """Spring, damper and force along the axis of each actuated body, within the limit."""

    name = "drives"

    def rows(self) -> RowBlock:
        x, h, t = self._now.x, self._now.h, self._now.time
        n = len(self._bodies)
        bias, compliance, data = np.zeros(n), np.zeros(n), np.zeros((n, DATA))
        self._axes = np.zeros((n, 3))
        for i, body in enumerate(self._bodies):
            a, to, before = body.actuator, _target(body, x, t + h), _target(body, x, t)
            force = np.clip(self._asked(body, t + h), -a.max_force, a.max_force)
            offset, last = to.axis @ to.away, before.axis @ before.away
            stiff = h * a.stiffness + a.damping
            self._axes[i] = to.axis
            if stiff > 0.0:
                spring = a.stiffness * offset + a.damping * (offset - last) / h
                bias[i], compliance[i] = (spring - force) / stiff, 1.0 / stiff
                data[i, :2] = -a.max_force, a.max_force
            else:
                data[i, :2] = force
        line = np.arange(n + 1, dtype=np.int32)
        points = np.array([body.markers[0] for body in self._bodies], np.int32)
        return RowBlock(
            Rows(line, points, self._axes), bias, compliance,
            np.full(n, limited.KIND, np.int32), line, data, np.arange(n, dtype=np.int64),
        )  # fmt: skip

    def _asked(self, body: ActuatedBody, time: float) -> float:
        """[N] by the user while it runs, or else by the world."""
        return self._now.control.drives.get(body.name, body.actuator.force(time))

    def accept(self, multipliers: Array, rates: Array) -> None:
        for body, axis, force in zip(self._bodies, self._axes, multipliers.tolist()):
            self._wrenches[body.name] = np.concatenate([force * axis, np.zeros(3)])
