"""Particle bodies coupled to all others: two solvers share every step."""

from __future__ import annotations

import numpy as np
import pytest
from tests.record.kit import read_history

import limpet as lp
from limpet.errors import LimpetError
from limpet.particles import (
    ParticleSolverSettings,
    PointMasses,
    PositionBased,
    RigidBody,
    ShapeMatching,
    gel_block,
    half_space,
    spring_stiffness,
)
from limpet.particles.coupling import CoupledParticles
from limpet.record.run import record_run
from limpet.scenes.cloth import SOLVER_SETTINGS, add_cloth, cloth_system
from limpet.scenes.registry import load

GRAVITY = 9.81


def gel(name="gel", mass=0.1, at=(0.0, 0.0, 0.0), n=3, body=ShapeMatching, **more):
    mesh = gel_block((0.04, 0.04, 0.03), (n, n, 2)).moved(at)
    return body(name, mesh, mass, uniform_mass=True, **more)


def on_a_table(world, top=-0.03):
    plate = lp.shapes.box(0.3, 0.3, 0.02)
    points = plate.points + np.array([0.0, 0.0, top])
    body = RigidBody("table", type(plate)("table", points, plate.triangles), 1.0, fixed=True)
    return world.particles.add_rigid(body, half_space(0.01))


@pytest.mark.parametrize("kind", ["particles", "rigid"])
def test_a_block_on_a_particle_body_stands_and_passes_its_weight_on(kind):
    world = lp.World()
    world.particles.settings = ParticleSolverSettings(sweeps=4)
    on_a_table(world)
    if kind == "particles":
        world.particles.add(gel(mass_damping=5.0))
    else:
        low = lp.shapes.box(0.04, 0.04, 0.03)
        world.particles.add_rigid(RigidBody("gel", low, 0.1))
    world.add_rigid(
        lp.shapes.box(0.03, 0.03, 0.03), 0.05, name="block", position=(0.0, 0.0, 0.0302)
    )
    sim = lp.Simulation(world, h=0.005)
    reports = list(sim.run(1.5))
    block, under = sim.bodies[0], next(b for b in sim.bodies if b.name == "gel")
    assert np.abs(block.v).max() < 1e-3
    # the load on the particle body, and on the table under it
    particles = sim.model.particles
    first = next(i for i, b in enumerate(particles.members) if b is under)
    start = sum(b.n_points for b in particles.members[:first])
    load = particles._others[start : start + under.n_points, 2].sum()
    assert load == pytest.approx(-0.05 * GRAVITY, rel=0.01)
    p, contacts = particles.system._impulses, particles.system.contacts
    on_table = (p.contacts if kind == "particles" else p.rigid_contacts)[:, 0].sum() / sim.h
    assert sum(map(len, contacts)) > 0
    assert on_table == pytest.approx(0.15 * GRAVITY, rel=0.01)
    assert max(r.max_penetration for r in reports[-50:]) < 2e-4


@pytest.mark.parametrize("turns", [1, 3])
def test_momentum_is_kept_between_the_two_solvers(monkeypatch, turns):
    monkeypatch.setattr(CoupledParticles, "staggered", turns)
    world = lp.World(gravity=(0.0, 0.0, 0.0), friction=0.0)
    body = world.particles.add(gel(n=4, body=PositionBased))
    world.particles.add_inextensible_edges(body, body.mesh.skin_edges())
    world.add_rigid(
        lp.shapes.box(0.02, 0.02, 0.02), 0.05, name="block", position=(0.004, 0.002, 0.022)
    )
    sim = lp.Simulation(world, h=0.002)
    block, body = sim.bodies[0], sim.bodies[1]
    block.v = np.array([0.05, 0.0, -0.5])

    before, met = block.momentum() + body.momentum(), 0
    for report in sim.run(0.06):
        met += report.active_contacts
    assert met > 20
    assert body.momentum()[2] < -0.005  # it was hit
    assert block.momentum() + body.momentum() == pytest.approx(before, abs=1e-14)


