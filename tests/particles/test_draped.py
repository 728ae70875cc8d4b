"""Cloth and rope on bodies of the world: they lie on them as on those of the particle system."""

from __future__ import annotations

import numpy as np
import pytest
from tests.particles.test_cloth_on_meshes import RADIUS, deepest, sheet_over, stretch

import limpet as lp
from limpet.errors import LimpetError
from limpet.particles import RigidBody, ShapeMatching, gel_block
from limpet.particles.anderson import Anderson
from limpet.particles.surface_proxy import RigidProxy
from limpet.scenes.cloth import SOLVER_SETTINGS
from limpet.scenes.rope import SOLVER_SETTINGS as ROPE_SETTINGS
from limpet.scenes.rope import add_cord, hang_weights, rope_system
from limpet.shapes.boxes import box, soft_box
from limpet.shapes.objects import globe, wheel

GRAVITY = 9.81


def draped_world(n=8, top=0.0, side=0.5, **more):
    world = lp.World(friction=0.5, **more)
    world.particles.settings = SOLVER_SETTINGS
    sheet_over(world.particles, n, top, side)
    return world


def surface(body):
    return body.positions(), body.surfaces[body.name].triangles


def test_on_a_rigid_body_it_sinks_as_in_the_particle_system():
    shape, sunk = globe(RADIUS, 24), []
    for inside in (True, False):
        world = draped_world(10, RADIUS, 0.8)
        if inside:
            world.particles.add_rigid(RigidBody("globe", shape, 1.0, fixed=True))
        else:
            world.add_rigid(shape, 1.0, fixed=True)
        sim = lp.Simulation(world, h=0.02)
        for _ in sim.run(2.0):
            pass
        sheet = sim.body("cloth")
        assert stretch(sheet, 10) < 0.03
        sunk.append(RADIUS + 0.01 - sheet.centre[2])
    assert sunk[1] == pytest.approx(sunk[0], rel=0.02)


@pytest.mark.parametrize("young", [1e4, 1e6])
def test_a_soft_block_carries_a_cloth(young):
    """At rest its weight is on the block, and with that of the block on the table."""
    n = 6
    world = draped_world(n)
    world.add_soft(soft_box(0.3, 0.3, 0.1, (3, 3, 1)), lp.Material(young, 0.4), 2.0, name="block")
    table = world.add_rigid(box(1.0, 1.0, 0.02), 1.0, name="table", position=(0, 0, -0.10001))
    world.prescribe_motion(table, lp.motion.path([(0.0, 0.0), (9.0, 0.0)]))
    sim = lp.Simulation(world, h=0.02)
    sheet, block = sim.body("cloth"), sim.body("block")
    worst = 0.0
    for report in sim.run(2.5):
        worst = max(worst, stretch(sheet, n))
        assert report.momentum_residual < 1e-9
    assert worst < 0.05
    assert stretch(sheet, n) < 0.03
    assert deepest(sheet.x, *surface(block)) < 1e-3
    assert report.converged and report.max_penetration < 1e-3
    assert np.sqrt(2.0 * sheet.kinetic_energy() / sheet.mass) < 0.01
    weight = (block.mass + sheet.mass + 1.0) * GRAVITY
    assert report.reactions["table"][2] == pytest.approx(weight, rel=0.01)


def test_a_cloth_at_5_metres_a_second_does_not_pass_a_soft_block():
    world = draped_world(8, 0.05)
    world.particles.soft[0].v[:, 2] = -5.0
    block = world.add_soft(soft_box(0.3, 0.3, 0.02, (4, 4, 1)), lp.Material(1e6, 0.4), 0.5)
    world.fix(block["bottom"])
    sim = lp.Simulation(world, h=0.01)
    sheet, block = sim.body("cloth"), sim.bodies[0]
    over = np.abs(sheet.x[:, :2]).max(axis=1) < 0.1
    for _ in sim.run(0.3):
        assert deepest(sheet.x, *surface(block)) < 2e-3
        assert sheet.x[over, 2].min() > -1e-3


def test_momentum_goes_from_the_cloth_into_a_free_body():
    """Also of what the two sides have not agreed on within a step: it is handed on in the next."""
    world = draped_world(6, gravity=(0.0, 0.0, 0.0))
    world.particles.soft[0].mass_damping = 0.0
    world.particles.soft[0].v[:, 2] = -1.0
    world.add_rigid(box(0.2, 0.2, 0.1), 0.02, name="block")
    sim = lp.Simulation(world, h=0.01)
    block, sheet = sim.bodies[0], sim.body("cloth")
    start = sheet.momentum() + block.momentum()
    for _ in sim.run(0.1):
        owed = sim.model.bodies[0]._owed.sum(axis=0)
        assert block.momentum() + owed + sheet.momentum() == pytest.approx(start, abs=1e-12)
    assert block.v[2] < -0.5


