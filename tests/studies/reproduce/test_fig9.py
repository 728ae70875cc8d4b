"""P figure 9 in small: the runs, what is judged of them, and the figure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from limpet.studies.reproduce import fig9

SMALL = {"push_time": "0.2 s", "hold": "0.1 s", "push": "2 mm"}


@pytest.fixture(scope="module")
def small():
    """The result and the progress of tiny runs; traces are kept by case."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fig9, "MESHES", (300, 390))
        patch.setattr(fig9, "TIME_STEPS", (0.02, 0.01, 0.01))
        patch.setattr(fig9, "TET_MESHES", (300,))
        patch.setattr(fig9, "CLAIMED_FROM", 350)
        patch.setattr(fig9, "MORE", SMALL)
        patch.setattr(fig9, "PULL", {"speed": 15e-3, "duration": 0.7})
        patch.setattr(fig9, "SLOW_PULL", {"speed": 12e-3, "duration": 0.8})
        seen, kept = [], {}
        real = fig9._trace

        def keep(case, k, total, progress):
            kept[case] = real(case, k, total, progress)
            return kept[case]

        patch.setattr(fig9, "_trace", keep)
        result = fig9.run(lambda done, total, text: seen.append((done, total)))
        yield result, kept, seen


def test_every_run_is_a_row_and_the_shared_one_runs_once(small):
    result, kept, seen = small
    by_mesh, by_step, by_tets = result.tables
    assert [row[0] for row in by_mesh.rows] == [300, 390]
    assert [row[3] for row in by_step.rows] == pytest.approx([20.0, 10.0, 10.0, 20.0, 10.0])
    pulls = [0.24, 0.12, 0.12, 0.3, 0.15]  # [mm] a step
    assert [row[4] for row in by_step.rows] == pytest.approx(pulls)
    assert [row[0] for row in by_tets.rows] == [300]
    assert len(kept) == 6
    assert seen[-1] == (pytest.approx(6.0), 6)
    assert by_mesh.rows[0][5] == by_step.rows[-1][5]


def test_rows_say_what_the_runs_gave(small):
    result, kept, _ = small
    for table, element in zip(result.tables, (None, None, "tet4")):
        for row in table.as_dict()["rows"]:
            h, pull = 1e-3 * row["h [ms]"], 1e-3 * row["pull per step [mm]"]
            slow = pull / h < 13e-3
            case = fig9.Refinement(row["nodes in P"], pytest.approx(h), element, slow)
            (trace,) = [t for c, t in kept.items() if c == case]
            assert row["peak [N]"] == pytest.approx(trace["reaction"].max())
            assert row["nodes"] == trace.summary.fem_nodes
            assert row["run time [s]"] == trace.seconds
            assert abs(row["nodes"] / row["nodes in P"] - 1.0) < 0.2


def test_only_what_is_claimed_is_judged(small):
    result, _, _ = small
    by_mesh, by_step, by_tets = result.tables
    assert [row[-2] for row in by_mesh.rows] == [None, True]  # the reference itself
    assert by_step.rows[2][-2] is True
    assert [row[-2] for row in by_step.rows[3:]] == [None, None]
    assert [row[-2] for row in by_tets.rows] == [None]
    holds = [row[-2] for table in result.tables for row in table.rows]
    assert result.ok == (False not in holds)


def test_a_peak_too_far_from_the_reference_fails(small):
    _, kept, _ = small
    coarse, fine = fig9.Refinement(300, 0.01), fig9.Refinement(390, 0.01)
    far = replace(
        kept[fine], summary=replace(
            kept[fine].summary, peak_pull_force=1.2 * kept[coarse].summary.peak_pull_force
        )
    )  # fmt: skip
    table = fig9._table("", [coarse], {**kept, fine: far}, fine, {coarse: fig9.ALLOWED})
    assert table.rows[0][-2] is False
    assert table.rows[0][10] == pytest.approx(100.0 * (1.0 / 1.2 - 1.0))


def test_the_figure_has_three_panels_by_two(small, tmp_path):
    result, _, _ = small
    assert [p.name for p in result.save(tmp_path)] == ["result.json", "fig9.png"]
    assert (tmp_path / "fig9.png").stat().st_size > 10_000
