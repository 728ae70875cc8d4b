"""Cells at rest: masses and volumes, numbering from any side, and what is refused."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from limpet.errors import MeshError
from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.block import cell_block, deformed_volume
from limpet.geometry.shape import boundary
from limpet.geometry.surface import volume

from .kit import Patch, every_element, random_state, turn
from .meshes import SIZE, corners_of, distorted_box, fit, integral, is_quadratic, monomials


def symmetries(cell):
    """Renumberings of a cell's nodes that come of turning it onto itself."""
    corners = corners_of(cell)
    basis = next(  # four corners that span the cell
        list(four)
        for four in permutations(range(corners), 4)
        if abs(np.linalg.det(cell.nodes[list(four[1:])] - cell.nodes[four[0]])) > 1e-9
    )
    affine = np.column_stack([np.ones(len(cell.nodes)), cell.nodes])
    found = []
    for image in permutations(range(corners), 4):
        matrix = np.linalg.solve(affine[basis], cell.nodes[list(image)])
        distance = np.abs((affine @ matrix)[:, None] - cell.nodes).max(axis=2)
        if np.linalg.det(matrix[1:]) > 0.0 and np.all(distance.min(axis=1) < 1e-9):
            found.append(distance.argmin(axis=1))
    return found


@every_element
def test_cells_are_the_same_from_every_side(name):
    """A cell numbered from another of its corners is the same cell."""
    element = ELEMENTS[name]
    nodes = element.cell.nodes
    found = symmetries(element.cell)
    assert len(found) == {4: 12, 6: 6, 8: 24}[corners_of(element.cell)]
    rest = SIZE * nodes @ (np.eye(3) + np.triu(np.full((3, 3), 0.2))).T
    plain = Patch(element, rest, np.arange(len(nodes))[None])
    x = random_state(np.random.default_rng(1), plain, [0.8, 1.1, 1.2], noise=0.05)
    force = plain.force(x, plain.pressures(x))
    for order in found:
        other = Patch(element, rest, order[None])
        for field in ("laplace", "mass"):
            expected = getattr(plain.block, field)[0][np.ix_(order, order)]
            got = getattr(other.block, field)[0]
            np.testing.assert_allclose(got, expected, atol=1e-13 * np.abs(expected).max())
        got = other.force(x, other.pressures(x))
        np.testing.assert_allclose(got, force, rtol=0, atol=1e-12 * np.abs(force).max())


@every_element
def test_mass_matrix_integrates_what_the_element_can_represent(name):
    element = ELEMENTS[name]
    cell = element.cell
    block = cell_block(element, cell.nodes, np.arange(len(cell.nodes))[None])
    powers = monomials(2 if is_quadratic(element) else 1)
    values = np.stack([(cell.nodes ** np.array(p)).prod(axis=1) for p in powers], axis=1)
    values = fit(element, values)
    exact = [[integral(cell, np.add(p, q).tolist()) for q in powers] for p in powers]
    np.testing.assert_allclose(values.T @ block.mass[0] @ values, exact, atol=1e-14)


@every_element
@pytest.mark.parametrize("seed", range(3))
def test_volume_and_mass_of_sheared_cells_are_exact(name, seed):
    element, rng = ELEMENTS[name], np.random.default_rng(seed)
    shear = turn(rng) @ (np.eye(3) + np.triu(rng.uniform(0.2, 1.0, size=(3, 3))))
    rest = SIZE * element.cell.nodes @ shear.T + rng.normal(size=3)
    block = cell_block(element, rest, np.arange(len(rest))[None])
    exact = SIZE**3 * np.linalg.det(shear) * ConvexHull(element.cell.nodes).volume
    for total in (block.weights.sum(), block.mass.sum(), block.lumped.sum(), block.volume):
        assert total == pytest.approx(exact, rel=1e-12)
    assert np.all(block.lumped > 0.0)
    assert np.linalg.eigvalsh(block.mass[0])[0] > 0.0


@every_element
def test_both_rules_agree_on_the_volume_of_distorted_cells_and_fill_the_box(name):
    points, cells = distorted_box(ELEMENTS[name], (2, 3, 2), np.random.default_rng(2))
    block = cell_block(ELEMENTS[name], points, cells)
    np.testing.assert_allclose(block.weights.sum(axis=1), block.lumped.sum(axis=1), rtol=1e-12)
    assert block.weights.sum() == pytest.approx(12 * SIZE**3, rel=1e-12)
    assert np.all(block.lumped > 0.0)


@every_element
def test_an_inverted_or_flat_cell_is_named(name):
    element = ELEMENTS[name]
    points, cells = distorted_box(element, (2, 2, 1), np.random.default_rng(3), shake=0.0)
    both = np.concatenate([points, points * [1.0, 1.0, -1.0]])
    mixed = cells.copy()
    mixed[1] += len(points)
    with pytest.raises(MeshError, match=f"{element.cell.name} cell 1 is inverted or flat at rest"):
        cell_block(element, both, mixed)
    with pytest.raises(MeshError, match=f"{element.cell.name} cell 0 is inverted or flat at rest"):
        cell_block(element, points * [1.0, 1.0, 0.0], cells)


@every_element
def test_the_volume_of_a_homogeneous_deformation_is_its_determinant(name):
    rng = np.random.default_rng(4)
    points, cells = distorted_box(ELEMENTS[name], (2, 1, 2), rng)
    block = cell_block(ELEMENTS[name], points, cells)
    f = turn(rng) @ (np.eye(3) + 0.3 * rng.uniform(-1, 1, size=(3, 3)))
    got = deformed_volume(block, points @ f.T + 0.1)
    assert got == pytest.approx(np.linalg.det(f) * 4 * SIZE**3, rel=1e-12)


def test_the_volume_of_linear_tetrahedra_is_exact_for_any_deformation():
    """Against the volume inside their surface."""
    rng = np.random.default_rng(5)
    points, cells = distorted_box(ELEMENTS["tet4"], (2, 2, 2), rng)
    block = cell_block(ELEMENTS["tet4"], points, cells)
    x = points + 0.3 * SIZE * rng.uniform(-1, 1, size=points.shape)
    skin = boundary({"tet4": cells})
    assert deformed_volume(block, x) == pytest.approx(
        volume(skin.positions(x), skin.triangles), rel=1e-12
    )
