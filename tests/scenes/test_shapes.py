"""Plunger, octopus sucker and shop cup lift 190 g by deforming their top (P figure 12)."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.scenes.registry import load

from .runs import GRAVITY, Run, assert_sound

QUICK = {"push_time": "0.2 s", "hold": "0.05 s", "speed": "30 mm/s", "rise": "12 mm"}


@pytest.mark.parametrize("shape", ["plunger", "octopus", "shop"])
def test_the_top_is_pushed_in_and_the_cube_hangs(shape) -> None:
    scene = load("shapes", {"shape": shape, "duration": "0.85 s", "nodes": 400, **QUICK})
    simulation = scene.simulation()
    cup = simulation.bodies[0]
    rim, top = cup.shape.region("rim"), cup.shape.region("top")
    rest = cup.node_positions()
    reports = [simulation.step() for _ in range(25)]
    moved = cup.node_positions() - rest
    assert moved[top, 2].mean() == pytest.approx(-4.5e-3, abs=1e-6)
    # the rim comes down by the clearance, and no further than it can be squeezed
    assert np.abs(moved[rim, 2] + 0.5e-3).max() < 1e-3
    air = [c.air for r in reports for c in r.cavities]
    assert air[-1] < 0.98 * max(air)
    reports += [simulation.step() for _ in range(60)]

    lift = Run(simulation, reports)
    assert_sound(lift)
    assert lift.probes("cube_z")[-1] > -0.025 + 3e-3
    assert lift.force[-1] == pytest.approx(0.210 * GRAVITY, rel=5e-3)
    assert len(reports[-1].cavities) == 1 and reports[-1].cavities[0].pressure < 98e3


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"shape": "squid"}, "shape = 'squid': expected 'plunger', 'octopus' or 'shop'"),
        ({"profile": "plunger"}, "profile = 'plunger': not valid here; choose the cup with"),
        ({"block_mass": -0.19}, "block_mass = -0.19: expected a number greater than 0"),
    ],
)
def test_wrong_input_is_one_clear_line(parameters, line) -> None:
    with pytest.raises(LimpetError) as caught:
        load("shapes", parameters)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
