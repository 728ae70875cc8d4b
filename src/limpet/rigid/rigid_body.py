"""Rigid bodies: free, fixed or with a prescribed motion; exact inertia of their mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from limpet.dynamics.body import Body, BodyReport, momentum_residual
from limpet.dynamics.motion import Motion
from limpet.errors import MeshError, require_positive
from limpet.geometry.rotation import quaternion_matrix, rotation_vector
from limpet.geometry.shape import Array, RigidShape, check_points
from limpet.geometry.surface import Surface, surface_topology
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.rigid import kernels

COLUMNS = np.arange(6, dtype=np.int32)


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


class RigidBody(Body):
    """Free, fixed or with a prescribed motion; those that are not free have no mobility."""

    deformable = False
    n_dof = 6

    def __init__(
        self, name: str, shape: RigidShape, mass: float, fixed: bool = False,
        motion: Motion | None = None, anchors: Array | None = None, frame: bool = False,
        surface: Surface | None = None, theta: float = 1.0,
    ) -> None:  # fmt: skip
        """`anchors` (k, 3) [m]: marker points for joints and attachments, behind the surface's.

        `frame`: four more markers between the two, which carry any point that moves with the body.
        surface: topology of the shape and its markers, if it is known.
        """
        self.name = name
        self.mass = require_positive(f"mass of '{name}'", mass, " kg")
        points = check_points(shape.points, f"mesh of '{name}'")
        centre, self.inertia = mass_properties(points, shape.triangles, mass)  # body frame
        self.extent = float(np.ptp(points, axis=0).max())  # [m] between the points of the frame
        self.frame = len(points)  # the first of its markers
        if frame:
            corners = np.vstack([np.zeros(3), self.extent * np.eye(3)])
            points = np.concatenate([points, centre + corners])
        if anchors is not None:
            points = np.concatenate([points, anchors])
        self.local = np.ascontiguousarray(points - centre)
        self.triangles = shape.triangles
        self._surface = surface
        self.n_points = len(points)
        self.motion = motion
        self.prescribed = fixed or motion is not None
        self.movable = not self.prescribed
        self.theta = theta if self.movable else 1.0
        self.rest_centre = centre
        self.centre = centre.copy()
        self.quaternion = np.array([1.0, 0.0, 0.0, 0.0])  # body to world
        self._rotated: tuple[Array, Array, Array] | None = None  # quaternion, arms, mobility
        self.v = np.zeros(3)
        self.w = np.zeros(3)  # world frame [rad/s]
        self._free = np.zeros(6)  # (v, w) without constraints
        self._needed = np.zeros(6)  # impulse of the prescribed motion without constraints
        self._motion_impulse = np.zeros(6)  # and with them
        self._momentum_before, self._last = np.zeros(3), (self.v, self.w)
        self._kick: Array | None = None  # (6,) what impacts add to (v, w) at the end
        self._borne = np.zeros(6)  # their impulse, if its motion or fixture takes it

    @cached_property
    def surfaces(self) -> Mapping[str, Surface]:  # type: ignore[override]
        return {self.name: self._surface or surface_topology(self.triangles, self.n_points)}

    proxy = False  # it stands for a body of another solver

    def arms(self) -> Array:
        """(n_points, 3) [m] from its centre to its points."""
        return self._at_rotation()[1]

    def _at_rotation(self) -> tuple[Array, Array, Array]:
        """What depends on the rotation alone, which is asked for some ten times a step."""
        if self._rotated is None or self._rotated[0] is not self.quaternion:
            mobility = np.zeros((6, 6))
            if not self.prescribed:
                mobility[0, 0] = mobility[1, 1] = mobility[2, 2] = self.theta / self.mass
                mobility[3:, 3:] = self.theta * self.inverse_inertia()
            self._rotated = self.quaternion, kernels.rotated(self.local, self.quaternion), mobility
        return self._rotated

    def positions(self) -> Array:
        return self.arms() + self.centre

    def velocities(self) -> Array:
        return kernels.point_velocities(self.v, self.w, self.arms())

    def point_jacobian(self, points: Array) -> Array:
        """(t, 3, 6): how some of its points follow its twist."""
        return kernels.twist_modes(self.arms()[points])

    def velocity(self) -> Array:
        """(6,) v and w."""
        return np.concatenate([self.v, self.w])

    def pose(self) -> tuple[Array, Array]:
        """Rotation (3, 3) and translation (3,) [m] since the beginning."""
        r = quaternion_matrix(self.quaternion)
        return r, self.centre - r @ self.rest_centre

    def world_inertia(self) -> Array:
        r = quaternion_matrix(self.quaternion)
        return r @ self.inertia @ r.T

    def inverse_inertia(self) -> Array:
        """(3, 3) of the world's axes."""
        return kernels.inverse_inertia(self.inertia, self.quaternion)

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        self.compute_free_twist(h, gravity, time)
        if applied is not None and applied.any():
            return self.apply_impulse(h * applied)
        return self.velocities()

    def compute_free_twist(self, h: float, gravity: Array, time: float) -> None:
        """As `compute_free_velocity`, for those who do not ask for the velocities of points."""
        self._momentum_before, self._last, self._kick = self.momentum(), (self.v, self.w), None
        if self.prescribed:
            free = np.zeros(6)
            if self.motion is not None:
                rotation, shift = self.motion.pose(time + h)
                free[:3] = (rotation @ self.rest_centre + shift - self.centre) / h
                free[3:] = rotation_vector(rotation @ quaternion_matrix(self.quaternion).T) / h
            self._needed = kernels.impulse_to(
                self.mass, self.inertia, self.quaternion, self.v, self.w, free, h, gravity
            )
        else:
            g = self.theta * gravity
            free = kernels.free_motion(self.inertia, self.quaternion, self.v, self.w, h, g)
            self._needed = np.zeros(6)
        self._motion_impulse, self._free, self._borne = self._needed, free, np.zeros(6)
        self.v, self.w = free[:3], free[3:]

    def mass_matrix(self) -> Array:
        """(6, 6) of its twist over a step, over theta: impulses are those of the whole step."""
        m = np.zeros((6, 6))
        m[0, 0] = m[1, 1] = m[2, 2] = self.mass / self.theta
        m[3:, 3:] = self.world_inertia() / self.theta
        return m

    def _mobility(self) -> Array:
        return self._at_rotation()[2]

    @property
    def n_condensed(self) -> int:
        return 0 if self.prescribed else 6

    def condensed_columns(self, member: Body) -> int | None:
        return None if self.prescribed else 0

    def condensed_mass(self) -> Array:
        return self.mass_matrix()[: self.n_condensed, : self.n_condensed]

    def condensed_mobility(self) -> Array:
        return self._mobility()[: self.n_condensed, : self.n_condensed]

    def condensed_velocity(self) -> Array:
        return self.velocity()[: self.n_condensed]

    def split_compliance(
        self, rows: Rows
    ) -> tuple[Sequence[tuple[Array, ReducedCompliance]], Array]:
        return (), self.rows_times(rows)[:, : self.n_condensed]

    def marker_impulses(self, wrench: Array) -> Array:
        """(4, 3) [N s] on the markers of its frame: together a wrench (6,) about its centre."""
        return kernels.marker_impulses(self.quaternion, wrench, self.extent)

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        n, b = len(rows), self.rows_times(rows).ravel()
        start, column = 6 * np.arange(n + 1, dtype=np.int32), np.tile(COLUMNS, n)
        return [(np.arange(n), ReducedCompliance(start, column, b, self._mobility()))]

    def rows_times(self, rows: Rows) -> Array:
        """(r, 6) over its twist."""
        return kernels.rigid_rows(rows.start, rows.point, rows.vector, self.arms())

    def generalised_impulse(self, impulse: Array) -> Array:
        """(6,) [N s, N m s] about its centre, of impulses (n_points, 3)."""
        return kernels.wrench_of(self.arms(), np.ascontiguousarray(impulse))

    def apply_impulse(self, impulse: Array) -> Array:
        self.apply_wrench(self.generalised_impulse(impulse))
        return self.velocities()

    def set_velocity(self, velocity: Array, total: Array | None = None) -> None:
        """After `apply_impulse`: the velocity (6,); `total` impulse if its motion is to know."""
        self.v, self.w = velocity[:3].copy(), velocity[3:].copy()
        if self.prescribed and total is not None:
            self._motion_impulse = self._motion_impulse - total

    def apply_wrench(self, total: Array) -> None:
        """As `apply_impulse`, by the sum (6,) [N s, N m s] of all impulses about its centre."""
        if self.prescribed:
            self._motion_impulse = self._needed - total
            self.v, self.w = self._free[:3], self._free[3:]
            return
        moved = self._free + self._mobility() @ total
        self.v, self.w = moved[:3], moved[3:]

    def predicted(self, h: float) -> Array:
        return self.positions() + h * kernels.point_velocities(*self._last, self.arms())

    def impact_compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        return [(at, part.times(1.0 / self.theta)) for at, part in self.compliance(rows)]

    def apply_impact(self, impulse: Array) -> None:
        total = self.generalised_impulse(impulse)
        if self.prescribed:
            self._borne = total
        else:
            self._kick = self._mobility() @ total / self.theta

    def points_after(self, h: float) -> tuple[Array, Array]:
        centre, quaternion, v, w = self._after(h)
        arms = kernels.rotated(self.local, quaternion)
        return arms + centre, kernels.point_velocities(v, w, arms)

    def _after(self, h: float) -> tuple[Array, Array, Array, Array]:
        """Centre, quaternion and velocities at the end of the step."""
        centre, quaternion = kernels.advanced(self.centre, self.quaternion, self.v, self.w, h)
        if self.prescribed:
            return centre, quaternion, self.v, self.w
        if self.theta == 1.0 and self._kick is None:
            w = kernels.velocity_after(self.inertia, quaternion, self.w, h)
            return centre, quaternion, self.v, w
        kick = np.zeros(6) if self._kick is None else self._kick
        v = self._last[0] + (self.v - self._last[0]) / self.theta + kick[:3]
        w = kernels.turned_velocity(
            self.inertia, self.quaternion, quaternion, self._last[1],
            (self.w - self._free[3:]) / self.theta + kick[3:],
        )  # fmt: skip
        return centre, quaternion, v, w

    def advance(self, h: float) -> None:
        self.centre, self.quaternion, self.v, self.w = self._after(h)

    def anchor_points(self, at: Array | Sequence[float]) -> tuple[Array, None]:
        """(k, 3) [m] the points `at`; they are carried by no nodes."""
        return np.atleast_2d(np.asarray(at, float)), None

    def kinetic_energy(self) -> float:
        """[J]"""
        return kernels.kinetic_energy(self.mass, self.inertia, self.quaternion, self.v, self.w)

    def momentum(self) -> Array:
        """(3,) [kg m/s]"""
        return self.mass * self.v

    def region_position(self, region: str | None) -> Array:
        return self.centre

    def reaction(self, h: float) -> Array:
        """(6,) [N, N m] the wrench that its motion or fixture exerted over the last step."""
        return (self._motion_impulse - self._borne) / h

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        after, wrench = self.momentum(), self.reaction(h)
        left = momentum_residual(self, self._momentum_before, after, wrench, h, gravity, force)
        return BodyReport({} if self.motion is None else {self.name: wrench}, left)

    def get_state(self) -> dict[str, Array]:
        return {k: getattr(self, k).copy() for k in ("centre", "quaternion", "v", "w")}

    def set_state(self, state: Mapping[str, Array]) -> None:
        for key, value in state.items():
            setattr(self, key, value.copy())
