"""Mug, spoon and soft ball are held against gravity and a shake."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_vector
from limpet.rigid.rigid_body import RigidBody

from .runs import GRAVITY, run

SHAKE = 5e-3  # [m]


@pytest.mark.parametrize(
    ("scene", "held", "mass", "told", "when", "rise"),
    [
        ("mug-grip", "mug", 0.3, {"lifting": "0.2 s", "closing": "0.1 s"}, 0.3, 0.05),
        ("spoon", "spoon", 0.03, {"lifting": "0.2 s"}, 0.2, 0.03),
        ("chopsticks", "ball", 8e-3, {"lifting": "0.2 s"}, 0.2, 0.03),
    ],
)
def test_it_is_held(scene, held, mass, told, when, rise) -> None:
    """It goes with what holds it: up, and to and fro."""
    shaken = run(scene, h="10 ms", duration="0.9 s", **told)
    assert all(r.converged for r in shaken.reports)
    assert max(r.momentum_residual for r in shaken.reports) < 1e-6
    x, y, z = (shaken.probes(f"{held}_{axis}") for axis in "xyz")
    (late,) = np.nonzero(shaken.time > when + 0.05)
    holder = next(iter(shaken.simulation.world.actuators.values())).motion
    way = np.array([holder.pose(t)[1] for t in shaken.time[late]])
    assert np.ptp(way[:, 0]) > 1.9 * SHAKE
    assert np.ptp(x[late] - way[:, 0]) < 2e-4
    assert np.ptp(z[late] - way[:, 2]) < 2e-4
    assert np.ptp(y[late]) < 2e-4
    assert z[-1] - z[0] == pytest.approx(rise, abs=1.5e-3)
    body = next(b for b in shaken.simulation.bodies if b.name == held)
    assert isinstance(body, RigidBody)
    assert np.linalg.norm(rotation_vector(body.pose()[0])) < 0.02
    up = [sum(p.force[2] for p in shaken.reports[i].patches) for i in late]
    np.testing.assert_allclose(up, mass * GRAVITY, rtol=0.02)


@pytest.mark.parametrize(("share", "lifted"), [(0.9, False), (1.2, True)])
def test_a_mug_is_lifted_if_friction_of_the_grip_force_carries_it(share, lifted) -> None:
    """2 mu F is its weight; a slow lift adds 7 %, and its handle tilts it."""
    force, told = 0.3 * GRAVITY / (2.0 * 0.5), {"lifting": "0.6 s", "closing": "0.1 s"}
    gripped = run("mug-grip", h="10 ms", duration="0.7 s", force=share * force, **told)
    z = gripped.probes("mug_z")
    assert z[-1] - z[0] == pytest.approx(0.05 if lifted else 0.0, abs=1e-3)
    for report in gripped.reports:
        assert report.converged
        assert all(abs(w[1]) <= share * force * (1.0 + 1e-12) for w in report.reactions.values())


@pytest.mark.parametrize("scene", ["spoon", "chopsticks"])
def test_jaws_press_with_their_force_from_the_start(scene: str) -> None:
    held = run(scene, duration="50 ms", h="5 ms")
    force = 19.0 if scene == "spoon" else 0.6
    for report in held.reports:
        pressed = [abs(p.force[1]) for p in report.patches]
        np.testing.assert_allclose(pressed, [force, force], rtol=1e-3)
    with pytest.raises(LimpetError, match="presses the jaws more than"):
        run(scene, force=1e3 * force)
