"""The solids M hangs up: counts of its table 1, sound meshes, regions where they should be."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.surface import volume
from limpet.meshing.bricks import brick_tets, bricks
from limpet.meshing.check import check_surface
from limpet.meshing.tetrahedra import qualities, tet_volumes
from limpet.shapes import beams, solids
from limpet.shapes.beams import cantilever, hinge, spine

# name: (maker, tets, nodes) of M table 1; dragon and cow stand in for by serpent and quadruped
TABLE = {
    "bunny": (lambda order: solids.bunny(order=order), 749, 280),
    "serpent": (lambda order: solids.serpent(order=order), 834, 343),
    "quadruped": (lambda order: solids.quadruped(order=order), 972, 334),
    "spine": (lambda order: spine(order=order), 1778, 649),
    "low torus": (lambda order: solids.torus(order=order), 1934, 513),
    "hinge": (lambda order: hinge(order=order), 2429, 826),
    "high torus": (lambda order: solids.torus(nodes=908, inner=0.95, order=order), 2823, 908),
}


@pytest.fixture(scope="module")
def made():
    """The linear meshes, each made once."""
    pytest.importorskip("netgen")
    pytest.importorskip("pymeshfix")
    return {name: maker(1) for name, (maker, _, _) in TABLE.items()}


@pytest.mark.parametrize("name", TABLE)
def test_counts_are_those_of_the_paper(made, name):
    _, tets, nodes = TABLE[name]
    assert len(made[name].cells["tet4"]) == pytest.approx(tets, rel=0.05)
    assert len(made[name].points) == pytest.approx(nodes, rel=0.05)


@pytest.mark.parametrize("name", TABLE)
def test_meshes_are_sound(made, name):
    shape = made[name]
    volumes = tet_volumes(shape.points, shape.cells["tet4"])
    assert volumes.min() > 0.0
    skin = shape.visual.positions(shape.points)
    check_surface(skin, shape.visual.triangles, name)
    assert volumes.sum() == pytest.approx(volume(skin, shape.visual.triangles), rel=1e-9)
    assert np.percentile(qualities(shape.points, shape.cells["tet4"]), 5) > 0.4
    assert len(np.unique(shape.cells["tet4"])) == len(shape.points)
    assert shape.points[:, 2].min() == 0.0
    assert 0.05 < np.ptp(shape.points, axis=0).max() < 0.35


@pytest.mark.parametrize("name", TABLE)
def test_regions_hold_nodes(made, name):
    regions = made[name].regions
    assert regions
    for nodes in regions.values():
        assert 0 < len(nodes) < 0.12 * len(made[name].points)


def test_the_bunny_is_upright_and_hangs_by_one_ear(made):
    bunny = made["bunny"]
    assert np.ptp(bunny.points[:, 2]) == pytest.approx(0.12, rel=0.02)
    ear, tail = (bunny.points[bunny.regions[r]] for r in ("ear", "tail"))
    assert ear[:, 2].min() > 0.1
    assert np.ptp(ear, axis=0).max() < 0.03
    assert tail[:, 2].max() < 0.04
    assert tail[:, 0].min() > 0.9 * bunny.points[:, 0].max()


def test_making_is_the_same_every_time(made):
    for name, again in (("bunny", solids.bunny(order=1)), ("quadruped", solids.quadruped(order=1))):
        assert np.array_equal(again.points, made[name].points)
        assert np.array_equal(again.cells["tet4"], made[name].cells["tet4"])


def test_quadratic_solids_have_the_same_corners_and_straight_edges():
    linear, quadratic = spine(order=1), spine(order=2)
    corners = quadratic.cells["tet10"]
    assert np.array_equal(corners[:, :4], linear.cells["tet4"])
    assert np.array_equal(quadratic.points[: len(linear.points)], linear.points)
    edges = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
    for k, (a, b) in enumerate(edges):
        ends = quadratic.points[corners[:, a]] + quadratic.points[corners[:, b]]
        assert np.allclose(quadratic.points[corners[:, 4 + k]], 0.5 * ends, atol=1e-15)
    skin = quadratic.collision
    x = skin.positions(quadratic.points)
    check_surface(x, skin.triangles, "spine")
    assert volume(x, skin.triangles) == pytest.approx(
        tet_volumes(linear.points, linear.cells["tet4"]).sum(), rel=1e-12
    )
    assert set(linear.regions["left"]) < set(quadratic.regions["left"])


def test_the_hinge_is_thin_between_its_plates():
    shape = hinge(order=1)
    middle = shape.points[np.abs(shape.points[:, 0]) < 0.010]
    assert np.unique(middle[:, 2]).tolist() == [0.0, 0.002]
    assert tet_volumes(shape.points, shape.cells["tet4"]).sum() == pytest.approx(
        0.06 * (0.06 * 0.01 + 0.022 * 0.002)
    )


@pytest.mark.parametrize(
    "element, kind, cells, nodes",
    [
        ("tet4", "tet4", 192, 81),
        ("iicr11", "tet4", 192, 81),
        (None, "tet10", 192, 425),
        ("hex8", "hex8", 32, 81),
        ("hex20", "hex20", 32, 261),
    ],
)
def test_cantilevers(element, kind, cells, nodes):
    beam = cantilever(element=element)
    assert {name: len(block) for name, block in beam.cells.items()} == {kind: cells}
    assert len(beam.points) == nodes
    assert beam.element == element
    assert np.all(beam.points[beam.regions["held"], 0] == 0.0)
    assert np.all(beam.points[beam.regions["tip"], 0] == 0.1)
    assert len(beam.regions["tip"]) == len(beam.regions["held"]) >= 9
    skin = beam.visual.positions(beam.points)
    assert volume(skin, beam.visual.triangles) == pytest.approx(0.1 * 0.01 * 0.01)
    check_surface(skin, beam.visual.triangles, "cantilever")


def test_the_fine_cantilever_of_the_paper():
    beam = cantilever(0.04, 0.01, 0.01, (40, 10, 10), "tet4")
    assert len(beam.cells["tet4"]) == 24_000
    assert tet_volumes(beam.points, beam.cells["tet4"]).sum() == pytest.approx(4e-6)


@pytest.mark.parametrize("mirrored", [True, False])
def test_bricks_are_cut_alike_on_both_sides_of_a_face(mirrored):
    rng = np.random.default_rng(1)
    filled = rng.random((4, 3, 5)) < 0.7
    lines = tuple(np.cumsum(rng.uniform(0.5, 1.5, n + 1)) for n in filled.shape)
    points, cells, place = bricks(filled, lines)
    tets = brick_tets(cells, place, mirrored)
    sizes = [np.diff(line)[place[:, a]] for a, line in enumerate(lines)]
    volumes = tet_volumes(points, tets).reshape(-1, 6)
    assert np.allclose(volumes, (np.prod(sizes, axis=0) / 6.0)[:, None])
    faces = np.sort(np.concatenate([tets[:, list({0, 1, 2, 3} - {k})] for k in range(4)]), axis=1)
    _, count = np.unique(faces, axis=0, return_counts=True)
    walls = sum(  # between filled and empty; each has two triangles
        np.abs(np.diff(np.pad(filled.astype(int), 1), axis=axis)).sum() for axis in range(3)
    )
    assert count.max() == 2
    assert np.sum(count == 1) == 2 * walls


def test_mirrored_bricks_are_symmetric():
    beam = cantilever(element="tet4")

    def drawn(points):
        """The tets as sets of rounded corners."""
        keys = np.round(points * 1e6).astype(int)
        return {frozenset(map(tuple, keys[tet])) for tet in beam.cells["tet4"]}

    for axis in (1, 2):
        flip = np.ones(3)
        flip[axis] = -1.0
        assert drawn(beam.points * flip) == drawn(beam.points)
    parallel = cantilever(element="tet4", mirrored=False)
    assert not np.array_equal(parallel.cells["tet4"], beam.cells["tet4"])


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: solids.bunny(height=-1.0), "bunny height = -1 m"),
        (lambda: solids.bunny(nodes=5), "bunny nodes = 5: expected 30 or more"),
        (lambda: solids.torus(0.01, 0.02), "torus major = 0.01 m: expected more than minor"),
        (lambda: solids.torus(inner=0.0), "torus inner = 0"),
        (lambda: solids.torus(nodes=50_000), "torus vertices = .*expected 4 to"),
        (lambda: solids.serpent(length=float("nan")), "serpent length = nan m"),
        (lambda: solids.quadruped(length=0.0), "quadruped length = 0 m"),
        (lambda: spine(vertebrae=1), "spine vertebrae = 1: expected 2 or more"),
        (lambda: spine(width=-1.0), "spine width = -1 m"),
        (lambda: spine(order=3), "spine order = 3: expected 1 .tet4. or 2 .tet10."),
        (lambda: hinge(flexure=(0.1, 0.002)), "hinge flexure = .0.1, 0.002.: expected a length"),
        (lambda: cantilever(divisions=(0, 1, 1)), "cantilever divisions = .0, 1, 1."),
        (lambda: cantilever(element="tet5"), "cantilever element = 'tet5'; did you mean"),
        (lambda: cantilever(length=0.0), "cantilever length = 0 m"),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(make, says):
    with pytest.raises(LimpetError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymeshfix", None)
    solids._bunny_scan.cache_clear()
    with pytest.raises(LimpetError, match="the bunny needs the package pymeshfix: pip install"):
        solids.bunny()


def test_brick_solids_need_no_mesher(monkeypatch):
    monkeypatch.setitem(sys.modules, "netgen", None)
    assert len(beams.spine(order=1).cells["tet4"]) == 1800
