"""Mug, spoon and soft ball are held against gravity and a shake."""

from __future__ import annotations

import numpy as np
import pytest

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
    holder = next(iter(shaken.simulation.world.motions.values()))[1]
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


def test_a_mug_that_is_not_squeezed_enough_stays_behind() -> None:
    told = {"lifting": "0.2 s", "closing": "0.1 s"}
    lost = run("mug-grip", h="10 ms", duration="0.3 s", squeeze="0.05 mm", **told)
    z = lost.probes("mug_z")
    assert z.max() - z[0] < 1e-3