def test_the_turns_come_to_one_answer(monkeypatch):
    """What more turns change becomes less and less: the two solvers agree on one solution."""

    def after(turns):
        monkeypatch.setattr(CoupledParticles, "staggered", turns)
        monkeypatch.setattr(CoupledParticles, "settled", 0.0)
        world = lp.World()
        world.particles.settings = ParticleSolverSettings(sweeps=4)
        on_a_table(world)
        body = world.particles.add(gel(mass_damping=5.0, body=PositionBased))
        world.particles.add_inextensible_edges(body, body.mesh.skin_edges())
        world.add_rigid(
            lp.shapes.box(0.03, 0.03, 0.03), 0.05, name="block", position=(0.0, 0.0, 0.0302)
        )
        sim = lp.Simulation(world, h=0.005)
        for _ in sim.run(0.1):
            pass
        return sim.bodies[0].centre[2]

    heights = np.array([after(n) for n in (1, 4, 16, 64)])
    off = np.abs(heights[:-1] - heights[-1])
    assert off[2] < 0.3 * off[1] < 0.1 * off[0]
    assert off[1] < 5e-5


def test_particle_bodies_alone_step_as_their_system_does():
    engine = cloth_system(8)
    world = lp.World()
    world.particles.settings = SOLVER_SETTINGS
    add_cloth(world.particles, 8)
    sim = lp.Simulation(world, h=0.02)
    for _ in range(15):
        engine.step(), sim.step()
    assert np.array_equal(sim.bodies[0].x, engine.soft[0].x)
    assert sim.model.particles.system.substeps == engine.substeps > 1


def test_a_run_of_particle_bodies_alone_is_recorded(tmp_path):
    scene = load("cloth", {"divisions": 6, "duration": "0.2 s"})
    summary = record_run(scene, scene.simulation(), tmp_path / "run")
    assert summary.steps == 10
    rows = read_history(tmp_path / "run" / "history.csv")
    assert [row["momentum_residual"] for row in rows] == [None] * 10  # nobody took it
    assert rows[-1]["cloth_z"] < rows[0]["cloth_z"]
    assert (tmp_path / "run" / "plots" / "scene.png").is_file()


def test_a_world_can_be_run_twice():
    world = lp.World()
    add_cloth(world.particles, 6)
    first, second = (lp.Simulation(world, h=0.02) for _ in range(2))
    for _ in first.run(0.2):
        pass
    assert np.array_equal(second.bodies[0].x, world.particles.soft[0].x)


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_friction_of_a_pair_is_that_of_the_world(mu):
    world = lp.World(gravity=(2.0, 0.0, -9.81))
    table = on_a_table(world)
    body = world.particles.add(gel(body=PositionBased))
    world.set_friction(body, table, mu)
    sim = lp.Simulation(world, h=0.005)
    for _ in sim.run(0.2):
        pass
    speed = sim.body("gel").momentum()[0] / body.mass
    assert speed == pytest.approx(0.4, rel=1e-3) if mu == 0.0 else abs(speed) < 0.05
    with pytest.raises(LimpetError, match="friction = -1: expected 0 or more"):
        world.set_friction(body, table, -1.0)


def test_a_force_on_a_particle_body_is_momentum():
    world = lp.World(gravity=(0.0, 0.0, 0.0))
    world.particles.add(gel())
    sim = lp.Simulation(world, h=0.005)
    sim.apply_force("gel", 5, (0.0, 0.02, 0.01))
    for _ in range(10):
        sim.step()
    assert sim.bodies[0].momentum() == pytest.approx([0.0, 0.001, 0.0005], abs=1e-12)
    # a twentieth of it is taken hold of, each node by its mass
    held = sim.control.applied.any(axis=1)
    mass = sim.bodies[0].node_mass
    assert 0.05 * mass.sum() <= mass[held].sum() < 0.05 * mass.sum() + mass.max()
    sim.apply_force("gel", 5, (0.0, 0.0, 0.0))
    assert not sim.control.applied.any()


