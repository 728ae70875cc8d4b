"""Position-based dynamics: edges keep their length and tetrahedra their volume, by projection.

Mueller et al. 2007, which C takes its goals from; the goals become velocities in `GoalBody`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.bodies.motion import Motion
from limpet.bodies.particles import GoalBody
from limpet.errors import LimpetError
from limpet.geometry.nets import Net

Array = np.ndarray


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def project_volumes(p: Array, tets: Array, rest: Array, inverse_mass: Array) -> None:
    """One sweep, in place: each tetrahedron brought to its volume; rest (t,) [m^3] times six."""
    g = np.empty((4, 3))
    for t in range(len(tets)):
        a = tets[t, 0]
        for k in range(1, 4):
            q = tets[t, 1 + k % 3]
            s = tets[t, 1 + (k + 1) % 3]
            u0, u1, u2 = p[q, 0] - p[a, 0], p[q, 1] - p[a, 1], p[q, 2] - p[a, 2]
            w0, w1, w2 = p[s, 0] - p[a, 0], p[s, 1] - p[a, 1], p[s, 2] - p[a, 2]
            g[k, 0], g[k, 1], g[k, 2] = u1 * w2 - u2 * w1, u2 * w0 - u0 * w2, u0 * w1 - u1 * w0
        volume, b = 0.0, tets[t, 1]
        for d in range(3):
            g[0, d] = -g[1, d] - g[2, d] - g[3, d]
            volume += g[1, d] * (p[b, d] - p[a, d])
        total = 0.0
        for k in range(4):
            total += inverse_mass[tets[t, k]] * (g[k, 0] ** 2 + g[k, 1] ** 2 + g[k, 2] ** 2)
        if total == 0.0:
            continue
        step = (volume - rest[t]) / total
        for k in range(4):
            w = step * inverse_mass[tets[t, k]]
            for d in range(3):
                p[tets[t, k], d] -= w * g[k, d]


class PositionBased(GoalBody):
    """Goals by `sweeps` sweeps over the edges, and over the tetrahedra of a volume."""

    def __init__(
        self,
        name: str,
        net: Net,
        mass: float,
        stiffness: float = 1.0,  # 1 - gamma of C eq 3
        sweeps: int = 4,
        mass_damping: float = 0.0,
        driven: Array | None = None,
        motion: Motion | None = None,
        even: bool = False,
    ) -> None:
        super().__init__(name, net, mass, stiffness, mass_damping, driven, motion, even)
        if sweeps < 1:
            raise LimpetError(f"sweeps of '{name}' = {sweeps}: expected 1 or more")
        self.sweeps = sweeps
        self.rest_lengths = net.lengths
        a, b, c, d = (net.points[net.tets[:, k]] for k in range(4))
        self.rest_volumes = np.einsum("ij,ij->i", np.cross(c - a, d - a), b - a)

    def goals(self, x: Array) -> Array:
        p = x.copy()
        for _ in range(self.sweeps):
            project_edges(p, self.net.edges, self.rest_lengths, self.inverse_mass)
            if self.net.closed:
                project_volumes(p, self.net.tets, self.rest_volumes, self.inverse_mass)
        return p
