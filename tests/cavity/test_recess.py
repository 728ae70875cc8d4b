"""Facets of a soft dome that lies on a ball are chords: they recede in contact, and in the air."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import limpet as lp
from limpet.cavity.mesh import volume
from limpet.cavity.search import CavitySearch
from limpet.report import StepReport

PROFILE = lp.shapes.CupProfile(
    "deep", radius=22e-3, depth=13e-3, height=22.5e-3, stem_radius=5e-3, hub_thickness=1.7e-3,
    lip_thickness=0.74e-3, dome=1.84,
)  # fmt: skip


def pressed(steps: int) -> Iterator[tuple[lp.Simulation, StepReport]]:
    """A coarse deep cup, whose dome comes to lie on a ball about as curved as it is."""
    world = lp.World(gravity=(0.0, 0.0, 0.0), friction=1.0)
    shape = lp.shapes.cup(profile=PROFILE, element="tet10", sectors=8, segments=5)
    ball = lp.shapes.sphere(11e-3, facets=20)
    top = float(ball.points[:, 2].max())
    soft = lp.Material(young=7e4, poisson=0.45, stiffness_damping=1.5e-4)
    world.add_rigid(ball, mass=1.0, position=(0.0, 0.0, -top), fixed=True)
    cup = world.add_soft(shape, soft, mass=2.7e-3, position=(3e-4, 2e-4, -12.9e-3))
    world.prescribe_motion(cup["top"], lp.motion.path([(0.0, 0.0), (0.1, -2.5e-3)]))
    world.connect(cup, lp.Pump(free_flow=5e-5, end_vacuum=79e3))
    settings = lp.Settings(seal=lp.LeakySeal(reach=1.8e-4), seal_boundary="middle")
    sim = lp.Simulation(world, h=0.01, settings=settings)
    for _ in range(steps):
        yield sim, sim.step()


def test_walls_that_only_touch_hold_no_negative_volume() -> None:
    found = 0
    for sim, report in pressed(14):
        assert report.converged
        assert report.max_penetration < 5e-5
        for cavity in report.cavities:
            assert cavity.wall_overlap < 2.1e-5
        found += sum(c.mesh.recess > 0.0 for c in sim.snapshot().cavities)
    assert found > 3


def test_without_the_recess_the_mesh_says_less_than_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CavitySearch, "_with_recess", lambda self, mesh, x: mesh)
    least = 0.0
    for sim, _ in pressed(14):
        now = sim.snapshot()
        for c in now.cavities:
            area = 0.5 * float(np.linalg.norm(c.gradient, axis=1).sum())
            least = min(least, volume(c.mesh, now.positions) / area)
    assert least < -2.1e-5
