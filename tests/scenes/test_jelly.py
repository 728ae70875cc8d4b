"""The jellies carry their bar, light or heavy; C's setting runs; C eq 33 folds a cloth."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.scenes.registry import load


def run(name, seconds, **parameters):
    simulation = load(name, parameters).simulation()
    return simulation, list(simulation.run(seconds))


@pytest.mark.parametrize("mass", [2.7, 9.0, 20.0])
def test_the_jellies_carry_the_bar(mass):
    """9 kg is solid chocolate; it used to diverge, and 20 kg ended in a traceback."""
    simulation, reports = run("jelly", 1.5, bar_mass=mass, across=4, along=5)
    bar = simulation.body("bar")
    sunk = bar.rest_centre[2] - bar.centre[2]
    assert 0.0 < sunk < 0.015  # of 120 mm
    assert np.linalg.norm(bar.v) < 0.02
    last = reports[-1].particles
    assert last.stretch < 0.5
    assert last.kinetic < 0.05 * last.fallen


@pytest.mark.parametrize(
    ("name", "seconds", "stretch", "changes"),
    [
        ("jelly", 3.0, 3.0, {"across": 4, "along": 5}),
        ("cloth", 2.0, 1.0, {"divisions": 20}),
        ("rope", 1.0, 40.0, {}),
        ("rope", 1.0, 2.0, {"heavy": 0.055, "light": 0.045}),
    ],
)
def test_the_setting_of_the_paper_runs_to_the_end(name, seconds, stretch, changes):
    """20 ms, 2 + 2 sweeps, one solve: stretch is what it costs, and the report says so."""
    simulation, reports = run(name, seconds, plan="paper", **changes)
    settings = simulation.world.particles.settings
    assert (settings.sweeps, settings.rigid_sweeps, settings.max_substeps) == (2, 1, 1)
    assert reports[-1].time == pytest.approx(seconds)
    worst = max(r.particles.stretch for r in reports)
    assert 0.1 < worst < stretch
    assert not all(r.converged for r in reports)


def test_a_cloth_folds_by_the_constraint_of_the_paper():
    _, springs = run("cloth", 1.5, divisions=20)
    simulation, reports = run("cloth", 1.5, divisions=20, folds="eq33")
    (bends,) = simulation.world.particles.bends
    assert np.all(bends.model == 1) and np.isfinite(bends.upper).all()
    assert reports[-1].particles.stretch < 0.1
    assert reports[-1].probes["cloth_z"] == pytest.approx(springs[-1].probes["cloth_z"], abs=0.02)
    assert reports[-1].probes["cloth_z"] != springs[-1].probes["cloth_z"]
