"""The outcome table in small: judged, kept, continued, and chosen by --set."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from limpet.errors import LimpetError
from limpet.record.table import Study
from limpet.studies.outcome_cases import CASES, OutcomeCase, chosen_cases
from limpet.studies.outcome_rows import KEPT, Outcome, read_kept
from limpet.studies.reproduce import outcomes

SMALL = {"sectors": 8, "segments": 4, "push_time": "0.1 s", "hold": "0.04 s"}
LIGHT = OutcomeCase(
    "light", "lift", "holds", {**SMALL, "speed": "50 mm/s", "duration": "0.5 s"},
    {"sectors": 10}, lifted="block_z",
)  # fmt: skip
HEAVY = replace(
    LIGHT, name="heavy", expected="lets go",
    parameters={**LIGHT.parameters, "block_mass": "20 kg", "rise": "18 mm"},
)  # fmt: skip
TODO = [(case, "default", h) for case in (LIGHT, HEAVY) for h in (0.02, 0.01)]


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table that was interrupted after its second run."""
    folder = tmp_path_factory.mktemp("outcomes")

    def progress(done: float, total: float, text: str) -> None:
        assert total == 4 and text.startswith("outcomes: ")
        if "(2 of 4" in text:
            raise Stopped

    with pytest.raises(Stopped):
        outcomes.collect(TODO, 1, progress, folder)
    return folder


def test_finished_runs_are_kept_and_the_table_goes_on(folder) -> None:
    before = read_kept(folder)
    assert [o.case for o in before.values()] == ["light", "light"]
    with (folder / KEPT).open("a") as file:
        file.write('\n{"case": "light", "me')  # as a killed process leaves it
    started = []
    rows = outcomes.collect(TODO, 1, lambda done, total, text: started.append(text), folder)
    assert not any("light" in text for text in started)
    assert rows[:2] == list(before.values())
    assert [o.outcome for o in rows] == ["holds", "holds", "lets go", "lets go"]
    # light: its weight and the cup's, and their jerk; heavy: it never leaves the ground
    assert 2.06 < rows[1].peak < 4.0
    assert 20.0 < rows[3].peak < 20.0 * 9.81 and 0.14 < rows[3].release < 0.5
    assert rows[1].margin > 0.0 and rows[3].margin is None
    assert read_kept(folder).keys() == {o.key for o in rows}  # for the next call
    assert all(o.unconverged == 0 and o.seals >= 1 for o in rows)


def test_tables_csv_and_plot_are_written(folder, tmp_path) -> None:
    rows = outcomes.collect(TODO, 1, lambda *_: None, folder)
    result = outcomes.tabulate((LIGHT, HEAVY), rows)
    names = {path.name for path in result.save(tmp_path)}
    assert names == {"result.json", "outcomes.csv", "outcomes.png"}
    with (tmp_path / "outcomes.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["h"]) for line in lines] == [0.02, 0.01, 0.02, 0.01]
    told = json.loads((tmp_path / "result.json").read_text())
    assert told["tables"][1]["rows"][0]["verdict"] in ("passes", "misses")


def outcome(mesh: str = "default", h: float = 0.01, **changes: object) -> Outcome:
    given = Outcome("light", mesh, h, "holds", 2.0, None, 1, None, 4e-5, 0, 50, 100, 1.0, "")
    return replace(given, **changes)


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([outcome(), outcome(h=0.02, peak=2.05)], "passes"),
        ([outcome(), outcome(h=0.02, peak=2.07)], "misses"),
        ([outcome(), outcome(h=0.02, outcome="lets go", release=0.4)], "misses"),
        ([outcome(outcome="lets go"), outcome(h=0.02, outcome="lets go")], "misses"),  # P's holds
        ([outcome(jump=0.1), outcome(h=0.02, jump=0.01)], "passes"),  # from 10 ms on
        ([outcome(h=0.005, jump=0.1), outcome(jump=0.08)], "misses"),
        ([outcome(release=1.0), outcome(h=0.02, release=1.04)], "misses"),
    ],
)
def test_verdicts(rows, word) -> None:
    assert outcomes.judge_case(LIGHT, rows).word == word


def test_what_is_stated_to_be_on_an_edge_may_flip() -> None:
    rows = [outcome(), outcome(h=0.02, outcome="lets go", release=0.4)]
    stated = replace(LIGHT, edge="holds up to 200 g")
    assert outcomes.judge_case(stated, rows).word == "edge"
    assert "holds up to 200 g" in outcomes.tabulate((stated,), rows).tables[1].notes[1]


def test_the_reference_is_the_smallest_step_on_the_finest_mesh() -> None:
    rows = [outcome(h=0.0025), outcome("fine", 0.02), outcome("fine", 0.01), outcome(h=0.02)]
    assert outcomes.judge_case(LIGHT, rows).reference is rows[2]


def test_twelve_scenes_are_in_the_table() -> None:
    assert len({case.scene for case in CASES}) == 12
    assert [c.name for c in chosen_cases(("bunny", "masses 5 kg one cup"))] == [
        "bunny",
        "masses 5 kg one cup",
    ]


def test_wrong_settings_are_one_line() -> None:
    for told, line in (
        ({"scenes": "bunnny"}, "scenes = 'bunnny': not in the outcome table; did you mean 'bunny'"),
        ({"steps": "20 mm"}, "steps.0 = '20 mm': expected a time"),
        ({"meshes": "finer"}, "meshes.0 = 'finer': expected 'default' or 'fine'"),
        ({"jobs": "0"}, "jobs = '0': expected a number greater than or equal to 1"),
        ({"mesh": "fine"}, "mesh: unknown parameter; did you mean 'meshes'?"),
    ):
        with pytest.raises(LimpetError) as caught:
            outcomes.run(lambda *_: None, told, None)
        assert str(caught.value).startswith(line)
    with pytest.raises(LimpetError, match="steps: this study has no settings"):
        Study("reproduce.fig4", "").run(lambda *_: None, {"steps": "20 ms"})
