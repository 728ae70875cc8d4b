"""Random drops by pressure fields: bounded, converged, and no energy from nowhere."""

from __future__ import annotations

from functools import partial

import pytest

from limpet.studies.reproduce import drops_f
from limpet.studies.reproduce.drops_f import KINDS, Drop, run, run_drop


@pytest.fixture(autouse=True)
def quick_mug(monkeypatch):
    """With half of the sides, which are filled four times as fast."""
    monkeypatch.setattr(drops_f, "mug", partial(drops_f.mug, sides=24))


@pytest.mark.parametrize("seed", range(60))
def test_a_random_drop_creates_no_energy(seed):
    outcome = run_drop(Drop.random(seed))
    assert outcome.unconverged == 0
    assert outcome.gain <= 0.01 and outcome.rise <= 0.0


def test_the_study_has_a_row_for_each_kind():
    result = run(lambda *_: None, drops=2)
    assert [row[0] for row in result.tables[0].rows] == list(KINDS)[:2]
    assert result.ok
