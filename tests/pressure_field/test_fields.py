"""Fields of any mesh: gradients, Laplace's equation, distances, walls, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError, MeshError
from limpet.geometry.rotation import rotation_matrix
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.extents import distance_extent, laplace_extent, refine_walls
from limpet.pressure_field.fields import half_space, pressure_field, rigid_surface
from limpet.pressure_field.packed import CONSTANT, CORNERS, FACES, PRESSURES, SLOPE
from limpet.pressure_field.primitives import Solid, box, icosphere, sphere

from .kit import brick


def shells(radii, rounds):
    """Tets between concentric icospheres, and round the centre."""
    x, triangles = icosphere(rounds)
    n = len(x)
    points = np.vstack([r * x for r in radii] + [np.zeros((1, 3))])
    tets = []
    for layer in range(len(radii) - 1):
        a, b = np.sort(triangles, axis=1) + layer * n, np.sort(triangles, axis=1) + (layer + 1) * n
        tets += [
            np.column_stack([a, b[:, 2]]),
            np.column_stack([a[:, :2], b[:, 1:]]),
            np.column_stack([a[:, 0], b]),
        ]
    inner = triangles + (len(radii) - 1) * n
    tets.append(np.column_stack([inner, np.full(len(inner), len(points) - 1)]))
    cells = np.vstack(tets)
    flip = tet_volumes(points, cells) < 0.0
    cells[flip] = cells[flip][:, [1, 0, 2, 3]]
    return points, cells


def test_cells_hold_the_field():
    field = brick()
    cells, corners = field.cells, field.points[field.tets]
    assert cells[:, CORNERS:].reshape(-1, 4, 3) == pytest.approx(corners)
    assert np.array_equal(cells[:, PRESSURES:FACES], field.pressure[field.tets])
    at = np.einsum("ij,ikj->ik", cells[:, SLOPE:CONSTANT], corners) + cells[:, [CONSTANT]]
    assert at == pytest.approx(field.pressure[field.tets], abs=1e-6)
    planes = cells[:, FACES:CORNERS].reshape(-1, 4, 4)
    height = np.einsum("ifj,ikj->ifk", planes[:, :, :3], corners) - planes[:, :, 3:]
    volume = tet_volumes(field.points, field.tets)
    for f in range(4):
        assert np.delete(height[:, f], f, axis=1) == pytest.approx(0.0, abs=1e-15)
        a, b, c = (corners[:, (f + k) % 4] for k in (1, 2, 3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        assert height[:, f, f] == pytest.approx(-3.0 * volume / area)


def test_gradient_points_inward_and_is_smoothed_at_vertices():
    field = brick()  # half of its shortest side is 0.04 m, its modulus 2e7 Pa
    assert np.linalg.norm(field.gradient, axis=1) == pytest.approx(2e7 / 0.04)
    corner = np.flatnonzero((field.points == [0.05, 0.06, 0.04]).all(axis=1))
    assert (field.smooth_gradient[corner] < 0.0).all()  # towards the middle, as F VI-A1
    cube = pressure_field(box(0.1, 0.1, 0.1), 1e6)
    centre = np.flatnonzero((cube.points == 0.0).all(axis=1))
    assert cube.smooth_gradient[centre] == pytest.approx(0.0, abs=1e-6)


def test_laplace_between_two_spheres():
    """1/r between radii 1/2 and 1: extent (1/r - 1) at the layers between, core inside 1/2."""
    radii = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]
    points, tets = shells(radii, 3)
    r = np.linalg.norm(points, axis=1)
    solid = laplace_extent(points, tets, core=r < 0.501)
    layer = solid.extent[:-1].reshape(len(radii), -1)
    exact = 1.0 / np.array(radii) - 1.0
    assert layer.mean(axis=1) == pytest.approx(exact, abs=4e-3)
    assert np.ptp(layer, axis=1).max() < 0.02
    assert (layer[0] == 0.0).all() and (layer[-1] == 1.0).all() and solid.extent[-1] == 1.0


def test_laplace_finds_the_medial_axis_itself():
    points, tets = shells([1.0, 0.5], 2)
    solid = laplace_extent(points, tets)
    assert solid.extent[-1] == 1.0  # the centre is the deepest
    inner = solid.extent[len(points) // 2 : -1]
    assert (inner > 0.1).all() and (inner < 0.6).all()


def test_distance_over_the_largest_one():
    points, tets, extent = box(0.1, 0.12, 0.08)
    assert distance_extent(points, tets).extent == pytest.approx(extent)
    points, tets, extent = sphere(0.05, 0.01)
    assert distance_extent(points, tets).extent == pytest.approx(extent)


def test_a_mapping_makes_a_field_non_linear():
    points, tets = shells([1.0, 0.75, 0.5, 0.25], 1)
    solid = Solid(points, tets, 1.0 - np.linalg.norm(points, axis=1))
    field = pressure_field(solid, 1e6, mapping=lambda e: e**2)
    assert field.pressure == pytest.approx(1e6 * solid.extent**2)


def test_boxes_hold_what_is_under_them():
    """Every node, at every limit: the box of its leaves' boxes and the range of their pressures."""
    field = pressure_field(sphere(0.05, 0.025), 1e7)
    boxes, links, limits, _ = field.boxes
    assert np.array_equal(links[links[:, 0] < 0, 1], np.arange(len(field.tets)))  # in leaf order
    corners, pressure = field.points[field.tets], field.pressure[field.tets]
    for level, limit in enumerate(limits):
        low, high = (
            boxes[level, :, :3] - boxes[level, :, 3:6],
            boxes[level, :, :6].reshape(-1, 2, 3).sum(axis=1),
        )
        for i, (second, many) in enumerate(links):
            under = np.arange(i, i + 2 * many - 1) if second >= 0 else np.array([i])
            leaves = under[links[under, 0] < 0]
            cells = links[leaves, 1]
            assert second < 0 or len(cells) == many
            within = pressure[cells] <= limit
            inside = corners[cells][within]
            assert (inside >= low[i]).all() and (inside <= high[i]).all()
            if second >= 0:
                full = leaves[boxes[level, leaves, 3] >= 0.0]
                assert low[i] == pytest.approx(low[full].min(axis=0), abs=1e-15)
                assert high[i] == pytest.approx(high[full].max(axis=0), abs=1e-15)
            assert boxes[level, i, 6] == pressure[cells].min()
            assert boxes[level, i, 7] == pressure[cells].max()


