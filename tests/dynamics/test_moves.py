"""Moves of a robot: limits kept, ends reached, and the shortest time against closed forms."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import limpet as lp
from limpet.dynamics.moves import Leg, moves
from limpet.errors import LimpetError


def sampled(motion, step=1e-5):
    t = np.arange(0.0, motion.duration + step, step)
    return t, np.array([motion.offset(x) for x in t])


@pytest.mark.parametrize(
    ("distance", "speed", "acceleration", "jerk", "duration"),
    [
        (1.0, 0.5, 2.0, inf, 1.0 / 0.5 + 0.5 / 2.0),  # a trapezoid
        (0.08, 0.5, 2.0, inf, 2.0 * (0.08 / 2.0) ** 0.5),  # a triangle
        (1.0, 0.5, 2.0, 10.0, 1.0 / 0.5 + 0.5 / 2.0 + 2.0 / 10.0),  # seven phases
        (0.016, 0.5, 2.0, 10.0, 4.0 * (0.016 / (2.0 * 10.0)) ** (1 / 3)),  # jerk alone
        (1.0, 0.1, 2.0, 10.0, 1.0 / 0.1 + 2.0 * (0.1 / 10.0) ** 0.5),  # no constant acceleration
    ],
)
def test_a_leg_takes_the_shortest_time(distance, speed, acceleration, jerk, duration):
    motion = moves([Leg((0.0, 0.0, distance), speed, acceleration, jerk)])
    assert motion.duration == pytest.approx(duration, rel=1e-12)
    np.testing.assert_allclose(motion.offset(duration), [0.0, 0.0, distance], rtol=1e-12)
    np.testing.assert_allclose(motion.offset(duration / 2), [0.0, 0.0, distance / 2], rtol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_limits_are_kept(seed):
    rng = np.random.default_rng(seed)
    distance, speed, acceleration, jerk = 10.0 ** rng.uniform(-1.0, 1.0, 4)
    motion = moves([Leg((distance, 0.0, 0.0), speed, acceleration, jerk)])
    step = motion.duration / 4000
    _, x = sampled(motion, step)
    v = np.diff(x[:, 0]) / step
    a = np.diff(v) / step
    j = np.diff(a) / step
    assert v.max() <= speed * (1 + 1e-6) and v.min() >= -1e-9
    assert np.abs(a).max() <= acceleration * (1 + 1e-3)
    assert np.abs(j[3:-3]).max() <= jerk * (1 + 1e-2)
    assert x[-1, 0] == pytest.approx(distance)


def test_legs_follow_each_other_after_waits():
    legs = [
        {"by": (0.0, 0.0, 0.1), "speed": 0.2, "acceleration": 1.0},
        {"by": (0.3, 0.0, 0.0), "speed": 1.0, "acceleration": 5.0, "jerk": 100.0, "wait": 0.25},
        {"by": (0.0, 0.0, 0.0), "speed": 1.0, "acceleration": 1.0, "wait": 0.5},
    ]
    motion = lp.motion.moves(legs)
    first = 0.1 / 0.2 + 0.2 / 1.0
    np.testing.assert_allclose(motion.offset(first + 0.2), [0.0, 0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(motion.offset(99.0), [0.3, 0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(motion.offset(-1.0), np.zeros(3))
    rotation, shift = motion.pose(99.0)
    np.testing.assert_array_equal(rotation, np.eye(3))
    np.testing.assert_allclose(shift, [0.3, 0.0, 0.1])


@pytest.mark.parametrize(
    ("legs", "message"),
    [
        ([], "are empty"),
        ([{"by": (0, 0, 1), "speed": 1.0}], "leg 1 of the motion: has no acceleration"),
        ([{"by": (0, 0, 1), "sped": 1.0}], "unknown 'sped'; did you mean 'speed'"),
        ([Leg((0, 1), 1.0, 1.0)], "by = .*expected three finite numbers"),
        ([Leg((0, 0, 1), 0.0, 1.0)], "speed = 0 m/s: expected a finite number above 0"),
        ([Leg((0, 0, 1), 1.0, -5.0)], "acceleration = -5 m/s"),
        ([Leg((0, 0, 1), 1.0, "5 m/s^2")], "acceleration = '5 m/s"),
        ([Leg((0, 0, 1), 1.0, 1.0, 0.0)], "jerk = 0"),
        ([Leg((0, 0, 1), 1.0, 1.0, wait=-1.0)], "wait = -1 s"),
        ([Leg((0, 0, 0), 1.0, 1.0)], "no leg goes anywhere"),
    ],
)
def test_wrong_legs_are_one_line(legs, message):
    with pytest.raises(LimpetError, match=message):
        moves(legs)
