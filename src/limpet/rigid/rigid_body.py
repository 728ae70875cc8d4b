"""Rigid bodies: free, fixed or driven; exact inertia; gyroscopic terms implicit."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.dynamics.body import Rows
from limpet.dynamics.motion import Motion
from limpet.errors import MeshError, require_positive
from limpet.geometry.rotation import (
    quaternion_matrix,
    quaternion_product,
    rotation_vector,
    rotation_vector_quaternion,
)
from limpet.geometry.shape import Array, RigidShape, check_points
from limpet.linalg.reduced_compliance import ReducedCompliance


def mass_properties(points: Array, triangles: Array, mass: float) -> tuple[Array, Array]:
    """Centre of mass (3,) and inertia about it (3, 3) of a homogeneous solid, exact for its mesh.

    Sum over signed tetrahedra from one vertex; integrals of 1, x and x x^T over a tetrahedron.
    """
    origin = points[triangles[0, 0]]
    p = points[triangles] - origin  # (m, 3, 3)
    volume = np.einsum("mi,mi->m", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6.0
    total = volume.sum()
    if not total > 0.0:
        raise MeshError(
            f"rigid surface has volume {total:g} m^3: inside-out or empty; flip its triangles"
        )
    corner_sum = p.sum(axis=1)
    first = np.einsum("m,mi->i", volume, corner_sum) / 4.0
    second = np.einsum("m,mki,mkj->ij", volume, p, p) + np.einsum(
        "m,mi,mj->ij", volume, corner_sum, corner_sum
    )
    second /= 20.0
    centre = first / total
    moment = (second - np.outer(first, first) / total) * (mass / total)
    return centre + origin, np.trace(moment) * np.eye(3) - moment


@njit(cache=True)
def _rigid_rows(start: Array, vertex: Array, vector: Array, arms: Array) -> Array:
    """Rows over surface vertices -> rows over (v, omega): sum of (d, r x d)."""
    out = np.zeros((len(start) - 1, 6))
    for r in range(len(out)):
        for k in range(start[r], start[r + 1]):
            d, a = vector[k], arms[vertex[k]]
            out[r, 0] += d[0]
            out[r, 1] += d[1]
            out[r, 2] += d[2]
            out[r, 3] += a[1] * d[2] - a[2] * d[1]
            out[r, 4] += a[2] * d[0] - a[0] * d[2]
            out[r, 5] += a[0] * d[1] - a[1] * d[0]
    return out


@njit(cache=True)
def _turned(points: Array, quaternion: Array) -> Array:
    """Points (n, 3) turned by a quaternion."""
    r = quaternion_matrix(quaternion)
    out = np.empty_like(points)
    for i in range(len(points)):
        p = points[i]
        for d in range(3):
            out[i, d] = r[d, 0] * p[0] + r[d, 1] * p[1] + r[d, 2] * p[2]
    return out


@njit(cache=True)
def _carried(v: Array, w: Array, arms: Array) -> Array:
    """v + w x r at the end of each arm r, (n, 3)."""
    out = np.empty_like(arms)
    for i in range(len(arms)):
        a = arms[i]
        out[i, 0] = v[0] + w[1] * a[2] - w[2] * a[1]
        out[i, 1] = v[1] + w[2] * a[0] - w[0] * a[2]
        out[i, 2] = v[2] + w[0] * a[1] - w[1] * a[0]
    return out


@njit(cache=True)
def _wrench(arms: Array, force: Array) -> Array:
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
def _twist_modes(arms: Array) -> Array:
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


class RigidBody:
    """A rigid body behind the body contract; fixed and driven ones have no mobility."""

    mass_damping = 0.0  # [1/s]

    def __init__(
        self,
        name: str,
        shape: RigidShape,
        mass: float,
        fixed: bool = False,
        motion: Motion | None = None,
        anchors: Array | None = None,
        frame: bool = False,
    ) -> None:
        """`anchors` (k, 3) [m]: points beside the surface's that others are tied to.

        `frame`: four more between the two, which carry any point that moves with the body.
        """
        self.name = name
        self.mass = require_positive(f"mass of '{name}'", mass, " kg")
        points = check_points(shape.points, f"mesh of '{name}'")
        centre, self.inertia = mass_properties(points, shape.triangles, mass)  # body frame
        self._reach = float(np.ptp(points, axis=0).max())  # [m] between the points of the frame
        self.frame = len(points)  # the first of its vertices
        if frame:
            corners = np.vstack([np.zeros(3), self._reach * np.eye(3)])
            points = np.concatenate([points, centre + corners])
        if anchors is not None:
            points = np.concatenate([points, anchors])
        self.local = np.ascontiguousarray(points - centre)
        self.triangles = shape.triangles
        self.n_points = len(points)
        self.motion = motion
        self.prescribed = fixed or motion is not None
        self.movable = not self.prescribed
        self.rest_centre = centre
        self.centre = centre.copy()
        self.quaternion = np.array([1.0, 0.0, 0.0, 0.0])  # body to world
        self._turned: tuple[Array, Array, Array] | None = None  # turn, arms and mobility there
        self.v = np.zeros(3)
        self.w = np.zeros(3)  # world frame [rad/s]
        self._free = np.zeros(6)  # (v, w) without constraints
        self._needed = np.zeros(6)  # impulse of the drive without constraints
        self._drive = np.zeros(6)  # and with them

    def arms(self) -> Array:
        """(n_points, 3) [m] from its centre to its vertices."""
        return self._at_turn()[1]

    def _at_turn(self) -> tuple[Array, Array, Array]:
        """What depends on the turn alone, which is asked for some ten times a step."""
        if self._turned is None or self._turned[0] is not self.quaternion:
            mobility = np.zeros((6, 6))
            if not self.prescribed:
                mobility[0, 0] = mobility[1, 1] = mobility[2, 2] = 1.0 / self.mass
                mobility[3:, 3:] = self.inverse_inertia()
            self._turned = self.quaternion, _turned(self.local, self.quaternion), mobility
        return self._turned

    def positions(self) -> Array:
        return self.arms() + self.centre

    def velocities(self) -> Array:
        return _carried(self.v, self.w, self.arms())

    def point_jacobian(self, vertices: Array) -> Array:
        """(t, 3, 6): how some of its vertices follow its twist."""
        return _twist_modes(self.arms()[vertices])

    def twist(self) -> Array:
        """(6,) v and w."""
        return np.concatenate([self.v, self.w])

    def pose(self) -> tuple[Array, Array]:
        """Rotation (3, 3) and translation (3,) [m] since the beginning."""
        r = quaternion_matrix(self.quaternion)
        return r, self.centre - r @ self.rest_centre

    def frame_weights(self, points: Array) -> Array:
        """(m, 4): points (m, 3) [m] that move with the body, from the vertices of its frame."""
        weights = (points - self.centre) @ quaternion_matrix(self.quaternion) / self._reach
        return np.column_stack([1.0 - weights.sum(axis=1), weights])

    def world_inertia(self) -> Array:
        r = quaternion_matrix(self.quaternion)
        return r @ self.inertia @ r.T

    def inverse_inertia(self) -> Array:
        """(3, 3) of the world's axes."""
        return _inverse_inertia(self.inertia, self.quaternion)

    def compute_free_velocity(self, h: float, gravity: Array, time: float) -> None:
        if self.prescribed:
            free = np.zeros(6)
            if self.motion is not None:
                rotation, shift = self.motion.pose(time + h)
                free[:3] = (rotation @ self.rest_centre + shift - self.centre) / h
                free[3:] = rotation_vector(rotation @ quaternion_matrix(self.quaternion).T) / h
            self._needed = _brought(
                self.mass, self.inertia, self.quaternion, self.v, self.w, free, h, gravity
            )
        else:
            free = _left_alone(self.inertia, self.quaternion, self.v, self.w, h, gravity)
            self._needed = np.zeros(6)
        self._drive, self._free = self._needed, free
        self.v, self.w = free[:3], free[3:]

    def mass_matrix(self) -> Array:
        """(6, 6) of its twist."""
        m = np.zeros((6, 6))
        m[0, 0] = m[1, 1] = m[2, 2] = self.mass
        m[3:, 3:] = self.world_inertia()
        return m

    def _mobility(self) -> Array:
        return self._at_turn()[2]

    def compliance(self, rows: Rows) -> ReducedCompliance:
        b = self.rows_times(rows)
        start, column = 6 * np.arange(len(rows) + 1), np.tile(np.arange(6), len(rows))
        return ReducedCompliance(
            start.astype(np.int32), column.astype(np.int32), b.ravel(), self._mobility()
        )

    def rows_times(self, rows: Rows) -> Array:
        """(r, 6) over its twist."""
        return _rigid_rows(rows.start, rows.vertex, rows.vector, self.arms())

    def wrench(self, impulse: Array) -> Array:
        """(6,) [N s, N m s] about its centre, of impulses (n_points, 3)."""
        return _wrench(self.arms(), np.ascontiguousarray(impulse))

    def apply_impulse(self, impulse: Array) -> None:
        self.apply_wrench(self.wrench(impulse))

    def set_velocity(self, velocity: Array, total: Array | None) -> None:
        """After `apply_impulse`: the velocity (6,); `total` impulse if its drive is to know."""
        self.v, self.w = velocity[:3].copy(), velocity[3:].copy()
        if self.prescribed and total is not None:
            self._drive = self._drive - total

    def velocity_change(self, impulse: Array) -> Array:
        """(6,) what impulses (n_points, 3) [N s] on its vertices add to its velocity."""
        return self._mobility() @ self.wrench(impulse)

    def set_free_velocity(self, v: Array, impulse: Array) -> None:
        """Free velocity <- what leads to v (6,) with `impulse`, as `apply_impulse` has it."""
        self._free = v - self.velocity_change(impulse)
        self.v, self.w = self._free[:3], self._free[3:]

    def apply_wrench(self, total: Array) -> None:
        """As `apply_impulse`, by the sum (6,) [N s, N m s] of all impulses about its centre."""
        if self.prescribed:
            self._drive = self._needed - total
            self.v, self.w = self._free[:3], self._free[3:]
            return
        moved = self._free + self._mobility() @ total
        self.v, self.w = moved[:3], moved[3:]

    def advance(self, h: float) -> None:
        self.centre, self.quaternion = _advanced(self.centre, self.quaternion, self.v, self.w, h)

    def momentum(self) -> Array:
        return self.mass * self.v

    def reaction(self, h: float) -> Array:
        return self._drive / h

    def get_state(self) -> dict[str, Array]:
        return {k: getattr(self, k).copy() for k in ("centre", "quaternion", "v", "w")}

    def set_state(self, state: dict[str, Array]) -> None:
        for key, value in state.items():
            setattr(self, key, value.copy())


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
def _left_alone(inertia: Array, quaternion: Array, v: Array, w: Array, h: float, g: Array) -> Array:
    """(6,) velocities after h of gravity alone."""
    out = np.empty(6)
    out[:3] = v + h * g
    out[3:] = _gyroscopic(inertia, quaternion_matrix(quaternion), w, h)
    return out


@njit(cache=True)
def _brought(
    mass: float,
    inertia: Array,
    quaternion: Array,
    v: Array,
    w: Array,
    to: Array,
    h: float,
    g: Array,
) -> Array:
    """(6,) [N s, N m s] the impulse that, with h of gravity, takes the velocities `to` (6,)."""
    out, r = np.empty(6), quaternion_matrix(quaternion)
    turned = r @ inertia @ r.T
    out[:3] = mass * (to[:3] - v - h * g)
    out[3:] = turned @ to[3:] - turned @ w
    return out


@njit(cache=True)
def _inverse_inertia(inertia: Array, quaternion: Array) -> Array:
    r = quaternion_matrix(quaternion)
    return np.linalg.solve(r @ inertia @ r.T, np.eye(3))


@njit(cache=True)
def _advanced(
    centre: Array, quaternion: Array, v: Array, w: Array, h: float
) -> tuple[Array, Array]:
    """Centre and turn after h."""
    if np.any(w != 0.0):
        quaternion = quaternion_product(rotation_vector_quaternion(h * w), quaternion)
        quaternion = quaternion / np.sqrt(quaternion @ quaternion)
    return centre + h * v, quaternion
