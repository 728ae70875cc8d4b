"""Folds against closed forms: a flap that hangs on one fold, and the energy of a rolled strip."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from limpet.particles.bending import BendingModel
from limpet.particles.energy import elastic_energy
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import rope, sheet_mesh
from limpet.particles.model import ParticleModel
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem

G, ARM = 9.81, 0.1  # [m] of each triangle, from the fold to its tip


def flap(kind, rest, **strength):
    """Two triangles with a fold along y; one is clamped level, the tip of the other is free.

    `rest` [rad]: how far the flap rises at rest. Returns the rise of the flap when all is still,
    and the weight of its tip.
    """
    up = ARM * np.array([np.cos(rest), 0.0, np.sin(rest)])
    points = np.array([[0, -0.1, 0], [0, 0.1, 0], [-ARM, 0, 0], up])
    mesh = sheet_mesh(points, [[0, 1, 2], [1, 0, 3]], "flap")
    model = ParticleModel(settings=ParticleSolverSettings(sweeps=50, warm_start=1.0))
    body = MassSpring("flap", mesh, 0.04, 1e-6, mass_damping=20.0, uniform_mass=True)
    model.add(body, collides=False)
    model.add_inextensible_edges(body)
    model.add_bending(body, model=kind, **strength)
    model.anchor(body, [0, 1, 2])
    for _ in ParticleSystem(model, 5e-3).run(3.0):
        pass
    tip = body.x[3]
    assert np.linalg.norm(tip) == pytest.approx(ARM, rel=1e-4)
    return float(np.arctan2(tip[2], tip[0])), 0.01 * G


@pytest.mark.parametrize("stiffness", [0.2, 0.02, 0.005])
@pytest.mark.parametrize("rest", [0.0, 0.8])
def test_a_flap_hangs_where_its_weight_and_the_spring_balance(stiffness, rest):
    rise, weight = flap(BendingModel.ANGLE, rest, stiffness=stiffness, damping=0.01 * stiffness)
    want = brentq(lambda a: stiffness * (rest - a) - weight * ARM * np.cos(a), -np.pi / 2, rest)
    assert rise == pytest.approx(want, abs=2e-3)


@pytest.mark.parametrize("stiffness", [200.0, 20.0])
def test_a_flap_hangs_by_the_constraint_of_the_paper_as_a_spring(stiffness):
    """C eq 33 over the arm: value -ARM cos(a), so its spring turns by k (C - C0) ARM sin(a)."""
    rest = 1.0
    rise, weight = flap(BendingModel.DOT, rest, stiffness=stiffness, damping=0.01 * stiffness)

    def moment(a):
        off = ARM * (np.cos(rest) - np.cos(a))
        return -stiffness * off * ARM * np.sin(a) - weight * ARM * np.cos(a)

    assert rise == pytest.approx(brentq(moment, 0.3, rest), abs=2e-3)


@pytest.mark.parametrize(("share", "falls"), [(1.2, False), (0.8, True)])
def test_the_largest_force_of_the_paper_s_fold_decides_whether_it_holds(share, falls):
    """It holds a moment of max_force ARM sin(a) up to the rest angle."""
    rest = 1.0
    needed = 0.01 * G * np.cos(rest) / np.sin(rest)
    rise, _ = flap(BendingModel.DOT, rest, max_force=share * needed)
    assert (rise < 0.3) == falls
    if not falls:
        assert rise == pytest.approx(rest, abs=1e-3)


def test_a_rolled_strip_stores_the_energy_of_its_angles():
    """Each fold across by the same angle: k angle^2/2 for each; the diagonals stay flat."""
    stiffness, angle, segments = 0.3, 0.2, 10
    model, mesh = ParticleModel(), rope(0.2, 0.02, segments)
    body = model.add(MassSpring("strip", mesh, 0.02, 1e-6), collides=False)
    model.add_inextensible_edges(body)
    model.add_bending(body, stiffness=stiffness)
    slope = angle * np.arange(segments)
    x = 0.02 * np.concatenate([[0.0], np.cumsum(np.cos(slope))])
    z = 0.02 * np.concatenate([[0.0], np.cumsum(np.sin(slope))])
    body.x = np.stack([np.repeat(x, 2), body.x[:, 1], np.repeat(z, 2)], axis=1)
    stored = elastic_energy([body], model.distances[0], model.bends[0]) - body.elastic_energy()
    assert stored == pytest.approx(0.5 * stiffness * angle**2 * (segments - 1), rel=1e-9)
