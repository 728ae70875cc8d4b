"""The contact surface of a sphere and a half space against its closed form."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.studies.reproduce.fig1_f import DEPTH, RADIUS, RATIOS, press, profile

RIM = np.sqrt(RADIUS**2 - (RADIUS - DEPTH) ** 2)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
def test_the_profile_has_equal_pressures_and_ends_on_the_rim(ratio):
    r = np.linspace(0.0, RIM, 50)
    z = profile(ratio, r)
    in_sphere = ratio * (1.0 - np.hypot(r, z - (RADIUS - DEPTH)) / RADIUS)
    assert in_sphere == pytest.approx(-z, abs=1e-12)
    assert z[-1] == pytest.approx(0.0, abs=1e-12)


def test_the_profile_lies_between_plane_and_sphere():
    r = np.linspace(0.0, 0.99 * RIM, 50)
    sphere = RADIUS - DEPTH - np.sqrt(RADIUS**2 - r**2)
    stiff, soft = profile(1e6, r), profile(1e-6, r)
    assert stiff == pytest.approx(sphere, abs=1e-5)
    assert soft == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_polygons_converge_to_it_as_the_square_of_the_facets(ratio):
    wrong = [press(ratio, edge).wrong() for edge in (0.4, 0.2, 0.1)]
    assert wrong[1] < 0.4 * wrong[0] and wrong[2] < 0.4 * wrong[1]
    assert wrong[2] < 0.03
