"""Shapes from files: what is sound arrives as it is, what is broken gets its one line."""

from __future__ import annotations

import meshio
import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.meshing.files import load_mesh, outward, soft_mesh, weld
from limpet.meshing.tetrahedra import tet_volumes
from limpet.shapes.boxes import box

BLOCK = box(30.0, 40.0, 50.0, (3, 4, 5))  # in millimetres


def write(folder, name, points=BLOCK.points, triangles=BLOCK.triangles, **more):
    path = folder / name
    meshio.write_points_cells(path, points, [("triangle", np.asarray(triangles))], **more)
    return path


def soup(points, triangles):
    """Each triangle with three vertices of its own, as an STL has them."""
    return points[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)


@pytest.mark.parametrize("name", ["block.stl", "block.obj", "block.ply", "block.off", "block.vtk"])
def test_a_sound_file_is_read_and_scaled(tmp_path, name):
    shape = load_mesh(write(tmp_path, name), "mm")
    check_surface(shape.points, shape.triangles)
    assert shape.name == "block"
    assert len(shape.points) == len(BLOCK.points)
    assert volume(shape.points, shape.triangles) == pytest.approx(6e-5, rel=1e-6)


@pytest.mark.parametrize("unit, size", [("mm", 1e-3), ("cm", 1e-2), ("m", 1.0), ("in", 0.0254)])
def test_units(tmp_path, unit, size):
    shape = load_mesh(write(tmp_path, "block.ply"), unit, name="brick")
    assert np.allclose(shape.points.max(axis=0), size * BLOCK.points.max(axis=0))
    assert shape.name == "brick"


@pytest.mark.parametrize("binary", [True, False])
def test_doubled_vertices_of_an_stl_are_welded(tmp_path, binary):
    points, triangles = soup(BLOCK.points, BLOCK.triangles)
    rng = np.random.default_rng(0)
    points = points + rng.uniform(-1e-6, 1e-6, points.shape)  # as rounding leaves them
    shape = load_mesh(write(tmp_path, "b.stl", points, triangles, binary=binary), "mm")
    assert len(shape.points) == len(BLOCK.points)
    assert volume(shape.points, shape.triangles) == pytest.approx(6e-5, rel=1e-5)


def test_a_collapsed_triangle_and_a_lone_vertex_are_dropped():
    points = np.concatenate([BLOCK.points, [[0.0, 0.0, 9.0]], BLOCK.points[:1]])
    flat = [[0, len(BLOCK.points) + 1, 5]]
    x, t = weld(points, np.concatenate([BLOCK.triangles, flat]))
    assert len(x) == len(BLOCK.points) and len(t) == len(BLOCK.triangles)


def test_triangles_are_turned_outward():
    rng = np.random.default_rng(3)
    for turned in (rng.random(len(BLOCK.triangles)) < 0.5, np.ones(len(BLOCK.triangles), bool)):
        t = np.where(turned[:, None], BLOCK.triangles[:, ::-1], BLOCK.triangles)
        repaired = outward(BLOCK.points, t)
        check_surface(BLOCK.points, repaired)
    inner = box(10.0, 10.0, 10.0)
    x = np.concatenate([BLOCK.points, inner.points - [0.0, 0.0, 20.0]])
    both = np.concatenate([BLOCK.triangles, len(BLOCK.points) + inner.triangles])
    hollow = outward(x, both)
    assert volume(x, hollow) == pytest.approx(30.0 * 40.0 * 50.0 - 1000.0)
    apart = np.concatenate([BLOCK.points, inner.points + np.array([99.0, 0.0, 0.0])])
    assert volume(apart, outward(apart, both[:, ::-1])) == pytest.approx(61_000.0)


def test_quads_are_cut(tmp_path):
    x = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
    quads = np.array(
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    )
    meshio.write_points_cells(tmp_path / "cube.ply", x, [("quad", quads)])
    shape = load_mesh(tmp_path / "cube.ply", "cm")
    assert volume(shape.points, shape.triangles) == pytest.approx(1e-6)


def test_a_soft_body_from_a_file(tmp_path):
    path = write(tmp_path, "block.stl")
    shape = soft_mesh(path, "mm", 150, order=1)
    assert len(shape.points) == pytest.approx(150, rel=0.1)
    assert tet_volumes(shape.points, shape.cells["tet4"]).sum() == pytest.approx(6e-5, rel=1e-5)
    assert np.all(shape.points[shape.regions["top"], 2] == shape.points[:, 2].max())
    assert len(shape.regions["bottom"]) >= 20
    assert set(soft_mesh(path, "mm").cells) == {"tet10"}


def test_a_fine_surface_is_made_coarser_for_few_nodes(tmp_path):
    cube = box(2.0, 2.0, 2.0, (12, 12, 12))
    x = cube.points + np.array([0.0, 0.0, 1.0])
    ball = 20.0 * x / np.linalg.norm(x, axis=1)[:, None] + [0.0, 0.0, 7.0]
    shape = soft_mesh(write(tmp_path, "ball.stl", ball, cube.triangles), "mm", 200)
    corners = np.unique(shape.cells["tet10"][:, :4])
    assert len(corners) == pytest.approx(200, rel=0.1)
    assert shape.points[:, 2].min() == pytest.approx(-0.013, abs=1e-3)


def test_a_mesh_without_unit(tmp_path):
    path = write(tmp_path, "block.stl")
    says = r"mesh file '.*block.stl': the unit is missing; expected unit='mm', 'cm', 'm' or 'in'"
    for load in (load_mesh, soft_mesh):
        with pytest.raises(LimpetError, match=says):
            load(path)
    with pytest.raises(LimpetError, match="unit = 'mn'; did you mean 'm'"):
        load_mesh(path, "mn")


def broken_files(folder):
    x, t = BLOCK.points, BLOCK.triangles
    crossing = np.concatenate([x, x + 5.0])
    twice = np.concatenate([t, len(x) + t])
    (folder / "garbage.stl").write_bytes(b"\x00\x01not a mesh")
    (folder / "empty.obj").write_text("")
    (folder / "block.doc").write_text("x")
    meshio.write_points_cells(folder / "line.vtk", x, [("line", np.array([[0, 1]]))])
    nan = x.copy()
    nan[0, 0] = np.nan
    return [
        (write(folder, "open.stl", x, t[1:]), "mm", "open.stl' is open: 3 edges"),
        (write(folder, "cross.ply", crossing, twice), "mm", "intersects itself"),
        (write(folder, "huge.ply", x * 10.0, t), "m", "is 500 m large"),
        (write(folder, "tiny.ply", x * 1e-3, t), "mm", "is 0.05 mm large in unit = 'mm'"),
        (write(folder, "nan.ply", nan, t), "mm", "three finite coordinates"),
        (write(folder, "flat.ply", x * 0.0, t), "mm", "all its triangles have zero area"),
        (folder / "garbage.stl", "mm", "garbage.stl': "),
        (folder / "empty.obj", "mm", "empty.obj': "),
        (folder / "block.doc", "mm", "block.doc': cannot be read"),
        (folder / "line.vtk", "mm", "expected triangles or quads, it has line"),
        (folder / "absent.stl", "mm", "absent.stl': there is no such file"),
        (folder, "mm", "there is no such file"),
    ]


def test_broken_files_get_one_line(tmp_path, capfd):
    for path, unit, says in broken_files(tmp_path):
        with pytest.raises(LimpetError, match=says) as caught:
            load_mesh(path, unit)
        assert "\n" not in str(caught.value), path
    assert capfd.readouterr() == ("", "")
