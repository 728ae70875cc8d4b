"""Every number of the scenes of papers C and F, a thousandth and a thousand times its default.

It runs and stays bounded, or it is refused or stopped with one line.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.scenes.registry import load, model_of

STEPS = 6
FEWER = {"mug-lift": 3}  # steps of a scene that costs more
SMALL = {
    "jelly": {"across": 3, "along": 3},
    "cloth": {"divisions": 10},
    "rope": {},
    "cup-lifts-jelly": {"nodes": 150},
    "cup-lifts-bag": {"nodes": 150},
    "bolt": {"sides": 8},
    "mug-lift": {"sectors": 8, "segments": 5, "h": 0.02},
    **{scene: {} for scene in ("boxes", "ball", "pencil", "chopsticks", "spoon", "mug-grip")},
}


def numbers(scene):
    """Names and defaults of what is a number, but zeros: they stay what they are."""
    for name, field in model_of(scene).model_fields.items():
        default = field.default
        if isinstance(default, int | float) and not isinstance(default, bool) and default != 0:
            yield name, default


def plans(scene):
    """Choices of a plan, where a scene has one."""
    has_plan = "plan" in model_of(scene).model_fields
    return [{"plan": "stable"}, {"plan": "paper"}] if has_plan else [{}]


CASES = [
    (scene, chosen, name, int(default * factor) if isinstance(default, int) else default * factor)
    for scene in SMALL
    for chosen in plans(scene)
    for name, default in numbers(scene)
    for factor in (1e-3, 1e3)
]


@pytest.mark.parametrize(("scene", "chosen", "name", "value"), CASES)
def test_a_number_far_off_runs_or_is_refused_with_one_line(scene, chosen, name, value):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            simulation = load(scene, {**SMALL[scene], **chosen, name: value}).simulation()
            start = np.concatenate([b.positions() for b in simulation.bodies])
            for _ in range(FEWER.get(scene, STEPS)):
                report = simulation.step()
    except LimpetError as refused:
        assert str(refused) and "\n" not in str(refused)
        return
    x = np.concatenate([b.positions() for b in simulation.bodies])
    size = np.ptp(start, axis=0).max()
    moved = np.linalg.norm(x - start, axis=1).max()
    # free fall from rest, with prescribed motions of at most 20 m/s, and what overlaps at the start
    assert moved < size + 10.0 * 9.81 * report.time**2 + 20.0 * report.time
    assert np.isfinite(report.residual)
    assert report.particles is None or np.isfinite(report.particles.kinetic)


@pytest.mark.parametrize("mass", [60.0, 2700.0])
def test_a_bar_that_crushes_the_jellies_never_ends_in_a_traceback(mass):
    simulation = load("jelly", {"bar_mass": mass, "across": 3, "along": 3}).simulation()
    try:
        for _ in range(20):
            report = simulation.step()
    except LimpetError as stopped:
        assert "lower h" in str(stopped) and "\n" not in str(stopped)
    else:
        assert report.particles.kinetic < 10.0 * mass
