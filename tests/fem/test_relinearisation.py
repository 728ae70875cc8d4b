"""Newton's method on the whole step: where a step ends, the true forces balance its inertia."""

import numpy as np
import pytest

import limpet as lp
from limpet.fem.material import Fem, Material

MANY = lp.Relinearisation(tolerance=1e-10, most=40)
GRAVITY = (9.81, 0.0, 0.0)
ELEMENTS = [
    ("hex20", "corotational"), ("hex8", "corotational"), ("tet10", "corotational"),
    ("iicr11", "corotational"), ("hex20", "neo-hookean"),
]  # fmt: skip


def beam(relinearisation, element="hex20", law="corotational", h=0.01, young=2e5):
    world = lp.World(gravity=GRAVITY)
    shape = lp.shapes.soft_box(0.01, 0.01, 0.06, (1, 1, 4), element=element)
    soft = world.add_soft(
        shape, Material(young, 0.3, stiffness_damping=0.0, law=law), 0.006, name="beam",
        fem=Fem(element=element), integrator="backward-euler",
    )  # fmt: skip
    world.fix(soft["top"])
    sim = lp.Simulation(world, h=h, settings=lp.Settings(relinearisation=relinearisation))
    return sim, sim.body("beam")


def out_of_balance(body, v_before, h):
    """[N] M (v+ - v)/h - f(x+) - M g of the free nodes, at worst."""
    d = body.fem
    inertia = d.mass_times(body.v - v_before) / h
    weight = d.node_mass[:, None] * np.array(GRAVITY)
    left = inertia - d.loads(body.x, body.p, h).force - weight
    return float(np.abs(left[: d.n_free]).max())


@pytest.mark.parametrize("element, law", ELEMENTS)
def test_the_forces_are_those_at_the_end(element, law):
    """Backward Euler itself, not its linearisation: two steps, the second from a predictor."""
    left = {}
    for name, setting in (("once", lp.Relinearisation(most=1)), ("many", MANY)):
        sim, body = beam(setting, element, law)
        for _ in range(6):
            before = body.v.copy()
            sim.step()
        left[name] = out_of_balance(body, before, sim.h)
    assert left["many"] < 1e-6 * 0.006 * 9.81
    assert left["once"] > 1e3 * left["many"]


def test_a_spring_between_carriers_is_solved_to_the_end():
    """A steel coil whose head is thrown up: linear models of a step lead astray by metres."""
    world = lp.World()
    coil = lp.shapes.coil_spring(0.023, 2.2e-3, 14e-3, 3.0, ends=1 / 8, per_turn=8)
    spring = world.add_soft(
        coil, Material(200e9, 0.3, stiffness_damping=0.0), 0.008, name="spring",
        fem=Fem(element="hex20"), collides=False,
    )  # fmt: skip
    height = float(coil.points[:, 2].max())
    base = world.add_rigid(lp.shapes.box(0.06, 0.06, 0.01), 0.02, name="base", collides=False)
    head = world.add_rigid(
        lp.shapes.box(0.06, 0.06, 0.01), 0.07, name="head", position=(0, 0, height + 0.01),
        collides=False,
    )  # fmt: skip
    world.attach(spring["bottom"], base)
    world.attach(spring["top"], head)
    sim = lp.Simulation(world, h=0.01)
    sim.body("head").v = np.array([0.1, 0.0, 2.0])
    bodies = [sim.body(name) for name in ("base", "head")]
    wire, energy = sim.body("spring"), []
    for report in sim.run(0.2):
        assert report.converged and report.relinearisation_residual < 5e-7
        assert report.momentum_residual < 1e-6
        moving = sum(b.kinetic_energy() for b in bodies)
        moving += 0.5 * float(wire.fem.node_mass @ (wire.v**2).sum(axis=1))
        falling = 9.81 * sum(b.mass * b.centre[2] for b in bodies)
        falling += 9.81 * float(wire.fem.node_mass @ wire.x[:, 2])
        energy.append(moving + falling + wire.elastic_energy())
    thrown = 0.5 * 0.07 * (2.0**2 + 0.1**2)
    gained = np.diff(energy)
    assert gained.max() < 0.05 * thrown
    assert energy[0] - energy[-1] < 0.2 * thrown


def test_a_step_that_does_not_settle_says_so():
    never = lp.Relinearisation(tolerance=1e-19, most=2)  # below rounding, in however many parts
    sim, _ = beam(never)
    reports = [sim.step() for _ in range(5)]
    assert not any(r.converged for r in reports)
    assert all(r.relinearisation_residual > 1e-18 for r in reports)
    sim, _ = beam(MANY)
    reports = [sim.step() for _ in range(5)]
    assert all(r.converged and 0.0 < r.relinearisation_residual <= 1e-10 for r in reports)
