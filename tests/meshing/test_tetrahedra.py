"""Closed surfaces, made coarser and filled: exact volumes, kept surfaces, one-line errors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from limpet.errors import LimpetError, MeshError
from limpet.geometry.surface import volume
from limpet.meshing import tetrahedra
from limpet.meshing.check import check_surface
from limpet.meshing.tetrahedra import (
    coarsen,
    fill,
    mean_edge,
    qualities,
    solid,
    tet_volumes,
)
from limpet.shapes.boxes import box

BLOCK = box(0.03, 0.04, 0.05, (3, 4, 5))


@pytest.fixture(scope="module")
def ball() -> tuple[np.ndarray, np.ndarray]:
    """A fine sphere of radius 20 mm: a box blown up."""
    cube = box(2.0, 2.0, 2.0, (16, 16, 16))
    x = cube.points + np.array([0.0, 0.0, 1.0])
    return 0.02 * x / np.linalg.norm(x, axis=1)[:, None], cube.triangles


@pytest.fixture(scope="module")
def coarse(ball):
    return coarsen(*ball, 150, "ball")


def outside(points, tets):
    """The faces of one tetrahedron only."""
    faces = np.concatenate([tets[:, f] for f in ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))])
    _, number, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return faces[count[number.ravel()] == 1]


@pytest.mark.parametrize("settings", [{}, {"size": 0.004}, {"nodes": 150}])
def test_a_filled_surface_is_kept_and_full(settings):
    points, tets = fill(BLOCK.points, BLOCK.triangles, **settings)
    assert np.array_equal(points[: len(BLOCK.points)], BLOCK.points)
    volumes = tet_volumes(points, tets)
    assert volumes.min() > 0.0
    assert volumes.sum() == pytest.approx(0.03 * 0.04 * 0.05, rel=1e-12)
    assert tets.dtype == np.int32
    skin = {tuple(np.roll(t, -t.argmin())) for t in outside(points, tets)}
    assert skin == {tuple(np.roll(t, -t.argmin())) for t in BLOCK.triangles}


def test_nodes_inside_follow_the_size_and_a_wished_count_is_met(coarse):
    counts = [len(fill(*coarse, size=s)[0]) for s in (0.006, 0.004, 0.003)]
    assert counts[0] < counts[1] < counts[2]
    assert counts[2] > 2 * 150
    assert len(fill(*coarse, nodes=250)[0]) == pytest.approx(250, rel=0.05)


def test_the_tetrahedra_are_well_shaped(coarse):
    assert np.percentile(qualities(*fill(*coarse)), 5) > 0.5


def test_quality_of_known_tetrahedra():
    regular = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    tet = np.array([[0, 1, 2, 3]])
    assert qualities(regular, tet)[0] == pytest.approx(1.0)
    flat = regular * [1.0, 1.0, 1e-9]
    assert qualities(flat, tet)[0] < 1e-5


def test_a_hollow_and_a_double_body_are_filled():
    x, t = BLOCK.points - BLOCK.points.mean(axis=0), BLOCK.triangles
    hollow = np.concatenate([x, 0.5 * x]), np.concatenate([t, len(x) + t[:, ::-1]])
    points, tets = fill(*hollow)
    assert tet_volumes(points, tets).sum() == pytest.approx(0.875 * 6e-5, rel=1e-9)
    double = np.concatenate([x, x + np.array([0.1, 0.0, 0.0])]), np.concatenate([t, len(x) + t])
    points, tets = fill(*double)
    assert tet_volumes(points, tets).sum() == pytest.approx(2.0 * 6e-5, rel=1e-9)


def test_vertices_without_a_triangle_are_left_out():
    loose = np.concatenate([[[0.5, 0.5, 0.5]], BLOCK.points])
    points, tets = fill(loose, BLOCK.triangles + 1, size=0.02)
    assert np.array_equal(points[: len(BLOCK.points)], BLOCK.points)
    assert tet_volumes(points, tets).sum() == pytest.approx(6e-5, rel=1e-12)


def test_filling_is_the_same_every_time(coarse):
    one, two = fill(*coarse), fill(*coarse)
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])


def test_size_and_place_do_not_matter(coarse):
    points, tets = fill(*coarse, size=0.004)
    tiny, same = fill(1e-3 * coarse[0] + 1.0, coarse[1], size=4e-6)
    assert np.array_equal(same, tets)
    assert np.allclose(tiny, 1e-3 * points + 1.0, atol=1e-12)


def test_a_coarse_surface_is_closed_even_and_near(ball, coarse):
    points, triangles = coarse
    check_surface(points, triangles, "ball")
    assert len(points) == 150
    assert len(triangles) == 2 * 150 - 4
    assert np.abs(np.linalg.norm(points, axis=1) - 0.02).max() < 0.05 * 0.02
    assert volume(points, triangles) == pytest.approx(volume(*ball), rel=0.04)
    corners = points[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    assert edges.max() < 2.0 * mean_edge(points, triangles)
    assert edges.min() > 0.4 * mean_edge(points, triangles)


def test_coarsening_is_the_same_every_time(ball, coarse):
    again = coarsen(*ball, 150, "ball")
    assert np.array_equal(again[0], coarse[0])
    assert np.array_equal(again[1], coarse[1])


def test_a_thin_wall_keeps_both_its_sides():
    plate = box(0.05, 0.05, 0.002, (40, 40, 2))
    points, triangles = coarsen(plate.points, plate.triangles, 300)
    assert volume(points, triangles) == pytest.approx(0.05 * 0.05 * 0.002, rel=0.05)


@pytest.mark.parametrize("order, kind, faces", [(1, "tet4", 1), (2, "tet10", 4)])
def test_a_solid_has_a_closed_skin(coarse, order, kind, faces):
    points, tets = fill(*coarse)
    shape = solid(points, tets, "ball", order)
    assert list(shape.cells) == [kind]
    skin = shape.collision.positions(shape.points)
    check_surface(skin, shape.collision.triangles, "ball")
    assert len(shape.collision.triangles) == faces * len(coarse[1])
    assert volume(skin, shape.collision.triangles) == pytest.approx(volume(*coarse), rel=1e-12)
    assert np.allclose(tet_volumes(shape.points, shape.cells[kind]), tet_volumes(points, tets))


def open_block():
    return BLOCK.points, BLOCK.triangles[:-1]


def crossing_blocks():
    both = np.concatenate([BLOCK.points, BLOCK.points + np.array([0.011, 0.013, 0.017])])
    return both, np.concatenate([BLOCK.triangles, BLOCK.triangles + len(BLOCK.points)])


@pytest.mark.parametrize(
    "surface, settings, says",
    [
        (open_block(), {}, "block is open.*close the holes"),
        (crossing_blocks(), {}, "block intersects itself"),
        ((BLOCK.points, BLOCK.triangles[:, ::-1]), {}, "block is inside-out"),
        ((BLOCK.points, BLOCK.triangles), {"size": 0.0}, "block size = 0 m.*above 0"),
        ((BLOCK.points, BLOCK.triangles), {"size": 1e-6}, "block size = 1e-06 m: its bounding box"),
        ((BLOCK.points, BLOCK.triangles), {"nodes": 20}, "nodes = 20: expected at least 96"),
        ((BLOCK.points, BLOCK.triangles), {"nodes": 200, "size": 0.01}, "both size and nodes"),
    ],
)
def test_what_cannot_be_filled_is_refused_in_one_line(surface, settings, says):
    with pytest.raises(LimpetError, match=says) as caught:
        fill(*surface, name="block", **settings)
    assert "\n" not in str(caught.value)


def test_a_crash_of_netgen_is_one_line(monkeypatch, tmp_path, capfd):
    crash = (
        "import sys, os; print('WARNING', flush=True); sys.exit('not good') if {} else os.abort()"
    )
    for ends, says in ((True, "not good"), (False, "it stopped without a message")):
        worker = tmp_path / "netgen_worker.py"
        worker.write_text(crash.format(ends))
        monkeypatch.setattr(tetrahedra, "__file__", str(tmp_path / "tetrahedra.py"))
        with pytest.raises(MeshError, match=rf"block could not be .* \({says}.*\): make") as caught:
            fill(BLOCK.points, BLOCK.triangles, name="block")
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_netgen_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(tetrahedra, "TIMEOUT", 0.01)
    with pytest.raises(MeshError, match=r"\(it took longer than 0.01 s\)"):
        fill(BLOCK.points, BLOCK.triangles)


def test_a_gap_that_netgen_leaves_is_seen(monkeypatch):
    monkeypatch.setattr(tetrahedra, "volume", lambda x, t: 1.0001 * volume(x, t))
    with pytest.raises(MeshError, match="could not be filled"):
        fill(BLOCK.points, BLOCK.triangles)


def test_filling_prints_nothing():
    code = (
        "from limpet.shapes.boxes import box; from limpet.meshing.tetrahedra import fill;"
        "b = box(1, 1, 1, (4, 4, 4)); fill(b.points, b.triangles)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert (run.stdout, run.stderr) == (b"", b"")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "netgen", None)
    with pytest.raises(LimpetError, match="needs the package netgen-mesher: pip install") as caught:
        fill(BLOCK.points, BLOCK.triangles)
    assert "\n" not in str(caught.value)


def test_coarsening_errors(ball):
    with pytest.raises(LimpetError, match="ball vertices = 3: expected 4 to"):
        coarsen(*ball, 3, "ball")
    with pytest.raises(LimpetError, match="expected 4 to"):
        coarsen(*ball, len(ball[0]))
    with pytest.raises(MeshError, match=r"cannot be coarsened to 100 vertices \(.*open"):
        coarsen(ball[0], ball[1][40:], 100)


def test_an_order_that_is_not():
    with pytest.raises(LimpetError, match=r"ball order = 3: expected 1 \(tet4\) or 2 \(tet10\)"):
        solid(np.eye(4, 3), np.array([[0, 1, 2, 3]]), "ball", 3)
