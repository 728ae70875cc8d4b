"""Cups: their node budget, closed surfaces on the profile, bindings, regions, refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial import cKDTree

from limpet.errors import LimpetError
from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.block import cell_block
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.surface import surface_topology, triangle_normals, volume
from limpet.shapes.cups import PROFILES, STANDARD, cup

BUDGETS = {
    "hex20": [280, 300, 350, 434, 600, 1000, 2000],
    "tet4": [150, 200, 300, 434, 700, 1500, 3000],
    "tet10": [519, 1200],
    "hex8": [434, 1500],
}
CASES = [(element, nodes) for element, budgets in BUDGETS.items() for nodes in budgets]
build = cache(cup)


@pytest.fixture(params=CASES, ids=lambda c: f"{c[0]}-{c[1]}")
def case(request):
    element, nodes = request.param
    return element, nodes, build(element=element, nodes=nodes)


def half_section(profile, steps=2000):
    """The closed outline (r, z) from the axis below to the axis on top."""
    along = np.linspace(0.0, profile.radius, steps)
    outer = along[along > profile.stem_radius][::-1]
    under = np.stack([along, profile.underside(along)], axis=1)
    above = np.stack(profile.wall(np.append(outer, profile.stem_radius), 1.0), axis=1)
    top = [[profile.stem_radius, profile.height], [0.0, profile.height]]
    return np.vstack([under, above, top])


def distance_to_section(points, section):
    """Of each point (r, z) to the polyline."""
    a, b = section[:-1], section[1:]
    length = np.maximum(((b - a) ** 2).sum(axis=1), 1e-30)
    along = np.einsum("psi,si->ps", points[:, None] - a, b - a) / length
    near = a + np.clip(along, 0.0, 1.0)[..., None] * (b - a)
    return np.linalg.norm(points[:, None] - near, axis=2).min(axis=1)


def on_profile(shape, nodes):
    """Those of the nodes that lie on the body: all but the control points of tet10."""
    return (
        nodes if "tet10" not in shape.cells else np.intersect1d(nodes, shape.cells["tet10"][:, :4])
    )


def meridian(x):
    return np.stack([np.hypot(x[:, 0], x[:, 1]), x[:, 2]], axis=1)


def test_the_node_count_comes_near_the_budget(case):
    _, nodes, shape = case
    assert abs(len(shape.points) / nodes - 1.0) < 0.12


def test_surfaces_are_closed_with_positive_volume(case):
    _, _, shape = case
    for surface in (shape.collision, shape.visual):
        surface_topology(surface.triangles, surface.n_vertices)
        x = surface.positions(shape.points)
        assert volume(x, surface.triangles) > 0.0
        assert np.linalg.norm(triangle_normals(x, surface.triangles), axis=1).min() > 1e-9
        assert len(np.unique(surface.triangles)) == surface.n_vertices
        assert len(cKDTree(x).query_pairs(1e-7)) == 0  # no two vertices in one place


def test_every_cell_is_sound_and_every_node_used(case):
    _, _, shape = case
    used = np.concatenate([c.ravel() for c in shape.cells.values()])
    np.testing.assert_array_equal(np.unique(used), np.arange(len(shape.points)))
    for name, cells in shape.cells.items():
        block = cell_block(ELEMENTS[name], shape.points, cells)  # raises where one is inverted
        assert block.weights.min() > 0.0
        assert block.lumped.min() > 0.0
    assert len(cKDTree(shape.points).query_pairs(1e-7)) == 0


def test_collision_vertices_lie_on_the_profile(case):
    _, _, shape = case
    x = shape.collision.positions(shape.points)
    # between nodes a quadratic edge follows the circle to the fourth power of its half angle
    per_sector = {"hex20": 5, "tet10": 6}
    kind = next(k for k in shape.cells if not k.startswith("wedge"))
    angle = np.pi * per_sector[kind] / len(shape.region("lip")) if kind in per_sector else 0.0
    # and the diagonal of a cell, an edge of tet10, goes along as well as round: twice that
    allowed = 2e-6 + STANDARD.radius * angle**4 / (12.0 if kind == "tet10" else 24.0)
    assert distance_to_section(meridian(x), half_section(STANDARD)).max() < allowed


def test_the_underside_is_as_close_as_linear_interpolation_allows(case):
    """The wall of the cavity is a paraboloid: a triangle of longest side L misses it by less than
    depth / radius^2 times L^2 / 3."""
    _, _, shape = case
    x = shape.collision.positions(shape.points)
    r, z = meridian(x).T
    on_underside = np.abs(z - STANDARD.underside(r)) < 2e-5
    triangles = shape.collision.triangles
    below = triangles[on_underside[triangles].all(axis=1)]
    assert len(below) > 0.25 * len(triangles)
    corner = x[below]
    longest = np.linalg.norm(np.roll(corner, 1, axis=1) - corner, axis=2).max(axis=1)
    allowed = STANDARD.depth / STANDARD.radius**2 * longest**2 / 3.0 + 2e-5
    for weights in ((1 / 3, 1 / 3, 1 / 3), (0.5, 0.5, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5)):
        r, z = meridian(np.einsum("k,tki->ti", weights, corner)).T
        assert np.all(np.abs(z - STANDARD.underside(r)) < allowed)


def test_the_lip_touches_the_ground_and_nothing_is_below(case):
    _, _, shape = case
    assert shape.points[:, 2].min() == pytest.approx(0.0, abs=1e-12)
    assert shape.points[:, 2].max() == pytest.approx(STANDARD.height, rel=1e-12)
    lip = meridian(shape.points[shape.region("lip")])
    assert lip[:, 0].min() >= STANDARD.radius - 1e-9
    assert lip[:, 1].min() == pytest.approx(0.0, abs=1e-12)
    x = shape.collision.positions(shape.points)
    ring = np.sum(np.abs(x[:, 2]) < 1e-9)
    assert ring >= 8


def test_the_rim_is_the_outer_underside(case):
    _, _, shape = case
    r, z = meridian(shape.points[on_profile(shape, shape.region("rim"))]).T
    np.testing.assert_allclose(z, STANDARD.underside(r), atol=1e-12)
    assert r.max() == pytest.approx(STANDARD.radius, rel=1e-12)
    assert r.min() > STANDARD.stem_radius
    others = np.setdiff1d(on_profile(shape, np.arange(len(shape.points))), shape.region("rim"))
    inner, height = meridian(shape.points[others]).T
    below = inner[np.abs(height - STANDARD.underside(inner)) < 1e-9]
    assert below.max() < r.min()


def test_the_top_is_the_stems_upper_face(case):
    _, _, shape = case
    top = shape.points[shape.region("top")]
    np.testing.assert_allclose(top[:, 2], STANDARD.height, rtol=1e-12)
    ring = shape.points[on_profile(shape, shape.region("top"))]
    assert meridian(ring)[:, 0].max() == pytest.approx(STANDARD.stem_radius, rel=1e-12)
    others = np.setdiff1d(np.arange(len(shape.points)), shape.region("top"))
    assert shape.points[others, 2].max() < STANDARD.height - 1e-4


def test_bindings_reproduce_linear_fields(case):
    _, _, shape = case
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    for surface in (shape.collision, shape.visual):
        sums = np.add.reduceat(surface.weights, surface.start[:-1])
        np.testing.assert_allclose(sums, 1.0, atol=1e-15)
        assert surface.start[0] == 0
        assert surface.start[-1] == len(surface.nodes) == len(surface.weights)
        moved = surface.positions(shape.points @ a.T + b)
        np.testing.assert_allclose(moved, surface.positions(shape.points) @ a.T + b, atol=1e-14)


@pytest.mark.parametrize(
    ("element", "sectors"),
    [("hex20", 8), ("hex20", 11), ("tet4", 18), ("tet10", 8), ("hex8", 18)],
)
def test_a_cup_is_the_same_from_every_sector(element, sectors):
    shape = cup(element=element, sectors=sectors, segments=6)
    turn = rotation_matrix(np.array([0.0, 0.0, 1.0]), 2.0 * np.pi / sectors)
    distance, _ = cKDTree(shape.points).query(shape.points @ turn.T)
    assert distance.max() < 1e-15
    count = sum(len(c) for c in shape.cells.values())
    assert count % sectors == 0


@pytest.mark.parametrize("element", ["hex20", "tet4", "tet10", "hex8"])
def test_the_volume_converges_to_that_of_the_profile(element):
    r, z = half_section(STANDARD).T
    exact = np.pi * np.sum(0.25 * (r[1:] + r[:-1]) ** 2 * np.diff(z))  # solid of revolution
    miss = []
    for nodes in (519 if element == "tet10" else 434, 2000):
        shape = build(element=element, nodes=nodes)
        total = sum(
            cell_block(ELEMENTS[name], shape.points, cells).weights.sum()
            for name, cells in shape.cells.items()
        )
        miss.append(abs(total / exact - 1.0))
    assert miss[1] < 0.5 * miss[0]
    assert miss[1] < 0.01


def test_tets_fill_the_visual_surface():
    shape = build(element="tet4", nodes=434)
    cells = cell_block(ELEMENTS["tet4"], shape.points, shape.cells["tet4"])
    x = shape.visual.positions(shape.points)
    assert cells.weights.sum() == pytest.approx(volume(x, shape.visual.triangles), rel=1e-12)


def test_the_quadratic_cup_has_wedges_at_the_axis_only():
    shape = cup(sectors=10, segments=5)
    assert set(shape.cells) == {"hex20", "wedge15"}
    on_axis = np.flatnonzero(meridian(shape.points)[:, 0] < 1e-12)
    assert np.isin(on_axis, shape.cells["wedge15"]).all()
    assert not np.isin(on_axis, shape.cells["hex20"]).any()


def test_scaled_profiles_build_their_own_cups():
    small = replace(STANDARD, radius=10e-3, depth=2e-3, height=9e-3, stem_radius=3e-3)
    shape = cup(small, nodes=434)
    on_ground = meridian(shape.points[np.abs(shape.points[:, 2]) < 1e-12])
    np.testing.assert_allclose(on_ground[:, 0], 10e-3, rtol=1e-12)
    assert shape.points[:, 2].max() == pytest.approx(9e-3, rel=1e-12)
    for surface in (shape.collision, shape.visual):
        surface_topology(surface.triangles, surface.n_vertices)
    assert PROFILES["standard"].radius == 17.5e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"profile": "standart"}, r"cup profile = 'standart'; did you mean 'standard'\?"),
        ({"profile": "zzz"}, r"cup profile = 'zzz'; expected one of: cast, neoprene, standard"),
        ({"element": "hex2"}, r"cup element = 'hex2'; did you mean 'hex20'\?"),
        ({"element": "wedge15"}, r"cup element = 'wedge15'; expected one of: hex20, .*tet4"),
        ({"nodes": 149}, r"cup nodes = 149: the nearest mesh of hex20 has"),
        ({"nodes": 0}, r"cup nodes = 0: expected"),
        ({"sectors": 5, "segments": 4}, r"cup sectors = 5, segments = 4: expected 6 sectors and 3"),
        ({"sectors": 8, "segments": 2}, r"cup sectors = 8, segments = 2: expected 6 sectors and 3"),
        (
            {"sectors": 17, "segments": 6, "element": "tet4"},
            r"for tet4 and hex8 an even number of sectors",
        ),
    ],
)
def test_wrong_cups_are_refused(arguments, message):
    with pytest.raises(LimpetError, match=message):
        cup(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"radius": 0.0}, r"cup radius = 0 m: expected a finite number above 0"),
        ({"depth": -1e-3}, r"cup depth = -0.001 m"),
        ({"lip_thickness": np.nan}, r"cup lip_thickness = nan m"),
        ({"stem_radius": 20e-3}, r"cup stem_radius = 0.02 m: expected less than its radius 0.0175"),
        ({"height": 6e-3}, r"cup height = 0.006 m: expected more than depth \+ hub_thickness"),
    ],
)
def test_wrong_profiles_are_refused(change, message):
    with pytest.raises(LimpetError, match=message):
        cup(replace(STANDARD, **change))
