"""Meshes for every element: one bent cell, and a distorted box of many."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from limpet.elements import ELEMENTS
from limpet.elements.corotational import CellBlock, assemble, cell_block, energy, lame
from limpet.geometry.shapes import hexahedron_tets

SIZE = 0.01  # [m] of a cell
YOUNG, POISSON = 1e6, 0.4


@pytest.fixture(params=list(ELEMENTS))
def element(request):
    return ELEMENTS[request.param]


def hull_volume(points) -> float:
    return float(ConvexHull(points).volume)


def parents(cell):
    """For each node the two corners it lies between; (a, a) for corner a."""
    out = []
    for a, p in enumerate(cell.nodes):
        between = [
            (b, c)
            for b in range(len(cell.nodes))
            for c in range(b)
            if a not in (b, c) and np.allclose(p, 0.5 * (cell.nodes[b] + cell.nodes[c]))
        ]
        out.append(between[0] if between else (a, a))
    return out


def mesh_of(element, corner_points, corner_cells):
    """(points, cells) of straight cells from their corners, midsides made and shared."""
    ids: dict[tuple[int, int], int] = {}
    between = parents(element.cell)
    cells = [
        [ids.setdefault(tuple(sorted((c[a], c[b]))), len(ids)) for a, b in between]
        for c in corner_cells
    ]
    points = np.array([0.5 * (corner_points[a] + corner_points[b]) for a, b in ids])
    return points, np.array(cells, np.int32)


def wedges(c):
    return [(c[0], c[1], c[2], c[4], c[5], c[6]), (c[0], c[2], c[3], c[4], c[6], c[7])]


def split(element):
    """How a hexahedron is cut into the element's cells, by its number of corners."""
    corners = sum(a == b for a, b in parents(element.cell))
    return {4: hexahedron_tets, 6: wedges, 8: lambda c: [tuple(c)]}[corners]


def distorted_box(element, divisions, rng, shake=0.15):
    """A box of `divisions` cells of SIZE, its inner corners moved about: (points, cells)."""
    n = np.array(divisions)
    corner = np.stack(np.meshgrid(*(np.arange(k + 1.0) for k in n), indexing="ij"), axis=-1)
    inner = np.all((corner > 0) & (corner < n), axis=-1)
    corner[inner] += shake * rng.uniform(-1, 1, size=(inner.sum(), 3))
    number = np.arange(corner[..., 0].size).reshape(corner.shape[:-1])
    cut, square = split(element), ((0, 0), (1, 0), (1, 1), (0, 1))
    cells: list[tuple[int, ...]] = []
    for i, j, k in np.ndindex(*divisions):
        cells += cut([number[i + a, j + b, k + e] for e in (0, 1) for a, b in square])
    return mesh_of(element, SIZE * corner.reshape(-1, 3), cells)


@dataclass
class Patch:
    """Cells with their law, and dense answers."""

    block: CellBlock
    rest: np.ndarray
    young: float = YOUNG
    poisson: float = POISSON

    def force(self, x):
        return self.respond(x)[0]

    def respond(self, x, transposed=False):
        """Forces (n, 3) and the dense stiffness (3 n, 3 n)."""
        b = self.block
        m, _, k, _ = b.gradients.shape
        slots = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)
        force, values = np.zeros_like(x), np.zeros((m * k * k, 3, 3))
        assemble(
            x, b.cells, b.gradients, b.weights, b.laplace, -1 - slots if transposed else slots,
            *lame(self.young, self.poisson), force, values,
        )  # fmt: skip
        dense = np.zeros((len(x), 3, len(x), 3))
        for e, cell in enumerate(b.cells):
            for i in range(k):
                for j in range(i + 1):
                    v = values[slots[e, i, j]].T if transposed else values[slots[e, i, j]]
                    dense[cell[i], :, cell[j], :] += v
                    if i != j:
                        dense[cell[j], :, cell[i], :] += v.T
        return force, dense.reshape(3 * len(x), 3 * len(x))

    def energy(self, x):
        b = self.block
        return energy(x, b.cells, b.gradients, b.weights, *lame(self.young, self.poisson))


def bent_cell(element, rng, bend=0.05):
    """One cell, sheared and stretched, its nodes moved off their places."""
    cell = element.cell
    shape = np.eye(3) + 0.2 * rng.uniform(-1, 1, size=(3, 3))
    rest = SIZE * (cell.nodes + bend * rng.uniform(-1, 1, size=cell.nodes.shape)) @ shape.T
    return Patch(cell_block(element, rest, np.arange(len(rest))[None]), rest)


def turn(rng):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


@pytest.fixture
def kit():
    """The helpers above by name."""
    return SimpleNamespace(
        SIZE=SIZE, YOUNG=YOUNG, POISSON=POISSON, hull_volume=hull_volume, mesh_of=mesh_of,
        distorted_box=distorted_box, bent_cell=bent_cell, turn=turn, Patch=Patch,
    )  # fmt: skip
