"""The bent beam: its small sag from the book, the elastica under a tip load, and its balance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk, ellipkinc

from limpet.dynamics.motion import HOLD
from limpet.fem.material import Material
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.shapes.beams import cantilever
from limpet.studies.reproduce.elastica import Beam, bend

M_BEAM = Beam(length=0.10, width=0.01, height=0.01, young=262e3, poisson=0.49)
LOAD = 1100 * 9.81 * 0.01**2  # [N/m]


@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.5])
@pytest.mark.parametrize(("line", "tip"), [(1e-4, 0.0), (0.0, 1e-5), (1e-4, 1e-5)])
def test_small_loads_bend_it_as_in_the_book(line, tip, poisson):
    beam = Beam(0.05, 0.01, 0.02, 262e3, poisson)  # short: shear is a tenth of it
    assert bend(beam, line, tip).sag == pytest.approx(small_sag(beam, line, tip), rel=1e-5)


def small_sag(beam: Beam, line_load: float, tip_load: float = 0.0) -> float:
    """[m] Tip deflection of the linear theory: bending and shear."""
    q, p, length = line_load, tip_load, beam.length
    bending = (q * length**4 / 8.0 + p * length**3 / 3.0) / beam.bending
    return bending + (q * length**2 / 2.0 + p * length) / beam.shear


def test_small_sag_written_out():
    """q L^4 / 8 E I + q L^2 / 2 k G A; at nu = 0 Cowper's k is 5/6."""
    beam = Beam(0.1, 0.02, 0.01, 1e6, 0.0)
    inertia, area = 0.02 * 0.01**3 / 12.0, 0.02 * 0.01
    expected = 0.3 * 0.1**4 / (8e6 * inertia) + 0.3 * 0.1**2 / (2.0 * 5.0 / 6.0 * 0.5e6 * area)
    assert small_sag(beam, 0.3) == pytest.approx(expected, rel=1e-12)


def tip_turn(load):
    """Turn of the tip of an inextensible beam under P L^2 / E I = load (Bisshopp, Drucker 1945).

    sqrt(load) = K(k) - F(phi, k) with k^2 = (1 + sin turn) / 2 and sin phi = 1 / (k sqrt 2).
    """

    def miss(turn):
        m = 0.5 * (1.0 + np.sin(turn))
        return ellipk(m) - ellipkinc(np.arcsin(1.0 / np.sqrt(2.0 * m)), m) - np.sqrt(load)

    return brentq(miss, 1e-6, 0.5 * np.pi - 1e-9)


@pytest.mark.parametrize(("load", "sag"), [(1.0, 0.30172), (2.0, 0.49346), (10.0, 0.81061)])
def test_a_slender_beam_is_the_elastica(load, sag):
    beam = Beam(1.0, 1e-3, 1e-3, 1e9, 0.3)
    bent = bend(beam, 0.0, load * beam.bending)
    turn = tip_turn(load)
    assert bent.rotation[-1] == pytest.approx(turn, abs=1e-4)
    assert bent.along[-1] == pytest.approx(np.sqrt(2.0 * np.sin(turn) / load), abs=1e-4)
    assert bent.sag == pytest.approx(sag, abs=1e-4)


def test_a_beam_that_hangs_down_is_stretched_by_its_weight():
    """So soft that it hangs: the far half is straight down and longer by q l^2 / 2 E A."""
    beam = Beam(0.1, 0.01, 0.01, 2.6e3, 0.3)
    bent = bend(beam, LOAD)
    middle, free = len(bent.down) // 2, 0.5 * beam.length
    assert bent.rotation[middle] == pytest.approx(0.5 * np.pi, abs=0.01)
    stretched = free + LOAD * free**2 / (2.0 * beam.axial)
    assert bent.down[-1] - bent.down[middle] == pytest.approx(stretched, rel=1e-4)


def test_the_beam_of_the_paper():
    assert bend(M_BEAM, LOAD).sag == pytest.approx(49.755e-3, rel=1e-4)  # pinned
    assert small_sag(M_BEAM, LOAD) > 0.062


@pytest.mark.parametrize(("poisson", "within"), [(0.0, 0.005), (0.25, 0.005)])
def test_a_solid_beam_bends_alike_where_its_clamp_does_not_hold_it_across(poisson, within):
    shape = cantilever(element="hex20p", divisions=(8, 1, 2))
    held, mass = shape.region("held"), 1100 * 1e-5
    body = SoftBody("beam", shape, Material(262e3, poisson), mass, held, HOLD)
    assert static_equilibrium(body, np.array([0.0, 0.0, -9.81])).converged
    sag = (shape.points - body.node_positions())[shape.region("tip"), 2].mean()
    beam = Beam(0.1, 0.01, 0.01, 262e3, poisson)
    assert sag == pytest.approx(bend(beam, LOAD).sag, rel=within)
