"""Two sweeps and sweeps to a tolerance, in small, and how they are judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from limpet.scenes import cloth as cloth_scene
from limpet.studies.reproduce.rest_states import FAILED, RestState
from limpet.studies.reproduce.sweeps_c import TOLERANCES, SweepRun, judge, scenes, sweep_settings

FINE = RestState(0.01, 1e-4, 1e-6, 1e-6, 1e-3, 1e-3, 0.3, 100.0, 5.0, True)


def test_the_plans_go_from_c_s_to_the_finest():
    variants = list(sweep_settings(cloth_scene.SOLVER_SETTINGS, 1).values())
    assert (variants[0].sweeps, variants[0].rigid_sweeps, variants[0].max_substeps) == (2, 1, 1)
    assert variants[1] == cloth_scene.SOLVER_SETTINGS
    assert tuple(p.tolerance for p in variants[2:]) == TOLERANCES


def test_a_cloth_swept_to_a_tolerance_stretches_less():
    """Still on its way down: it whips, and the two finest leave about the same.

    What they leave is drift: position errors of sheets are corrected by a tenth in each solve.
    """
    simulate, variants = scenes(divisions=10, seconds=(0.8, 0.4))["cloth"]
    two, _, *fine = (simulate(plan) for plan in variants.values())
    sweeps = [t.sweeps for t in (two, *fine)]
    assert sweeps == sorted(sweeps) and sweeps[-1] > 10.0 * sweeps[0]
    assert fine[0].stretch_at_rest < 0.1 * two.stretch_at_rest
    assert fine[-1].stretch_at_rest == pytest.approx(fine[-2].stretch_at_rest, rel=0.05)


@pytest.mark.parametrize(
    "spoilt",
    [
        replace(FINE, stretch_at_rest=0.01),
        replace(FINE, penetration_at_rest=1e-4),
        FAILED,
    ],
)
def test_only_the_finest_are_judged_and_none_may_diverge(spoilt, tmp_path):
    coarse = replace(FINE, stretch_at_rest=0.1, penetration_at_rest=1e-3)
    cases = (("two", coarse), ("fine", FINE))
    good = [SweepRun(s, w, t) for s in ("cloth", "jelly") for w, t in cases]
    assert judge(good).ok
    assert not judge([*good, SweepRun("jelly", "finest", spoilt)]).ok
    assert (tmp_path / "sweeps-c.png") in judge(good).save(tmp_path)
