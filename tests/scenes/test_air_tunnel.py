"""A tunnel joins two holes: what covers one of them only lifts nothing, what covers both lifts."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.scenes.air_tunnel import AirTunnelParameters, scaled
from limpet.scenes.registry import load
from limpet.shapes.cups import STANDARD

QUICK = {
    "h": "20 ms", "push_time": "0.2 s", "hold": "0.04 s", "speed": "40 mm/s", "rise": "5 mm",
    "duration": "0.6 s",
}  # fmt: skip
HOLE, SPACING, DEPTH = 6.0, 18.0, 15.0  # [mm]
TUNNEL = HOLE**2 * (2.0 * DEPTH + SPACING + HOLE)  # [mm^3]


def run(setup: str):
    scene = load("air-tunnel", QUICK | {"setup": setup})
    reports = list(scene.simulation().run(scene.duration))
    assert all(r.converged for r in reports)
    assert max(r.air_error for r in reports) <= 1e-9
    weight = 9.81 * sum(scene.world.specs[n].mass for n in scene.world.specs if "plate" not in n)
    force = sum(wrench[2] for wrench in reports[-1].reactions.values())
    return reports, force, weight


def test_one_hole_covered_lifts_nothing():
    reports, force, _ = run("one")
    assert all(r.cavities == () for r in reports)
    assert reports[-1].probes["cube_z"] == pytest.approx(-0.07, abs=1e-4)
    assert force == pytest.approx(0.02 * 9.81, rel=1e-3)  # the cup alone


@pytest.mark.parametrize("setup, domes", [("both", [1.0]), ("two", [0.48, 0.48])])
def test_both_holes_covered_lift_the_cube(setup, domes):
    reports, force, weight = run(setup)
    # one cavity: the tunnel and the room under the dome of each cup
    first = next(r for r in reports if r.cavities)
    dome = 0.5 * np.pi * 17.5**2 * 4.5
    room = TUNNEL + sum(dome * scale**3 for scale in domes)
    assert len(first.cavities) == 1
    assert 1e9 * first.cavities[0].volume == pytest.approx(room, rel=0.12)
    last = reports[-1]
    assert len(last.cavities) == 1 and last.cavities[0].pressure < 99e3
    assert last.cavities[0].air < 0.95 * first.cavities[0].air
    assert last.probes["cube_z"] > -0.07 + 3e-3
    assert force == pytest.approx(weight, rel=0.02)


def test_the_cups_stand_where_the_setup_says():
    for setup in ("one", "both", "two"):
        p = AirTunnelParameters(setup=setup)
        inside = [
            [abs(side * 0.5 * p.spacing - x) + 0.71 * p.hole < scale * STANDARD.radius
             for _, scale, x in p.cups()]
            for side in (-1.0, 1.0)
        ]  # fmt: skip
        left, right = inside
        assert any(left)
        assert any(right) == (setup != "one")
    assert scaled(STANDARD, 0.5).radius == 0.5 * STANDARD.radius
    assert scaled(STANDARD, 0.5).dome == STANDARD.dome
