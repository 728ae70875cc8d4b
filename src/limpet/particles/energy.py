"""Energies of particle bodies and the rigid bodies among them, and work on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.compiled import njit
from limpet.particles.bending import BendingModel, Bends, bending_and_tips, wrap_angle
from limpet.particles.body import ParticleBody
from limpet.particles.distances import Distances
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


def kinetic_energies(soft: Sequence[ParticleBody], rigid: Sequence[RigidBody]) -> list[float]:
    """[J] of each body; 0 of rigid ones that do not move by themselves."""
    moving = [b.kinetic_energy() if b.movable else 0.0 for b in rigid]
    return [b.kinetic_energy() for b in soft] + moving


def energy_and_moment(
    soft: Sequence[ParticleBody], rigid: Sequence[RigidBody]
) -> tuple[float, Array]:
    """[J] kinetic energy and (3,) [kg m] mass times place, of all that moves by itself."""
    total = np.zeros(4)
    for body in soft:
        _add_motion(body.x, body.v, body.node_mass, total)
    for each in rigid:
        if each.movable:
            total[0] += each.kinetic_energy()
            total[1:] += each.mass * each.centre
    return float(total[0]), total[1:]


@njit(cache=True, fastmath={"reassoc", "contract"})
def _add_motion(x: Array, v: Array, mass: Array, total: Array) -> None:
    energy, m0, m1, m2 = 0.0, 0.0, 0.0, 0.0
    for i in range(len(x)):
        m = mass[i]
        energy += m * (v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
        m0 += m * x[i, 0]
        m1 += m * x[i, 1]
        m2 += m * x[i, 2]
    total[0] += 0.5 * energy
    total[1] += m0
    total[2] += m1
    total[3] += m2


def elastic_energy(soft: Sequence[ParticleBody], distances: Distances, bends: Bends) -> float:
    """[J] of springs and elements, inside the bodies and between them."""
    x = np.concatenate([np.zeros((0, 3)), *(b.x for b in soft)])
    own = sum(b.elastic_energy() for b in soft)
    return own + _of_distances(x, distances) + _of_bends(x, bends)


@njit(cache=True, error_model="numpy")
def _of_distances(x: Array, of: Distances) -> float:
    total = 0.0
    for c in range(len(of.rest)):
        if of.stiffness[c] < np.inf:
            total += 0.5 * of.stiffness[c] * (_length(x, of.nodes[c]) - of.rest[c]) ** 2
    return total


@njit(cache=True, error_model="numpy", inline="always")
def _length(x: Array, nodes: Array) -> float:
    i, j = nodes[0], nodes[1]
    d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    return np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)


@njit(cache=True, error_model="numpy")
def _of_bends(x: Array, of: Bends) -> float:
    total = 0.0
    if len(of.rest) == 0 or of.stiffness.min() == np.inf:
        return total
    tip = np.empty(8)
    for c in range(len(of.rest)):
        if of.stiffness[c] < np.inf:
            value = bending_and_tips(x, of.nodes[c], of.model[c], of.size[c], tip)
            off = value - of.rest[c]
            if of.model[c] == BendingModel.ANGLE.value:
                off = wrap_angle(off)
            total += 0.5 * of.stiffness[c] * off * off
    return total


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def largest_strain(x: Array, of: Distances) -> float:
    """|l/L - 1| of the worst inextensible edge at x (n, 3)."""
    least, most = 1.0, 1.0  # of (l/L)^2
    for c in range(len(of.rest)):
        if of.stiffness[c] == np.inf:
            i, j = of.nodes[c, 0], of.nodes[c, 1]
            d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            square = (d0 * d0 + d1 * d1 + d2 * d2) / (of.rest[c] * of.rest[c])
            least, most = min(least, square), max(most, square)
            if not square < np.inf:
                return np.inf
    return max(np.sqrt(most) - 1.0, 1.0 - np.sqrt(least))


@njit(cache=True, error_model="numpy")
def inverted_cells(x: Array, tets: Array) -> int:
    """How many tetrahedra (t, 4) are inside out at x (n, 3)."""
    count = 0
    for t in range(len(tets)):
        o, a, b, c = x[tets[t, 0]], x[tets[t, 1]], x[tets[t, 2]], x[tets[t, 3]]
        a0, a1, a2 = a[0] - o[0], a[1] - o[1], a[2] - o[2]
        b0, b1, b2 = b[0] - o[0], b[1] - o[1], b[2] - o[2]
        c0, c1, c2 = c[0] - o[0], c[1] - o[1], c[2] - o[2]
        volume = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
        if not volume > 0.0:
            count += 1
    return count


def drive_work(soft: Sequence[ParticleBody], rigid: Sequence[RigidBody], h: float) -> float:
    """[J] of the prescribed motions over the last h: wrench times twist."""
    total = 0.0
    for body in soft:
        if len(body.driven):
            x, v = body.x[body.driven], body.v[body.driven]
            total += h * float(body.reaction(h) @ _twist(x - x.mean(axis=0), v))
    for each in rigid:
        if each.motion is not None:
            total += h * float(each.reaction(h) @ each.velocity())
    return total


def _twist(arm: Array, v: Array) -> Array:
    """(6,) of points (k, 3) about their middle that move with v as one rigid body."""
    mean = v.mean(axis=0)
    inertia = np.eye(3) * (arm**2).sum() - arm.T @ arm
    turning = np.cross(arm, v - mean).sum(axis=0)
    return np.concatenate([mean, np.linalg.pinv(inertia, rcond=1e-9) @ turning])


def force_work(
    bodies: Sequence[ParticleBody | RigidBody], forces: Sequence[Array], h: float
) -> float:
    """[J] of forces (n_points, 3) [N] on the points of each body over h, at present velocities."""
    return h * sum(float(np.vdot(f, b.velocities())) for b, f in zip(bodies, forces) if f.any())
