"""The table of query times has one row per pair and the exponent of the growth."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from limpet.studies.bench import pressure_field


def test_a_short_run_gives_one_row_per_pair(monkeypatch):
    monkeypatch.setattr(pressure_field, "ROWS", pressure_field.ROWS[:2])
    monkeypatch.setattr(pressure_field, "ROUNDS", 2)
    monkeypatch.setattr(pressure_field, "ROUND_TIME", 1e-4)
    calls = []
    result = pressure_field.run(lambda done, total, text: calls.append((done, total)))
    (table,) = result.tables
    assert result.ok and calls[-1] == (2, 2)
    assert [row[0] for row in table.rows] == ["sphere-box", "sphere-box"]
    coarse, fine = table.as_dict()["rows"]
    assert coarse["polygons"] < fine["polygons"] and coarse["Limpet [ms]"] > 0.0
    assert any("(sphere-box)" in note for note in table.notes)


def test_the_exponent_is_the_power_of_the_polygons():
    polygons = np.array([10.0, 100.0, 1000.0])
    times = list(zip(polygons, 3.0 * polygons**1.5))
    assert pressure_field._exponent(times) == pytest.approx(1.5)


def test_drake_is_not_imported():
    code = (
        "import sys, limpet.studies.bench.pressure_field;"
        "sys.exit(any(name.startswith('pydrake') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
