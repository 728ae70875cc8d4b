"""The cells of one element kind with the quantities of their rest shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import njit
from limpet.errors import MeshError
from limpet.fem.elements.element import Element
from limpet.geometry.rotation import det3

Array = np.ndarray


@dataclass(frozen=True)
class CellBlock:
    """m cells of k nodes and q integration points; c pressures in each if they are mixed."""

    element: Element
    cells: Array  # (m, k) int32
    gradients: Array  # (m, q, k, 3) [1/m] of the shape functions, in rest coordinates
    weights: Array  # (m, q) [m^3]
    laplace: Array  # (m, k, k) [m] sum over points of w grad_a . grad_b
    mass: Array  # (m, k, k) [m^3] integral of N_a N_b (M eq 17 at density 1)
    lumped: Array  # (m, k) [m^3] lumped mass at density 1
    pressure_shape: Array  # (q, c) pressure functions at the points
    pressure_mass: Array  # (m, c, c) [m^3] integral of N_A N_B (M eq 13 at K = 1)
    pressure_root: Array  # (m, c, c) with root^T root = pressure_mass^-1
    # (m,) Young's modulus of each cell over that of the material. The integrals of the stiffness
    # (weights, laplace, pressure_mass) contain it as a factor; those of the mass do not.
    stiffness: Array

    @property
    def volume(self) -> float:
        """[m^3]"""
        return float(self.lumped.sum())


def cell_block(
    element: Element, points: Array, cells: Array, stiffness: Array | None = None
) -> CellBlock:
    """Rest geometry of `cells` (m, k) over `points` (n, 3); stiffness (m,), 1 if not given."""
    cells = np.ascontiguousarray(cells, dtype=np.int32)
    rest = points[cells]  # (m, k, 3)
    reference = element.gradient(element.points)  # (q, k, 3)
    jacobian = np.einsum("mki,qkj->mqij", rest, reference)
    det = np.linalg.det(jacobian)
    mass_jacobian = np.einsum("mki,qkj->mqij", rest, element.gradient(element.mass_points))
    mass_det = np.linalg.det(mass_jacobian)
    upright = np.all(det > 0.0, axis=1) & np.all(mass_det > 0.0, axis=1)
    if not upright.all():
        bad = int(np.argmin(upright))
        raise MeshError(
            f"{element.cell.name} cell {bad} is inverted or flat at rest: "
            "check its node order and shape"
        )
    gradients = np.einsum("qkj,mqji->mqki", reference, np.linalg.inv(jacobian))
    factor = np.ones(len(cells)) if stiffness is None else np.asarray(stiffness, float)
    weights = factor[:, None] * det * element.weights
    laplace = np.einsum("mq,mqai,mqbi->mab", weights, gradients, gradients, optimize=True)
    mass_weights = mass_det * element.mass_weights
    shape = element.shape(element.mass_points)
    mass = np.einsum("mq,qa,qb->mab", mass_weights, shape, shape, optimize=True)
    pressure_shape, pressure_mass = _pressure(element, weights, mass_weights)
    root = np.linalg.inv(np.linalg.cholesky(pressure_mass))
    return CellBlock(
        element=element, cells=cells, gradients=np.ascontiguousarray(gradients), weights=weights,
        laplace=np.ascontiguousarray(laplace), mass=mass, lumped=_lump(mass),
        pressure_shape=pressure_shape, pressure_mass=pressure_mass, pressure_root=root,
        stiffness=factor,
    )  # fmt: skip


@njit(cache=True)
def _volume(x: Array, cells: Array, gradients: Array, weights: Array) -> float:
    m, q, k, _ = gradients.shape
    f, total = np.empty((3, 3)), 0.0
    for e in range(m):
        for g in range(q):
            f[:] = 0.0
            for a in range(k):
                for i in range(3):
                    for j in range(3):
                        f[i, j] += x[cells[e, a], i] * gradients[e, g, a, j]
            total += weights[e, g] * det3(f)
    return total


def deformed_volume(block: CellBlock, x: Array) -> float:
    """[m^3] integral of det F with the points of the stiffness; exact for linear tetrahedra."""
    weights = block.weights / block.stiffness[:, None]
    return float(_volume(x, block.cells, block.gradients, weights))


@njit(cache=True)
def _changed(u: Array, cells: Array, gradients: Array, limit: float) -> bool:
    m, q, k, _ = gradients.shape
    for e in range(m):
        first = cells[e, 0]
        for g in range(q):
            square = 0.0
            for i in range(3):
                d0 = d1 = d2 = 0.0
                for a in range(1, k):  # the gradients sum to zero
                    ui = u[cells[e, a], i] - u[first, i]
                    d0 += ui * gradients[e, g, a, 0]
                    d1 += ui * gradients[e, g, a, 1]
                    d2 += ui * gradients[e, g, a, 2]
                square += d0 * d0 + d1 * d1 + d2 * d2
            if not square <= limit * limit:
                return True
    return False


def changed(block: CellBlock, u: Array, limit: float) -> bool:
    """Whether moving the nodes by u (n, 3) [m] changes F by more than `limit` at some point.

    In the Frobenius norm, in which a rotation by an angle counts sqrt(2) times that angle.
    """
    return bool(_changed(u, block.cells, block.gradients, limit))


def _lump(mass: Array) -> Array:
    """Row sums; if one is negative, the diagonal scaled to the volume.

    (HRZ lumping: Hinton, Rock, Zienkiewicz, for serendipity elements.)
    """
    rows = mass.sum(axis=2)
    if np.all(rows > 0.0):
        return rows
    diagonal = np.einsum("maa->ma", mass)
    return diagonal * (rows.sum(axis=1) / diagonal.sum(axis=1))[:, None]


def _pressure(element: Element, weights: Array, mass_weights: Array) -> tuple[Array, Array]:
    """Pressure functions at the points (q, c), and their products over each cell (m, c, c)."""
    space = element.pressure
    if space is None:
        return np.zeros((len(element.points), 0)), np.zeros((len(weights), 0, 0))
    at_points = space.shape(element.points)
    # The pressure of a cell uses the points of the strain: a constant strain is then reproduced
    # exactly, also in a curved cell. A shared pressure needs the exact product (M eq 25).
    shape, rule = (
        (space.shape(element.mass_points), mass_weights) if space.shared else (at_points, weights)
    )
    return at_points, np.einsum("mq,qa,qb->mab", rule, shape, shape, optimize=True)
