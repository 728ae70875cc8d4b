"""Tables of bench and reproduce: printed, and as strict JSON."""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

from limpet.errors import LimpetError
from limpet.record.table import Result, Table, find_study, show_cell
from limpet.studies.registry import BENCHMARKS, STUDIES

TABLE = Table(
    "Times",
    ("phase", "ms", "paper"),
    (("free", 1.23456, 9.02), ("solve [x]", math.nan, None), ("sum", np.float64(2.5), np.int64(3))),
    ("measured on one core",),
)


def test_json_keeps_all_digits_and_has_no_nan():
    content = json.loads(json.dumps(Result((TABLE,)).as_dict(), allow_nan=False))
    assert content["ok"] is True
    rows = content["tables"][0]["rows"]
    assert rows[0] == {"phase": "free", "ms": 1.23456, "paper": 9.02}
    assert rows[1] == {"phase": "solve [x]", "ms": None, "paper": None}
    assert rows[2] == {"phase": "sum", "ms": 2.5, "paper": 3}


def test_prints_every_cell_and_note():
    console = Console(width=100, file=io.StringIO())
    TABLE.print(console)
    text = console.file.getvalue()
    for piece in ("Times", "1.235", "9.02", "solve [x]", "measured on one core", " - "):
        assert piece in text


@pytest.mark.parametrize("terminal", [True, False])
def test_figures_are_printed_whole_however_narrow_the_screen(terminal):
    columns = tuple(f"a long heading {k} [mm]" for k in range(8))
    table = Table("wide", columns, ((0.01234, -1234.0, 1.5e-9, 3, 4.444, 5.555, 6.666, 7.777),))
    console = Console(width=40, file=io.StringIO(), force_terminal=terminal, color_system=None)
    table.print(console)
    for figure in ("0.01234", "-1234", "1.5e-09", "4.444", "7.777"):
        assert f" {figure} " in console.file.getvalue()
    assert "…" not in console.file.getvalue()


@pytest.mark.parametrize(
    ("cell", "text"), [(None, "-"), (math.nan, "-"), (True, "yes"), (12, "12"), (0.1, "0.1")]
)
def test_cells(cell, text):
    assert show_cell(cell) == text


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        Table("t", ("a", "b"), ((1,),)).as_dict()


def test_saves_result_and_figures(tmp_path):
    result = Result((TABLE,), figures={"curve.txt": lambda path: path.write_text("drawn")})
    written = result.save(tmp_path / "out")
    assert [path.name for path in written] == ["result.json", "curve.txt"]
    assert written[1].read_text() == "drawn"
    assert json.loads(written[0].read_text()) == result.as_dict()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LimpetError, match="cannot be written to"):
        Result((TABLE,)).save(tmp_path / "file" / "out")


def test_the_nearest_study_is_suggested():
    with pytest.raises(LimpetError, match=r"bench 'grund': .*did you mean 'ground'"):
        find_study("bench", BENCHMARKS, "grund")
    assert find_study("reproduce", STUDIES, "robustness").module == "reproduce.robustness"
