"""Rigid bodies: exact inertia, free spin, drives and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dynamics.conftest import GRAVITY, crooked

import limpet as lp
from limpet.dynamics.motion import path
from limpet.errors import LimpetError, MeshError
from limpet.geometry.rotation import quaternion_matrix, rotation_matrix, rotation_vector
from limpet.geometry.shape import RigidShape
from limpet.rigid.rigid_body import RigidBody, mass_properties
from limpet.shapes.boxes import box

CORNER = np.vstack([np.zeros(3), np.eye(3)])
CORNER_FACES = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], np.int32)
AT_REST = np.zeros(3)


def box_inertia(mass, a, b, c):
    return mass / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])


def prism(sides=6, radius=0.02, height=0.01) -> RigidShape:
    """A regular prism about z: two equal moments of inertia."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.vstack([np.column_stack([ring, np.full(sides, z)]) for z in (0.0, height)])
    triangles = []
    for i in range(sides):
        j = (i + 1) % sides
        triangles += [(i, j, sides + j), (i, sides + j, sides + i)]
        if 0 < i < sides - 1:
            triangles += [(0, i + 1, i), (sides, sides + i, sides + i + 1)]
    return RigidShape("prism", points, np.array(triangles, np.int32))


@pytest.mark.parametrize("divisions", [(1, 1, 1), (3, 2, 4)])
def test_inertia_of_a_box(divisions):
    shape = box(0.05, 0.03, 0.02, divisions)
    centre, inertia = mass_properties(shape.points, shape.triangles, 0.3)
    np.testing.assert_allclose(centre, [0.0, 0.0, -0.01], atol=1e-17)
    np.testing.assert_allclose(inertia, box_inertia(0.3, 0.05, 0.03, 0.02), atol=1e-18)


def test_inertia_of_a_tetrahedron():
    """With m = V: integrals of x^2 and x y over the unit corner are 1/60 and 1/120."""
    centre, inertia = mass_properties(CORNER, CORNER_FACES, 1.0 / 6.0)
    np.testing.assert_allclose(centre, np.full(3, 0.25), rtol=1e-15)
    square = 1.0 / 60.0 - 1.0 / 96.0
    mixed = 1.0 / 120.0 - 1.0 / 96.0
    expected = np.full((3, 3), -mixed) + np.diag(np.full(3, 2.0 * square + mixed))
    np.testing.assert_allclose(inertia, expected, rtol=1e-14)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_inertia_moves_and_turns_with_the_body(seed):
    rng = np.random.default_rng(seed)
    shape = crooked()
    turn = rotation_matrix(rng.normal(size=3), rng.uniform(0, 6))
    shift = rng.uniform(-10, 10, size=3)
    centre, inertia = mass_properties(shape.points, shape.triangles, 0.2)
    moved, turned = mass_properties(shape.points @ turn.T + shift, shape.triangles, 0.2)
    np.testing.assert_allclose(moved, turn @ centre + shift, atol=1e-13)
    np.testing.assert_allclose(turned, turn @ inertia @ turn.T, rtol=0, atol=1e-11 * inertia.max())


def test_an_inside_out_surface_is_refused():
    shape = box(0.05, 0.03, 0.02)
    with pytest.raises(MeshError, match="inside-out or empty; flip its triangles"):
        mass_properties(shape.points, shape.triangles[:, ::-1], 1.0)


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan, np.inf])
def test_wrong_masses_are_refused(mass):
    with pytest.raises(LimpetError, match=r"mass of 'a' = .* kg: expected a finite number above 0"):
        RigidBody("a", box(0.1, 0.1, 0.1), mass)


def test_wrong_points_are_refused():
    with pytest.raises(MeshError, match="mesh of 'a' has 24 coordinates that are NaN or infinite"):
        RigidBody("a", RigidShape("b", np.full((8, 3), np.nan), box(1, 1, 1).triangles), 1.0)


