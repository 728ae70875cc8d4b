"""Curved rigid bodies and plates: closed, outward, on their mantle, of exact volume."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.errors import LimpetError
from limpet.geometry.shape import RigidShape
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.shapes.curved import (
    cropped_cylinder,
    plate_with_groove,
    plate_with_hole,
    rod,
    trough,
)

radii = st.floats(5e-3, 0.2)


def enclosed(shape: RigidShape) -> float:
    """The volume, once the surface is known to be closed, outward and simple."""
    check_surface(shape.points, shape.triangles, shape.name)
    return volume(shape.points, shape.triangles)


def segment(radius: float, half: float) -> float:
    """Area between a mantle and its highest tangent within |x| < half, by integration."""
    return 2.0 * radius * half - (
        half * np.sqrt(radius**2 - half**2) + radius**2 * np.arcsin(half / radius)
    )


@given(radii, st.floats(0.1, 0.95), st.floats(0.1, 1.0), st.floats(1e-6, 1e-4))
@settings(max_examples=25, deadline=None)
def test_blocks_have_the_volume_of_their_mantle(radius, share, fine, sagitta):
    half, length, height = share * radius, 0.03, 1.1 * radius
    area = segment(radius, half)
    box = 2.0 * half * height
    options = {"sagitta": sagitta, "fine": fine * half}
    slack = 25.0 * sagitta * 2.0 * half * length  # the facets' share, at their coarsest
    convex = enclosed(cropped_cylinder(radius, length, 2 * half, height, **options))
    concave = enclosed(trough(radius, length, 2 * half, height, **options))
    assert (box - area) * length - slack <= convex <= (box - area) * length
    assert (box + area) * length <= concave <= (box + area) * length + slack
    # the one fills the other: what facets take from the first they add to the second
    assert convex + concave == pytest.approx(2.0 * box * length, rel=1e-12)


@pytest.mark.parametrize("make", [cropped_cylinder, trough])
def test_facets_stay_within_their_sagitta_and_are_fine_where_asked(make):
    radius, fine, sagitta = 0.03, 0.02, 4e-6
    shape = make(radius, 0.05, 0.05, 0.03, sagitta=sagitta, fine=fine)
    x, z = np.unique(shape.points[shape.points[:, 2] > -0.03 + 1e-9][:, [0, 2]], axis=0).T
    side = -1.0 if make is cropped_cylinder else 1.0
    np.testing.assert_allclose(x**2 + (z - side * radius) ** 2, radius**2, rtol=1e-12)
    assert np.abs(z).min() == 0.0
    chord = np.hypot(np.diff(x), np.diff(z))
    off = radius - np.sqrt(radius**2 - 0.25 * chord**2)
    inside = np.abs(0.5 * (x[1:] + x[:-1])) < fine
    assert off[inside].max() <= sagitta
    assert off[inside].min() > 0.7 * sagitta  # and no finer than needed
    assert 5 * sagitta < off[~inside].max() <= 25 * sagitta


@given(radii, st.floats(1e-6, 1e-4))
@settings(max_examples=25, deadline=None)
def test_a_rod_has_the_volume_of_its_polygon(radius, sagitta):
    shape = rod(radius, 0.04, sagitta=sagitta)
    n = len(shape.points) // 2
    polygon = 0.5 * n * radius**2 * np.sin(2.0 * np.pi / n)
    assert enclosed(shape) == pytest.approx(0.04 * polygon, rel=1e-10)
    assert radius * (1.0 - np.cos(np.pi / n)) <= sagitta
    np.testing.assert_allclose(shape.points[:, 2].max(), 0.0, atol=1e-15)


def test_a_plate_with_a_hole_is_short_of_the_hole():
    shape = plate_with_hole(0.01, 0.06, 0.005)
    n = (len(shape.points) - 8) // 2
    hole = 0.5 * n * 0.01**2 * np.sin(2.0 * np.pi / n)
    assert enclosed(shape) == pytest.approx(0.005 * (0.06**2 - hole), rel=1e-12)
    assert shape.points[:, 2].max() == 0.0
    surface = check_surface(shape.points, shape.triangles)
    euler = len(shape.points) - len(surface.edges) + len(shape.triangles)
    assert euler == 0  # a ring: the hole goes through


def test_a_plate_with_a_groove_is_short_of_the_groove():
    shape = plate_with_groove(1e-3, 2e-3, 0.06, 0.01)
    assert enclosed(shape) == pytest.approx(0.06 * (0.06 * 0.01 - 1e-3 * 2e-3), rel=1e-12)
    assert shape.points[:, 2].max() == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cropped_cylinder(0.0, 1, 1, 1), "cropped_cylinder radius = 0 m"),
        (lambda: cropped_cylinder(0.02, 0.1, 0.04, 0.03), "less than the diameter"),
        (lambda: cropped_cylinder(0.02, 0.1, 0.039, 0.01), "cropped_cylinder height = 0.01 m"),
        (lambda: trough(0.02, 0.1, 0.05, 0.01), "trough width = 0.05 m"),
        (lambda: trough(0.02, 0.1, 0.03, 0.01, fine=-1.0), "trough fine = -1 m"),
        (lambda: rod(0.005, 0.1, sagitta=0.0), "rod sagitta = 0 m"),
        (lambda: plate_with_hole(0.03, 0.06, 0.01), "plate_with_hole radius = 0.03 m"),
        (lambda: plate_with_groove(0.02, 0.002, 0.06, 0.01), "depth = 0.02 m"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(make, message):
    with pytest.raises(LimpetError, match=message):
        make()
