"""The cup lifts a rigid bunny of 147 g by its back (P figure 7)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.rigid.rigid_body import mass_properties
from limpet.scenes.bunny import BunnyParameters, standing_bunny
from limpet.scenes.registry import load
from limpet.shapes import solids

from .runs import GRAVITY, assert_sound, run

pytest.importorskip("pymeshfix", reason="the bunny's scan comes with it")

QUICK = {"push_time": "0.3 s", "hold": "0.1 s", "speed": "30 mm/s", "duration": "1.6 s"}
WEIGHT = (0.147 + 0.020) * GRAVITY  # [N] with the cup


def test_it_hangs_by_its_back() -> None:
    lift = run("bunny", **QUICK)
    assert_sound(lift)
    bunny, ground = lift.simulation.bodies[1:]
    floor = ground.positions()[:, 2].max()
    assert bunny.positions()[:, 2].min() > floor + 15e-3
    speed = np.diff(lift.probes("bunny_z")) / 0.01
    swing = 0.147 * (speed[-1] - speed[-31]) / 0.3  # [N] what speeds it up in the last 30 steps
    assert lift.force[-30:].mean() == pytest.approx(WEIGHT + swing, rel=5e-3)
    main = max(lift.reports[-1].cavities, key=lambda c: c.volume)
    assert main.pressure < 99e3
    # it is on no edge: the ring is known, and its widest gap is 0.14 mm of 0.2
    assert all(0.03e-3 < main.margin < 0.1e-3 for main in _main(lift.reports[-60:]))


@pytest.mark.parametrize(
    "change", [{"h": "20 ms"}, {"friction": 0.2, "h": "20 ms"}, {"block_mass": "0.5 kg"}]
)
def test_it_is_on_no_edge(change) -> None:
    lift = run("bunny", **{**QUICK, "duration": "1 s", **change})
    assert_sound(lift)
    assert len(_main(lift.reports[-20:])) == 20
    assert lift.probes("bunny_z")[-1] > lift.probes("bunny_z")[0] + 10e-3


def test_the_cup_goes_where_a_planner_sends_it() -> None:
    shape, spot, normal = standing_bunny(BunnyParameters())
    centre = mass_properties(shape.points, shape.triangles, 1.0)[0]
    assert np.hypot(*(spot - centre)[:2]) < 15e-3  # the smoothest upright place is at 30 mm
    assert 5.0 < np.degrees(np.arccos(normal[2])) < 15.0


def _main(reports):
    """The cup's cavity of each step that has one."""
    return [max(r.cavities, key=lambda c: c.volume) for r in reports if r.cavities]


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