def spin(body, h, duration):
    """Torque-free steps; (angular momentum, energy) of each, (k, 3) and (k,)."""
    momenta, energies = [], []
    for step in range(round(duration / h)):
        body.compute_free_velocity(h, AT_REST, step * h)
        body.advance(h)
        inertia = body.world_inertia()
        momenta.append(inertia @ body.w)
        energies.append(0.5 * body.w @ inertia @ body.w)
    return np.array(momenta), np.array(energies)


def spinning(shape, rate):
    body = RigidBody("top", shape, 0.2)
    body.w = np.array(rate, float)
    return body, body.world_inertia() @ body.w


@pytest.mark.parametrize("rate", [(3.0, 1.0, -2.0), (0.1, 8.0, 0.1), (40.0, -25.0, 10.0)])
def test_a_free_spin_keeps_angular_momentum_and_energy(rate):
    body, start = spinning(crooked(), rate)
    energy = 0.5 * start @ body.w
    momenta, energies = spin(body, 0.01, 2.0)
    np.testing.assert_allclose(momenta, np.tile(start, (200, 1)), atol=1e-11 * np.abs(start).max())
    swing = 0.1 * (0.01 * np.linalg.norm(rate)) ** 2
    np.testing.assert_allclose(energies, energy, rtol=swing)


@pytest.mark.parametrize("rate", [(200.0, 100.0, -150.0), (3e4, 1e4, 2e4)])
def test_a_spin_that_a_step_cannot_resolve_only_falls(rate):
    """Backward Euler: I (w+ - w) is orthogonal to w+ and to I w+."""
    body, start = spinning(crooked(), rate)
    momenta, energies = spin(body, 0.01, 0.5)
    sizes = np.linalg.norm(momenta, axis=1)
    assert np.all(energies <= 0.5 * start @ np.array(rate) * (1.0 + 1e-12))
    assert np.all(sizes <= np.linalg.norm(start) * (1.0 + 1e-12))


def test_a_tumbling_body_turns_as_it_should_to_second_order():
    """Against the same at a hundredth of the step; within 3 degrees after 0.5 s at 10 ms."""

    def pose(h):
        body, _ = spinning(crooked(), (12.0, 9.0, -3.0))
        spin(body, h, 0.5)
        return quaternion_matrix(body.quaternion)

    exact = pose(1e-4)
    coarse, fine = (
        np.degrees(np.linalg.norm(rotation_vector(exact.T @ pose(h)))) for h in (0.01, 0.005)
    )
    assert coarse < 3.0
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_a_symmetric_top_keeps_its_spin_and_wobbles_at_its_rate():
    shape = prism()
    body, _ = spinning(shape, (0.4, 0.0, 20.0))
    one, _, three = np.diag(body.inertia)
    h, steps = 1e-4, 500
    spin(body, h, h * steps)
    own = quaternion_matrix(body.quaternion).T @ body.w  # in the body's frame
    assert own[2] == pytest.approx(20.0, rel=1e-12)
    angle = (three - one) / one * 20.0 * h * steps
    assert np.arctan2(own[1], own[0]) == pytest.approx(
        np.arctan2(np.sin(angle), np.cos(angle)), abs=1e-3
    )


def test_a_cube_turns_uniformly():
    """No gyroscopic moment: the rate stays, and the angle is rate times time to round-off."""
    body, _ = spinning(box(0.03, 0.03, 0.03), (0.0, 2.0, 1.0))
    spin(body, 0.01, 1.0)
    np.testing.assert_allclose(body.w, [0.0, 2.0, 1.0], atol=1e-12)
    expected = rotation_matrix(np.array([0.0, 2.0, 1.0]), np.sqrt(5.0))
    np.testing.assert_allclose(quaternion_matrix(body.quaternion), expected, atol=1e-12)


