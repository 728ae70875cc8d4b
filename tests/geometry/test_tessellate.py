"""Tessellated parts lie on the surface that their facets stand for, and are closed."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.facet_normals import CREASE
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.surface import surface_topology
from limpet.geometry.tessellate import MOST, tessellated
from limpet.shapes.curved import rod

TOLERANCE = 1.25e-5  # [m]


def volume(points, triangles) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("radius", [0.002, 0.02, 0.1, 10.0])
@pytest.mark.parametrize("facets", [13, 24, 90])
def test_a_tube_becomes_round_to_its_rims(radius: float, facets: int) -> None:
    tube = rod(radius, 0.5 * radius, facets=facets)
    tolerance = 6e-4 * radius
    fine = tessellated(tube.points, tube.triangles, CREASE, tolerance)
    exact = 0.5 * np.pi * radius**3
    if fine is None:
        assert radius * (1.0 - np.cos(np.pi / facets)) <= tolerance
        return
    surface_topology(fine.triangles, len(fine.points))  # closed, each edge has two triangles
    # the area between arc and chord is at most two thirds of tolerance times circumference
    assert volume(fine.points, fine.triangles) == pytest.approx(exact, rel=1e-3)
    assert volume(fine.points, fine.triangles) < exact
    across = np.delete(fine.points, np.ptp(tube.points, axis=0).argmin(), axis=1)
    away = np.linalg.norm(across - across[: len(tube.points)].mean(axis=0), axis=1)
    assert away.max() <= radius * (1.0 + 0.1 * (np.pi / facets) ** 4)  # of a patch over a chord
    assert np.array_equal(fine.points[: len(tube.points)], tube.points)
    assert fine.facets.bound <= 1.5 * tolerance


def test_a_sphere_is_refined_as_far_as_there_is_room() -> None:
    ball = lp.shapes.sphere(0.08)
    fine = tessellated(ball.points, ball.triangles, CREASE, TOLERANCE)
    assert fine is not None
    away = np.linalg.norm(fine.points, axis=1)
    assert np.abs(away - 0.08).max() < 3e-6
    assert len(ball.triangles) < len(fine.triangles) <= MOST
    normal = fine.points[fine.triangles] / away[fine.triangles][..., None]
    assert np.abs(fine.facets.corner - normal).max() < 2e-3


@pytest.mark.parametrize("crease", [0.0, CREASE])
def test_a_box_stays_as_it_is(crease: float) -> None:
    box = lp.shapes.box(0.08, 0.05, 0.01)
    assert tessellated(box.points, box.triangles, crease, TOLERANCE) is None


def test_facets_that_are_real_stay() -> None:
    tube = rod(0.02, 0.05, facets=24)
    assert tessellated(tube.points, tube.triangles, 0.0, TOLERANCE) is None
    nut = rod(0.02, 0.05, facets=6)  # turns by 60 degrees
    assert tessellated(nut.points, nut.triangles, CREASE, TOLERANCE) is None


def test_it_turns_with_the_part() -> None:
    tube = rod(0.02, 0.05, facets=24)
    turn, shift = rotation_matrix(np.array([0.3, -1.1, 0.7]), 1.3), np.array([3.0, -2.0, 1.0])
    one = tessellated(tube.points, tube.triangles, CREASE, TOLERANCE)
    other = tessellated(tube.points @ turn.T + shift, tube.triangles, CREASE, TOLERANCE)
    assert one is not None and other is not None
    assert np.array_equal(one.triangles, other.triangles)
    assert np.abs(one.points @ turn.T + shift - other.points).max() < 1e-12


@pytest.mark.parametrize("half", [1e-9, 1e-6, 1e-3, 3e-3, 1e-2])
def test_a_lens_stays_within_its_circle_however_sharp_its_rim(half: float) -> None:
    radius, count = 0.02, 24
    angle = 2.0 * np.pi * np.arange(count) / count
    rim = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(count)])
    x = np.vstack([rim, [[0.0, 0.0, half], [0.0, 0.0, -half]]])
    k, n = np.arange(count), (np.arange(count) + 1) % count
    up = np.column_stack([k, n, np.full(count, count)])
    down = np.column_stack([n, k, np.full(count, count + 1)])
    fine = tessellated(x, np.vstack([up, down]).astype(np.int32), CREASE, 1e-6)
    if fine is not None:
        assert np.isfinite(fine.points).all()
        assert np.linalg.norm(fine.points[:, :2], axis=1).max() < 1.001 * radius
        assert np.abs(fine.points[:, 2]).max() <= 1.001 * half


@pytest.mark.parametrize("name", ["sphere", "rod", "capsule"])
def test_the_mirror_image_of_a_part_is_cut_alike(name: str) -> None:
    part = {
        "sphere": lambda: lp.shapes.sphere(0.04),
        "rod": lambda: rod(0.03, 0.1, facets=24),
        "capsule": lambda: lp.shapes.capsule(0.02, 0.06),
    }[name]()
    image = np.array([-1.0, 1.0, 1.0])
    one = tessellated(part.points, part.triangles, 0.52, 1.25e-5)
    turned = np.ascontiguousarray(part.triangles[:, ::-1])
    other = tessellated(part.points * image, turned, 0.52, 1.25e-5)
    assert one is not None and other is not None
    np.testing.assert_allclose(one.points, other.points * image, atol=1e-15)
    corners = [np.sort(t.triangles, axis=1) for t in (one, other)]
    np.testing.assert_array_equal(*corners)  # with the same numbers
