"""The pieces that the locking study is made of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from limpet.studies.reproduce.locking import (
    CALCULIX,
    DEFAULTS,
    DEPTH,
    ELEMENT_CASES,
    LONG,
    MANY,
    MESH,
    NINE,
    POISSON,
    SHORT,
    ElementCase,
    LockingResults,
    _claims,
    _nine,
    _not_claimed,
)

REFERENCE = Path(__file__).parents[3] / "benchmarks" / "cup_reference" / "reference.json"


def test_the_figures_beside_ours_are_those_of_the_reference() -> None:
    cases = json.loads(REFERENCE.read_text())["cases"]
    for poisson, force in CALCULIX.items():
        (case,) = (
            c for c in cases
            if c["law"] == "st-venant-kirchhoff" and c["poisson"] == poisson and c["friction"] == 0
        )  # fmt: skip
        assert case["force_N"][-1] == pytest.approx(force, abs=6e-5)
    assert json.loads(REFERENCE.read_text())["depths_mm"][-1] == pytest.approx(1e3 * DEPTH)


@pytest.mark.filterwarnings("ignore:element .* locks")
def test_linear_tets_sag_as_in_drake_and_mujoco() -> None:
    """5.9 and 2.1 mm with 192 tets: they lock alike everywhere."""
    assert LONG.sag(ElementCase("tet4"), MESH, 0.49) == pytest.approx(5.9e-3, abs=0.1e-3)
    assert LONG.sag(ElementCase("tet4"), MESH, 0.499) == pytest.approx(2.1e-3, abs=0.1e-3)


def test_mixed_elements_do_not_feel_poissons_ratio() -> None:
    for element in ("iicr11", "iicr21"):
        soft, stiff = (LONG.sag(ElementCase(element), MESH, n) for n in (0.45, 0.5))
        assert stiff == pytest.approx(soft, rel=0.02)
    ours, paper = (LONG.sag(ElementCase("iicr11", s), MESH, 0.4999) for s in (1.0, 0.0))
    assert paper < 0.6 * ours


def test_quadratic_tets_of_figure_9_are_near_the_beam() -> None:
    for element in ("tet10", "iicr21"):
        sag = SHORT.sag(ElementCase(element), MESH, 0.25, mirrored=True)
        assert sag == pytest.approx(SHORT.elastica(0.25), rel=0.03)


def made_up(**changes) -> LockingResults:
    beam = {f: [0.0480] * len(POISSON) for f in ELEMENT_CASES}
    nine = {_nine(e, d, m): 0.0064 for m in (True, False) for e, d in NINE}
    figures = {
        "beam": beam, "fine": {f: [0.0486] * len(POISSON) for f in DEFAULTS},
        "elastica": [0.0497] * len(POISSON), "linear": {0.45: 0.047, 0.4999: 0.047},
        "figure_9": nine, "push": {f: [0.8] * len(POISSON) for f in ELEMENT_CASES},
        "fine_push": [0.8] * len(POISSON),
    }  # fmt: skip
    return LockingResults(**(figures | changes))


def test_claims_hold_or_fail_by_their_figures() -> None:
    assert all(c[-1] for c in _claims(made_up()))
    locked = made_up().beam | {ElementCase("iicr11"): [0.0480] * 4 + [0.03] * 2}
    failed = [c[0] for c in _claims(made_up(beam=locked)) if not c[-1]]
    assert failed == ["iicr11: sag at nu = 0.4999 as at 0.45"]
    nan = made_up(linear={0.45: np.nan, 0.4999: 0.047})
    assert sum(not c[-1] for c in _claims(nan)) == 1
    many = made_up().figure_9 | {_nine("tet4", MANY): 0.0060}
    assert sum(not c[-1] for c in _claims(made_up(figure_9=many))) == 1


def test_what_is_not_claimed_is_shown_all_the_same() -> None:
    coarse = {row[0]: row[1] for row in _not_claimed(made_up())}
    expected = 100.0 * (0.0480 / 0.0497 - 1.0)
    assert coarse["hexahedra by default, 32 cells: as the elastica"] == pytest.approx(expected)
    assert coarse["figure 9 with parallel diagonals"] == 0.0
