"""Rubbers by their data sheet: hardness to modulus, presets with sources, faults told."""

import math

import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.fem.rubbers import CONDITIONS, FRICTION, RUBBERS, young_of_shore


# Gent's formula worked out by hand: 0.0981 * 361.1680 / (0.137505 * 152.4) at 40, and so on
@pytest.mark.parametrize(("shore", "mpa"), [(40, 1.6907), (50, 2.4559), (70, 5.5179)])
def test_gents_formula(shore, mpa):
    assert young_of_shore(shore) == pytest.approx(1e6 * mpa, rel=1e-3)


def test_every_rubber_states_its_sources_and_makes_a_material():
    assert len(RUBBERS) == 6
    for name, each in RUBBERS.items():
        assert set(each.sources) == {"young", "shore", "density", "poisson", "friction"}
        assert "1958" in each.sources["young"]
        assert 900 < each.density < 1500
        assert lp.rubber(name).material().young == pytest.approx(young_of_shore(each.shore))
        assert set(each.friction) == set(FRICTION)
        for surface in FRICTION:
            dry, wet, oily = each.friction[surface]
            assert 0.2 < dry < 1.5
            assert math.isnan(oily) or oily <= wet <= dry
    assert CONDITIONS == ("dry", "wet", "oily")


def test_a_data_sheet_replaces_what_is_typical():
    mine = lp.rubber("nbr", shore=55, density=1250.0)
    assert mine.young == young_of_shore(55)
    assert mine.sources["density"] == "given"
    shape = lp.shapes.soft_box(0.02, 0.01, 0.01, (2, 1, 1))
    assert mine.mass(shape) == pytest.approx(1250.0 * 2e-6)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: lp.rubber("silcone"), "did you mean 'silicone'"),
        (lambda: lp.rubber("NBR", shore=5), "shore = 5: expected 10 to 95"),
        (lambda: lp.rubber("NBR", density=-1.0), "density = -1"),
        (lambda: lp.rubber("PVC").friction_on("glas"), "did you mean 'glass'"),
        (lambda: lp.rubber("PVC").friction_on("glass", "xx"), "expected one of: dry"),
        (lambda: lp.rubber("PVC").friction_on("cardboard", "oily"), "not known"),
    ],
)
def test_faults_are_told(call, says):
    with pytest.raises(LimpetError, match=says):
        call()
