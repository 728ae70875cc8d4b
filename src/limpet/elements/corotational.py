"""Corotational linear elasticity at integration points: one law for every displacement element.

At a point F = R S (polar); the stress is the linear law in the rotated frame (P 3.7, Mueller and
Gross 2004), P = R (2 mu (S - I) + lambda tr(S - I) I). It is the exact gradient of
psi = mu |S - I|^2 + lambda/2 tr(S - I)^2; its stiffness leaves out how R turns, which keeps it
positive semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.elements.element import Element
from limpet.errors import MeshError
from limpet.geometry.rotation import polar

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


@njit(cache=True)
def assemble(
    x: Array, cells: Array, gradients: Array, weights: Array, laplace: Array, slots: Array,
    mu: float, lam: float, force: Array, values: Array,
) -> None:
    """Add elastic forces (n, 3) [N] and stiffness blocks [N/m] of all cells.

    slots (m, k, k) int32: where block (a, b), a >= b, goes in `values`; -1 - slot if transposed.
    """
    m, q, k, _ = gradients.shape
    f = np.empty((3, 3))
    r = np.empty((3, 3))
    p = np.empty((3, 3))
    turned = np.empty((q, 3 * k))
    outer = np.empty((3 * k, 3 * k))
    for e in range(m):
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
        for row in range(3 * k):
            last = row - row % 3 + 3
            for c in range(last):
                outer[row, c] = turned[0, row] * turned[0, c]
            for g in range(1, q):
                s = turned[g, row]
                for c in range(last):
                    outer[row, c] += s * turned[g, c]
        for a in range(k):
            for b in range(a + 1):
                slot = slots[e, a, b]
                shear = mu * laplace[e, a, b]
                out = values[slot] if slot >= 0 else values[-1 - slot]
                for i in range(3):
                    for j in range(3):
                        v = lam * outer[3 * a + i, 3 * b + j] + mu * outer[3 * a + j, 3 * b + i]
                        if i == j:
                            v += shear
                        if slot >= 0:
                            out[i, j] += v
                        else:
                            out[j, i] += v


@njit(cache=True)
def energy(x: Array, cells: Array, gradients: Array, weights: Array, mu: float, lam: float) -> float:
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