def test_free_fall_is_exact_and_does_not_turn():
    body = RigidBody("a", crooked(), 0.2)
    before = body.positions()
    for step in range(10):
        body.compute_free_velocity(0.01, GRAVITY, step * 0.01)
        body.advance(0.01)
    np.testing.assert_allclose(body.momentum(), 0.2 * 0.1 * GRAVITY, rtol=1e-13)
    np.testing.assert_allclose(body.positions() - before, np.broadcast_to(
        55 * 1e-4 * GRAVITY, before.shape), atol=1e-15)  # fmt: skip


def test_an_impulse_off_centre_turns_the_body():
    body = RigidBody("a", box(0.05, 0.03, 0.02), 0.3)
    body.compute_free_velocity(0.01, AT_REST, 0.0)
    impulse = np.zeros((body.n_points, 3))
    impulse[3] = [0.1, -0.2, 0.3]
    arm = body.positions()[3] - body.centre
    body.apply_impulse(impulse)
    np.testing.assert_allclose(body.momentum(), impulse[3], atol=1e-16)
    np.testing.assert_allclose(body.world_inertia() @ body.w, np.cross(arm, impulse[3]), atol=1e-16)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_surface_velocities_are_the_rate_of_the_surface_positions(seed):
    rng = np.random.default_rng(seed)
    body = RigidBody("a", crooked(), 0.2)
    body.v, body.w = rng.normal(size=(2, 3))
    body.advance(0.3)
    before, velocity = body.positions(), body.velocities()
    body.advance(1e-7)
    np.testing.assert_allclose((body.positions() - before) / 1e-7, velocity, atol=1e-6)


def test_a_fixed_body_stays_and_reports_what_holds_it():
    body = RigidBody("ground", box(0.05, 0.03, 0.02), 0.3, fixed=True)
    place = body.positions()
    h = 0.01
    body.compute_free_velocity(h, GRAVITY, 0.0)
    np.testing.assert_allclose(body.reaction(h), [0, 0, 0.3 * 9.81, 0, 0, 0], atol=1e-15)
    impulse = np.zeros((body.n_points, 3))
    impulse[0] = [0.01, 0.0, -0.02]
    body.apply_impulse(impulse)
    body.advance(h)
    np.testing.assert_array_equal(body.positions(), place)
    np.testing.assert_array_equal(body.velocities(), np.zeros_like(place))
    moment = np.cross(place[0] - body.centre, impulse[0])
    wrench = np.concatenate([-impulse[0] - [0, 0, -0.3 * 9.81 * h], -moment]) / h
    np.testing.assert_allclose(body.reaction(h), wrench, atol=1e-13)


def test_a_driven_body_follows_its_path_and_needs_the_force_to_accelerate():
    motion = path([(0.0, 0.0), (0.1, 0.01)])
    body = RigidBody("press", box(0.05, 0.03, 0.02), 0.3, motion=motion)
    start, h = body.centre.copy(), 0.01
    for step in range(12):
        body.compute_free_velocity(h, GRAVITY, step * h)
        pull = body.reaction(h)[2] - 0.3 * 9.81
        body.advance(h)
        np.testing.assert_allclose(body.centre, start + motion.offset((step + 1) * h), atol=1e-16)
        # 0.1 m/s reached in the first step, given up in the eleventh
        expected = {0: 0.3 * 0.1 / h, 10: -0.3 * 0.1 / h}.get(step, 0.0)
        assert pull == pytest.approx(expected, abs=1e-10)


def test_point_contact_of_prescribed_bodies_says_that_its_force_is_undetermined():
    world = lp.World()
    block = world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), 0.1, position=(0.0, 0.0, 0.012))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.02), 1.0, name="table", fixed=True,
                    position=(0.0, 0.0, -0.01))  # fmt: skip
    world.prescribe_motion(block, lp.motion.path([(0.0, 0.0), (0.05, -0.004)]))
    simulation = lp.Simulation(world)
    with pytest.warns(
        lp.errors.UndeterminedForceWarning, match="'box' and 'table' overlap"
    ) as seen:
        for _ in simulation.run(0.1):
            pass
    assert len(seen) == 1
