"""Kernels of rigid motion: rows and velocities of points, wrenches, implicit gyroscopic terms."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.geometry.rotation import (
    quaternion_matrix,
    quaternion_product,
    rotation_vector_quaternion,
)

Array = np.ndarray


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
    out[0] = wrench[:3]
    for k in range(3):
        out[1 + k] = np.cross(moment, axes[:, k]) / (2.0 * extent)
        out[0] -= out[1 + k]
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


@njit(cache=True)
def _cross(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@njit(cache=True)
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


@njit(cache=True)
def free_motion(inertia: Array, quaternion: Array, v: Array, w: Array, h: float, g: Array) -> Array:
    """(6,) velocities after h of gravity alone."""
    out = np.empty(6)
    out[:3] = v + h * g
    out[3:] = _gyroscopic(inertia, quaternion_matrix(quaternion), w, h)
    return out


@njit(cache=True)
def impulse_to(
    mass: float, inertia: Array, quaternion: Array, v: Array, w: Array, to: Array, h: float,
    g: Array,
) -> Array:  # fmt: skip
    """(6,) [N s, N m s] the impulse that, with h of gravity, takes the velocities `to` (6,)."""
    out, r = np.empty(6), quaternion_matrix(quaternion)
    turned = r @ inertia @ r.T
    out[:3] = mass * (to[:3] - v - h * g)
    out[3:] = turned @ to[3:] - turned @ w
    return out


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
