"""The table of query times can be read, with a peer and without."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.bench import drake, pressure_field


def test_a_short_run_without_drake_gives_a_row_a_pair(monkeypatch):
    monkeypatch.setattr(drake, "available", lambda: False)
    monkeypatch.setattr(pressure_field, "ROWS", pressure_field.ROWS[:2])
    monkeypatch.setattr(pressure_field, "ROUNDS", 2)
    monkeypatch.setattr(pressure_field, "SPELL", 1e-4)
    seen = []
    result = pressure_field.run(lambda done, total, text: seen.append((done, total)))
    (table,) = result.tables
    assert result.ok and seen[-1] == (2, 2)
    assert [row[0] for row in table.rows] == ["sphere-box", "sphere-box"]
    coarse, fine = table.as_dict()["rows"]
    assert coarse["faces"] < fine["faces"] and coarse["ours [ms]"] > 0.0
    assert any("not installed" in note for note in table.notes)


def test_the_ratio_decides_only_for_the_pairs_of_the_targets():
    columns = tuple("abcdefgh")
    rows = [
        ("sphere-box", "", 1, 30, 1.0, 30, 2.0, 2.0),  # too few faces to count
        ("sphere-box", "", 1, 100, 1.0, 100, 4.0, 4.0),
        ("mug-box", "", 1, 800, 1.0, 700, 3.5, 3.5),
        ("mug-mug", "", 1, 900, 1.0, 900, 1.5, 1.5),  # not one of them
    ]
    assert pressure_field._result(columns, rows, True).ok
    rows[2] = ("mug-box", "", 1, 800, 1.0, 700, 2.5, 2.5)
    assert not pressure_field._result(columns, rows, True).ok


def test_growth_is_the_power_of_the_faces():
    faces = np.array([10.0, 100.0, 1000.0])
    assert pressure_field._growth(list(zip(faces, 3.0 * faces**1.5))) == pytest.approx(1.5)
