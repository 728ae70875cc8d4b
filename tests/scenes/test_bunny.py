"""The cup lifts a rigid bunny of 147 g by its back (P figure 7)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.scenes.registry import load
from limpet.shapes import solids

from .runs import GRAVITY, assert_sound, run

pytest.importorskip("pymeshfix", reason="the bunny's scan comes with it")

WEIGHT = (0.147 + 0.020) * GRAVITY  # [N] with the cup


def test_it_hangs_by_its_back() -> None:
    lift = run("bunny", h="20 ms")
    assert_sound(lift)
    bunny, ground = lift.simulation.bodies[1:]
    floor = ground.positions()[:, 2].max()
    assert bunny.positions()[:, 2].min() > floor + 3e-3
    speed = np.diff(lift.probes("bunny_z")) / 0.02
    swing = 0.147 * (speed[-1] - speed[-16]) / 0.3  # [N] what speeds it up in the last 15 steps
    assert lift.force[-15:].mean() == pytest.approx(WEIGHT + swing, rel=5e-3)
    main = max(lift.reports[-1].cavities, key=lambda c: c.volume)
    assert main.pressure < 99e3


def test_it_stands_still_until_the_cup_comes() -> None:
    scene = load("bunny", {"push_time": "5 s"})
    simulation = scene.simulation()
    assert simulation.settings.sealing_distance == 0.2e-3  # not the usual 0.05 mm
    bunny = simulation.bodies[1]
    before = bunny.positions()
    assert simulation.collision_nodes == pytest.approx(572, rel=0.06)  # P table 1
    for _ in range(40):
        report = simulation.step()
    assert report.active_contacts >= 3
    np.testing.assert_allclose(bunny.positions(), before, atol=2e-6)


def test_without_the_scan_one_line_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr("limpet.meshing.tetrahedra.find_spec", lambda name: None)
    solids._bunny_scan.cache_clear()
    with pytest.raises(LimpetError, match=r"^the bunny needs the package pymeshfix: pip install"):
        load("bunny", {})
    solids._bunny_scan.cache_clear()
