"""Prescribed paths: values between and beyond the stations, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.dynamics.motion import HOLD, path, rotation
from limpet.errors import LimpetError


def test_a_path_is_straight_between_stations_and_holds_beyond_them():
    motion = path([(0.5, 0.0), (1.0, -0.006), (2.0, 0.02)])
    for time, z in (
        (0.0, 0.0),
        (0.5, 0.0),
        (0.75, -0.003),
        (1.0, -0.006),
        (1.25, 0.0005),
        (9, 0.02),
    ):
        np.testing.assert_allclose(motion.offset(time), [0.0, 0.0, z], atol=1e-17)


def test_displacements_may_be_vectors_or_along_a_direction():
    motion = path([(0.0, 0.0), (1.0, (1.0, 2.0, 3.0)), (2.0, 4.0)], direction=(0.0, 0.5, 0.0))
    np.testing.assert_allclose(motion.offset(0.5), [0.5, 1.0, 1.5])
    np.testing.assert_allclose(motion.offset(2.0), [0.0, 2.0, 0.0])


def test_one_station_holds_for_ever():
    motion = path([(1.0, 0.01)])
    np.testing.assert_array_equal(motion.offset(-5.0), motion.offset(5.0))
    np.testing.assert_array_equal(HOLD.offset(3.0), np.zeros(3))


def test_points_are_placed_by_the_offset():
    points = np.random.default_rng(0).normal(size=(5, 3))
    motion = path([(0.0, 0.0), (1.0, (0.1, 0.2, 0.3))])
    shift = motion.place(points, 1.0) - points
    np.testing.assert_allclose(shift, np.tile([0.1, 0.2, 0.3], (5, 1)), atol=1e-15)


@pytest.mark.parametrize(
    ("stations", "message"),
    [
        ([], "motion path is empty"),
        (
            [(0.0, 0.0), (0.0, 1.0)],
            r"motion path times \[0.0, 0.0\]: expected finite, rising times",
        ),
        ([(1.0, 0.0), (0.5, 1.0)], "expected finite, rising times"),
        ([(0.0, np.nan)], "expected a number or three, finite"),
        ([(0.0, (1.0, 2.0))], "expected a number or three, finite"),
        ([(0.0, (1.0, 2.0, np.nan))], "expected a number or three, finite"),
    ],
)
def test_wrong_paths_are_refused(stations, message):
    with pytest.raises(LimpetError, match=message):
        path(stations)


def test_a_direction_needs_three_numbers():
    with pytest.raises(LimpetError, match=r"direction .*expected three finite numbers"):
        path([(0.0, 0.0)], direction=(0.0, 1.0))


def test_a_turn_goes_about_its_axis():
    way = rotation([(0.0, 0.0), (2.0, np.pi)], axis=(0.0, 0.0, 3.0), centre=(1.0, 0.0, 5.0))
    points = np.array([[1.0, 0.0, 7.0], [2.0, 0.0, 0.0]])
    np.testing.assert_allclose(way.place(points, 0.0), points, atol=1e-15)
    np.testing.assert_allclose(
        way.place(points, 1.0), [[1.0, 0.0, 7.0], [1.0, 1.0, 0.0]], atol=1e-15
    )
    np.testing.assert_allclose(way.place(points, 9.0)[1], [0.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"stations": []}, "rotation is empty"),
        ({"stations": [(0.0, np.inf)]}, "angles"),
        ({"stations": [(0.0, 0.0)], "axis": (0, 0, 0)}, "axis"),
        ({"stations": [(0.0, 0.0)], "centre": (0, 0)}, "centre"),
    ],
)
def test_a_wrong_turn_is_refused(told, line):
    with pytest.raises(LimpetError, match=line):
        rotation(**told)
