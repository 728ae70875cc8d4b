"""Pressure-field contact in a World: weight, friction, momentum, state, and beside points."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.rotation import rotation_matrix
from limpet.pressure_field.friction_terms import SLIP_SPEED
from limpet.pressure_field.surface import contact_surface
from limpet.pressure_field.wrench import wrench
from limpet.rigid.rigid_body import RigidBody

MODULUS = 1e6
IDENTITY = (np.eye(3), np.zeros(3))


def on_floor(shape, mass, height, *, dissipation=0.02, friction=0.5, gravity=(0.0, 0.0, -9.81)):
    world = lp.World(gravity=gravity, friction=friction)
    body = world.add_rigid(shape, mass, name="body", position=(0.0, 0.0, height))
    floor = world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    world.set_contact(body, floor, "pressure fields", dissipation)
    world.add_probe("body", body)
    return world


def run(world, duration, h=2e-3):
    simulation = lp.Simulation(world, h)
    return simulation, list(simulation.run(duration))


@pytest.mark.parametrize(
    ("shape", "height"),
    [
        (lp.fields.sphere(0.05, MODULUS, edge=0.02), 0.05),
        (lp.fields.box(0.06, 0.05, 0.04, MODULUS), 0.02),
        (lp.fields.cylinder(0.03, 0.08, MODULUS), 0.04),
        (lp.fields.mesh(lp.shapes.box(0.06, 0.06, 0.05), MODULUS, size=0.02), 0.05),
    ],
)
def test_what_lies_on_the_floor_presses_with_its_weight(shape, height):
    _, reports = run(on_floor(shape, 0.2, height), 0.6)
    last = reports[-1]
    (patch,) = last.patches
    np.testing.assert_allclose(patch.force, [0.0, 0.0, 0.2 * 9.81], atol=1e-3)
    assert all(r.converged for r in reports)
    assert max(r.momentum_residual for r in reports) < 1e-9
    if shape.name != "sphere":  # which rolls on until it lies on a facet
        assert abs(last.probes["body_z"] - reports[-20].probes["body_z"]) < 1e-8
    assert 0.0 < patch.largest < MODULUS and patch.area > 0.0


def test_a_ball_sinks_as_deep_as_its_weight_asks_for():
    """Static: the force of the surface at that depth, and no solver in between."""
    ball = lp.fields.sphere(0.05, MODULUS, edge=0.01)
    _, reports = run(on_floor(ball, 0.2, 0.0495), 0.6)
    pose = np.eye(3), np.array([0.0, 0.0, reports[-1].probes["body_z"]])
    floor = lp.fields.floor().field
    force = wrench(contact_surface(ball.field, pose, floor, IDENTITY), np.zeros(3)).force
    assert force[2] == pytest.approx(0.2 * 9.81, rel=1e-3)


@pytest.mark.parametrize(("factor", "slips"), [(0.97, False), (1.03, True)])
def test_a_box_slips_at_the_angle_of_friction(factor, slips):
    mu, g = 0.3, 9.81
    angle = np.arctan(factor * mu)
    tilted = (g * np.sin(angle), 0.0, -g * np.cos(angle))
    box = lp.fields.box(0.06, 0.06, 0.03, MODULUS)
    _, reports = run(on_floor(box, 0.2, 0.015, friction=mu, gravity=tilted), 1.0)
    way = reports[-1].probes["body_x"] - reports[-100].probes["body_x"]  # over 0.2 s
    speed_gained = 0.01 * mu * g  # at least, by a slope 3 % too steep, in one second
    assert (way > 0.1 * speed_gained * 0.2) == slips
    assert slips or abs(way) < 1e-6


def test_what_friction_holds_creeps_by_a_micrometre_a_second_at_most():
    tilted = (9.81 * np.sin(0.2), 0.0, -9.81 * np.cos(0.2))  # friction is 0.2 of the normal force
    box = lp.fields.box(0.06, 0.06, 0.03, MODULUS)
    _, reports = run(on_floor(box, 0.2, 0.015, gravity=tilted), 0.8)
    way = reports[-1].probes["body_x"] - reports[-101].probes["body_x"]  # over 0.2 s
    share = np.tan(0.2) / 0.5  # of what friction can hold
    assert way / 0.2 == pytest.approx(SLIP_SPEED * share / np.sqrt(1.0 - share**2), rel=0.05)


def test_balls_that_meet_keep_their_momentum():
    world = lp.World(gravity=(0, 0, 0), friction=0.4)
    for k, mass in enumerate((0.2, 0.5)):
        shape = lp.fields.sphere(0.04, MODULUS, edge=0.006)  # coarse facets would turn it
        world.add_rigid(shape, mass, name=f"ball {k}", position=(0.0795 * k, 0.012 * k, 0.0))
    simulation = lp.Simulation(world, h=5e-4)
    one, other = simulation.bodies
    assert isinstance(one, RigidBody) and isinstance(other, RigidBody)
    one.v = np.array([0.5, 0.0, 0.0])

    def momenta():
        total = one.momentum() + other.momentum()
        spin = [b.world_inertia() @ b.w + b.mass * np.cross(b.centre, b.v) for b in (one, other)]
        return np.concatenate([total, spin[0] + spin[1]])

    before = momenta()
    touched = 0
    for report in simulation.run(0.03):
        touched += len(report.patches)
    assert touched > 5
    np.testing.assert_allclose(momenta()[:3], before[:3], atol=1e-15)
    # implicit in the places: angular momentum to the order of what bodies move in a step
    np.testing.assert_allclose(momenta()[3:], before[3:], atol=5e-4 * 0.5 * 0.2 * 0.5)
    # friction ends the slip: the push along it by 2/7 of the balls' reduced mass, as for a rigid
    # sphere that begins to roll, turns the other one
    across = 0.012 / np.hypot(0.0795, 0.012)
    push = 2.0 / 7.0 / (1.0 / one.mass + 1.0 / other.mass) * 0.5 * across
    assert other.w[2] == pytest.approx(push * 0.04 / (0.4 * other.mass * 0.04**2), rel=0.15)


def test_a_saved_state_goes_on_bit_by_bit():
    simulation, _ = run(on_floor(lp.fields.box(0.06, 0.05, 0.04, MODULUS), 0.2, 0.03), 0.12)
    state = simulation.get_state()
    once = [r.probes["body_z"] for r in simulation.run(0.05)]
    simulation.set_state(state)
    assert [r.probes["body_z"] for r in simulation.run(0.05)] == once


def test_one_setting_chooses_points_instead():
    world = on_floor(lp.fields.box(0.06, 0.05, 0.04, MODULUS), 0.2, 0.0201)
    body, floor = world.specs.values()
    world.set_contact(body, floor, "points")
    _, reports = run(world, 0.1, h=5e-3)
    assert not any(r.patches for r in reports)
    assert reports[-1].active_contacts >= 4
    assert reports[-1].probes["body_z"] == pytest.approx(0.02, abs=1e-6)


def test_impulses_on_the_markers_of_a_frame_are_a_wrench():
    shape = lp.fields.box(0.06, 0.05, 0.04, MODULUS)
    body = RigidBody("a", shape, 0.2, anchors=np.array([[0.0, 0.0, 0.1]]), frame=True)
    rng = np.random.default_rng(0)
    body.v, body.w = rng.normal(size=3), rng.normal(size=3)
    body.advance(0.3)
    wrench, impulse = rng.normal(size=6), np.zeros((body.n_points, 3))
    impulse[body.frame : body.frame + 4] = body.marker_impulses(wrench)
    np.testing.assert_allclose(body.generalised_impulse(impulse), wrench, atol=1e-14)


def test_wrong_contacts_are_refused():
    world = on_floor(lp.fields.box(0.06, 0.05, 0.04, MODULUS), 0.2, 0.03)
    body, floor = world.specs.values()
    plain = world.add_rigid(lp.shapes.box(0.01, 0.01, 0.01), 0.1, position=(0.2, 0.2, 0.2))
    with pytest.raises(lp.LimpetError, match=r"contact model = 'welds'.*points, pressure fields"):
        world.set_contact(body, floor, "welds")
    with pytest.raises(lp.LimpetError, match=r"'box' has no pressure field; make it with"):
        world.set_contact(body, plain, "pressure fields")
    with pytest.raises(lp.LimpetError, match=r"dissipation = -1 s: expected 0 or more"):
        world.set_contact(body, floor, "pressure fields", -1.0)
    with pytest.raises(lp.LimpetError, match=r"extent = 'lapalce'.*laplace"):
        lp.fields.mesh(lp.shapes.box(0.01, 0.01, 0.01), MODULUS, extent="lapalce")
    with pytest.raises(lp.LimpetError, match=r"modulus"):
        lp.fields.sphere(0.05, 0.0)


def test_two_rigid_shapes_touch_by_points_unless_told_otherwise():
    world = lp.World()
    box = world.add_rigid(
        lp.fields.rigid(lp.shapes.box(0.06, 0.05, 0.04)), 0.2, position=(0, 0, 0.0401)
    )
    floor = world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    assert world.contact_table.by_points(box.name, floor.name)
    world.set_contact(box, floor, "pressure fields")
    with pytest.raises(lp.LimpetError, match="both bodies are rigid"):
        lp.Simulation(world).step()


def test_an_overlap_deeper_than_the_field_ends_the_run_with_a_line():
    deep = lp.World()
    body = deep.add_rigid(lp.fields.box(0.06, 0.05, 0.04, MODULUS), 0.2, position=(0, 0, -0.01))
    deep.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    with pytest.raises(lp.LimpetError, match=rf"'{body.name}' and 'floor' overlap deeper"):
        lp.Simulation(deep).step()


@pytest.mark.parametrize("depth", [0.01, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_a_driven_ball_reads_the_force_of_the_closed_form(depth):
    """Both bodies are prescribed. p = E (1 - r/R) over the circle that the floor cuts out."""
    radius, rest = 0.05, 0.06
    world = lp.World()
    ball = world.add_rigid(
        lp.fields.sphere(radius, MODULUS),
        0.2,
        position=(0.0, 0.0, rest),
        rotation=rotation_matrix(np.array([0.6, 0.8, 0.0]), 20.0 * depth),
    )
    world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    down = rest - radius * (1.0 - depth)
    world.prescribe_motion(ball, lp.motion.path([(0.0, 0.0), (0.05, -down)]))
    _, reports = run(world, 0.1, h=0.01)
    z = radius * (1.0 - depth)
    circle = np.pi * (radius**2 - z**2)
    force = MODULUS * (circle - 2.0 * np.pi / (3.0 * radius) * (radius**3 - z**3))
    (patch,) = reports[-1].patches
    assert patch.force[2] == pytest.approx(force, rel=0.02)
    held = reports[-1].reactions[ball.name][2]
    assert held == pytest.approx(0.2 * 9.81 - patch.force[2], rel=1e-9)
    assert patch.polygons > 30


def test_a_soft_body_attached_to_a_body_with_a_field_rests_on_it():
    world = lp.World(friction=0.5)
    base = world.add_rigid(
        lp.fields.box(0.08, 0.08, 0.03, MODULUS), 0.3, name="base", position=(0.0, 0.0, 0.016)
    )
    world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    gel = world.add_soft(
        lp.shapes.soft_box(0.04, 0.04, 0.04, divisions=(2, 2, 2)), lp.Material(1e5, 0.3), 0.05,
        name="gel", position=(0.0, 0.0, 0.051),
    )  # fmt: skip
    world.attach(gel["bottom"], base)
    _, reports = run(world, 0.6, h=5e-3)
    assert all(r.converged for r in reports)
    (patch,) = reports[-1].patches
    np.testing.assert_allclose(patch.force, [0.0, 0.0, 0.35 * 9.81], atol=1e-6)
    assert max(r.momentum_residual for r in reports) < 1e-9
