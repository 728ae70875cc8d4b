"""Linear shape matching: particles go to the rest shape, rotated and strained to fit.

Mueller et al. 2005: goals g = T (x0 - c0) + c with T = b A/det(A)^(1/3) + (1 - b) R, A the best
linear map of the particles and R its rotation. C makes velocities of them
(eq 2, `GoalPositionBody`).
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.dynamics.motion import Motion
from limpet.errors import LimpetError
from limpet.geometry.rotation import det3, polar
from limpet.particles.body import GoalPositionBody
from limpet.particles.meshes import ParticleMesh

Array = np.ndarray

FLAT = 1e-9  # of the largest second moment: below it a shape has no thickness to strain


@njit(cache=True, error_model="numpy")
def matched(x: Array, rest: Array, mass: Array, moments: Array, linear: float) -> Array:
    """(n, 3) goals. rest (n, 3) about its centre of mass, moments (3, 3): inverse of sum m q q^T.

    linear: the weight b of the strained shape.
    """
    n = len(x)
    centre, whole = np.zeros(3), 0.0
    for i in range(n):
        whole += mass[i]
        for d in range(3):
            centre[d] += mass[i] * x[i, d]
    centre /= whole
    a = np.zeros((3, 3))
    for i in range(n):
        for d in range(3):
            f = mass[i] * (x[i, d] - centre[d])
            for e in range(3):
                a[d, e] += f * rest[i, e]
    r = np.empty((3, 3))
    polar(a, r)  # the rotation of sum m p q^T: then the goals make no moment (Mueller eq 4)
    t, strained = r, a @ moments
    det = det3(strained)
    if linear > 0.0 and det > 0.0:  # inside out it returns as a rigid shape
        t = (1.0 - linear) * r + (linear / np.cbrt(det)) * strained
    out = np.empty_like(x)
    for i in range(n):
        for d in range(3):
            out[i, d] = (
                centre[d] + t[d, 0] * rest[i, 0] + t[d, 1] * rest[i, 1] + t[d, 2] * rest[i, 2]
            )
    return out


class ShapeMatching(GoalPositionBody):
    """One cluster that returns to its shape; `linear` 0 (rigid goals) to 1 (any linear map)."""

    def __init__(
        self,
        name: str,
        mesh: ParticleMesh,
        mass: float,
        stiffness: float = 0.5,  # k of C eq 2
        linear: float = 0.5,
        mass_damping: float = 0.0,
        driven: Array | None = None,
        motion: Motion | None = None,
        uniform_mass: bool = False,
    ) -> None:
        super().__init__(name, mesh, mass, stiffness, mass_damping, driven, motion, uniform_mass)
        if not 0.0 <= linear <= 1.0:
            raise LimpetError(f"linear of '{name}' = {linear:g}: expected 0 to 1")
        centre = self.node_mass @ mesh.points / self.mass
        self.shape = np.ascontiguousarray(mesh.points - centre)
        second = np.einsum("n,ni,nj->ij", self.node_mass, self.shape, self.shape)
        spread = np.linalg.eigvalsh(second)
        if linear > 0.0 and spread[0] < FLAT * spread[-1]:
            raise LimpetError(
                f"linear of '{name}' = {linear:g}: mesh '{mesh.name}' is flat and has no linear "
                "map across it; set linear = 0"
            )
        self.linear = linear
        self._moments = np.linalg.pinv(second, rcond=FLAT)

    def goals(self, x: Array) -> Array:
        return matched(x, self.shape, self.node_mass, self._moments, self.linear)
