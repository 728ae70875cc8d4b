"""B of the rows inside a particle system, against the formula written out."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.dynamics.body import COUPLED
from limpet.particles import (
    ParticleModel,
    ParticleSystem,
    PointMasses,
    RigidBody,
    cloth,
    film_stiffness,
    gel_block,
    half_space,
    spring_stiffness,
)
from limpet.particles.active_rows import contact_rows, held_rows, rows_of_nodes
from limpet.particles.tangent import STIFF, ParticleTangent, solve_contacts

H = 0.004


def resting_block(mass=0.1, young=4e4):
    """A block of springs on a table, with a weight anchored to a corner of its top."""
    model = ParticleModel()
    mesh = gel_block((0.04, 0.04, 0.02), (2, 2, 1)).moved((0, 0, 0.02))
    body = model.add(PointMasses("gel", mesh, mass, mass_damping=3.0))
    stiffness = spring_stiffness(mesh, young)
    model.add_springs(body, stiffness, 2e-3 * stiffness)
    table = RigidBody("table", lp.shapes.box(0.2, 0.2, 0.02), 1.0, fixed=True)
    model.add_rigid(table, half_space(0.01))
    weight = lp.shapes.box(0.01, 0.01, 0.01)
    at = mesh.points.max(axis=0)
    weight = type(weight)("weight", weight.points + at + [0, 0, 0.011], weight.triangles)
    weight = model.add_rigid(RigidBody("weight", weight, 0.02), collides=False)
    model.anchor(body, [int(np.argmax(mesh.points @ [1.0, 1.0, 1.0]))], weight)
    return ParticleSystem(model, H)


def solved(system, steps=20):
    """The system within a step, its rows solved."""
    for _ in range(steps):
        system.step()
    now = system.begin(None, 1)
    system.free(now)
    system.constrain(now)
    tangent = ParticleTangent(system.node_pattern(), now.rows, now.p, now.on)
    for _ in range(4):
        tangent.correct(now.rows, now.p, now.on, now.h)
    tangent.hold_contacts(now.p)
    return now, tangent


def dense(rows, n):
    """J (r, 3 n)"""
    out = np.zeros((len(rows.place), n, 3))
    for r in range(len(out)):
        for k in range(rows.start[r], rows.start[r + 1]):
            out[r, rows.node[k]] += rows.vector[k]
    return out.reshape(len(out), -1)


def test_it_is_the_inverse_of_mass_and_rows():
    now, tangent = solved(resting_block())
    nodes, n = len(now.on.v), len(tangent.mobility)
    mobility = np.zeros((3 * n, 3 * n))
    for i, each in enumerate(tangent.mobility):
        mobility[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = each
    held = rows_of_nodes(now.rows, held_rows(now.rows, now.p), nodes)
    contacts = rows_of_nodes(now.rows, contact_rows(now.rows, now.p), nodes)
    assert tangent.active.sum() > 15 and len(held.place) > 40
    j = dense(held, n)
    c = np.diag(np.maximum(held.compliance, STIFF * held.own))
    b = mobility - mobility @ j.T @ np.linalg.solve(j @ mobility @ j.T + c, j @ mobility)
    f = dense(contacts, n)[tangent.active]
    w = f @ b @ f.T
    expected = b - b @ f.T @ np.linalg.solve(w + STIFF * np.diag(np.diag(w)), f @ b)
    scale = np.abs(expected).max()
    impulse = np.random.default_rng(1).normal(size=(n, 3))
    moved = tangent.solve(impulse).ravel()
    assert moved == pytest.approx(expected @ impulse.ravel(), abs=1e-9 * scale)
    some = np.array([0, 5, nodes, nodes + 1, nodes + 2, n - 1])  # the table, the weight
    at = (3 * some[:, None] + np.arange(3)).ravel()
    assert tangent.compliance(some) == pytest.approx(expected[np.ix_(at, at)], abs=1e-9 * scale)
    assert not tangent.compliance(np.array([nodes, nodes + 1])).any()  # the table is fixed


@pytest.mark.parametrize("mass", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("young", [4e3, 4e6])
def test_newton_steps_solve_what_sweeps_would(mass, young):
    system = resting_block(mass, young)
    now, _ = solved(system, steps=1)
    system.sweep(now)
    assert system.last_sweep.change.max() < COUPLED


def test_contacts_keep_their_law():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(30, 60))
    w, free, mu = a @ a.T, rng.normal(size=30), np.full(10, 1.5)
    p, u = np.zeros(30), free.copy()
    assert solve_contacts(w, u, p, mu) < 2000
    assert u == pytest.approx(free + w @ p, abs=1e-9)
    q, v = p.reshape(-1, 3), u.reshape(-1, 3)
    slip = np.hypot(q[:, 1], q[:, 2])
    assert (q[:, 0] >= 0.0).all() and (v[:, 0] > -1e-5).all()
    assert np.abs(q[:, 0] * v[:, 0]).max() < 1e-5
    assert (slip <= mu * q[:, 0] + 1e-12).all()
    sticks = slip < 0.99 * mu * q[:, 0]
    assert sticks.any() and np.abs(v[sticks, 1:]).max() < 1e-5


def test_a_film_has_the_modulus_it_is_asked_for():
    mesh = cloth(0.2, 0.1, (7, 5))
    k = film_stiffness(mesh, 2e8, 5e-5)
    strain = 1e-3  # in all directions of the plane: E t/(1 - nu) with nu = 1/3, by area
    energy = 0.5 * k * strain**2 * float(mesh.lengths @ mesh.lengths)
    assert energy == pytest.approx(2e8 * 5e-5 * strain**2 / (1 - 1 / 3) * 0.02, rel=1e-9)
