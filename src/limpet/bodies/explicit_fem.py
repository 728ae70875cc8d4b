"""Corotational linear tetrahedra with lumped mass, forces taken at the start of the step."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.bodies.material import Material
from limpet.bodies.motion import Motion
from limpet.bodies.particles import ParticleBody, pushed
from limpet.elements.block import cell_block
from limpet.elements.corotational import energy, lame
from limpet.elements.tet4 import TET4
from limpet.errors import LimpetError
from limpet.geometry.nets import Net
from limpet.geometry.rotation import polar

Array = np.ndarray


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
    f, r, p, s = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(cells)):
        nodes, slope, w = cells[e], gradients[e, 0], weights[e, 0]
        for i in range(3):
            for j in range(3):
                f[i, j] = (
                    x[nodes[0], i] * slope[0, j] + x[nodes[1], i] * slope[1, j]
                    + x[nodes[2], i] * slope[2, j] + x[nodes[3], i] * slope[3, j]
                )  # fmt: skip
        polar(f, r)
        trace = -3.0
        for i in range(3):
            trace += r[i, 0] * f[i, 0] + r[i, 1] * f[i, 1] + r[i, 2] * f[i, 2]
        for i in range(3):
            for j in range(3):
                p[i, j] = 2.0 * mu * (f[i, j] - r[i, j]) + lam * trace * r[i, j]
        if damping > 0.0:
            for i in range(3):
                for j in range(3):  # F', in the place of R
                    r[i, j] = (
                        v[nodes[0], i] * slope[0, j] + v[nodes[1], i] * slope[1, j]
                        + v[nodes[2], i] * slope[2, j] + v[nodes[3], i] * slope[3, j]
                    )  # fmt: skip
            for i in range(3):
                for j in range(i + 1):  # 2 mu E' of both halves
                    g = f[0, i] * r[0, j] + f[1, i] * r[1, j] + f[2, i] * r[2, j]
                    g += f[0, j] * r[0, i] + f[1, j] * r[1, i] + f[2, j] * r[2, i]
                    s[i, j] = s[j, i] = damping * g
            spread = 0.5 * lam * (s[0, 0] + s[1, 1] + s[2, 2])
            for i in range(3):
                for j in range(3):
                    s[i, j] *= mu
                s[i, i] += spread
            for i in range(3):
                for j in range(3):
                    p[i, j] += f[i, 0] * s[0, j] + f[i, 1] * s[1, j] + f[i, 2] * s[2, j]
        for a in range(4):
            g0, g1, g2 = w * slope[a, 0], w * slope[a, 1], w * slope[a, 2]
            for i in range(3):
                force[nodes[a], i] -= p[i, 0] * g0 + p[i, 1] * g1 + p[i, 2] * g2
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
        """(2/omega)(sqrt(1 + z^2) - z), omega that of the stiffest cell alone (Irons), z = b w/2.

        A cell's stiffness is bounded by that of its own share of the mass, here the mean one of its
        nodes; corotation turns the cell's modes and leaves their frequencies.
        """
        b = self.block
        share = np.zeros(self.n_surface)
        np.add.at(share, b.cells, b.lumped)
        g, w = b.gradients[:, 0], b.weights[:, 0]
        stiff = self.lam * np.einsum("m,mai,mbj->maibj", w, g, g)
        stiff += self.mu * np.einsum("m,maj,mbi->maibj", w, g, g)
        stiff += self.mu * np.einsum("mab,ij->maibj", b.laplace, np.eye(3))
        mass = self.node_mass[b.cells] * b.lumped / share[b.cells]  # (m, 4)
        root = np.repeat(1.0 / np.sqrt(mass), 3, axis=1)
        scaled = stiff.reshape(-1, 12, 12) * root[:, :, None] * root[:, None, :]
        omega = np.sqrt(float(np.linalg.eigvalsh(scaled)[:, -1].max()))
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
