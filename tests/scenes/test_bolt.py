"""A bolt that is turned goes into its nut by its pitch with each turn."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_vector
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.screw_threads import bolt, nut

from .runs import run

PITCH, SIDES = 3e-3, 16


def test_turning_advances_the_bolt_by_its_pitch() -> None:
    told = {"sides": SIDES, "clearance": "0.2 mm", "h": "4 ms", "rest": "20 ms"}
    turned = run("bolt", turns=0.375, turning="0.3 s", duration="0.32 s", **told)
    assert all(r.converged for r in turned.reports)
    assert max(r.momentum_residual for r in turned.reports) < 1e-8
    # Facets on facets make its way a little uneven: look at it over whole facets, once it is taken
    # up by the thread.
    begin, end = (0.02 + 0.3 * k / (0.375 * SIDES) for k in (2, 6))
    height = np.interp([begin, end], turned.time, turned.probes("bolt_z"))
    assert height[0] - height[1] == pytest.approx(PITCH * 4 / SIDES, rel=0.02)
    body = turned.simulation.bodies[0]
    assert isinstance(body, RigidBody)
    angle = rotation_vector(body.pose()[0])
    assert angle[2] == pytest.approx(-2.0 * np.pi * 0.375, rel=0.02)
    assert np.abs(angle[:2]).max() < 0.01  # upright
    # the thread pulls it down between the jaws, whose friction holds it back
    (thread,) = [p for p in turned.reports[-1].patches if p.bodies == ("bolt", "nut")]
    assert thread.force[2] < 0.0


def test_a_bolt_fits_in_its_nut() -> None:
    screw, around = bolt(sides=12), nut(sides=12, clearance=3e-4)
    inside = screw.points[(screw.points[:, 2] < 0.0) & (screw.points[:, 2] > -0.01)]
    assert np.hypot(inside[:, 0], inside[:, 1]).max() == pytest.approx(6e-3, rel=1e-9)
    radius = np.hypot(around.points[:, 0], around.points[:, 1])
    bore = around.points[(radius < 8e-3) & (around.points[:, 2] % 0.01 > 1e-9)]  # not its ends
    assert np.hypot(bore[:, 0], bore[:, 1]).max() == pytest.approx(6.3e-3, rel=1e-9)
    assert np.hypot(bore[:, 0], bore[:, 1]).min() == pytest.approx(4.5e-3, rel=1e-3)


def test_wrong_threads_are_refused() -> None:
    with pytest.raises(LimpetError, match=r"bolt pitch = 0.02 m: expected below 0.008 m"):
        bolt(pitch=0.02)
    with pytest.raises(LimpetError, match=r"nut pitch = 3e-06 m: expected at least 0.00024 m"):
        nut(pitch=3e-6)
    with pytest.raises(LimpetError, match=r"bolt sides = 24000: expected 8 to 240"):
        bolt(sides=24000)
    with pytest.raises(LimpetError, match=r"nut width = 0.01 m: expected more than the diameter"):
        nut(width=0.01)
