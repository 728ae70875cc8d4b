"""Kernels of rigid motion: rows and velocities of points, wrenches, free rotation."""

from __future__ import annotations

import numpy as np

from limpet.compiled import copy, inner, njit
from limpet.geometry.rotation import (
    quaternion_matrix,
    quaternion_product,
    rotation_vector_quaternion,
)

Array = np.ndarray

FAST = 1.0  # [rad] in a step: beyond, rotations are not resolved


@njit(cache=True)
def rigid_rows(start: Array, point: Array, vector: Array, arms: Array) -> Array:
    """Rows over surface vertices -> rows over (v, omega): sum of (d, r x d)."""
    out = np.zeros((len(start) - 1, 6))
    for r in range(len(out)):
        for k in range(start[r], start[r + 1]):
            d, a = vector[k], arms[point[k]]
            out[r, 0] += d[0]
            out[r, 1] += d[1]
            out[r, 2] += d[2]
            out[r, 3] += a[1] * d[2] - a[2] * d[1]
            out[r, 4] += a[2] * d[0] - a[0] * d[2]
            out[r, 5] += a[0] * d[1] - a[1] * d[0]
    return out


@njit(cache=True)
def rotated(points: Array, quaternion: Array) -> Array:
    """Points (n, 3) rotated by a quaternion."""
    r = quaternion_matrix(quaternion)
    out = np.empty_like(points)
    for i in range(len(points)):
        p = points[i]
        for d in range(3):
            out[i, d] = r[d, 0] * p[0] + r[d, 1] * p[1] + r[d, 2] * p[2]
    return out


@njit(cache=True)
def point_velocities(v: Array, w: Array, arms: Array) -> Array:
    """v + w x r at the end of each arm r, (n, 3)."""
    out = np.empty_like(arms)
    for i in range(len(arms)):
        a = arms[i]
        out[i, 0] = v[0] + w[1] * a[2] - w[2] * a[1]
        out[i, 1] = v[1] + w[2] * a[0] - w[0] * a[2]
        out[i, 2] = v[2] + w[0] * a[1] - w[1] * a[0]
    return out


@njit(cache=True)
def wrench_of(arms: Array, force: Array) -> Array:
    """(6,) sum and moment of forces (n, 3) at the ends of the arms."""
    out = np.zeros(6)
    for i in range(len(arms)):
        a, f = arms[i], force[i]
        for d in range(3):
            out[d] += f[d]
        out[3] += a[1] * f[2] - a[2] * f[1]
        out[4] += a[2] * f[0] - a[0] * f[2]
        out[5] += a[0] * f[1] - a[1] * f[0]
    return out


@njit(cache=True)
def marker_impulses(quaternion: Array, wrench: Array, extent: float) -> Array:
    """(4, 3) at the centre and at `extent` along each axis of the body: together a wrench (6,)."""
    out, axes, moment = np.empty((4, 3)), quaternion_matrix(quaternion), wrench[3:]
    copy(wrench[:3], out[0])
    for k in range(3):
        for c in range(3):
            d, e = (c + 1) % 3, (c + 2) % 3
            push = (moment[d] * axes[e, k] - moment[e] * axes[d, k]) / (2.0 * extent)
            out[1 + k, c] = push
            out[0, c] -= push
    return out


@njit(cache=True)
def twist_modes(arms: Array) -> Array:
    """(t, 3, 6): v + w x r at the ends of arms (t, 3), by v and w."""
    out = np.zeros((len(arms), 3, 6))
    for i in range(len(arms)):
        a, line = arms[i], out[i]
        for d in range(3):
            line[d, d] = 1.0
        line[0, 4], line[0, 5] = a[2], -a[1]
        line[1, 3], line[1, 5] = -a[2], a[0]
        line[2, 3], line[2, 4] = a[1], -a[0]
    return out


