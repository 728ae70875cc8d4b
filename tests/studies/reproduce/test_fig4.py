"""P figure 4 in small: the three periods, and checks that can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.studies.reproduce import fig4

SMALL = {
    "sectors": 6, "segments": 3, "block_mass": "0.5 kg", "push_time": "0.2 s", "hold": "0.1 s",
    "rise": "3 mm", "speed": "10 mm/s", "duration": "0.85 s",
}  # fmt: skip


def quiet(done, total, text):
    pass


@pytest.fixture(scope="module")
def lifted():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fig4, "PARAMETERS", SMALL)
        return fig4.lift(quiet)


def test_periods_follow_drive_and_block(lifted):
    push, stands, last = lifted.ends
    time, height = lifted.trace["time"], lifted.trace["block_z"]
    assert time[push] == pytest.approx(0.3)
    assert last == len(time) - 1
    assert push < stands < last
    rise = height - height[0]
    assert rise[stands] <= fig4.OFF_GROUND < rise[stands + 1]
    spans = [lifted.span(k) for k in range(3)]
    assert [s.start for s in spans] == [0, push + 1, stands + 1]
    assert [s.stop for s in spans] == [push + 1, stands + 1, last + 1]


def test_the_claims_hold_and_the_figure_is_drawn(lifted, monkeypatch, tmp_path):
    monkeypatch.setattr(fig4, "lift", lambda progress: lifted)
    result = fig4.run(quiet)
    assert result.ok, result.tables[1].rows
    borders = {row[0]: row for row in result.tables[0].rows}
    pushed, pulled = borders["end of 'push and hold'"], borders["end of 'pull, on the ground'"]
    # P is at P_max while air leaves; when the stem has stopped, the cup springs back by 4 Pa
    leaving = lifted.trace["vented"][lifted.span(0)] > 0.0
    assert leaving.any()
    assert lifted.trace["pressure"][lifted.span(0)][leaving] == pytest.approx(101325.0)
    assert pushed[2] == pytest.approx(101.325, rel=1e-4)
    assert pulled[2] < pushed[2]
    assert pulled[4] == pytest.approx(pushed[4], rel=1e-12)  # n stays
    assert pulled[3] > pushed[3]  # V grows
    assert [p.name for p in result.save(tmp_path)] == ["result.json", "fig4.png"]
    assert (tmp_path / "fig4.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("column", "change", "check"),
    [
        ("air", 1.001, "air that leaves after the push, of n"),
        ("volume", 1.001, "|P V / n R T - 1|"),
        ("reaction", 1.01, "|reaction / weight of cup and block - 1| at the end"),
        ("converged", 0, "steps not converged to 1e-10"),
    ],
)
def test_what_is_wrong_is_seen(lifted, column, change, check):
    """The last step is falsified; the check that watches over it says no."""
    rows = [dict(row) for row in lifted.trace.rows]
    rows[-1][column] *= change
    summary = replace(
        lifted.trace.summary, converged_steps=int(np.sum([r["converged"] for r in rows]))
    )
    wrong = replace(lifted, trace=replace(lifted.trace, rows=rows, summary=summary))
    holds = {row[0]: row[-1] for row in fig4._checks(wrong)}
    assert not holds[check]
