"""The bunny: the same with constant pressures as with none; its ear carries it."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.scenes.registry import load

pytest.importorskip("pymeshfix", reason="the bunny's scan comes with it")


def swing(frames=25, **parameters):
    scene = load("bunny-swing", {"nodes": 150, **parameters})
    simulation = scene.simulation()
    reports = [simulation.step() for _ in range(frames)]
    return np.array([r.probes["tail_z"] for r in reports]), reports


def test_constant_pressures_change_nothing():
    """Eliminated in each cell they are lambda tr e: IICR10 is CR (M section 5, figure 6)."""
    np.testing.assert_allclose(swing(element="iicr10")[0], swing(element="tet4")[0], atol=1e-9)


def test_the_ear_stays_and_carries_the_weight_in_the_end():
    tail, reports = swing(200, element="iicr11")
    scene = load("bunny-swing", {"nodes": 150, "element": "iicr11"})
    weight = scene.world.specs["bunny"].mass * 9.81
    assert reports[-1].reactions["bunny"][2] == pytest.approx(weight, rel=0.02)
    assert np.ptp(tail[:25]) > 10.0 * np.ptp(tail[-25:])