def kuhn_box():
    """A box of six tets round its diagonal: no vertex inside."""
    points = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
    tets = np.array(
        [[0, 4, 6, 7], [0, 6, 2, 7], [0, 2, 3, 7], [0, 3, 1, 7], [0, 1, 5, 7], [0, 5, 4, 7]]
    )
    return points * 0.1, np.where(
        (tet_volumes(points, tets) < 0)[:, None], tets[:, [1, 0, 2, 3]], tets
    )


def test_walls_without_an_inner_vertex_are_refused_and_refined():
    points, tets = kuhn_box()
    with pytest.raises(MeshError, match=r"6 of 6 tets without an interior vertex.*refine_walls"):
        distance_extent(points, tets)
    with pytest.raises(MeshError, match="extent 0 at every vertex"):
        pressure_field((points, tets, np.zeros(8)), 1e6)
    finer, cells = refine_walls(points, tets)
    assert tet_volumes(finer, cells).min() > 0.0
    assert tet_volumes(finer, cells).sum() == pytest.approx(1e-3)
    extent = distance_extent(finer, cells).extent
    assert (extent[cells].max(axis=1) > 0.0).all()
    assert laplace_extent(finer, cells).extent.max() == 1.0


def test_wrong_input_is_named():
    points, tets, extent = box(0.1, 0.1, 0.1)
    with pytest.raises(LimpetError, match="modulus = 0 Pa"):
        pressure_field((points, tets, extent), 0.0)
    with pytest.raises(MeshError, match="tet 0 has volume -"):
        pressure_field((points, tets[:, [1, 0, 2, 3]], extent), 1e6)
    with pytest.raises(LimpetError, match="one number for each of the 9 vertices"):
        pressure_field((points, tets, extent[:-1]), 1e6)
    with pytest.raises(LimpetError, match="at least 0"):
        pressure_field((points, tets, -extent), 1e6)
    x, triangles = icosphere(1)
    with pytest.raises(MeshError, match="open"):
        rigid_surface(x, triangles[1:])
    with pytest.raises(LimpetError, match="half space normal"):
        half_space((0.0, 0.0, 0.0), 0.0)
    with pytest.raises(LimpetError, match="expected both"):
        half_space((0.0, 0.0, 1.0), 0.0, modulus=1e6)
    with pytest.raises(LimpetError, match="core"):
        laplace_extent(points, tets, core=np.zeros(len(points), bool))


def test_laplace_takes_the_whole_middle_of_an_even_wall_for_the_core():
    """Its vertices are equally deep but for rounding, which must not leave some of them out."""
    points, tets, extent = box(0.1, 0.1, 0.02)
    turn = rotation_matrix(np.array([1.0, 2.0, 3.0]), 0.7)
    np.testing.assert_allclose(laplace_extent(points @ turn.T, tets).extent, extent, atol=1e-12)