@inner()
def _cross(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@inner()
def _gyroscopic(inertia: Array, rotation: Array, w: Array, h: float) -> Array:
    """Solve I (w+ - w) + h w+ x I w+ = 0 in the body frame by Newton: stable at any spin."""
    if not np.any(w != 0.0):
        return w
    old = rotation.T @ w
    new = old.copy()
    for _ in range(8):
        spin = inertia @ new
        residual = inertia @ (new - old) + h * np.cross(new, spin)
        if np.abs(residual).max() <= 1e-15 * np.abs(spin).max():
            break
        jacobian = inertia + h * (_cross(new) @ inertia - _cross(spin))
        new = new - np.linalg.solve(jacobian, residual)
    return rotation @ new


@inner()
def _midpoint_rate(inertia: Array, w: Array, h: float) -> tuple[Array, bool]:
    """The rate W of a free body over a step h that begins with w, both in the body's frame.

    Midpoint rule for the angular momentum: half a step of W turns the body's frame, in which the
    momentum I w of the world then reads I W, so I W = exp(-h/2 W) I w. Newton with the derivative
    of the exponential for small angles. False: no solution was found.
    """
    momentum = inertia @ w
    rate = w.copy()
    for _ in range(30):
        spin = inertia @ rate
        residual = spin - _turned(-0.5 * h * rate, momentum)
        if np.abs(residual).max() <= 4e-16 * np.abs(momentum).max():
            return rate, True
        rate = rate - np.linalg.solve(inertia - 0.5 * h * _cross(spin), residual)
    return rate, np.abs(residual).max() <= 1e-12 * np.abs(momentum).max()


@inner()
def _turned(angle: Array, vector: Array) -> Array:
    """exp of a rotation vector [rad] times a vector."""
    return quaternion_matrix(rotation_vector_quaternion(angle)) @ vector


@njit(cache=True)
def free_motion(inertia: Array, quaternion: Array, v: Array, w: Array, h: float, g: Array) -> Array:
    """(6,) velocities over a step h of gravity alone; that of rotation is the mean over the step.

    The midpoint rule keeps the angular momentum, and the energy to second order. What turns by more
    than FAST in a step is damped instead, by backward Euler.
    """
    out, r = np.empty(6), quaternion_matrix(quaternion)
    copy(v + h * g, out)
    if not np.any(w != 0.0):
        copy(w, out[3:])
        return out
    if h * np.sqrt(w @ w) <= FAST:
        rate, found = _midpoint_rate(inertia, r.T @ w, h)
        if found:
            copy(r @ rate, out[3:])
            return out
    copy(_gyroscopic(inertia, r, w, h), out[3:])
    return out


@njit(cache=True)
def velocity_after(inertia: Array, quaternion: Array, w: Array, h: float) -> Array:
    """w (3,) at the end of a step h made with the mean w, whose end is the pose `quaternion`."""
    if not np.any(w != 0.0) or h * np.sqrt(w @ w) > FAST:
        return w
    r = quaternion_matrix(quaternion)
    rate = r.T @ w  # the rotation about w leaves w as it is
    return r @ np.linalg.solve(inertia, _turned(-0.5 * h * rate, inertia @ rate))


@njit(cache=True)
def turned_velocity(inertia: Array, start: Array, end: Array, w: Array, kick: Array) -> Array:
    """w (3,) at the end of a step from `start` to `end` (quaternions) that began with w.

    The angular momentum stays but for an impulse, which alone changes w by `kick` at the start.
    """
    r, s = quaternion_matrix(start), quaternion_matrix(end)
    momentum = r @ (inertia @ (r.T @ (w + kick)))
    return s @ np.linalg.solve(inertia, s.T @ momentum)


@njit(cache=True)
def impulse_to(
    mass: float, inertia: Array, quaternion: Array, v: Array, w: Array, to: Array, h: float,
    g: Array,
) -> Array:  # fmt: skip
    """(6,) [N s, N m s] the impulse that, with h of gravity, takes the velocities `to` (6,)."""
    out, r = np.empty(6), quaternion_matrix(quaternion)
    turned = r @ inertia @ r.T
    copy(mass * (to[:3] - v - h * g), out)
    copy(turned @ to[3:] - turned @ w, out[3:])
    return out


@njit(cache=True)
def kinetic_energy(mass: float, inertia: Array, quaternion: Array, v: Array, w: Array) -> float:
    spin = quaternion_matrix(quaternion).T @ w
    return 0.5 * (mass * (v @ v) + spin @ (inertia @ spin))


@njit(cache=True)
def inverse_inertia(inertia: Array, quaternion: Array) -> Array:
    r = quaternion_matrix(quaternion)
    return np.linalg.solve(r @ inertia @ r.T, np.eye(3))


@njit(cache=True)
def advanced(centre: Array, quaternion: Array, v: Array, w: Array, h: float) -> tuple[Array, Array]:
    """Centre and turn after h."""
    if np.any(w != 0.0):
        quaternion = quaternion_product(rotation_vector_quaternion(h * w), quaternion)
        quaternion = quaternion / np.sqrt(quaternion @ quaternion)
    return centre + h * v, quaternion
