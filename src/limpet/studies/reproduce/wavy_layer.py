"""A rigid wave pressed into an elastic layer without friction, by finite elements.

The layer is 1 m thick, in plane strain, and repeats along x (F VIII-A). Half a wave is enough: its
sides are planes of symmetry. The crest of the wave is at x = 0 and goes down by d from the touch,
so the wave is z = eta (1 - cos k x) - d and the layer begins as -1 <= z <= 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from limpet.fem.elements import corotational, neo_hookean
from limpet.fem.elements.block import cell_block
from limpet.fem.elements.hex8 import HEX8
from limpet.meshing.grids import structured

Array = np.ndarray

POISSON = 0.3
YOUNG = 1.0  # [Pa] only ratios of forces are told
K = 3.0  # [1/m] the wave's length is 2 pi / 3
HALF = np.pi / K  # [m] half of it
LAWS = ("linear", "corotational", "neo-hookean")
MU, LAM = corotational.lame(YOUNG, POISSON)
OEDOMETER = LAM + 2.0 * MU  # [Pa] stress over strain where the sides cannot give way
TOLERANCE = 1e-10  # forces out of balance, of modulus times area, and gaps [m]
MOST = 200  # iterations for one depth


def wave(eta: float, depth: float, x: Array) -> tuple[Array, Array]:
    """Height [m] and slope of the wave at x [m]."""
    return eta * (1.0 - np.cos(K * x)) - depth, eta * K * np.sin(K * x)


def confined(law: str, strain: Array | float) -> Array:
    """[Pa] pressure of the layer pressed flat by `strain`: F = diag(1, 1, 1 - strain)."""
    strain = np.asarray(strain, dtype=float)
    if law != "neo-hookean":
        return OEDOMETER * strain
    mu, lam, alpha = neo_hookean.moduli(MU, LAM)
    s = 1.0 - strain
    return -(mu * (1.0 - 1.0 / (3.0 + s * s)) * s + lam * (s - alpha))


@dataclass(frozen=True)
class Pressed:
    """The layer under the wave. Not converging is a value."""

    pressure: float  # [Pa] vertical force by the area of the layer
    touching: float  # share of the nodes of the top
    points: Array  # (nz + 1, nx + 1, 2) [m] x and z of the nodes, from the base up
    converged: bool


class Layer:
    """Half a wave's length of the layer, in hexahedra one deep that do not move across."""

    def __init__(self, law: str, bonded: bool, cells: tuple[int, int]) -> None:
        nx, nz = cells
        points, hexes = structured("hex8", (nx, 1, nz))
        self.law, self.deep = law, HALF / nx
        self.rest = points * [HALF, self.deep, 1.0] - [0.0, 0.0, 1.0]
        self.block = cell_block(HEX8, self.rest, hexes)
        # Nodes that differ in y alone are one node of the plane.
        column, row = np.rint(points[:, [0, 2]] * cells).astype(int).T
        node = row * (nx + 1) + column
        count = (nx + 1) * (nz + 1)
        three, two = 3 * np.arange(len(points)), 2 * node
        self._spread = sparse.csr_array(
            (np.ones(2 * len(node)), (np.append(three, three + 2), np.append(two, two + 1))),
            shape=(3 * len(points), 2 * count),
        )
        self.x = np.zeros((nz + 1, nx + 1, 2))  # [m] as the last depth left them
        self.x[row, column] = self.rest[:, [0, 2]]
        held = np.zeros(self.x.shape, bool)
        held[:, [0, -1], 0] = held[0, :, 1] = True
        held[0, :, 0] |= bonded
        self._free = np.flatnonzero(~held.ravel())
        self._top = 2 * np.arange(nz * (nx + 1), count)  # the unknown x of each node there
        self.load = np.zeros(nx + 1)  # [N] multipliers of the gaps

        # Every cell has 36 blocks of its own: the lower triangle over its nodes.
        a, b = np.tril_indices(8)
        self._slots = np.zeros((len(hexes), 8, 8), np.int32)
        self._slots[:, a, b] = np.arange(36 * len(hexes)).reshape(-1, 36)
        i, j = np.indices((3, 3)).reshape(2, 9)
        self._rows = (3 * hexes[:, a, None] + i).ravel()
        self._columns = (3 * hexes[:, b, None] + j).ravel()
        self._below = np.tile(np.repeat(a != b, 9), len(hexes))

    def press(self, eta: float, depth: float) -> Pressed:
        """Newton's method on balance and contact, from where the layer was left.

        A node of the top touches where load - stiffness * gap > 0 (primal-dual active set); the
        force of the wave on it is load * d gap / d(x, z) = load * (slope, -1).
        """
        top, nx, free = self._top, len(self._top) - 1, len(self._free)
        stiffness = OEDOMETER * self.deep * HALF / nx
        enough = TOLERANCE * OEDOMETER * self.deep * HALF
        before = np.zeros(nx + 1, bool)
        for _ in range(MOST):
            height, slope = wave(eta, depth, self.x[-1, :, 0])
            gap = height - self.x[-1, :, 1]
            touching = self.load - stiffness * gap > 0.0
            force, matrix = self._assemble()
            towards = sparse.csr_array(
                (
                    np.concatenate([slope, -np.ones(nx + 1)]),
                    (np.tile(np.arange(nx + 1), 2), np.concatenate([top, top + 1])),
                ),
                shape=(nx + 1, self.x.size),
            )[:, self._free]
            left = float(np.linalg.norm(force + towards.T @ self.load))
            apart = float(np.abs(gap[touching]).max(initial=0.0))
            if left < enough and apart < TOLERANCE and np.array_equal(touching, before):
                return self._pressed(True)
            before = touching
            g = towards[touching]
            system = sparse.block_array([[matrix, -g.T], [g, None]], format="csc")
            out = splu(system).solve(np.append(force, -gap[touching]))
            self.x.ravel()[self._free] += out[:free]
            self.load = np.zeros(nx + 1)
            self.load[touching] = out[free:]
        return self._pressed(False)

    def _assemble(self) -> tuple[Array, sparse.csc_array]:
        """Elastic forces on what is free, and their stiffness."""
        x = self.rest.copy()
        spread = self._spread
        x[:, [0, 2]] = (spread @ self.x.ravel()).reshape(-1, 3)[:, [0, 2]]
        force, values = np.zeros_like(x), np.zeros((self._slots.shape[0] * 36, 3, 3))
        if self.law == "neo-hookean":
            neo_hookean.assemble(self.block, x, self._slots, MU, LAM, force, values)
        else:
            rotation = corotational.NONE if self.law == "linear" else corotational.POLAR
            corotational.assemble(
                self.block, x, self._slots, MU, LAM, force, values, rotation=rotation
            )
        flat, below = values.ravel(), self._below
        whole = sparse.coo_array(
            (
                np.concatenate([flat, flat[below]]),
                (
                    np.concatenate([self._rows, self._columns[below]]),
                    np.concatenate([self._columns, self._rows[below]]),
                ),
            ),
            shape=(x.size, x.size),
        ).tocsr()
        plane = (spread.T @ whole @ spread).tocsr()
        return (spread.T @ force.ravel())[self._free], plane[self._free][:, self._free].tocsc()

    def _pressed(self, converged: bool) -> Pressed:
        pressure = float(self.load.sum()) / (HALF * self.deep)
        return Pressed(pressure, float((self.load > 0.0).mean()), self.x.copy(), converged)
