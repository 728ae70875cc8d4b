"""Forces from outside on a vertex, and leaks that change while it runs."""

import numpy as np
import pytest

import limpet as lp
from limpet.errors import LimpetError

H = 0.01


def floating(soft):
    world = lp.World(gravity=(0.0, 0.0, 0.0))
    if soft:
        world.add_soft(
            lp.shapes.cup("standard", sectors=6, segments=3), lp.Material(4e6, 0.45), 0.02, name="a"
        )
    else:
        world.add_rigid(lp.shapes.box(0.02, 0.03, 0.04), mass=0.02, name="a")
    return lp.Simulation(world, h=H)


@pytest.mark.parametrize("soft", [True, False])
def test_a_pull_is_momentum_and_the_books_balance(soft):
    simulation = floating(soft)
    force = np.array([0.02, -0.01, 0.03])
    simulation.apply_force("a", 3, force)
    for _ in range(5):
        report = simulation.step()
        assert report.momentum_residual < 1e-9
    assert simulation.bodies[0].momentum() == pytest.approx(5 * H * force, rel=1e-8)
    simulation.clear_forces()
    report = simulation.step()
    assert simulation.bodies[0].momentum() == pytest.approx(5 * H * force, rel=1e-8)


def test_a_pull_downward_is_carried_by_the_ground():
    world = lp.World(gravity=(0.0, 0.0, -9.81))
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), mass=0.1, name="a", position=(0, 0, 0.02))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.02), mass=1.0, name="ground", fixed=True)
    simulation = lp.Simulation(world, h=H)
    for vertex in range(8):
        simulation.apply_force("a", vertex, (0.0, 0.0, -0.5))
    for _ in range(20):
        simulation.step()
    carried = simulation.snapshot().forces.sum(axis=0)
    assert carried == pytest.approx([0.0, 0.0, 0.1 * 9.81 + 8 * 0.5], abs=1e-6)


@pytest.mark.parametrize(
    ("body", "vertex", "force", "why"),
    [
        ("b", 0, (0, 0, 1), "there is no body 'b'"),
        ("a", 99999, (0, 0, 1), "expected 0 to"),
        ("a", 0, (0, np.nan, 1), "three finite numbers"),
    ],
)
def test_a_pull_on_nothing_is_refused(body, vertex, force, why):
    with pytest.raises(LimpetError, match=why):
        floating(False).apply_force(body, vertex, force)


def test_a_leak_changes_while_it_runs():
    from limpet.scenes.registry import load

    simulation = load("ground", {"sectors": 6, "segments": 3, "h": "20 ms"}).simulation()
    report = list(simulation.run(0.6))[-1]
    assert report.cavities[0].leaked == 0.0
    simulation.set_leak(3e-6)
    report = simulation.step()
    assert report.cavities[0].leaked == pytest.approx(3e-6 * 0.02)
    with pytest.raises(LimpetError, match="expected 0 or more"):
        simulation.set_leak(-1.0)
    with pytest.raises(LimpetError, match="no vacuum line"):
        simulation.set_vacuum(1e4)
