"""Energy, stretch, residual: what the reports of particle bodies say, and when a run is stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.contact.primitives import half_space
from limpet.dynamics.motion import path
from limpet.errors import DivergedError
from limpet.geometry.shape import RigidShape
from limpet.particles.energy import inverted_cells
from limpet.particles.mass_spring import MassSpring, spring_stiffness
from limpet.particles.meshes import gel_block, rope
from limpet.particles.model import ParticleModel
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.boxes import box

G = 9.81


def cube(name="cube", place=(0.0, 0.0, 0.0), mass=1.0, **kind):
    shape = box(0.1, 0.1, 0.1)
    points = shape.points + np.array(place)
    return RigidBody(name, RigidShape(name, points, shape.triangles), mass, **kind)


def hanging(settings, h=0.02, driven=False):
    """A cord with a weight; `driven`: its upper end rises by 1 m/s."""
    model = ParticleModel(settings=settings)
    mesh = rope(0.5, 0.02, 8)
    x, y, z = mesh.points.T
    mesh, west = replace(mesh, points=np.stack([z, y, -x], axis=1)), mesh.regions["west"]
    lift = {"driven": west, "motion": path([(0.0, 0.0), (10.0, 10.0)])} if driven else {}
    cord = model.add(MassSpring("cord", mesh, 0.2, 1e-3, mass_damping=4.0, **lift), collides=False)
    model.add_inextensible_edges(cord)
    if not driven:
        model.anchor(cord, west)
    return ParticleSystem(model, h), cord


def test_a_falling_body_has_the_energy_that_gravity_gave_it():
    model = ParticleModel()
    body = model.add_rigid(cube())
    world = ParticleSystem(model, 1e-3)
    for report in world.run(0.5):  # noqa: B007
        pass
    p = report.particles
    assert p.kinetic == pytest.approx(0.5 * float(body.v @ body.v), rel=1e-12)
    assert p.fallen == pytest.approx(p.kinetic, rel=3e-3)  # h/t: symplectic Euler
    assert (p.work, p.stretch, p.inverted) == (0.0, 0.0, 0)


def test_velocities_and_forces_from_outside_count_as_work():
    model = ParticleModel()
    body = model.add_rigid(cube())
    world = ParticleSystem(model, 0.01, gravity=(0, 0, 0))
    world.step()
    body.v = np.array([100.0, 0.0, 0.0])
    report = world.step()
    assert report.particles.work == pytest.approx(5000.0)
    force = np.zeros((body.n_points, 3))
    force[:, 0] = 400.0 / body.n_points
    before = report.particles.kinetic
    report = world.finish(world.begin([force]))
    gained = report.particles.kinetic - before
    assert report.particles.work - 5000.0 == pytest.approx(gained, rel=0.05)


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_drive_works_and_its_force_is_the_weight_whatever_the_substeps(substeps):
    world, cord = hanging(ParticleSolverSettings(sweeps=20, substeps=substeps), driven=True)
    for report in world.run(2.0):  # noqa: B007
        pass
    drag = cord.mass * cord.mass_damping * 1.0  # at 1 m/s
    force = report.reactions["cord"][2]
    assert force == pytest.approx(cord.mass * G + drag, rel=0.02)
    assert report.particles.work == pytest.approx(force * 2.0, rel=0.05)


def test_a_residual_is_measured_and_a_step_converges_only_if_it_is_small():
    """With tolerance 0, the default, every step used to count as converged."""
    poor, _ = hanging(ParticleSolverSettings(sweeps=1, max_substeps=1, warm_start=0.0))
    good, _ = hanging(ParticleSolverSettings(sweeps=500, tolerance=1e-6))
    poor, good = poor.step(), good.step()
    assert poor.residual > 0.1 and not poor.converged
    assert good.residual < 0.01 and good.converged
    assert poor.particles.stretch > 10 * good.particles.stretch


def test_a_run_that_gains_energy_from_nowhere_stops_with_one_line():
    """Springs of a time step far too long, that pass for stable."""
    mesh = gel_block((0.1, 0.1, 0.1), (2, 2, 2))
    model = ParticleModel()
    body = MassSpring("gel", mesh.moved((0, 0, 0.2)), 1.0, 5e3)
    body.x = body.x + 1e-6 * np.sin(np.arange(body.x.size)).reshape(-1, 3)
    h = 3.0 * body.stable_step
    body.stable_step = np.inf
    model.add(body)
    ground = cube("ground", fixed=True)
    model.add_rigid(ground, half_space(0.05))
    with pytest.raises(DivergedError, match=r"step \d+ at .* s: .*'gel'.*lower h") as stop:
        list(ParticleSystem(model, h).run(1000 * h))
    assert "\n" not in str(stop.value)


def test_inverted_cells_are_counted():
    mesh = gel_block((0.1, 0.1, 0.1), (2, 2, 2))
    assert inverted_cells(mesh.points, mesh.tets) == 0
    mirrored = mesh.points * [1.0, 1.0, -1.0]
    assert inverted_cells(mirrored, mesh.tets) == len(mesh.tets)


def test_springs_have_the_modulus_that_they_were_made_for():
    """Stretch a block uniformly and let it narrow by 1/4: the energy is E e^2/2 of its volume.

    The grid is not isotropic, so some percent are left.
    """
    mesh, young, strain = gel_block((0.1, 0.1, 0.1), (6, 6, 6)), 2e4, 1e-4
    body = MassSpring("gel", mesh, 1.0, spring_stiffness(mesh, young))
    for axis in range(3):
        scale = np.full(3, 1.0 - 0.25 * strain)
        scale[axis] = 1.0 + strain
        body.x = mesh.points * scale
        assert body.elastic_energy() == pytest.approx(0.5 * young * strain**2 * 1e-3, rel=0.25)
