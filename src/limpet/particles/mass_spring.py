"""Masses joined by springs with dampers, forces taken at the start of the step."""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.dynamics.motion import Motion
from limpet.errors import LimpetError, require_positive
from limpet.particles.body import ParticleBody, pushed
from limpet.particles.meshes import SHORTEST, ParticleMesh, edge_lengths

Array = np.ndarray


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def spring_forces(
    x: Array, v: Array, springs: Array, rest: Array, stiffness: Array, damping: Array
) -> Array:
    """(n, 3) [N]; each spring pulls along itself by k (l - l0) + c l'."""
    force = np.zeros_like(x)
    for s in range(len(springs)):
        i, j = springs[s, 0], springs[s, 1]
        d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        length = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if length == 0.0:
            continue  # no direction: the particles part again by their own velocities
        rate = d0 * (v[j, 0] - v[i, 0]) + d1 * (v[j, 1] - v[i, 1]) + d2 * (v[j, 2] - v[i, 2])
        pull = (stiffness[s] * (length - rest[s]) + damping[s] * rate / length) / length
        force[i, 0] += pull * d0
        force[i, 1] += pull * d1
        force[i, 2] += pull * d2
        force[j, 0] -= pull * d0
        force[j, 1] -= pull * d1
        force[j, 2] -= pull * d2
    return force


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def spring_energy(x: Array, springs: Array, rest: Array, stiffness: Array) -> float:
    """[J]"""
    total = 0.0
    for s in range(len(springs)):
        i, j = springs[s, 0], springs[s, 1]
        d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        off = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2) - rest[s]
        total += 0.5 * stiffness[s] * off * off
    return total


def spring_stiffness(mesh: ParticleMesh, young: float) -> float:
    """[N/m] of equal springs on the edges of a volume of Young's modulus `young` [Pa].

    Springs in all directions make an isotropic solid with lambda = mu = sum k L^2/(15 V): Poisson's
    ratio is 1/4 whatever they are (Cauchy), and E = 5 mu/2 = sum k L^2/(6 V).
    """
    require_positive("Young's modulus of springs", young, " Pa")
    return 6.0 * mesh.volume() * young / float(mesh.lengths @ mesh.lengths)


def film_stiffness(mesh: ParticleMesh, young: float, thickness: float) -> float:
    """[N/m] of equal springs on the edges of the triangles: a film of `young` [Pa], so thick [m].

    As `spring_stiffness` in the plane: E t = sum k L^2/(3 A), at a Poisson's ratio of 1/3.
    """
    require_positive("Young's modulus of a film", young, " Pa")
    require_positive("thickness of a film", thickness, " m")
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    lengths = edge_lengths(mesh.points, mesh.skin_edges())
    return 3.0 * area * young * thickness / float(lengths @ lengths)


class MassSpring(ParticleBody):
    """A mass-spring-damper mesh: a spring on every edge of the mesh, or on those given."""

    def __init__(
        self,
        name: str,
        mesh: ParticleMesh,
        mass: float,
        stiffness: float | Array,  # [N/m]
        damping: float | Array = 0.0,  # [N s/m]
        mass_damping: float = 0.0,  # [1/s]
        springs: Array | None = None,  # (s, 2)
        driven: Array | None = None,
        motion: Motion | None = None,
        uniform_mass: bool = False,
    ) -> None:
        super().__init__(name, mesh, mass, mass_damping, driven, motion, uniform_mass)
        self.springs = np.ascontiguousarray(mesh.edges if springs is None else springs, np.int32)
        n = len(mesh.points)
        if len(self.springs) and (self.springs.min() < 0 or self.springs.max() >= n):
            raise LimpetError(
                f"springs of '{name}' name nodes {self.springs.min()} to {self.springs.max()}, "
                f"there are {n} from 0 up"
            )
        self.rest = edge_lengths(mesh.points, self.springs)
        short = self.rest <= SHORTEST * np.ptp(mesh.points, axis=0).max()
        if short.any():
            s = int(np.argmax(short))
            raise LimpetError(
                f"spring {s} of '{name}', nodes {self.springs[s, 0]} and {self.springs[s, 1]}, has "
                "no length at rest: merge its nodes or leave it out"
            )
        count = len(self.springs)
        self.spring_stiffness = np.broadcast_to(np.asarray(stiffness, float), count).copy()
        self.spring_damping = np.broadcast_to(np.asarray(damping, float), count).copy()
        require_positive(f"stiffness of '{name}'", float(self.spring_stiffness.min()), " N/m")
        if not np.all((self.spring_damping >= 0.0) & np.isfinite(self.spring_damping)):
            raise LimpetError(f"damping of '{name}': expected 0 N s/m or more for every spring")
        self.stable_step = self._stable_step()

    def _stable_step(self) -> float:
        """2/omega, less with damping: (2/omega) (sqrt(1 + z^2) - z).

        omega^2 <= 2 max of (sum of k at a node)/m, by Gershgorin, whichever way the springs point;
        z = c omega/(2 k) of the most damped spring.
        """
        load = np.zeros(self.n_points)
        np.add.at(load, self.springs, np.repeat(self.spring_stiffness[:, None], 2, axis=1))
        omega = np.sqrt(2.0 * float((load * self.inverse_mass).max()))
        if omega == 0.0:
            return np.inf
        z = 0.5 * omega * float((self.spring_damping / self.spring_stiffness).max(initial=0.0))
        return 2.0 / omega * (np.sqrt(1.0 + z * z) - z)

    def _internal_velocities(self, h: float, v: Array) -> Array:
        force = spring_forces(
            self.x, self.v, self.springs, self.rest, self.spring_stiffness, self.spring_damping
        )
        return pushed(v, force, self.node_mass, h)

    def elastic_energy(self) -> float:
        """[J], zero at rest."""
        return spring_energy(self.x, self.springs, self.rest, self.spring_stiffness)
