"""The gap that roughness leaves in contact, against the theory that its table stands for."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.cavity.seal.roughness import GAP, LOAD, critical_gap
from limpet.studies.reproduce.roughness import critical_gap_ratio


def test_the_table_is_the_theory():
    for load, gap in zip(LOAD, GAP):
        assert gap == pytest.approx(critical_gap_ratio(load), rel=1e-3)


def test_between_its_entries_it_is_within_a_tenth():
    for load in np.sqrt(LOAD[1:-2] * LOAD[2:-1]):
        found = critical_gap(np.array([load]), 1.0, 1.0, 2.0 * np.pi)[0]
        assert found == pytest.approx(critical_gap_ratio(load), rel=0.1)


def test_the_quadrature_of_the_theory_has_converged():
    for load in (0.003, 0.1, 1.27):
        fine = critical_gap_ratio(load, n=160)
        assert critical_gap_ratio(load) == pytest.approx(fine, rel=1e-6)


def test_light_contact_has_the_mean_separation_of_an_exponential_tail():
    """At low loads Persson's separation falls with the logarithm of the load, p ~ exp(-u/u0)."""
    gaps = [critical_gap_ratio(load) for load in (1e-4, 1e-3, 1e-2)]
    assert gaps[0] - gaps[1] == pytest.approx(gaps[1] - gaps[2], rel=0.1)


def test_where_no_channel_is_left_nothing_passes():
    assert critical_gap_ratio(2.2) == 0.0
    pressure = np.array([0.0, 1.0, 10.0])
    gap = critical_gap(pressure, np.full(3, 1.0), 1.0, 2.0 * np.pi)
    assert gap[0] == pytest.approx(GAP[0]) and 0.0 < gap[1] < GAP[0] and gap[2] == 0.0


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_it_scales_with_the_units(factor):
    """x alone decides: modulus and pressure, rms and wavelength scale together."""
    pressure, rms, wavelength = np.array([1e4, 5e4, 1e5]), 5e-6, 1e-3
    base = critical_gap(pressure, 3e6, rms, wavelength)
    assert critical_gap(factor * pressure, factor * 3e6, rms, wavelength) == pytest.approx(base)
    longer = critical_gap(pressure, 3e6, factor * rms, factor * wavelength)
    assert longer == pytest.approx(factor * base)
