"""The surface of a body of another solver, as the sheets of a particle system see it.

Sweeps solve contact where they know how light the two sides are. So the surface moves as its body
does, v, and yields to what the impulse of the sheets is more than the load that v holds already.
Once the two agree it moves with v, as the body. A rigid surface yields with the mass and inertia of
its body, the points of a soft one each for itself.

A load lasts for a step. An impulse within a part of it stands for a force that acts throughout, so
the surface answers with the force, as if it were lighter: then the mean velocity over all parts is
that of the body.
"""

from __future__ import annotations

import numpy as np

from limpet.particles.body import ParticleBody
from limpet.particles.meshes import ParticleMesh
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


class SoftProxy(ParticleBody):
    """Of a soft body: its points are nodes. Gravity does not act on them."""

    proxy = True
    is_sheet = False

    def __init__(self, name: str, points: Array, triangles: Array, mass: float) -> None:
        """mass [kg] of the body."""
        none = np.zeros((0, 4), np.int32)
        mesh = ParticleMesh(name, points, triangles, none, none[:, :2], none)
        super().__init__(name, mesh, mass, uniform_mass=True)
        self._motion, self._load = np.zeros_like(self.x), np.zeros_like(self.x)
        self._response, self._step = np.zeros(self.n_points), 1.0
        self.total = np.zeros_like(self.x)  # (n, 3) [N s] of the sheets, in this step so far

    def follow(self, x: Array, v: Array, load: Array, response: Array, h: float) -> None:
        """Begin a step h at x (n, 3), to move with v (n, 3) [m/s] under a load (n, 3) [N s].

        response (n,) [1/kg]: by how much faster it moves for every impulse on it in the step.
        """
        self.x, self.v, self._motion, self._load = x, v, v, load
        self._response, self._step = response, h
        self.total = np.zeros_like(x)

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        self.mobility = self._response * (self._step / h)
        self._free = self.v = self._motion - self._response[:, None] * self._load
        self._impulse = np.zeros_like(self.v)
        return self.v

    def _internal_velocities(self, h: float, v: Array) -> Array:
        return v

    def apply_impulse(self, impulse: Array) -> Array:
        """Forces on its body are its own solver's."""
        return self.v

    def set_velocity(self, v: Array, impulse: Array | None) -> None:
        super().set_velocity(v, impulse)
        if impulse is not None:
            self.total = self.total + impulse

    def work(self) -> float:
        """[J] that it did on the sheets in the last solve."""
        return -float(np.vdot(self._impulse, self.v))


class RigidProxy(RigidBody):
    """Of a rigid body."""

    proxy = True

    def __init__(self, body: RigidBody) -> None:
        self.__dict__.update(body.__dict__)
        self._body, self._whole = body, body.mass
        self.motion, self.prescribed = None, not body.movable
        self._given, self._load, self._step = np.zeros(6), np.zeros(6), 1.0
        self._lighter = 1.0
        self._wrench = np.zeros(6)  # [N s, N m s] of the sheets in the last solve
        self._sum = np.zeros(6)  # and in this step so far

    def follow(self, x: Array, v: Array, load: Array, response: Array, h: float) -> None:
        """As `SoftProxy.follow`."""
        self.centre, self.quaternion = self._body.centre, self._body.quaternion
        self._given, self._step = self._body.velocity(), h
        self.v, self.w = self._given[:3], self._given[3:]
        self._load, self._sum = self.generalised_impulse(load), np.zeros(6)

    def compute_free_twist(self, h: float, gravity: Array, time: float) -> None:
        self._lighter = self._step / h
        self.mass = self._whole / self._lighter
        free = self._given - self._body._mobility() @ self._load
        self.v, self.w = free[:3], free[3:]

    def inverse_inertia(self) -> Array:
        return self._lighter * super().inverse_inertia()

    def set_velocity(self, velocity: Array, total: Array | None = None) -> None:
        self.v, self.w = velocity[:3].copy(), velocity[3:].copy()
        if total is not None:
            self._wrench, self._sum = total, self._sum + total

    @property
    def total(self) -> Array:
        """(n, 3) [N s] on its points: together the wrench of the sheets in this step."""
        arms = self._body.arms()
        mean = arms.mean(axis=0)
        r = arms - mean
        spread = np.eye(3) * (r**2).sum() - r.T @ r
        spin = np.linalg.solve(spread, self._sum[3:] - np.cross(mean, self._sum[:3]))
        return self._sum[:3] / len(arms) + np.cross(spin, r)

    def work(self) -> float:
        """[J] that it did on the sheets in the last solve."""
        return -float(self._wrench @ self.velocity())


SurfaceProxy = SoftProxy | RigidProxy
