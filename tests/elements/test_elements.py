"""One kit for every reference element; a new one joins by its name in ELEMENTS."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

from limpet.bodies.rigid import mass_properties
from limpet.elements import ELEMENTS
from limpet.elements.corotational import cell_block
from limpet.elements.element import gauss_wedge
from limpet.errors import MeshError
from limpet.geometry.shapes import boundary
from limpet.geometry.surface import surface_topology, triangle_normals, volume


def inside(element, count, seed=0):
    """Random points of the reference cell."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(element.cell.nodes)), size=count)
    return weights @ element.cell.nodes


def test_shape_functions_are_one_at_their_node_and_zero_at_the_others(element):
    nodes = element.cell.nodes
    np.testing.assert_allclose(element.shape(nodes), np.eye(len(nodes)), atol=1e-15)


def test_shape_functions_sum_to_one_and_their_gradients_to_zero(element):
    xi = inside(element, 50)
    np.testing.assert_allclose(element.shape(xi).sum(axis=-1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(element.gradient(xi).sum(axis=-2), 0.0, atol=1e-14)


def test_linear_fields_are_reproduced(element):
    xi = inside(element, 50)
    np.testing.assert_allclose(element.shape(xi) @ element.cell.nodes, xi, atol=1e-14)
    slope = np.einsum("pki,kj->pij", element.gradient(xi), element.cell.nodes)
    np.testing.assert_allclose(slope, np.broadcast_to(np.eye(3), slope.shape), atol=1e-14)


@pytest.mark.parametrize("name", [n for n, e in ELEMENTS.items() if len(e.cell.faces[0]) > 4])
def test_quadratic_elements_reproduce_quadratic_fields(name):
    element = ELEMENTS[name]
    form = np.random.default_rng(1).normal(size=(3, 3))

    def field(x):
        return np.einsum("pi,ij,pj->p", x, form, x)

    xi = inside(element, 50)
    np.testing.assert_allclose(element.shape(xi) @ field(element.cell.nodes), field(xi), atol=1e-13)


def test_gradient_is_the_finite_difference_of_the_shape(element):
    xi, step = inside(element, 20), 1e-5
    for i in range(3):
        d = step * np.eye(3)[i]
        slope = (element.shape(xi + d) - element.shape(xi - d)) / (2.0 * step)
        np.testing.assert_allclose(element.gradient(xi)[..., i], slope, atol=1e-9)


def test_shapes_broadcast_over_leading_axes(element):
    xi = inside(element, 6).reshape(2, 3, 3)
    k = len(element.cell.nodes)
    assert element.shape(xi).shape == (2, 3, k)
    assert element.gradient(xi).shape == (2, 3, k, 3)
    np.testing.assert_array_equal(element.shape(xi)[1, 2], element.shape(xi[1, 2]))
    np.testing.assert_array_equal(element.gradient(xi)[1, 2], element.gradient(xi[1, 2]))


def test_faces_are_outward_and_enclose_the_reference_cell(element, kit):
    nodes = element.cell.nodes
    skin = boundary({element.name: np.arange(len(nodes), dtype=np.int32)[None]})
    x = skin.positions(nodes)
    surface_topology(skin.triangles, skin.n_vertices)
    assert volume(x, skin.triangles) == pytest.approx(kit.hull_volume(nodes), rel=1e-14)
    outward = x[skin.triangles].mean(axis=1) - nodes.mean(axis=0)
    assert np.all(np.einsum("ti,ti->t", triangle_normals(x, skin.triangles), outward) > 0.0)
    assert skin.n_vertices == len(nodes)  # every node of our cells lies on a face


@pytest.mark.parametrize("rule", ["stiffness", "mass"])
def test_rules_are_positive_inside_and_exact_for_linear_fields(element, kit, rule):
    points, weights = (
        (element.points, element.weights)
        if rule == "stiffness"
        else (element.mass_points, element.mass_weights)
    )
    nodes = element.cell.nodes
    skin = boundary({element.name: np.arange(len(nodes), dtype=np.int32)[None]})
    x = skin.positions(nodes)
    assert np.all(weights > 0.0)
    assert weights.sum() == pytest.approx(kit.hull_volume(nodes), rel=1e-14)
    inward = triangle_normals(x, skin.triangles) @ points.T
    level = np.einsum("ti,ti->t", triangle_normals(x, skin.triangles), x[skin.triangles[:, 0]])
    assert np.all(inward < level[:, None])
    centre, _ = mass_properties(x, skin.triangles, 1.0)
    np.testing.assert_allclose(weights @ points / weights.sum(), centre, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_volume_and_mass_of_sheared_cells_are_exact(element, kit, seed):
    rng = np.random.default_rng(seed)
    shear = kit.turn(rng) @ (np.eye(3) + np.triu(rng.uniform(0.2, 1.0, size=(3, 3))))
    rest = kit.SIZE * element.cell.nodes @ shear.T + rng.normal(size=3)
    block = cell_block(element, rest, np.arange(len(rest))[None])
    exact = kit.SIZE**3 * np.linalg.det(shear) * kit.hull_volume(element.cell.nodes)
    assert block.weights.sum() == pytest.approx(exact, rel=1e-12)
    assert block.lumped.sum() == pytest.approx(exact, rel=1e-12)
    assert np.all(block.lumped > 0.0)


def test_both_rules_agree_on_the_volume_of_distorted_cells_and_fill_the_box(element, kit):
    points, cells = kit.distorted_box(element, (2, 3, 2), np.random.default_rng(2))
    block = cell_block(element, points, cells)
    np.testing.assert_allclose(block.weights.sum(axis=1), block.lumped.sum(axis=1), rtol=1e-12)
    assert block.weights.sum() == pytest.approx(12 * kit.SIZE**3, rel=1e-12)


def test_an_inverted_cell_is_named(element, kit):
    points, cells = kit.distorted_box(element, (2, 2, 1), np.random.default_rng(3), shake=0.0)
    mirrored = points * [1.0, 1.0, -1.0]
    both = np.concatenate([points, mirrored])
    mixed = cells.copy()
    mixed[1] += len(points)
    with pytest.raises(MeshError, match=f"{element.name} cell 1 is inverted or flat at rest"):
        cell_block(element, both, mixed)
    flat = points * [1.0, 1.0, 0.0]
    with pytest.raises(MeshError, match=f"{element.name} cell 0 is inverted or flat at rest"):
        cell_block(element, flat, cells)


@pytest.mark.parametrize(("points", "degree"), [(3, 2), (6, 4)])
def test_triangle_rules_have_their_degree(points, degree):
    xi, w = gauss_wedge(points, 1)  # one point along the axis: weight 2
    for a in range(degree + 1):
        for b in range(degree + 1 - a):
            exact = factorial(a) * factorial(b) / factorial(a + b + 2)
            assert w @ (xi[:, 0] ** a * xi[:, 1] ** b) / 2.0 == pytest.approx(exact, rel=1e-13)
