"""Corotational linear tetrahedra with lumped mass, forces taken at the start of the step."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from limpet.dynamics.motion import Motion
from limpet.errors import LimpetError
from limpet.fem.elements.block import cell_block
from limpet.fem.elements.corotational import energy, lame
from limpet.fem.elements.tet4 import TET4
from limpet.fem.material import Material
from limpet.particles.body import ParticleBody, pushed
from limpet.particles.meshes import ParticleMesh
from limpet.particles.tet_forces import side_by_side, tet_forces

Array = np.ndarray

DEFORMED = 1.1  # assumed ratio of the highest frequencies of the deformed body and at rest


class ExplicitFem(ParticleBody):
    """Force-based corotational finite elements, C's setting; linear tetrahedra only."""

    def __init__(
        self, name: str, mesh: ParticleMesh, mass: float, material: Material,
        driven: Array | None = None, motion: Motion | None = None, uniform_mass: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name, mesh, mass, material.mass_damping, driven, motion, uniform_mass)
        if not mesh.closed:
            raise LimpetError(
                f"explicit body '{name}': '{mesh.name}' has no tetrahedra; finite elements need "
                "a volume, a sheet is made of springs"
            )
        if material.poisson == 0.5 or material.law != "corotational":
            raise LimpetError(
                f"explicit body '{name}': poisson = {material.poisson:g}, law = '{material.law}': "
                "expected poisson below 0.5 and law = 'corotational'"
            )
        self.material = material
        self.block = cell_block(TET4, mesh.points, mesh.tets)
        b = self.block
        self._blocks = side_by_side(b.cells, b.gradients[:, 0], b.weights[:, 0])
        self.mu, self.lam = lame(material.young, material.poisson)
        self.stable_step = self._stable_step()

    def _stable_step(self) -> float:
        """(2/omega)(sqrt(1 + z^2) - z), omega the fastest of the body at rest, z = b omega/2.

        Cells keep their own frequencies as they rotate, but against each other they change the
        body's a little, so it is taken DEFORMED times higher; never above that of the
        stiffest cell alone, which bounds it whatever the cells do (Irons).
        """
        b, n = self.block, 3 * self.n_points
        share = np.zeros(self.n_points)
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
        omega = np.sqrt(min(float(alone), DEFORMED**2 * float(together)))
        z = 0.5 * omega * self.material.stiffness_damping
        return 2.0 / omega * (np.sqrt(1.0 + z * z) - z)

    def _internal_velocities(self, h: float, v: Array) -> Array:
        damping = self.material.stiffness_damping
        force = tet_forces(self.x, self.v, *self._blocks, self.mu, self.lam, damping)
        return pushed(v, force, self.node_mass, h)

    def elastic_energy(self) -> float:
        """[J], zero at rest."""
        return energy(self.block, self.x, self.mu, self.lam)
