"""An arm's joints against straight moves of its tool."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_matrix, rotation_vector
from limpet.rigid.arm import six_joints
from limpet.shapes.boxes import box


@pytest.fixture(scope="module")
def route():
    arm = six_joints((-0.3, 0.0, 0.0), (0.0, 0.0, 0.1))
    stations = [(0.0, (0, 0, 0)), (1.0, (0, 0, -0.05)), (2.0, (0.05, 0.2, 0.05))]
    return arm, arm.follow(stations)


def test_the_tool_moves_straight_and_keeps_its_direction(route) -> None:
    arm, joints = route
    for time in np.linspace(1.0, 2.0, 23):
        turn, place = arm.tool_pose(joints.at(time))
        t = time - 1.0
        u = t**3 * (10.0 - 15.0 * t + 6.0 * t * t)
        line = arm.tool + (1 - u) * np.array([0, 0, -0.05]) + u * np.array([0.05, 0.2, 0.05])
        np.testing.assert_allclose(turn, np.eye(3), atol=2e-4)  # between samples
        np.testing.assert_allclose(place, line, atol=3e-4)
    for time, offset in ((0.0, (0, 0, 0)), (1.0, (0, 0, -0.05)), (2.0, (0.05, 0.2, 0.05))):
        turn, place = arm.tool_pose(joints.at(time))
        np.testing.assert_allclose(place, arm.tool + offset, atol=1e-9)
        np.testing.assert_allclose(turn, np.eye(3), atol=1e-9)


def test_the_tool_does_not_jerk_its_load(route) -> None:
    arm, joints = route
    h = 1e-3
    place = np.array([arm.tool_pose(joints.at(t))[1] for t in np.arange(0.0, 2.0, h)])
    acceleration = np.linalg.norm(np.diff(place, 2, axis=0), axis=1) / h**2
    length = np.linalg.norm([0.05, 0.2, 0.1])
    # least jerk: at most 5.77 length / time^2; a path in straight pieces has speeds that jump
    assert acceleration.max() < 1.3 * 5.77 * length
    assert acceleration[:5].max() < 0.1 * 5.77 * length


def test_links_are_rigid_and_stay_joined(route) -> None:
    arm, joints = route
    for time in (0.3, 1.4, 1.9):
        poses = arm.poses(joints.at(time))
        for i in range(1, len(poses)):
            # a joint's origin rides on both links it joins
            before, after = poses[i - 1], poses[i]
            np.testing.assert_allclose(
                before[0] @ arm.origins[i] + before[1],
                after[0] @ arm.origins[i] + after[1],
                atol=1e-12,
            )


def test_a_driven_link_follows_its_pose(route) -> None:
    arm, joints = route
    world = lp.World()
    link = world.add_rigid(box(0.02, 0.02, 0.1), 0.5, name="link", position=arm.origins[2])
    rest = link.shape.points.copy()
    world.prescribe_motion(link, joints.link(2))
    simulation = lp.Simulation(world, h=0.02)
    *_, report = simulation.run(1.5)
    where = simulation.bodies[0].positions()
    np.testing.assert_allclose(where, joints.link(2).place(rest, report.time), atol=1e-9)


def test_what_is_out_of_reach_is_said(route) -> None:
    arm, _ = route
    with pytest.raises(LimpetError, match="cannot reach"):
        arm.follow([(0.0, (0, 0, 0)), (1.0, (2.0, 0.0, 0.0))])
    with pytest.raises(LimpetError, match="rising times"):
        arm.follow([(1.0, (0, 0, 0)), (0.5, (0, 0, 0.01))])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.4, 3.1, np.pi])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 0.5)])
def test_rotation_vector_is_the_inverse_of_the_exponential(axis, angle: float) -> None:
    turn = rotation_matrix(np.array(axis, dtype=float), angle)
    vector = rotation_vector(turn)
    assert np.linalg.norm(vector) == pytest.approx(angle, abs=1e-8)
    if angle > 0.0:
        again = rotation_matrix(vector, float(np.linalg.norm(vector)))
        np.testing.assert_allclose(again, turn, atol=1e-8)
