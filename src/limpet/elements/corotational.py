"""Corotational linear elasticity at integration points: one law for every displacement element.

At a point F = R S (polar); the stress is the linear law in the rotated frame (P 3.7, Mueller and
Gross 2004), P = R (2 mu (S - I) + lambda tr(S - I) I). It is the exact gradient of
psi = mu |S - I|^2 + lambda/2 tr(S - I)^2. The stiffness is its second derivative: the linear law in
the rotated frame, and against a turn about principal axis k (sigma_i + sigma_j)/(s_i + s_j), s and
sigma being the principal stretches and stresses across that axis. Where that is negative
(compression) it is left out, which keeps the matrix positive. Without it a thin wall under tension
is modelled so much too soft that a step overshoots, and the run oscillates from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.elements.element import Element
from limpet.errors import MeshError
from limpet.geometry.rotation import polar, symmetric_eigen

Array = np.ndarray


@dataclass(frozen=True)
class CellBlock:
    """The cells of one element kind, with what is constant about their rest shape."""

    name: str
    cells: Array  # (m, k) int32
    gradients: Array  # (m, q, k, 3) [1/m] of the shape functions, in rest coordinates
    weights: Array  # (m, q) [m^3]
    laplace: Array  # (m, k, k) [m] sum over points of w grad_a . grad_b
    lumped: Array  # (m, k) [m^3] each node's share of the cell's volume


def cell_block(element: Element, points: Array, cells: Array) -> CellBlock:
    """Rest geometry of `cells` (m, k) over `points` (n, 3)."""
    cells = np.ascontiguousarray(cells, dtype=np.int32)
    rest = points[cells]  # (m, k, 3)
    reference = element.gradient(element.points)  # (q, k, 3)
    jacobian = np.einsum("mki,qkj->mqij", rest, reference)
    det = np.linalg.det(jacobian)
    if np.any(~(det > 0.0)):
        bad = int(np.argwhere(~(det > 0.0))[0, 0])
        raise MeshError(
            f"{element.name} cell {bad} is inverted or flat at rest: check its node order and shape"
        )
    gradients = np.einsum("qkj,mqji->mqki", reference, np.linalg.inv(jacobian))
    weights = det * element.weights
    laplace = np.einsum("mq,mqai,mqbi->mab", weights, gradients, gradients)
    mass_jacobian = np.einsum("mki,qkj->mqij", rest, element.gradient(element.mass_points))
    mass_weights = np.linalg.det(mass_jacobian) * element.mass_weights
    # Diagonal of the consistent mass, scaled to the cell's volume (Hinton, Rock, Zienkiewicz):
    # always positive, where row sums of quadratic elements are not.
    diagonal = np.einsum("mq,qk->mk", mass_weights, element.shape(element.mass_points) ** 2)
    lumped = diagonal * (mass_weights.sum(axis=1) / diagonal.sum(axis=1))[:, None]
    return CellBlock(element.name, cells, np.ascontiguousarray(gradients), weights, laplace, lumped)


@njit(cache=True, fastmath={"reassoc", "contract"})
def _gram(rows: Array, count: int, out: Array) -> None:
    """out = sum of the outer squares of the first `count` rows, lower block triangle at least."""
    n = rows.shape[1]
    if n >= 30 and count > 0:  # worth a call of the dense product
        used = rows[:count]
        np.dot(used.T, used, out)
        return
    for i in range(n):
        last = i - i % 3 + 3
        for c in range(last):
            out[i, c] = 0.0
        for g in range(count):
            s = rows[g, i]
            for c in range(last):
                out[i, c] += s * rows[g, c]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def assemble(
    x: Array,
    cells: Array,
    gradients: Array,
    weights: Array,
    laplace: Array,
    slots: Array,
    mu: float,
    lam: float,
    force: Array,
    values: Array,
) -> None:
    """Add elastic forces (n, 3) [N] and stiffness blocks [N/m] of all cells.

    slots (m, k, k) int32: where block (a, b), a >= b, goes in `values`; -1 - slot if transposed.
    """
    m, q, k, _ = gradients.shape
    f = np.empty((3, 3))
    r = np.empty((3, 3))
    p = np.empty((3, 3))
    stretch = np.empty((3, 3))
    axes = np.empty((3, 3))
    turned = np.empty((q, 3 * k))
    spin = np.empty((3 * q, 3 * k))
    outer = np.empty((3 * k, 3 * k))
    turning = np.empty((3 * k, 3 * k))
    for e in range(m):
        stretched = 0
        for g in range(q):
            f[:] = 0.0
            for a in range(k):
                node = cells[e, a]
                for i in range(3):
                    xi = x[node, i]
                    for j in range(3):
                        f[i, j] += xi * gradients[e, g, a, j]
            polar(f, r)
            trace = 0.0
            for i in range(3):
                for j in range(3):
                    trace += r[i, j] * f[i, j]
            trace -= 3.0
            w = weights[e, g]
            # R (2 mu (S - I) + lam tr I) = 2 mu (F - R) + lam tr R
            for i in range(3):
                for j in range(3):
                    p[i, j] = w * (2.0 * mu * (f[i, j] - r[i, j]) + lam * trace * r[i, j])
            root = np.sqrt(w)
            for a in range(k):
                g0, g1, g2 = gradients[e, g, a, 0], gradients[e, g, a, 1], gradients[e, g, a, 2]
                node = cells[e, a]
                for i in range(3):
                    force[node, i] -= p[i, 0] * g0 + p[i, 1] * g1 + p[i, 2] * g2
                    turned[g, 3 * a + i] = root * (r[i, 0] * g0 + r[i, 1] * g1 + r[i, 2] * g2)
            for i in range(3):
                for j in range(3):  # left stretch F R^T
                    stretch[i, j] = f[i, 0] * r[j, 0] + f[i, 1] * r[j, 1] + f[i, 2] * r[j, 2]
            symmetric_eigen(stretch, axes)
            for n in range(3):
                s1, s2 = stretch[(n + 1) % 3, (n + 1) % 3], stretch[(n + 2) % 3, (n + 2) % 3]
                tension = mu * (s1 + s2 - 2.0) + lam * trace  # half of sigma_i + sigma_j
                if tension > 0.0 and s1 + s2 > 0.0:
                    root = np.sqrt(tension / (s1 + s2))
                    e0, e1, e2 = root * axes[0, n], root * axes[1, n], root * axes[2, n]
                    for a in range(k):
                        t0, t1, t2 = turned[g, 3 * a], turned[g, 3 * a + 1], turned[g, 3 * a + 2]
                        spin[stretched, 3 * a] = e1 * t2 - e2 * t1
                        spin[stretched, 3 * a + 1] = e2 * t0 - e0 * t2
                        spin[stretched, 3 * a + 2] = e0 * t1 - e1 * t0
                    stretched += 1
        _gram(turned, q, outer)
        _gram(spin, stretched, turning)
        for a in range(k):
            for b in range(a + 1):
                slot = slots[e, a, b]
                shear = mu * laplace[e, a, b]
                out = values[slot] if slot >= 0 else values[-1 - slot]
                for i in range(3):
                    for j in range(3):
                        v = lam * outer[3 * a + i, 3 * b + j] + mu * outer[3 * a + j, 3 * b + i]
                        v += turning[3 * a + i, 3 * b + j]
                        if i == j:
                            v += shear
                        if slot >= 0:
                            out[i, j] += v
                        else:
                            out[j, i] += v


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def energy(
    x: Array, cells: Array, gradients: Array, weights: Array, mu: float, lam: float
) -> float:
    """Elastic energy [J]."""
    m, q, k, _ = gradients.shape
    f = np.empty((3, 3))
    r = np.empty((3, 3))
    total = 0.0
    for e in range(m):
        for g in range(q):
            f[:] = 0.0
            for a in range(k):
                for i in range(3):
                    for j in range(3):
                        f[i, j] += x[cells[e, a], i] * gradients[e, g, a, j]
            polar(f, r)
            trace, square = -3.0, 0.0
            for i in range(3):
                for j in range(3):
                    trace += r[i, j] * f[i, j]
                    square += (f[i, j] - r[i, j]) ** 2
            total += weights[e, g] * (mu * square + 0.5 * lam * trace * trace)
    return total


def lame(young: float, poisson: float) -> tuple[float, float]:
    """(mu, lambda) [Pa] from Young's modulus and Poisson's ratio."""
    mu = young / (2.0 * (1.0 + poisson))
    return mu, young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
