"""Explicit bodies: the stable step, goals, what they conserve, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError, MeshError
from limpet.fem.material import Material
from limpet.geometry.rotation import rotation_matrix
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.mass_spring import MassSpring, spring_forces
from limpet.particles.meshes import cloth, cylinder, rope, sheet_mesh, solid_mesh
from limpet.particles.pbd import PositionBased
from limpet.particles.shape_matching import ShapeMatching

COLUMN = cylinder(0.03, 0.05, (2, 3))
SOFT = Material(young=2e3, poisson=0.3, stiffness_damping=0.0)
DOWN = np.array([0.0, 0.0, -9.81])
MODELS = {
    "springs": lambda: MassSpring("a", COLUMN, 0.1, 2.0, 2e-3),
    "tets": lambda: ExplicitFem("b", COLUMN, 0.1, Material(200.0, 0.3, stiffness_damping=1e-3)),
    "positions": lambda: PositionBased("c", COLUMN, 0.1),
    "shape": lambda: ShapeMatching("d", COLUMN, 0.1),
}


def shaken(body, seed=0, size=0.05):
    rng = np.random.default_rng(seed)
    body.x = body.x + 1e-3 * rng.normal(size=body.x.shape)
    body.v = size * rng.normal(size=body.x.shape)
    return body


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param]()


def test_falls_with_g(model):
    for step in range(20):
        model.compute_free_velocity(0.005, DOWN, 0.005 * step)
        model.advance(0.005)
    np.testing.assert_allclose(model.v, np.tile(0.1 * DOWN, (len(model.v), 1)), atol=1e-12)


def test_a_turn_of_the_rest_shape_makes_no_force(model):
    turn = rotation_matrix(np.array([0.3, -0.5, 0.8]), 2.0)
    model.x = model.x @ turn.T + [0.1, 0.2, 0.3]
    model.compute_free_velocity(0.005, np.zeros(3), 0.0)
    np.testing.assert_allclose(model.v, 0.0, atol=1e-12)


def test_the_inside_keeps_momentum(model):
    shaken(model)
    before = model.momentum()
    for step in range(20):
        model.compute_free_velocity(0.004, np.zeros(3), 0.004 * step)
        model.advance(0.004)
    np.testing.assert_allclose(model.momentum(), before, atol=1e-14)


@pytest.mark.parametrize("name", ["springs", "tets"])
def test_forces_keep_angular_momentum(name):
    body = shaken(MODELS[name]())
    before, energy = body.angular_momentum(), body.kinetic_energy() + body.elastic_energy()
    for step in range(50):
        body.compute_free_velocity(0.004, np.zeros(3), 0.004 * step)
        body.advance(0.004)
    np.testing.assert_allclose(body.angular_momentum(), before, atol=1e-14)
    assert body.kinetic_energy() + body.elastic_energy() < 0.9 * energy  # the dampers work


def test_matched_goals_make_no_moment():
    body = shaken(MODELS["shape"]())
    goals = body.goals(body.x)
    centre = body.node_mass @ body.x / body.mass
    moment = np.cross(body.x - centre, body.node_mass[:, None] * (goals - body.x)).sum(axis=0)
    np.testing.assert_allclose(moment, 0.0, atol=1e-16)


@pytest.mark.parametrize(
    "build",
    [
        lambda: MassSpring("a", rope(1.0, 0.05, 10), 0.2, 50.0),
        lambda: MassSpring("a", rope(1.0, 0.05, 10), 0.2, 50.0, 0.5),
        lambda: ExplicitFem("b", COLUMN, 0.1, SOFT),
        lambda: ExplicitFem("b", COLUMN, 0.1, Material(2e3, 0.3, stiffness_damping=5e-3)),
    ],
)
def test_stable_up_to_the_limit_and_not_far_beyond(build):
    def grows(factor):
        body = build()
        limit = body.stable_step
        body.stable_step = np.inf
        rng = np.random.default_rng(1)
        body.v = 1e-6 * rng.normal(size=body.x.shape)
        start = body.kinetic_energy()
        for _ in range(300):
            body.compute_free_velocity(factor * limit, np.zeros(3), 0.0)
            body.advance(factor * limit)
            if body.kinetic_energy() > 20.0 * start:
                return True
        return False

    assert not grows(0.98)
    assert grows(2.0)  # the bound holds for every shape the body may take, so it is not sharp


def test_a_step_too_long_is_refused_with_the_limit():
    body = ExplicitFem("jelly", COLUMN, 0.1, Material(young=1e6, poisson=0.3))
    with pytest.raises(LimpetError, match=r"'jelly' is stable up to .* s; lower h") as caught:
        body.compute_free_velocity(0.02, DOWN, 0.0)
    limit = float(str(caught.value).split("up to ")[1].split(" s")[0])
    assert limit == pytest.approx(body.stable_step, rel=1e-2)
    body.compute_free_velocity(0.99 * limit, DOWN, 0.0)


def test_spring_forces_against_plain_numpy():
    mesh = cloth(0.3, 0.2, (4, 3))
    body = shaken(MassSpring("a", mesh, 0.1, 40.0, 0.3))
    i, j = body.springs.T
    d = body.x[j] - body.x[i]
    length = np.linalg.norm(d, axis=1)
    along = d / length[:, None]
    rate = np.einsum("ki,ki->k", along, body.v[j] - body.v[i])
    pull = (40.0 * (length - body.rest) + 0.3 * rate)[:, None] * along
    force = np.zeros_like(body.x)
    np.add.at(force, i, pull)
    np.add.at(force, j, -pull)
    ours = spring_forces(
        body.x, body.v, body.springs, body.rest, body.spring_stiffness, body.spring_damping
    )
    np.testing.assert_allclose(ours, force, atol=1e-14)


def test_positions_come_to_their_lengths_and_volumes():
    body = shaken(PositionBased("c", COLUMN, 0.1, sweeps=200))
    goals = body.goals(body.x)
    i, j = COLUMN.edges.T
    np.testing.assert_allclose(
        np.linalg.norm(goals[j] - goals[i], axis=1), COLUMN.lengths, rtol=1e-3
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sheet_mesh(np.eye(3)[[0, 1, 1]], [[0, 1, 2]]), "points 1 and 2 has no length"),
        (
            lambda: sheet_mesh(
                np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1.0]]),
                [[0, 1, 2], [1, 0, 3], [0, 1, 4]],
            ),
            "not manifold: 1 edges have more than two triangles, the first between points 0 and 1",
        ),
        (lambda: sheet_mesh(np.eye(3), [[0, 1, 5]]), "names points 0 to 5, there are 3"),
        (lambda: sheet_mesh(np.eye(4, 3), [[0, 1, 2]]), "1 points that belong to nothing"),
        (lambda: solid_mesh(np.eye(4, 3), np.zeros((0, 4), int)), "no triangles and no tetrahedra"),
    ],
)
def test_bad_nets(make, message):
    with pytest.raises(MeshError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MassSpring("a", COLUMN, 0.0, 1.0), "mass of 'a' = 0"),
        (lambda: MassSpring("a", COLUMN, 1.0, -1.0), "stiffness of 'a'"),
        (lambda: MassSpring("a", COLUMN, 1.0, 1.0, springs=[[0, 0]]), "no length at rest"),
        (lambda: MassSpring("a", COLUMN, 1.0, 1.0, springs=[[0, 999]]), "name nodes 0 to 999"),
        (lambda: MassSpring("a", COLUMN, 1.0, 1.0, driven=[-1]), "driven nodes of 'a'"),
        (lambda: ExplicitFem("a", cloth(1, 1, (2, 2)), 1.0, SOFT), "has no tetrahedra"),
        (lambda: ExplicitFem("a", COLUMN, 1.0, Material(1e3, 0.5)), "poisson below 0.5"),
        (lambda: PositionBased("a", COLUMN, 1.0, 0.0), "stiffness of 'a' = 0"),
        (lambda: PositionBased("a", COLUMN, 1.0, sweeps=0), "sweeps of 'a' = 0"),
        (lambda: ShapeMatching("a", cloth(1, 1, (2, 2)), 1.0), "is flat"),
        (lambda: ShapeMatching("a", COLUMN, 1.0, linear=2.0), "linear of 'a' = 2"),
    ],
)
def test_bad_bodies(make, message):
    with pytest.raises(LimpetError, match=message):
        make()
