"""One kit for every reference element; a new one joins by its name in ELEMENTS."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.element import gauss_wedge, tetrahedron_rule
from limpet.geometry.cells import bezier_triangle, serendipity8, triangle6
from limpet.geometry.shape import boundary
from limpet.geometry.surface import surface_topology, triangle_normals, volume
from limpet.rigid.rigid_body import mass_properties

from .kit import every_element
from .meshes import fit, integral, is_quadratic, monomials

MIXED = [name for name, e in ELEMENTS.items() if e.pressure is not None]


def inside(element, count, seed=0):
    """Random points of the reference cell."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(element.cell.nodes)), size=count)
    return weights @ element.cell.nodes


def hull_volume(points):
    return float(ConvexHull(points).volume)


def skin_of(cell):
    """The faces of one cell, and its vertices."""
    skin = boundary({cell.name: np.arange(len(cell.nodes), dtype=np.int32)[None]})
    return skin, skin.positions(cell.nodes)


@every_element
def test_shape_functions_are_one_at_their_node_and_zero_at_the_others_or_bernstein(name):
    element = ELEMENTS[name]
    nodes = element.cell.nodes
    at_nodes = element.shape(nodes)
    if not element.cell.control:
        np.testing.assert_allclose(at_nodes, np.eye(len(nodes)), atol=1e-15)
        return
    # a midside's value: half of its control point and a quarter of each end (M eq 20)
    np.testing.assert_allclose(at_nodes[:4], np.eye(10)[:4], atol=1e-15)
    np.testing.assert_allclose(at_nodes[4:, 4:], 0.5 * np.eye(6), atol=1e-15)
    np.testing.assert_allclose(at_nodes[4:, :4] @ nodes[:4], 0.5 * nodes[4:], atol=1e-15)
    assert element.shape(inside(element, 200)).min() >= 0.0


