"""Corotational linear tetrahedra with lumped mass, forces taken at the start of the step."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from limpet.bodies.material import Material
from limpet.bodies.motion import Motion
from limpet.bodies.particles import ParticleBody, pushed
from limpet.elements.block import cell_block
from limpet.elements.corotational import energy, lame
from limpet.elements.tet4 import TET4
from limpet.errors import LimpetError
from limpet.geometry.distance import Vec, add, cross, dot, point, scale, sub
from limpet.geometry.nets import Net
from limpet.geometry.rotation import polar

Array = np.ndarray

TURNS = 1.1  # how much faster than at rest a deformed body is taken to swing
SOLVED = 1e-12  # square of the last change of a rotation: Newton's next is below 1e-12 itself

# Matrices are three columns, each a tuple that stays in registers.


@njit(cache=True, error_model="numpy")
def _combined(a: Vec, b: Vec, c: Vec, p: float, q: float, r: float) -> Vec:
    return (
        p * a[0] + q * b[0] + r * c[0],
        p * a[1] + q * b[1] + r * c[1],
        p * a[2] + q * b[2] + r * c[2],
    )


@njit(cache=True, error_model="numpy")
def _rotation(f0: Vec, f1: Vec, f2: Vec) -> tuple[Vec, Vec, Vec]:
    """R of F = R S, as `polar`, which also takes the inverted and flattened ones."""
    c0, c1, c2 = cross(f1, f2), cross(f2, f0), cross(f0, f1)
    det = dot(f0, c0)
    size = (dot(f0, f0) + dot(f1, f1) + dot(f2, f2)) / 3.0
    if det > 0.0 and det * det > 1e-8 * size * size * size:
        r0, r1, r2 = f0, f1, f2
        for _ in range(40):  # R <- (R + R^-T)/2; the columns of R^-T are cross products over det
            s = 0.5 / det
            n0 = _combined(r0, c0, c0, 0.5, s, 0.0)
            n1 = _combined(r1, c1, c1, 0.5, s, 0.0)
            n2 = _combined(r2, c2, c2, 0.5, s, 0.0)
            d0, d1, d2 = sub(n0, r0), sub(n1, r1), sub(n2, r2)
            r0, r1, r2 = n0, n1, n2
            if dot(d0, d0) + dot(d1, d1) + dot(d2, d2) < SOLVED:
                return r0, r1, r2
            c0, c1, c2 = cross(r1, r2), cross(r2, r0), cross(r0, r1)
            det = dot(r0, c0)
    f, r = np.empty((3, 3)), np.empty((3, 3))
    for i in range(3):
        f[i, 0], f[i, 1], f[i, 2] = f0[i], f1[i], f2[i]
    polar(f, r)
    return (
        (r[0, 0], r[1, 0], r[2, 0]),
        (r[0, 1], r[1, 1], r[2, 1]),
        (r[0, 2], r[1, 2], r[2, 2]),
    )


@njit(cache=True, error_model="numpy")
def _gradient(x: Array, nodes: Array, slope: Array) -> tuple[Vec, Vec, Vec]:
    """Columns of the sum of (x_a - x_0) slope_a, the gradient of x over the cell."""
    o = point(x, nodes[0])
    a, b, c = sub(point(x, nodes[1]), o), sub(point(x, nodes[2]), o), sub(point(x, nodes[3]), o)
    return (
        _combined(a, b, c, slope[1, 0], slope[2, 0], slope[3, 0]),
        _combined(a, b, c, slope[1, 1], slope[2, 1], slope[3, 1]),
        _combined(a, b, c, slope[1, 2], slope[2, 2], slope[3, 2]),
    )


@njit(cache=True, error_model="numpy")
def tet_forces(
    x: Array, v: Array, cells: Array, gradients: Array, weights: Array,
    mu: float, lam: float, damping: float,
) -> Array:  # fmt: skip
    """(n, 3) [N] elastic forces, and viscous ones of `damping` [s] times the elastic moduli.

    The viscous stress is F S with S = b (2 mu E' + lambda tr E' I) and E' = sym(F^T F'): a turning
    body feels none, and F S F^T is symmetric, so it makes no moment either.
    """
    force = np.zeros_like(x)
    for e in range(len(cells)):
        nodes, slope, w = cells[e], gradients[e, 0], weights[e, 0]
        f0, f1, f2 = _gradient(x, nodes, slope)
        r0, r1, r2 = _rotation(f0, f1, f2)
        # P = 2 mu (F - R) + lambda tr(R^T F - I) R
        turn = lam * (dot(r0, f0) + dot(r1, f1) + dot(r2, f2) - 3.0) - 2.0 * mu
        p0 = add(scale(2.0 * mu, f0), scale(turn, r0))
        p1 = add(scale(2.0 * mu, f1), scale(turn, r1))
        p2 = add(scale(2.0 * mu, f2), scale(turn, r2))
        if damping > 0.0:
            g0, g1, g2 = _gradient(v, nodes, slope)
            m, s00, s11, s22 = damping * mu, dot(f0, g0), dot(f1, g1), dot(f2, g2)
            s01 = m * (dot(f0, g1) + dot(f1, g0))
            s02 = m * (dot(f0, g2) + dot(f2, g0))
            s12 = m * (dot(f1, g2) + dot(f2, g1))
            spread = damping * lam * (s00 + s11 + s22)
            s00, s11, s22 = 2.0 * m * s00 + spread, 2.0 * m * s11 + spread, 2.0 * m * s22 + spread
            p0 = add(p0, _combined(f0, f1, f2, s00, s01, s02))
            p1 = add(p1, _combined(f0, f1, f2, s01, s11, s12))
            p2 = add(p2, _combined(f0, f1, f2, s02, s12, s22))
        for a in range(1, 4):
            push = _combined(p0, p1, p2, w * slope[a, 0], w * slope[a, 1], w * slope[a, 2])
            for i in range(3):
                force[nodes[a], i] -= push[i]
                force[nodes[0], i] += push[i]
    return force


class ExplicitFem(ParticleBody):
    """Force-based corotational finite elements, C's setting; linear tetrahedra only."""

    def __init__(
        self,
        name: str,
        net: Net,
        mass: float,
        material: Material,
        driven: Array | None = None,
        motion: Motion | None = None,
        even: bool = False,
    ) -> None:
        super().__init__(name, net, mass, material.mass_damping, driven, motion, even)
        if not net.closed:
            raise LimpetError(
                f"explicit body '{name}': net '{net.name}' has no tetrahedra; finite elements need "
                "a volume, a sheet is made of springs"
            )
        if material.poisson == 0.5 or material.law != "corotational":
            raise LimpetError(
                f"explicit body '{name}': poisson = {material.poisson:g}, law = '{material.law}': "
                "expected poisson below 0.5 and law = 'corotational'"
            )
        self.material = material
        self.block = cell_block(TET4, net.points, net.tets)
        self.mu, self.lam = lame(material.young, material.poisson)
        self._limit = self._stable_step()

    def _stable_step(self) -> float:
        """(2/omega)(sqrt(1 + z^2) - z), omega the fastest of the body at rest, z = b omega/2.

        Cells keep their own frequencies as they turn, but against each other they change the
        body's a little, so it is taken TURNS higher; never above that of the stiffest cell alone,
        which bounds it whatever the cells do (Irons).
        """
        b, n = self.block, 3 * self.n_surface
        share = np.zeros(self.n_surface)
        np.add.at(share, b.cells, b.lumped)
        g, w = b.gradients[:, 0], b.weights[:, 0]
        stiff = self.lam * np.einsum("m,mai,mbj->maibj", w, g, g)
        stiff += self.mu * np.einsum("m,maj,mbi->maibj", w, g, g)
        stiff += self.mu * np.einsum("mab,ij->maibj", b.laplace, np.eye(3))
        stiff = stiff.reshape(-1, 12, 12)

        def scaled(mass: Array) -> Array:
            """Cells' stiffness over the masses (m, 4) of their nodes."""
            root = np.repeat(1.0 / np.sqrt(mass), 3, axis=1)
            return stiff * root[:, :, None] * root[:, None, :]

        mass = self.node_mass[b.cells]
        alone = np.linalg.eigvalsh(scaled(mass * b.lumped / share[b.cells]))[:, -1].max()
        place = (3 * b.cells[:, :, None] + np.arange(3)).reshape(-1, 12)
        row, column = np.repeat(place, 12, axis=1), np.tile(place, 12)
        whole = csr_array((scaled(mass).ravel(), (row.ravel(), column.ravel())), shape=(n, n))
        start = np.random.default_rng(0).normal(size=n)
        together = eigsh(whole, 1, which="LM", v0=start, return_eigenvectors=False, tol=1e-3)[0]
        omega = np.sqrt(min(float(alone), TURNS**2 * float(together)))
        z = 0.5 * omega * self.material.stiffness_damping
        return 2.0 / omega * (np.sqrt(1.0 + z * z) - z)

    def stable_step(self) -> float:
        return self._limit

    def _inside(self, h: float, v: Array) -> Array:
        b = self.block
        force = tet_forces(
            self.x, self.v, b.cells, b.gradients, b.weights, self.mu, self.lam,
            self.material.stiffness_damping,
        )  # fmt: skip
        return pushed(v, force, self.node_mass, h)

    def elastic_energy(self) -> float:
        """[J], zero at rest."""
        return energy(self.block, self.x, self.mu, self.lam)
