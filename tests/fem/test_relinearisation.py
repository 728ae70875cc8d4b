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
