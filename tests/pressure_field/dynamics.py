"""Rigid bodies under pressure-field contact, integrated by Radau IIA with error control (F VIII).

Forces are continuous in the state, so an implicit integrator of high order takes them as they are:
stiff contacts, bounces and rest alike, with no impulses and no events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.integrate import solve_ivp

from limpet.errors import DivergedError, LimpetError
from limpet.geometry.rotation import quaternion_matrix, quaternion_product
from limpet.pressure_field.fields import FieldGeometry, HalfSpace
from limpet.pressure_field.surface import Pose, contact_surface
from limpet.pressure_field.wrench import FrictionModel, softness, with_smooth_gradients, wrench

from .energy import energy

Array = np.ndarray

SIZE = 13  # numbers of a free body: place, quaternion, velocity, spin
STILL = (0.0, 0.0, 0.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mover:
    """A body with its mass, whose frame has its origin at the centre of mass; fixed without one."""

    body: FieldGeometry
    mass: float | None = None  # [kg] None: fixed
    inertia: Array = field(default_factory=lambda: np.eye(3))  # (3, 3) [kg m^2] in its frame
    position: tuple[float, float, float] = STILL  # [m] at the start
    quaternion: tuple[float, float, float, float] = UPRIGHT  # w, x, y, z
    velocity: tuple[float, float, float] = STILL  # [m/s]
    spin: tuple[float, float, float] = STILL  # [rad/s] in the world's frame

    def __post_init__(self) -> None:
        if self.mass is None:
            return
        if not 0.0 < self.mass < np.inf:
            raise LimpetError(f"mass = {self.mass:g} kg: expected above 0, or None to fix the body")
        if isinstance(self.body, HalfSpace):
            raise LimpetError("a half space has a mass: expected None, it has no end to move")
        if np.linalg.eigvalsh(self.inertia).min() <= 0.0:
            raise LimpetError("inertia: expected a symmetric matrix with moments above 0 kg m^2")


@dataclass(frozen=True)
class Trajectory:
    """What was asked for at each time."""

    time: Array  # (t,) [s]
    position: Array  # (t, n, 3) [m] of every body, fixed ones too
    rotation: Array  # (t, n, 3, 3)
    velocity: Array  # (t, n, 3) [m/s]
    spin: Array  # (t, n, 3) [rad/s]
    evaluations: int  # of all forces


@dataclass(frozen=True)
class Bodies:
    """Bodies, the law of their contacts, and gravity."""

    movers: tuple[Mover, ...]
    law: FrictionModel = field(default_factory=FrictionModel)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  # [m/s^2]

    def run(self, times: Array, rtol: float = 1e-6, max_step: float = 5e-3) -> Trajectory:
        """Integrate from the start through the given times (t,) [s], the first being the start.

        In a step of `max_step` [s] no body may pass through another: what is wholly within a rigid
        body is no longer pushed out of it, and the error control would not know.
        """
        times = np.asarray(times, dtype=float)
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0.0).all():
            raise LimpetError("times: expected at least two, rising")
        scale = np.tile(np.repeat([1e-3, 1e-3, 1e-2, 1e-2], [3, 4, 3, 3]), len(self._free()))
        found = solve_ivp(
            lambda t, y: self._rate(y),
            (times[0], times[-1]),
            self._start(),
            method="Radau",
            t_eval=times,
            rtol=rtol,
            atol=rtol * scale,
            max_step=max_step,
        )
        if not found.success:
            reached = found.t[-1] if len(found.t) else times[0]
            raise DivergedError(f"Radau stopped after {reached:g} s: {found.message}")
        states = [self._unpacked(y) for y in found.y.T]
        position, rotation, velocity, spin = (np.array(s) for s in zip(*states))
        motion = Trajectory(times, position, rotation, velocity, spin, int(found.nfev))
        self._check_passed(motion, max_step)
        return motion

    def _check_passed(self, motion: Trajectory, max_step: float) -> None:
        """Refuse a motion in which a body went wholly below a half space."""
        for pair in self._pairs():
            for i, j in (pair, pair[::-1]):
                plane, other = self.movers[i].body, self.movers[j].body
                if not isinstance(plane, HalfSpace) or isinstance(other, HalfSpace):
                    continue
                normal = motion.rotation[0, i] @ plane.normal
                offset = plane.offset + normal @ motion.position[0, i]
                reach = (other.points @ (normal @ motion.rotation[:, j]).T).max(axis=0)
                below = motion.position[:, j] @ normal + reach < offset
                if below.any():
                    raise DivergedError(
                        f"body {j} has passed through half space {i} at "
                        f"{motion.time[below.argmax()]:g} s: expected contact; take a max_step "
                        f"below {max_step:g} s, or a smaller rtol"
                    )

    def energies(self, motion: Trajectory) -> Array:
        """(t, 3) [J] kinetic, of gravity, and of the contacts (F eq 1)."""
        out = np.zeros((len(motion.time), 3))
        for k in range(len(motion.time)):
            poses = list(zip(motion.rotation[k], motion.position[k]))
            for i in self._free():
                mover, (rotation, place) = self.movers[i], poses[i]
                spin = rotation.T @ motion.spin[k, i]
                assert mover.mass is not None
                out[k, 0] += 0.5 * mover.mass * motion.velocity[k, i] @ motion.velocity[k, i]
                out[k, 0] += 0.5 * spin @ mover.inertia @ spin
                out[k, 1] -= mover.mass * np.dot(self.gravity, place)
            for i, j in self._pairs():
                out[k, 2] += energy(self.movers[i].body, poses[i], self.movers[j].body, poses[j])
        return out

    def _free(self) -> list[int]:
        return [i for i, mover in enumerate(self.movers) if mover.mass is not None]

    def _pairs(self) -> list[tuple[int, int]]:
        """All pairs of bodies of which one is free."""
        free = set(self._free())
        return [p for p in combinations(range(len(self.movers)), 2) if free & set(p)]

    def _start(self) -> Array:
        free = [self.movers[i] for i in self._free()]
        if not free:
            raise LimpetError("every body is fixed: expected one with a mass")
        parts = [[*m.position, *m.quaternion, *m.velocity, *m.spin] for m in free]
        return np.array(parts, dtype=float).ravel()

    def _unpacked(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Places (n, 3), rotations (n, 3, 3), velocities (n, 3), spins (n, 3) of all bodies."""
        n = len(self.movers)
        place, rotation = np.empty((n, 3)), np.empty((n, 3, 3))
        velocity, spin = np.zeros((n, 3)), np.zeros((n, 3))
        states = iter(y.reshape(-1, SIZE))
        for i, mover in enumerate(self.movers):
            if mover.mass is None:
                place[i], q = mover.position, np.array(mover.quaternion)
            else:
                state = next(states)
                place[i], q, velocity[i], spin[i] = np.split(state, (3, 7, 10))
            rotation[i] = quaternion_matrix(q / np.linalg.norm(q))
        return place, rotation, velocity, spin

    def _rate(self, y: Array) -> Array:
        """Newton and Euler, with all contacts at this state."""
        place, rotation, velocity, spin = self._unpacked(y)
        force, moment = np.zeros_like(place), np.zeros_like(place)
        for i, j in self._pairs():
            one, two = self.movers[i].body, self.movers[j].body
            pose_i: Pose = (rotation[i], place[i])
            pose_j: Pose = (rotation[j], place[j])
            surface = contact_surface(one, pose_i, two, pose_j)
            if not len(surface):
                continue
            if self.law.dissipation > 0.0:
                surface = with_smooth_gradients(surface, one, pose_i, two, pose_j)
            arm = place[i] - place[j]  # everything about body i's centre
            relative = velocity[i] - velocity[j] - np.cross(spin[j], arm)
            found = wrench(
                surface, place[i], relative, spin[i] - spin[j], self.law, softness(one, two)
            )
            force[i] += found.force
            moment[i] += found.moment
            force[j] -= found.force
            moment[j] -= found.moment + np.cross(arm, found.force)
        out = np.empty_like(y).reshape(-1, SIZE)
        for row, state, i in zip(out, y.reshape(-1, SIZE), self._free()):
            mover, turn, w = self.movers[i], rotation[i], spin[i]
            assert mover.mass is not None
            inertia = turn @ mover.inertia @ turn.T
            row[:3] = velocity[i]
            row[3:7] = 0.5 * quaternion_product(np.append(0.0, w), state[3:7])
            row[7:10] = force[i] / mover.mass + np.asarray(self.gravity)
            row[10:] = np.linalg.solve(inertia, moment[i] - np.cross(w, inertia @ w))
        return out.ravel()
