"""Tetrahedra side by side, against one after the other in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.fem.elements.block import cell_block
from limpet.fem.elements.tet4 import TET4
from limpet.fem.material import Material
from limpet.geometry.rotation import polar
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.meshes import cylinder
from limpet.particles.tet_forces import LANES, side_by_side, tet_forces

COLUMN = cylinder(0.03, 0.05, (2, 3))
MU, LAM = 400.0, 600.0


def plain(x, v, block, damping):
    force = np.zeros_like(x)
    for cell, slope, w in zip(block.cells, block.gradients[:, 0], block.weights[:, 0]):
        f, rate = x[cell].T @ slope, v[cell].T @ slope
        r = np.empty((3, 3))
        polar(f, r)
        stress = 2.0 * MU * (f - r) + LAM * (np.trace(r.T @ f) - 3.0) * r
        e = 0.5 * (f.T @ rate + rate.T @ f)
        stress += damping * f @ (2.0 * MU * e + LAM * np.trace(e) * np.eye(3))
        np.add.at(force, cell, -w * slope @ stress.T)
    return force


@pytest.mark.parametrize("damping", [0.0, 1e-3])
@pytest.mark.parametrize("size", [1e-4, 3e-3, 2e-2])  # the last turns cells inside out
@pytest.mark.parametrize("cells", [1, LANES, 3 * LANES - 1])
def test_side_by_side_as_one_by_one(cells, size, damping):
    rng = np.random.default_rng(cells)
    block = cell_block(TET4, COLUMN.points, COLUMN.tets[:cells])
    x = COLUMN.points + size * rng.normal(size=COLUMN.points.shape)
    v = rng.normal(size=x.shape)
    blocks = side_by_side(block.cells, block.gradients[:, 0], block.weights[:, 0])
    want = plain(x, v, block, damping)
    got = tet_forces(x, v, *blocks, MU, LAM, damping)
    np.testing.assert_allclose(got, want, atol=1e-9 * np.abs(want).max())


def test_cells_without_volume_are_taken_as_by_the_whole_decomposition():
    block = cell_block(TET4, COLUMN.points, COLUMN.tets)
    flat = COLUMN.points * [1.0, 1.0, 0.0]
    blocks = side_by_side(block.cells, block.gradients[:, 0], block.weights[:, 0])
    got = tet_forces(flat, np.zeros_like(flat), *blocks, MU, LAM, 0.0)
    want = plain(flat, np.zeros_like(flat), block, 0.0)
    assert np.all(np.isfinite(got))
    np.testing.assert_allclose(got, want, atol=1e-6 * np.abs(want).max())


def test_the_last_block_is_filled_up_and_pushes_nothing():
    body = ExplicitFem("a", COLUMN, 0.1, Material(200.0, 0.3))
    cells, slopes = body._blocks
    assert cells.shape == (-(-len(COLUMN.tets) // LANES), LANES, 4)
    weights = slopes.reshape(-1, 10, LANES)[:, 9]
    assert weights.sum() == pytest.approx(body.block.weights.sum())
    assert np.count_nonzero(weights) == len(COLUMN.tets)
