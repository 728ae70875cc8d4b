"""Constants of rubber: what is refused, what is warned of, and fits to measured curves."""

import warnings

import numpy as np
import pytest

import limpet as lp
from limpet.fem.rubber_curves import UnstableRubberWarning, nominal_stress, stable_range

# L. R. G. Treloar, Trans. Faraday Soc. 40 (1944) 59-70: vulcanised natural rubber in tension,
# stretch and force by area at rest [kgf/cm^2], as often reprinted.
TRELOAR = np.array([
    [1.125, 1.37], [1.24, 2.30], [1.39, 3.23], [1.585, 4.16], [1.90, 5.10], [2.18, 6.00],
    [2.42, 6.90], [3.02, 8.80], [3.57, 10.7], [4.03, 12.5], [4.76, 16.2], [5.36, 19.9],
    [5.75, 23.6], [6.15, 27.4], [6.40, 31.0],
])  # fmt: skip
KGF_CM2 = 9.80665e4  # [Pa]


def test_constants_give_young_and_come_back():
    m = lp.Material.mooney_rivlin(3e5, 1e5, 2e3, 5e2, poisson=0.49, mass_damping=0.1)
    assert m.young == pytest.approx(4.0 * 1.49 * 4e5)
    assert m.constants == pytest.approx((3e5, 1e5, 2e3, 5e2))
    assert (m.law, m.mass_damping) == ("mooney-rivlin", 0.1)
    assert lp.Material.yeoh(3e5, -1e3, 5e2).constants == pytest.approx((3e5, 0.0, -1e3, 5e2))
    same = lp.Material(m.young, 0.49, 0.1, law="mooney-rivlin", c01=1e5, c20=2e3, c30=5e2)
    assert same == m
    assert lp.Material(4e6, 0.45).constants is None
    nbr = lp.rubber("NBR", shore=60)
    assert nbr.material("mooney-rivlin", c01=1e5).young == nbr.young


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lp.Material(4e6, 0.45, law="mooney-rivlin"), "expected c01, c20 or c30"),
        (lambda: lp.Material(4e6, 0.45, c20=1e4), "law 'corotational' has no such constant"),
        (lambda: lp.Material(4e6, 0.45, law="mooney-rivlin", c30=np.nan), "c30 = nan"),
        (lambda: lp.Material.mooney_rivlin(0.4, 0.1), "0.5 MPa is 5e5"),
        (lambda: lp.Material.mooney_rivlin(-4e5, 1e5), r"c10 \+ c01 = -300000 Pa"),
        (lambda: lp.Material.mooney_rivlin(np.nan, 1e5), r"c10 \+ c01 = nan"),
        (lambda: lp.Material.yeoh(4e5, -4e6, 0.0), "falls at uniaxial stretch 0.92"),
        (lambda: lp.Material.mooney_rivlin(9e5, -5e5), "falls at equibiaxial stretch 1"),
        (lambda: lp.fit_rubber([0.1, 0.5, 1.0], [1e5, 3e5, 5e5]), r"1 \+ strain"),
        (lambda: lp.fit_rubber([1.1, 1.5], [1e5, 3e5]), "3 or more points"),
        (lambda: lp.fit_rubber([1.1, 1.5, 2.0], [1e5, 3e5]), "as many numbers"),
        (lambda: lp.fit_rubber([1.1, 1.5, 2.0], [1e5, 3e5, 5e5], "ogden"), "law = 'ogden'"),
        (lambda: lp.fit_rubber([1.1, 1.5, 2], [1e5, 3e5, 5e5], test="pure"), "test = 'pure'"),
        (
            lambda: lp.fit_rubber([1.1, 1.5, 2], [1e5, 3e5, 5e5], "mooney-rivlin", test="planar"),
            "does not tell c10 from c01",
        ),
    ],
)
def test_wrong_constants_and_curves_are_refused_in_one_line(make, message):
    with pytest.raises(lp.LimpetError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_constants_whose_stress_falls_far_from_rest_are_warned_of():
    with pytest.warns(UnstableRubberWarning, match="uniaxial stretches above 2.69"):
        lp.Material.yeoh(4e5, -1.2e4, 0.0)
    with pytest.warns(
        UnstableRubberWarning,
        match="falls at equibiaxial stretches above 1.64",
    ):
        lp.Material.mooney_rivlin(4e5, -6e4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lp.Material.yeoh(4e5, -1.2e4, 1e3)
        lp.Material.mooney_rivlin(4e5, 1e5)
    low, high = stable_range((4e5, 0.0, -1.2e4, 0.0), "uniaxial")
    before, at, after = nominal_stress(high * np.array([0.98, 1.0, 1.02]), (4e5, 0, -1.2e4, 0))
    assert low == 0.3
    assert at == pytest.approx(max(before, at, after), rel=1e-4)


@pytest.mark.parametrize(
    ("test", "law", "constants"),
    [(t, "mooney-rivlin", (3e5, 8e4, 0.0, 0.0)) for t in ("uniaxial", "equibiaxial")]
    + [(t, "yeoh", (3e5, 0.0, -4e3, 2e2)) for t in ("uniaxial", "equibiaxial", "planar")],
)
def test_a_fit_returns_the_constants_that_made_the_curve(test, law, constants):
    stretch = np.linspace(0.7, 2.5, 12)
    found = lp.fit_rubber(stretch, nominal_stress(stretch, constants, test), law, test=test)
    assert found.constants == pytest.approx(constants, rel=1e-6, abs=1e-3)
    assert found.poisson == 0.49


def test_yeoh_follows_treloars_rubber_as_it_stiffens_and_mooney_and_rivlin_do_not():
    stretch, stress = TRELOAR.T * [[1.0], [KGF_CM2]]
    yeoh = lp.fit_rubber(stretch, stress)
    far = stretch > 3.0
    error = nominal_stress(stretch, yeoh.constants)[far] / stress[far] - 1.0
    assert np.abs(error).max() < 0.05
    assert yeoh.young == pytest.approx(1e6, rel=0.05)
    with pytest.warns(UnstableRubberWarning, match="equibiaxial stretches above"):
        two = lp.fit_rubber(stretch, stress, "mooney-rivlin")
    assert nominal_stress(stretch, two.constants)[-1] < 0.8 * stress[-1]
