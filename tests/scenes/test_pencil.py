"""F figure 4: the torque of friction over a patch holds a pencil, or lets it turn."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.engine.simulation import Simulation
from limpet.geometry.rotation import rotation_vector
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.registry import load

from .runs import GRAVITY, run

MASS, MU = 6e-3, 0.5


def angle(simulation: Simulation) -> float:
    """[rad] of the pencil about the pinch axis, so far."""
    body = simulation.bodies[0]
    assert isinstance(body, RigidBody)
    return float(rotation_vector(body.pose()[0])[1])


def scrubbing_torque(simulation: Simulation) -> float:
    """[N m] that friction about the pinch axis can hold: mu p r over the patches of now."""
    points, forces = simulation.snapshot().field_contacts
    r = np.hypot(points[:, 0], points[:, 2])
    return float(np.sum(MU * np.linalg.norm(forces, axis=1) * r))


@pytest.mark.parametrize("h", ["2 ms", "5 ms"])
def test_it_turns_when_loosened_and_stops_when_tightened(h: str) -> None:
    scene = load("pencil", {"h": h})
    simulation = scene.simulation()
    angles, worst = [], 0.0
    for report in simulation.run(scene.duration):
        assert report.converged
        angles.append(angle(simulation))
        worst = max(worst, report.momentum_residual)
        assert report.time > 0.2 or abs(report.reactions["left pad"][1]) == pytest.approx(
            1.7, rel=1e-3
        )
    time = scene.h * (1 + np.arange(len(angles)))
    angles = np.array(angles)
    assert worst < 1e-9
    assert np.ptp(angles[time <= 0.2]) < 1e-4
    assert angles[time <= 0.4][-1] > np.radians(30)
    assert angles[-1] == pytest.approx(np.radians(45), abs=0.01)  # at any time step
    stopped = angles[time >= 0.44]
    assert np.ptp(stopped) < 1e-4 and np.radians(30) < stopped[-1] < np.radians(80)
    body = simulation.bodies[0]
    assert isinstance(body, RigidBody)
    # it slips down a little as it turns, but does not fall: the place pinched is between the pads
    _, shift = body.pose()
    assert np.linalg.norm(shift) < 2e-3


def pressed(simulation: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the pencil is pressed now, with which forces, and its centre."""
    body = simulation.bodies[0]
    assert isinstance(body, RigidBody)
    return *simulation.snapshot().field_contacts, body.centre


def sliding_torque(points, forces, centre, v, w) -> float:
    """[N m] about the pinch axis, of pressure and of friction against sliding."""
    load = np.linalg.norm(forces, axis=1)
    normal = forces / load[:, None]
    slip = v + np.cross(w, points - centre)
    slip -= np.einsum("ij,ij->i", slip, normal)[:, None] * normal
    along = slip / np.linalg.norm(slip, axis=1)[:, None]
    return float(np.abs(np.cross(points, forces - MU * load[:, None] * along)[:, 1].sum()))


def test_friction_over_the_patch_is_the_torque_that_the_pads_feel() -> None:
    """Less than mu p r, as friction also carries the weight: against the sliding it is exact."""
    scene = load("pencil")
    simulation = scene.simulation()
    body = simulation.bodies[0]
    assert isinstance(body, RigidBody)
    felt, sliding, most, before = [], [], [], pressed(simulation)
    for report in simulation.run(0.36):
        if report.time > 0.26:  # loads that change little are those as the step begins
            felt.append(sum(abs(w[4]) for w in report.reactions.values()))
            sliding.append(sliding_torque(*before, body.v, body.w))
            most.append(scrubbing_torque(simulation))
        before = pressed(simulation)
    assert len(felt) == 50
    np.testing.assert_allclose(felt, sliding, rtol=0.01)
    share = np.array(felt) / most
    assert share.min() > 0.93 and share.max() < 0.97


@pytest.mark.parametrize(("share", "turns"), [(0.95, False), (1.05, True)])
def test_it_turns_beyond_the_torque_that_friction_predicts(share: float, turns: bool) -> None:
    """Held by pads that are neither loose nor tight, ever further from its centre of mass."""
    pinch = {"tight": "0.85 N", "duration": "0.2 s"}
    level = run("pencil", off_centre=0.0, **pinch).simulation
    off = share * scrubbing_torque(level) / (MASS * GRAVITY)
    assert 0.02 < off < 0.1
    simulation = run("pencil", off_centre=off, **pinch).simulation
    assert (angle(simulation) > 0.01) == turns
    assert turns or abs(angle(simulation)) < 1e-3
