"""P_max by each rule, for seals that are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import limpet as lp
from limpet.cavity.gas.limit import ConstantLimit, ElasticEnergy, Seal, TractionPath

SEAL = Seal(gap=0.0, traction=2e3, total=5e3, energy=700.0, force=0.4, area=1e-3, overpressure=2e3)

positive = st.floats(1e-2, 1e2)


def test_a_constant_limit_looks_at_nothing():
    assert ConstantLimit(300.0).overpressure_of(SEAL) == 300.0
    assert lp.Atmosphere(overpressure=300.0).rule == ConstantLimit(300.0)
    assert lp.Atmosphere().rule.overpressure_of(SEAL) == 0.0


def test_energy_is_a_share_of_the_density():
    assert ElasticEnergy().overpressure_of(SEAL) == 700.0
    assert ElasticEnergy(share=0.5).overpressure_of(SEAL) == 350.0


def test_where_pressure_and_traction_agree_that_is_the_limit():
    assert TractionPath().overpressure_of(SEAL) == pytest.approx(2e3, rel=1e-12)


@given(positive, positive, positive, positive, st.floats(-0.5, 3.0))
def test_the_limit_is_where_the_unloaded_traction_meets_the_pressure(f, a, c, share, p):
    """F' + p' A = F + p A, tractions in proportion to F'."""
    seal = Seal(0.0, c, c * (1.0 + share), force=f, area=a, overpressure=p)
    for total in (False, True):
        limit = TractionPath(total).overpressure_of(seal)
        left = f + (p - limit) * a  # of the force on the ring
        known = seal.total if total else seal.traction
        if limit > 0.0:
            slack = 1e-12 * known * (f + abs(p - limit) * a) / f
            assert limit == pytest.approx(known * left / f, rel=1e-12, abs=slack)
        else:
            assert f + p * a <= 0.0


def test_a_gap_in_the_load_holds_nothing_and_no_path_holds_all():
    assert TractionPath().overpressure_of(Seal(0.0, 0.0, 0.0, force=1.0, area=1e-3)) == 0.0
    none = Seal(0.0, float("inf"), float("inf"))
    assert TractionPath().overpressure_of(none) == float("inf")


def test_wrong_limits_are_refused():
    with pytest.raises(lp.LimpetError, match="overpressure = -1 Pa: expected 0 or more"):
        ConstantLimit(-1.0)
    with pytest.raises(lp.LimpetError, match="share of the elastic energy = 0"):
        ElasticEnergy(share=0.0)
