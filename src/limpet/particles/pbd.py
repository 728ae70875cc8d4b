"""Position-based dynamics: edges keep their length and tetrahedra their volume, by projection.

Mueller et al. 2007, which C takes its goals from;
`GoalPositionBody` makes velocities of the goals.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.dynamics.motion import Motion
from limpet.errors import LimpetError
from limpet.geometry.distance import cross, dot, point, scale, sub
from limpet.particles.body import GoalPositionBody
from limpet.particles.meshes import ParticleMesh

Array = np.ndarray


@inner(error_model="numpy", fastmath={"contract"})
def project_edges(p: Array, edges: Array, rest: Array, inverse_mass: Array) -> None:
    """One sweep, in place: each edge of p (n, 3) brought to its length along itself."""
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        w = inverse_mass[i] + inverse_mass[j]
        d0, d1, d2 = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
        length = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if w == 0.0 or length == 0.0:
            continue
        s = (length - rest[e]) / (w * length)
        a, b = s * inverse_mass[i], s * inverse_mass[j]
        p[i, 0] += a * d0
        p[i, 1] += a * d1
        p[i, 2] += a * d2
        p[j, 0] -= b * d0
        p[j, 1] -= b * d1
        p[j, 2] -= b * d2


@inner(error_model="numpy", fastmath={"contract"})
def project_volumes(p: Array, tets: Array, rest: Array, inverse_mass: Array) -> None:
    """One sweep, in place: each tetrahedron brought to its volume; rest (t,) [m^3] times six."""
    for t in range(len(tets)):
        i, j, k, m = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        wi, wj, wk, wm = inverse_mass[i], inverse_mass[j], inverse_mass[k], inverse_mass[m]
        o = point(p, i)
        a, b, c = sub(point(p, j), o), sub(point(p, k), o), sub(point(p, m), o)
        gj, gk, gm = cross(b, c), cross(c, a), cross(a, b)  # gradients of the volume
        gi = sub(sub(scale(-1.0, gj), gk), gm)
        total = wi * dot(gi, gi) + wj * dot(gj, gj) + wk * dot(gk, gk) + wm * dot(gm, gm)
        if total == 0.0:
            continue
        step = (dot(gj, a) - rest[t]) / total
        for d in range(3):
            p[i, d] -= step * wi * gi[d]
            p[j, d] -= step * wj * gj[d]
            p[k, d] -= step * wk * gk[d]
            p[m, d] -= step * wm * gm[d]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def projected(
    x: Array, edges: Array, lengths: Array, tets: Array, volumes: Array, inverse_mass: Array,
    sweeps: int,
) -> Array:  # fmt: skip
    """(n, 3) what the sweeps make of x."""
    p = x.copy()
    for _ in range(sweeps):
        project_edges(p, edges, lengths, inverse_mass)
        project_volumes(p, tets, volumes, inverse_mass)
    return p


class PositionBased(GoalPositionBody):
    """Goals by `sweeps` sweeps over the edges, and over the tetrahedra of a volume."""

    def __init__(
        self,
        name: str,
        mesh: ParticleMesh,
        mass: float,
        stiffness: float = 1.0,  # 1 - gamma of C eq 3
        sweeps: int = 4,
        mass_damping: float = 0.0,
        driven: Array | None = None,
        motion: Motion | None = None,
        uniform_mass: bool = False,
    ) -> None:
        super().__init__(name, mesh, mass, stiffness, mass_damping, driven, motion, uniform_mass)
        if sweeps < 1:
            raise LimpetError(f"sweeps of '{name}' = {sweeps}: expected 1 or more")
        self.sweeps = sweeps
        self.rest_lengths = mesh.lengths
        a, b, c, d = (mesh.points[mesh.tets[:, k]] for k in range(4))
        self.rest_volumes = np.einsum("ij,ij->i", np.cross(c - a, d - a), b - a)

    def goals(self, x: Array) -> Array:
        mesh = self.mesh
        return projected(
            x, mesh.edges, self.rest_lengths, mesh.tets, self.rest_volumes, self.inverse_mass,
            self.sweeps,
        )  # fmt: skip
