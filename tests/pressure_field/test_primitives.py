"""Meshes of simple solids: they fill the solid, fit together, and their extent is the distance."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.surface import surface_topology
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.fields import surface_triangles
from limpet.pressure_field.primitives import box, capsule, cylinder, icosphere, sphere

SOLIDS = {
    "cube": (box(0.1, 0.1, 0.1), 1e-3, 12),
    "brick": (box(0.1, 0.12, 0.08), 0.96e-3, None),
    "square rod": (box(0.05, 0.3, 0.05), 0.75e-3, None),
    "plate": (box(0.2, 0.3, 0.01), 0.6e-3, None),
    "rod": (cylinder(0.01, 0.1, 0.005), np.pi * 1e-5, None),
    "disc": (cylinder(0.05, 0.01, 0.02), np.pi * 2.5e-5, None),
    "as long as wide": (cylinder(0.05, 0.1, 0.02), np.pi * 2.5e-4, None),
    "icosahedron": (sphere(0.1, 0.1), 4.0 / 3.0 * np.pi * 1e-3, 20),
    "capsule": (capsule(0.01, 0.05, 0.002), None, None),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_tets_fill_the_solid_and_fit_together(name):
    (points, tets, extent), volume, count = SOLIDS[name]
    volumes = tet_volumes(points, tets)
    assert volumes.min() > 0.0
    if volume is not None:
        assert volumes.sum() == pytest.approx(volume, rel=1e-12)
    if count is not None:
        assert len(tets) == count
    # only the outer faces are single, they close, and they are where the extent is 0
    skin = surface_triangles(tets)
    surface_topology(skin, len(points))
    assert set(np.unique(skin)) == set(np.flatnonzero(extent == 0.0))
    assert extent.max() == 1.0


@pytest.mark.parametrize("sides", [(0.1, 0.12, 0.08), (0.05, 0.3, 0.05), (0.1, 0.1, 0.1)])
def test_the_extent_of_a_box_is_the_distance_everywhere(sides):
    points, tets, extent = box(*sides)
    rng = np.random.default_rng(0)
    weight = rng.dirichlet(np.ones(4), size=(50, len(tets)))
    x = np.einsum("skc,kcj->skj", weight, points[tets])
    half = 0.5 * np.array(sides)
    distance = (half - np.abs(x)).min(axis=2)
    assert np.einsum("skc,kc->sk", weight, extent[tets]) == pytest.approx(distance / half.min())


def test_a_capsule_fills_up_to_its_facets():
    points, tets, _ = capsule(0.01, 0.05, 0.0005)
    true = np.pi * 1e-4 * 0.05 + 4.0 / 3.0 * np.pi * 1e-6
    assert tet_volumes(points, tets).sum() == pytest.approx(true, rel=2e-3)


def test_icosphere_refines_towards_the_ball():
    errors = []
    for rounds in range(4):
        x, triangles = icosphere(rounds)
        assert len(triangles) == 20 * 4**rounds
        assert np.linalg.norm(x, axis=1) == pytest.approx(1.0)
        volume = np.linalg.det(x[triangles]).sum() / 6.0
        errors.append(1.0 - volume / (4.0 / 3.0 * np.pi))
    assert errors[3] / errors[2] == pytest.approx(0.25, rel=0.05)


@pytest.mark.parametrize(
    "build, word",
    [
        (lambda: sphere(-0.1, 0.01), "sphere radius"),
        (lambda: sphere(0.1, 0.0), "sphere edge"),
        (lambda: sphere(0.1, 1e-5), "sphere edge"),
        (lambda: box(0.1, 0.0, 0.1), "box width"),
        (lambda: cylinder(0.1, 0.1, -1.0), "cylinder edge"),
        (lambda: capsule(0.1, np.nan, 0.1), "capsule length"),
    ],
)
def test_wrong_sizes_are_named(build, word):
    with pytest.raises(LimpetError, match=word):
        build()