def test_a_rope_over_a_wheel_of_the_world_runs_as_over_the_round_bar():
    alone, hung = rope_system()
    start = hung.heavy.centre[2]
    for _ in alone.run(0.2):
        pass
    world = lp.World(friction=0.5)
    world.particles.settings = ROPE_SETTINGS
    hang_weights(world.particles, add_cord(world.particles, 0.1, 1.6, 0.2), 1.1, 0.9)
    turning = world.add_rigid(wheel(0.2, 0.04), 0.5, name="wheel")
    axle = world.add_rigid(box(0.01, 0.01, 0.01), 1.0, name="axle", fixed=True, collides=False)
    world.joint(turning, axle, (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    sim = lp.Simulation(world, h=0.02)
    for _ in sim.run(0.2):
        pass
    heavy = sim.body("heavy")
    assert heavy.centre[2] - start == pytest.approx(hung.heavy.centre[2] - start, rel=0.02)
    assert heavy.v[2] == pytest.approx(hung.heavy.v[2], rel=0.02)
    assert sim.body("wheel").w[1] == pytest.approx(hung.wheel.w[1], rel=0.05)


def test_a_cup_stays_sealed_under_a_cloth_and_the_state_is_kept_to_the_bit():
    world = draped_world(6, 0.045, 0.2)
    cup = world.add_soft(
        lp.shapes.cup("standard", sectors=8, segments=4), lp.Material(4e6, 0.45), 0.02,
        name="cup", position=(0.0, 0.0, 1e-4),
    )  # fmt: skip
    world.add_rigid(box(0.1, 0.1, 0.03, (5, 5, 1)), 0.2, name="block")
    world.add_rigid(box(0.4, 0.4, 0.02), 1.0, name="table", position=(0, 0, -0.03001), fixed=True)
    path = lp.motion.path([(0.0, 0.0), (0.2, -3e-3), (0.3, -3e-3), (0.5, 0.01)])
    world.prescribe_motion(cup["top"], path)
    sim = lp.Simulation(world, h=0.01)
    for _ in sim.run(0.45):
        pass
    state, ends = sim.get_state(), []
    for _ in range(2):
        sim.set_state(state)
        for report in sim.run(0.25):
            assert len(report.cavities) == 1
        ends.append(np.concatenate([b.positions() for b in sim.bodies]))
    assert np.array_equal(*ends)
    assert sim.body("block").centre[2] > -0.015 + 5e-3  # it is lifted
    assert report.cavities[0].pressure < 1e5
    sheet = sim.body("cloth")
    assert max(deepest(sheet.x, *surface(b)) for b in sim.bodies[:3]) < 1e-3


def test_what_a_sheet_may_touch():
    world = draped_world(6)
    low = world.add_rigid(box(0.2, 0.2, 0.05), 1.0, name="low", fixed=True)
    world.add_rigid(box(0.1, 0.1, 0.05), 1.0, name="ghost", fixed=True, collides=False)
    system = lp.Simulation(world).model.particles.system
    assert [proxy.name for proxy in system.proxies] == ["low"]
    world.exclude_contact(low, world.particles.soft[0])
    assert not lp.Simulation(world).model.particles.system.proxies

    mixed = draped_world(6)
    low = mixed.add_rigid(box(0.2, 0.2, 0.05), 1.0, name="low", fixed=True)
    mesh = gel_block((0.04, 0.04, 0.03), (2, 2, 2))
    gel = mixed.particles.add(ShapeMatching("gel", mesh.moved((0.0, 0.0, 0.2)), 0.1))
    with pytest.raises(LimpetError, match="'gel' may touch 'low', and a sheet 'low'"):
        lp.Simulation(mixed)
    mixed.exclude_contact(low, gel)
    lp.Simulation(mixed).step()


def test_friction_is_that_of_the_world():
    """A plate slides away under a cloth, or takes it along."""
    for mu, along in ((0.0, 0.0), (2.0, 0.02)):
        world = draped_world(6, -8.5e-3, 0.2)
        plate = world.add_rigid(box(0.6, 0.6, 0.02), 1.0, name="plate")
        world.set_friction(plate, world.particles.soft[0], mu)
        world.prescribe_motion(plate, lp.motion.path([(0.0, (0.0, 0, 0)), (0.2, (0.02, 0, 0))]))
        sim = lp.Simulation(world, h=0.01)
        for _ in sim.run(0.2):
            pass
        assert sim.body("cloth").centre[0] == pytest.approx(along, abs=2e-3)


def test_the_impulses_on_the_points_of_a_rigid_proxy_make_its_wrench():
    body = RigidBody("block", box(0.2, 0.1, 0.3), 1.0)
    proxy, wrench = RigidProxy(body), np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    proxy.follow(body.positions(), body.velocities(), np.zeros((8, 3)), np.zeros(8), 0.01)
    proxy.set_velocity(np.zeros(6), wrench)
    assert body.generalised_impulse(proxy.total) == pytest.approx(wrench, abs=1e-12)


def test_anderson_solves_what_the_plain_iteration_does_not():
    """A linear map in as many turns as it has directions, though it is no contraction."""
    rate, goal = np.diag([0.98, -3.0, 0.5]), np.array([1.0, 2.0, -3.0])
    mixing, q = Anderson(np.ones(3)), np.zeros(3)
    for _ in range(5):
        q = mixing.next(q, goal + rate @ (q - goal))
    assert q == pytest.approx(goal, abs=1e-6)
