"""Cloth on closed meshes, rigid and soft: it lies on them as on the primitives, and untangled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.contact.crossings import count_crossings
from limpet.contact.friction import FrictionTable
from limpet.contact.primitives import ball, half_space
from limpet.geometry.bvh import build_tree, closest_points
from limpet.geometry.shape import RigidShape
from limpet.geometry.surface import winding
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import cloth, gel_block, grid_edges
from limpet.particles.model import ParticleModel
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.cloth import SOLVER_SETTINGS
from limpet.shapes.boxes import box
from limpet.shapes.objects import compartment_box, globe

RADIUS = 0.25  # [m]
TAUT = replace(SOLVER_SETTINGS, substeps=10, max_substeps=40, warm_start=0.9)


def sheet_over(model, n, top, side=0.8, thickness=2e-3):
    mesh = cloth(side, side, (n, n)).moved((0.0, 0.0, top + 0.01))
    mass = 0.2 * side * side
    body = MassSpring("cloth", mesh, mass, stiffness=100.0 * mass / len(mesh.points),
                      mass_damping=2.0)  # fmt: skip
    model.add(body, thickness)
    model.add_inextensible_edges(body, grid_edges(mesh, (n, n)))
    model.add_bending(body, stiffness=1e-6, damping=1e-7)
    return body


def stretch(sheet, n):
    edges = grid_edges(sheet.mesh, (n, n))
    now, rest = (np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
                 for x in (sheet.x, sheet.mesh.points))  # fmt: skip
    return float(np.abs(now / rest - 1.0).max())


def deepest(x, y, triangles):
    """[m] of the vertices x inside the closed surface y, by winding numbers; 0 if none is."""
    tree = build_tree(y, triangles)
    _, _, distance = closest_points(tree, y, triangles, x, 1.0)
    inside = [winding(y, triangles, p) > 0.5 for p in x]
    return float(distance[inside].max(initial=0.0))


def bumpy(radius):
    smooth = globe(radius, 24)
    n = smooth.points / np.linalg.norm(smooth.points, axis=1, keepdims=True)
    bumps = 1.0 + 0.1 * np.sin(7.0 * n[:, 0] + 1.0) * np.sin(6.0 * n[:, 1]) * np.cos(5.0 * n[:, 2])
    return RigidShape("bumpy", smooth.points * bumps[:, None], smooth.triangles)


SHAPES = {
    "globe": globe(RADIUS, 24),
    "plate": box(0.4, 0.4, 0.04),
    "bumpy": bumpy(RADIUS),
    "tray": compartment_box(0.5, 0.5, 0.08, (2, 2), 0.01),
}


def drape(shape, primitive=None, n=12, h=0.02, duration=4.0):
    model = ParticleModel(FrictionTable(0.5), SOLVER_SETTINGS)
    sheet = sheet_over(model, n, shape.points[:, 2].max())
    body = model.add_rigid(RigidBody("object", shape, 5.0, fixed=True), primitive)
    for _ in ParticleSystem(model, h).run(duration):
        pass
    return sheet, body


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_cloth_comes_to_rest_on_a_mesh(name):
    sheet, body = drape(SHAPES[name])
    assert stretch(sheet, 12) < 0.03
    assert deepest(sheet.x, body.positions(), body.triangles) < 1e-3
    assert np.sqrt(2.0 * sheet.kinetic_energy() / sheet.mass) < 0.03
    assert sheet.x[:, 2].mean() > body.positions()[:, 2].min() - 0.4  # and has not slipped off


def test_on_a_globe_it_sinks_as_on_the_ball():
    """Centre of mass: as far below where it began, to 5 %."""
    start = RADIUS + 0.01
    sunk = [start - drape(SHAPES["globe"], p)[0].centre[2] for p in (None, ball(RADIUS))]
    assert sunk[0] == pytest.approx(sunk[1], rel=0.05)


def test_a_cloth_comes_to_rest_on_a_jelly():
    model = ParticleModel(FrictionTable(0.5), SOLVER_SETTINGS)
    sheet = sheet_over(model, 10, 0.0, side=0.5)
    mesh = gel_block((0.3, 0.3, 0.15), (4, 4, 2), "jelly")
    jelly = MassSpring("jelly", mesh, 4.0, stiffness=1000.0, damping=0.5)
    model.add(jelly)
    model.anchor(jelly, mesh.regions["bottom"])
    energy = []
    for _ in ParticleSystem(model, 0.01).run(4.0):
        energy.append(sheet.kinetic_energy())
    assert stretch(sheet, 10) < 0.03
    assert deepest(sheet.x, jelly.x, jelly.triangles) < 1e-3
    assert np.sqrt(2.0 * np.mean(energy[-100:]) / sheet.mass) < 0.03  # its corners still wave


def anchored(n, settings):
    model = ParticleModel(FrictionTable(0.5), settings)
    sheet = sheet_over(model, n, -0.01, side=1.0)
    model.anchor(sheet, sheet.mesh.regions["corners"])
    return model, sheet


@pytest.mark.parametrize("h", [0.02, 0.01, 0.005])
def test_a_flat_cloth_held_at_its_corners_gains_no_energy(h):
    """The rows of its borders, straight between two held nodes, are redundant."""
    model, sheet = anchored(10, SOLVER_SETTINGS)
    for _ in ParticleSystem(model, h).run(1.5):
        assert sheet.kinetic_energy() + 9.81 * sheet.mass * sheet.centre[2] < 1e-9
        assert stretch(sheet, 10) < 0.1
    assert -0.25 < sheet.x[:, 2].min() < -0.05


def test_a_hammock_catches_a_ball_at_5_metres_a_second():
    n, radius, speed = 12, 0.1, 5.0
    model, sheet = anchored(n, TAUT)
    round_one = globe(radius, 16)
    shape = RigidShape(
        "ball", round_one.points + np.array([0.0, 0.0, radius + 0.02]), round_one.triangles
    )
    thrown = model.add_rigid(RigidBody("ball", shape, 0.5))
    thrown.v = np.array([0.0, 0.0, -speed])
    start = 0.5 * thrown.mass * speed**2 + 9.81 * thrown.mass * thrown.centre[2]
    for _ in ParticleSystem(model, 0.01).run(0.4):
        assert deepest(sheet.x, thrown.positions(), thrown.triangles) < 1e-3
        away = sheet.x - thrown.centre
        under = np.argmin(np.linalg.norm(away[:, :2], axis=1))
        assert away[under, 2] < 0.0
        energy = sheet.kinetic_energy() + 9.81 * sheet.mass * sheet.centre[2]
        energy += 0.5 * thrown.mass * thrown.v @ thrown.v + 9.81 * thrown.mass * thrown.centre[2]
        assert energy < start
    assert np.linalg.norm(thrown.v) < 0.5 * speed
    assert thrown.centre[2] > sheet.x[:, 2].min()


@pytest.mark.parametrize("h", [0.02, 0.01])
def test_a_hammock_with_end_directions_carries_the_ball_it_has_caught(h):
    """Mass 300 times a node's: no solve gains energy, and no vertex goes into the ball."""
    n, radius, speed = 10, 0.1, 5.0
    model, sheet = anchored(n, ParticleSolverSettings.taut())
    shape = globe(radius)
    shape = RigidShape("ball", shape.points + np.array([0.0, 0.0, 0.12]), shape.triangles)
    thrown = model.add_rigid(RigidBody("ball", shape, 0.5), ball(radius))
    thrown.v = np.array([0.0, 0.0, -speed])
    bodies, energies = (sheet, thrown), []
    for _ in ParticleSystem(model, h).run(2.0):
        kinetic = sheet.kinetic_energy() + thrown.kinetic_energy()
        energies.append(kinetic + 9.81 * sum(b.mass * b.centre[2] for b in bodies))
        assert np.linalg.norm(sheet.x - thrown.centre, axis=1).min() > radius - 1e-3
        assert stretch(sheet, n) < 0.1
    assert stretch(sheet, n) < 0.03
    start = 0.5 * thrown.mass * speed**2 + 9.81 * thrown.mass * 0.12
    assert max(energies) < start and energies[-1] < 0.3 * start
    assert thrown.centre[2] > sheet.x[:, 2].min()


