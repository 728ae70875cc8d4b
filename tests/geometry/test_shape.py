"""Boxes, bindings and boundaries: closed, exact, and clear about what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.errors import LimpetError, MeshError
from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.block import cell_block
from limpet.geometry.shape import Binding, boundary, check_points
from limpet.geometry.surface import surface_topology, triangle_normals, volume
from limpet.shapes.boxes import box, soft_box

counts = st.integers(1, 4)
lengths = st.floats(1e-3, 1.0)


@given(lengths, lengths, lengths, st.tuples(counts, counts, counts))
@settings(max_examples=30, deadline=None)
def test_a_box_is_closed_with_its_exact_volume(a, b, c, divisions):
    shape = box(a, b, c, divisions)
    surface_topology(shape.triangles, len(shape.points))
    assert volume(shape.points, shape.triangles) == pytest.approx(a * b * c, rel=1e-12)
    nx, ny, nz = divisions
    assert len(shape.triangles) == 4 * (nx * ny + ny * nz + nz * nx)
    assert len(np.unique(shape.triangles)) == len(shape.points)  # no vertex is left over
    np.testing.assert_allclose(shape.points.min(axis=0), [-a / 2, -b / 2, -c], rtol=1e-15)
    np.testing.assert_allclose(shape.points.max(axis=0), [a / 2, b / 2, 0.0], rtol=1e-15)


def test_every_triangle_of_a_box_lies_in_a_face_and_looks_outward():
    shape = box(0.2, 0.3, 0.4, (3, 2, 4))
    area = triangle_normals(shape.points, shape.triangles)
    outward = shape.points[shape.triangles].mean(axis=1) - [0.0, 0.0, -0.2]
    assert np.all(np.einsum("ti,ti->t", area, outward) > 0.0)
    np.testing.assert_allclose(np.sort(np.abs(area), axis=1)[:, :2], 0.0, atol=1e-17)
    size = np.abs(area).max(axis=1)
    assert len(np.unique(size.round(12))) == 3  # equal triangles on each pair of faces


def test_a_fine_face_alternates_its_diagonals():
    shape = box(1.0, 1.0, 1.0, (4, 4, 1))
    top = shape.triangles[np.all(shape.points[shape.triangles][:, :, 2] == 0.0, axis=1)]
    edge = shape.points[top[:, [1, 2, 0]]] - shape.points[top]
    diagonal = edge[np.abs(edge[..., 0] * edge[..., 1]) > 1e-9]
    assert np.sum(diagonal[:, 0] * diagonal[:, 1]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1.0, 1.0), r"box length = 0 m: expected a finite number above 0"),
        ((1.0, -2.0, 1.0), r"box width = -2 m"),
        ((1.0, 1.0, np.nan), r"box height = nan m"),
        ((1.0, 1.0, np.inf), r"box height = inf m"),
        ((1.0, 1.0, 1.0, (1, 0, 1)), r"box divisions = \(1, 0, 1\): expected three whole numbers"),
    ],
)
def test_wrong_boxes_are_refused(arguments, message):
    with pytest.raises(LimpetError, match=message):
        box(*arguments)


@pytest.mark.parametrize("element", ["hex20", "tet4"])
@pytest.mark.parametrize("divisions", [(1, 1, 1), (2, 3, 2)])
def test_a_soft_box_fills_its_outline(element, divisions):
    shape = soft_box(0.02, 0.03, 0.04, divisions, element)
    block = cell_block(ELEMENTS[element], shape.points, shape.cells[element])
    assert block.weights.sum() == pytest.approx(0.02 * 0.03 * 0.04, rel=1e-12)
    for surface in (shape.collision, shape.visual):
        surface_topology(surface.triangles, surface.n_vertices)
        x = surface.positions(shape.points)
        assert volume(x, surface.triangles) == pytest.approx(0.02 * 0.03 * 0.04, rel=1e-12)
    assert len(np.unique(shape.points.round(12), axis=0)) == len(shape.points)
    np.testing.assert_array_equal(np.unique(shape.cells[element]), np.arange(len(shape.points)))
    np.testing.assert_allclose(shape.points[shape.region("top"), 2], 0.0, atol=1e-15)
    np.testing.assert_allclose(shape.points[shape.region("bottom"), 2], -0.04)
    assert len(shape.region("top")) == len(shape.region("bottom")) >= 4


def test_the_contact_surface_of_a_soft_box_bends_with_its_cells():
    """Chords of a bent face would stand further off it than the gap that seals a cup."""
    shape = soft_box(0.06, 0.06, 0.02, (3, 3, 2))

    def bent(x):
        return x + np.outer(4.0 * x[:, 0] ** 2 - 3.0 * x[:, 0] * x[:, 1], [0.0, 0.0, 1.0])

    before, after = (shape.collision.positions(x) for x in (shape.points, bent(shape.points)))
    np.testing.assert_allclose(after, bent(before), atol=1e-15)
    top = before[np.abs(before[:, 2]) < 1e-12]
    assert len(top) == 7 * 7  # with the middles of edges and faces
    tets = soft_box(0.06, 0.06, 0.02, (3, 3, 2), "tet10")
    assert (np.abs(tets.collision.positions(tets.points)[:, 2]) < 1e-12).sum() == 7 * 7


def test_a_soft_box_takes_a_finer_contact_surface():
    for finer, element in ((1, "hex20"), (3, "hex20"), (4, "hex8")):
        shape = soft_box(0.06, 0.04, 0.02, (3, 2, 1), element, finer)
        x = shape.collision.positions(shape.points)
        n = finer
        assert (np.abs(x[:, 2]) < 1e-12).sum() == (3 * n + 1) * (2 * n + 1)
        assert volume(x, shape.collision.triangles) == pytest.approx(0.06 * 0.04 * 0.02, rel=1e-12)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(LimpetError, match=r"box finer = .*: expected a whole number from 1 up"):
            soft_box(1.0, 1.0, 1.0, (1, 1, 1), finer=wrong)
    assert soft_box(1.0, 1.0, 0.1, (200, 1, 1)).collision.n_vertices > 401 * 4
    with pytest.raises(LimpetError, match=r"box divisions = \(301, 1, 1\)"):
        soft_box(1.0, 1.0, 0.1, (301, 1, 1))
    with pytest.raises(LimpetError, match="box finer = 2 with tet4: expected hexahedra"):
        soft_box(1.0, 1.0, 1.0, (1, 1, 1), "tet4", 2)


def test_wrong_soft_boxes_are_refused():
    with pytest.raises(LimpetError, match=r"element = 'hex2'; did you mean 'hex20'\?"):
        soft_box(1.0, 1.0, 1.0, (1, 1, 1), "hex2")
    with pytest.raises(LimpetError, match="box width = 0 m"):
        soft_box(1.0, 0.0, 1.0, (1, 1, 1))


def test_a_region_that_is_not_there_names_what_is():
    shape = soft_box(1.0, 1.0, 1.0, (1, 1, 1))
    with pytest.raises(LimpetError, match=r"'soft box' has no region 'tob'; did you mean 'top'\?"):
        shape.region("tob")
    with pytest.raises(LimpetError, match=r"has no region 'xyz'; expected one of: bottom, top"):
        shape.region("xyz")


def test_a_binding_mixes_its_nodes():
    x = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 2, 0]])
    binding = Binding(
        np.array([[0, 1, 2]], np.int32),
        np.array([0, 1, 3, 6], np.int32),
        np.array([2, 0, 1, 0, 1, 2], np.int32),
        np.array([1.0, 0.25, 0.75, 0.5, 0.25, 0.25]),
    )
    expected = [[0.0, 2.0, 0.0], [0.75, 0.0, 0.0], [0.25, 0.5, 0.0]]
    assert binding.n_vertices == 3
    np.testing.assert_allclose(binding.positions(x), expected)


def test_a_boundary_leaves_out_shared_faces():
    shape = soft_box(1.0, 1.0, 1.0, (2, 1, 1))
    skin = boundary(shape.cells)
    # ten faces of six triangles; every node of two quadratic cells but those inside the shared face
    assert len(skin.triangles) == 10 * 6
    x = skin.positions(shape.points)
    inside = np.all(np.abs(x[skin.triangles][:, :, 0]) < 1e-12, axis=1)
    assert not inside.any()


def test_points_are_checked():
    np.testing.assert_array_equal(check_points([[1, 2, 3]], "mesh"), [[1.0, 2.0, 3.0]])
    for bad in (np.zeros((0, 3)), np.zeros((2, 2)), np.zeros(3)):
        with pytest.raises(MeshError, match=r"mesh has points of shape .*: expected \(n, 3\)"):
            check_points(bad, "mesh")
    with pytest.raises(MeshError, match="mesh has 2 coordinates that are NaN or infinite"):
        check_points([[1.0, np.nan, np.inf]], "mesh")
