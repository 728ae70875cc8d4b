"""Corotational linear tetrahedra with lumped mass, forces taken at the start of the step."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.bodies.material import Material
from limpet.bodies.motion import Motion
from limpet.bodies.particles import ParticleBody, pushed
from limpet.elements.block import cell_block
from limpet.elements.corotational import POLAR, deform, energy, lame, load
from limpet.elements.tet4 import TET4
from limpet.errors import LimpetError
from limpet.geometry.nets import Net

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
    f, r, trace, pressure = np.empty((1, 3, 3)), np.empty((1, 3, 3)), np.empty(1), np.empty(1)
    turned, work = np.empty((1, 12)), np.empty((2, 3, 3))
    rate, s = np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(cells)):
        nodes, slope = cells[e], gradients[e]
        deform(x, nodes, slope, POLAR, f, r, trace)
        pressure[0] = lam * trace[0]
        load(nodes, slope, weights[e], POLAR, f, r, pressure, mu, force, turned, work)
        if damping == 0.0:
            continue
        rate[:] = 0.0
        for a in range(4):
            for i in range(3):
                for j in range(3):
                    rate[i, j] += v[nodes[a], i] * slope[0, a, j]
        for i in range(3):
            for j in range(3):  # 2 E'
                s[i, j] = 0.0
                for k in range(3):
                    s[i, j] += f[0, k, i] * rate[k, j] + rate[k, i] * f[0, k, j]
        spread = 0.5 * lam * (s[0, 0] + s[1, 1] + s[2, 2])
        for i in range(3):
            for j in range(3):
                s[i, j] *= mu
            s[i, i] += spread
        w = damping * weights[e, 0]
        for a in range(4):
            for i in range(3):
                along = 0.0
                for j in range(3):
                    for k in range(3):
                        along += f[0, i, k] * s[k, j] * slope[0, a, j]
                force[nodes[a], i] -= w * along
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
    ) -> None:
        super().__init__(name, net, mass, material.mass_damping, driven, motion)
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