def test_crossings_are_counted_one_by_one():
    flat = cloth(0.2, 0.2, (4, 4))
    x = np.concatenate([flat.points, flat.points[:, [2, 0, 1]] + [0.011, 0.007, 0.003]])
    both = np.concatenate([flat.triangles, flat.triangles + len(flat.points)])
    assert count_crossings(flat.points, flat.triangles) == 0
    # each sheet's edges through the other, by brute force
    found = count_crossings(x, both)
    assert found > 8
    assert count_crossings(x + np.array([0.0, 1.0, 2.0]), both) == found
    x[len(flat.points) :] += [1.0, 0.0, 0.0]
    assert count_crossings(x, both) == 0


def test_a_sheet_that_is_dropped_on_its_edge_folds_without_a_crossing():
    n, side = 12, 0.4
    model = ParticleModel(FrictionTable(0.3), SOLVER_SETTINGS)
    mesh = cloth(side, side, (n, n))
    sheet = MassSpring("sheet", mesh, 0.05, stiffness=0.05 / len(mesh.points), mass_damping=2.0)
    along, across = mesh.points[:, 0], mesh.points[:, 1]
    wave = 0.02 * np.sin(9.0 * across) * (along + 0.2) + 0.1 * along
    sheet.x = np.stack([wave, across, along + 0.5 * side + 0.01], axis=1)
    model.add(sheet, 1e-3, self_collision=True)
    model.add_inextensible_edges(sheet, grid_edges(mesh, (n, n)))
    model.add_bending(sheet, stiffness=1e-5, damping=1e-6)
    model.add_rigid(RigidBody("ground", box(2.0, 2.0, 0.1), 1.0, fixed=True), half_space(0.05))
    for _ in ParticleSystem(model, 0.02).run(1.6):
        assert count_crossings(sheet.x, mesh.triangles) == 0
    assert sheet.x[:, 2].max() < 0.05