def test_save_and_restore_to_the_bit():
    world = lp.World()
    on_a_table(world)
    body = world.particles.add(gel(body=PositionBased))
    world.particles.add_inextensible_edges(body, body.mesh.skin_edges())
    cup = world.add_soft(
        lp.shapes.cup("standard", sectors=8, segments=4), lp.Material(4e6, 0.45), 0.02,
        position=(0.0, 0.0, 1e-4),
    )  # fmt: skip
    world.prescribe_motion(cup["top"], lp.motion.path([(0.0, 0.0), (0.1, -4e-3)]))
    sim = lp.Simulation(world, h=0.002)
    for _ in sim.run(0.04):
        pass
    state = sim.get_state()
    ends = []
    for _ in range(2):
        sim.set_state(state)
        for _ in sim.run(0.02):
            pass
        ends.append(np.concatenate([b.positions() for b in sim.bodies]))
    assert np.array_equal(*ends)


def test_what_cannot_be():
    world = lp.World()
    cup = world.add_soft(
        lp.shapes.cup("standard", sectors=8, segments=4), lp.Material(4e6, 0.45), 0.02
    )
    sheet = add_cloth(world.particles, 6)
    with pytest.raises(LimpetError, match=r"'sphere' may touch 'cup', and a sheet 'cup'"):
        lp.Simulation(world)
    world.exclude_contact(cup, sheet)
    world.exclude_contact(cup, world.particles.rigid[0])
    lp.Simulation(world).step()

    twice = lp.World()
    twice.particles.add(gel("one"))
    twice.add_rigid(lp.shapes.box(0.01, 0.01, 0.01), 1.0, name="one", position=(0, 0, 1))
    with pytest.raises(LimpetError, match="two bodies are called 'one'"):
        lp.Simulation(twice)

    stiff = lp.World()
    mesh = gel_block((0.04, 0.04, 0.03), (3, 3, 2))
    stiff.particles.add(lp.particles.ExplicitFem("stiff", mesh, 0.1, lp.Material(1e6, 0.3)))
    stiff.add_rigid(lp.shapes.box(0.01, 0.01, 0.01), 1.0, position=(0, 0, 1))
    with pytest.raises(LimpetError, match=r"'stiff' is stable up to .* s; lower h"):
        lp.Simulation(stiff, h=0.01).step()


def pressed_springs(h, mass, young=4e4):
    """[N] a plate pressed 1 mm into a gel of implicit springs on a table; and the reports."""
    world = lp.World(gravity=(0.0, 0.0, 0.0))
    on_a_table(world)
    mesh = gel_block((0.04, 0.04, 0.03), (3, 3, 2))
    body = world.particles.add(PointMasses("gel", mesh, mass, mass_damping=5.0))
    stiffness = spring_stiffness(mesh, young)
    world.particles.add_springs(body, stiffness, 5e-3 * stiffness)
    plate = world.add_rigid(
        lp.shapes.box(0.05, 0.05, 0.03), 0.1, name="plate", position=(0.0, 0.0, 0.03)
    )
    world.prescribe_motion(plate, lp.motion.path([(0.0, 0.0), (0.08, -1e-3)]))
    reports = list(lp.Simulation(world, h=h).run(0.16))
    return -reports[-1].reactions["plate"][2], reports


@pytest.mark.parametrize("mass", [1e-3, 0.1])
def test_springs_are_as_stiff_at_any_time_step(mass):
    force, reports = zip(*(pressed_springs(h, mass) for h in (2e-3, 8e-3)))
    assert force[0] == pytest.approx(force[1], rel=0.01)
    # E A e/h = 2.1 N of a bar in free compression; friction holds its ends, the grid is coarse
    assert 2.1 < force[0] < 2.1 * 1.4
    assert all(r.converged for each in reports for r in each)


def test_the_coupling_says_if_it_has_not_converged(monkeypatch):
    monkeypatch.setattr(CoupledParticles, "staggered", 1)
    monkeypatch.setattr("limpet.particles.coupling.COUPLED", 1e-15)
    _, reports = pressed_springs(8e-3, 0.1)
    assert not all(r.converged for r in reports)
