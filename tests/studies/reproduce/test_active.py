"""A's figures 6 and 8 and its timing, on a small mesh."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.studies.bench import active, timing
from limpet.studies.reproduce import fig6, fig8

SMALL = {"sectors": 8, "segments": 4}


@pytest.mark.parametrize(("cup", "vacuum"), [("active-a20", 6e3), ("active-a30", 11e3)])
def test_the_vacuum_draws_the_free_cup_down(cup, vacuum):
    shapes = fig6.shapes(cup, **SMALL)
    assert shapes.sealed
    assert shapes.converged
    assert shapes.vacuum == pytest.approx(vacuum)
    sank = shapes.rest.points[:, 2].max() - shapes.under.points[:, 2].max()
    assert 0.5e-3 < sank <= shapes.moved < 3e-3


def test_fig6_compares_time_steps_and_draws(monkeypatch, tmp_path):
    real = fig6.shapes
    monkeypatch.setattr(fig6, "shapes", lambda name, h: real(name, h, **SMALL))
    monkeypatch.setattr(fig6, "STEPS", (10e-3, 5e-3))
    monkeypatch.setattr(fig6, "CUPS", {"active-a30": 3.29e-3})
    result = fig6.run(lambda *_: None)
    assert result.ok
    result.save(tmp_path)
    assert (tmp_path / "fig6.png").stat().st_size > 10_000


def test_fig8_orders_the_pulls_and_draws(monkeypatch, tmp_path):
    real = fig8.pull
    monkeypatch.setattr(fig8, "pull", lambda name, vacuum: real(name, vacuum, **SMALL))
    monkeypatch.setattr(fig8, "CUPS", ("active-a30",))
    monkeypatch.setattr(fig8, "VACUA", (2e3, 3e3))
    result = fig8.run(lambda *_: None)
    assert result.ok
    result.save(tmp_path)
    assert (tmp_path / "fig8-active-a30.png").stat().st_size > 10_000
    for row in result.tables[0].as_dict()["rows"]:
        # as the dome has not collapsed, all of the vacuum is on the stem when the lip lets go
        assert abs(row["left on the lip [N]"]) < 0.02 * row["pull-off [N]"]
        assert row["largest imbalance [N]"] < 1e-6
    pulls = [
        fig8.VacuumPull(v, np.arange(3.0), force * np.arange(3.0), np.ones(3), 0.1, 2, 0.0, True)
        for v, force in ((2e3, 2.0), (4e3, 1.0))
    ]
    assert not fig8._as_claimed(pulls)  # less force at more vacuum


def test_the_bench_times_every_phase(monkeypatch):
    case = active.TimedCase("small", {"element": "tet4", "sectors": 8, "segments": 4}, claimed=True)
    for module in (active, timing):
        monkeypatch.setattr(module, "STEPS", 3)
    monkeypatch.setattr(active, "REPEATS", 1)
    monkeypatch.setattr(active, "CASES", (case,))
    table = active.run(lambda *_: None).tables[0].as_dict()
    paper, ours = table["rows"]
    assert paper["total [ms]"] == pytest.approx(79.7)
    assert ours["converged"]
    parts = [ours[f"{p} [ms]"] for p in timing.PHASES]
    assert ours["total [ms]"] == pytest.approx(sum(parts))
    assert min(parts) > 0.0