@every_element
def test_shape_functions_sum_to_one_and_their_gradients_to_zero(name):
    element = ELEMENTS[name]
    xi = inside(element, 50)
    np.testing.assert_allclose(element.shape(xi).sum(axis=-1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(element.gradient(xi).sum(axis=-2), 0.0, atol=1e-14)


@every_element
def test_linear_fields_are_reproduced(name):
    element = ELEMENTS[name]
    xi = inside(element, 50)
    np.testing.assert_allclose(element.shape(xi) @ element.cell.nodes, xi, atol=1e-14)
    slope = np.einsum("pki,kj->pij", element.gradient(xi), element.cell.nodes)
    np.testing.assert_allclose(slope, np.broadcast_to(np.eye(3), slope.shape), atol=1e-14)


@pytest.mark.parametrize("name", [n for n, e in ELEMENTS.items() if is_quadratic(e)])
def test_quadratic_elements_reproduce_quadratic_fields(name):
    element = ELEMENTS[name]
    form = np.random.default_rng(1).normal(size=(3, 3))

    def field(x):
        return np.einsum("pi,ij,pj->p", x, form, x)

    xi = inside(element, 50)
    values = fit(element, field(element.cell.nodes))
    np.testing.assert_allclose(element.shape(xi) @ values, field(xi), atol=1e-13)


@every_element
def test_gradient_is_the_finite_difference_of_the_shape(name):
    element = ELEMENTS[name]
    xi, step = inside(element, 20), 1e-5
    for i in range(3):
        d = step * np.eye(3)[i]
        slope = (element.shape(xi + d) - element.shape(xi - d)) / (2.0 * step)
        np.testing.assert_allclose(element.gradient(xi)[..., i], slope, atol=1e-9)


@every_element
def test_shapes_broadcast_over_leading_axes(name):
    element = ELEMENTS[name]
    xi = inside(element, 6).reshape(2, 3, 3)
    k = len(element.cell.nodes)
    assert element.shape(xi).shape == (2, 3, k)
    assert element.gradient(xi).shape == (2, 3, k, 3)
    np.testing.assert_array_equal(element.shape(xi)[1, 2], element.shape(xi[1, 2]))
    np.testing.assert_array_equal(element.gradient(xi)[1, 2], element.gradient(xi[1, 2]))


@pytest.mark.parametrize("name", MIXED)
def test_pressure_functions_are_independent_and_hold_a_constant(name):
    element = ELEMENTS[name]
    values = element.pressure.shape(inside(element, 50))
    assert values.shape == (50, element.pressure.count)
    assert np.linalg.matrix_rank(values) == element.pressure.count
    one, *_ = np.linalg.lstsq(values, np.ones(50))
    np.testing.assert_allclose(values @ one, 1.0, rtol=1e-12)
    if element.pressure.shared:  # values at the corners
        corners = element.pressure.shape(element.cell.nodes[:4])
        np.testing.assert_allclose(corners, np.eye(4), atol=1e-15)


@every_element
def test_faces_are_outward_and_enclose_the_reference_cell(name):
    cell = ELEMENTS[name].cell
    skin, x = skin_of(cell)
    surface_topology(skin.triangles, skin.n_vertices)
    assert volume(x, skin.triangles) == pytest.approx(hull_volume(cell.nodes), rel=1e-14)
    outward = x[skin.triangles].mean(axis=1) - cell.nodes.mean(axis=0)
    assert np.all(np.einsum("ti,ti->t", triangle_normals(x, skin.triangles), outward) > 0.0)
    assert skin.n_vertices == len(cell.nodes)  # every node of our cells lies on a face


def face_functions(count, control, s, t):
    """Shape functions of a face with `count` nodes, at (s, t) of its square or triangle."""
    if count == 3:
        return np.array([1.0 - s - t, s, t])
    if count == 6:
        return bezier_triangle(1.0 - s - t, s, t) if control else triangle6(s, t)
    s, t = 2.0 * s - 1.0, 2.0 * t - 1.0
    if count == 8:
        return serendipity8(s, t)
    return 0.25 * np.array(
        [(1 - s) * (1 - t), (1 + s) * (1 - t), (1 + s) * (1 + t), (1 - s) * (1 + t)]
    )


@every_element
def test_on_a_face_only_its_own_nodes_count_and_alike_for_all_cells(name):
    """So neighbours agree on what they share, hexahedra with wedges too."""
    element = ELEMENTS[name]
    cell = element.cell
    for face in cell.faces:
        corners = len(face) if len(face) < 5 else len(face) // 2
        for s, t in ((0.2, 0.3), (0.6, 0.1), (0.0, 0.5)):
            linear = face_functions(corners, False, s, t)
            xi = linear @ cell.nodes[list(face[:corners])]
            expected = np.zeros(len(cell.nodes))
            expected[list(face)] = face_functions(len(face), cell.control, s, t)
            np.testing.assert_allclose(element.shape(xi), expected, atol=1e-15)


@every_element
@pytest.mark.parametrize("rule", ["stiffness", "mass"])
def test_rules_are_positive_inside_and_exact_for_linear_fields(name, rule):
    element = ELEMENTS[name]
    stiffness = rule == "stiffness"
    points = element.points if stiffness else element.mass_points
    weights = element.weights if stiffness else element.mass_weights
    skin, x = skin_of(element.cell)
    assert np.all(weights > 0.0)
    assert weights.sum() == pytest.approx(hull_volume(element.cell.nodes), rel=1e-14)
    inward = triangle_normals(x, skin.triangles) @ points.T
    level = np.einsum("ti,ti->t", triangle_normals(x, skin.triangles), x[skin.triangles[:, 0]])
    assert np.all(inward < level[:, None])
    centre, _ = mass_properties(x, skin.triangles, 1.0)
    np.testing.assert_allclose(weights @ points / weights.sum(), centre, atol=1e-14)


@pytest.mark.parametrize(("points", "degree"), [(3, 2), (6, 4)])
def test_triangle_rules_have_their_degree(points, degree):
    xi, w = gauss_wedge(points, 1)  # one point along the axis: weight 2
    for a, b, c in monomials(degree):
        if c == 0:
            exact = factorial(a) * factorial(b) / factorial(a + b + 2)
            assert w @ (xi[:, 0] ** a * xi[:, 1] ** b) / 2.0 == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_tetrahedron_rules_have_their_degree(degree):
    xi, w = tetrahedron_rule(degree)
    for a, b, c in monomials(degree):
        exact = factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3)
        assert w @ (xi ** [a, b, c]).prod(axis=1) == pytest.approx(exact, rel=1e-13)


def test_the_fourteen_points_of_hex20_are_exact_to_degree_five():
    element = ELEMENTS["hex20"]
    assert len(element.points) == 14
    for powers in monomials(5):
        got = element.weights @ (element.points ** np.array(powers)).prod(axis=1)
        assert got == pytest.approx(integral(element.cell, powers), abs=1e-13)
