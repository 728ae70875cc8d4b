"""M table 1: our meshes come near its counts, and the table can be read."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.studies.bench import table_m

pytest.importorskip("pymeshfix", reason="the bunny's scan comes with it")


@pytest.mark.parametrize("row", table_m.ROWS, ids=lambda row: row.name)
def test_meshes_have_about_the_papers_counts(row):
    shape = row.build()
    assert set(shape.cells) == {"tet4"}
    assert len(shape.cells["tet4"]) == pytest.approx(row.tets, rel=0.05)
    assert len(shape.points) == pytest.approx(row.nodes, rel=0.05)
    for region in row.held:
        assert 0 < len(shape.region(region)) < len(shape.points)


def test_growth_is_the_power_of_the_nodes():
    nodes = np.array([100.0, 200.0, 400.0])
    ms = np.stack([nodes, 3.0 * nodes**2], axis=1)
    assert table_m._growth(nodes, ms) == pytest.approx([1.0, 2.0])


def test_a_short_run_gives_a_row_a_mesh(monkeypatch):
    monkeypatch.setattr(table_m, "ROWS", table_m.ROWS[:2])
    monkeypatch.setattr(table_m, "FRAMES", 2)
    monkeypatch.setattr(table_m, "REPEATS", 1)
    seen = []
    result = table_m.run(lambda done, total, text: seen.append((done, total)))
    (table,) = result.tables
    assert [row[0] for row in table.rows] == ["Bunny", "Dragon"]
    for row in table.as_dict()["rows"]:
        for name in table_m.ELEMENTS:
            ratio = row[f"{name}: M [ms]"] / row[f"{name} [ms]"]
            assert row[f"{name}: speed-up"] == pytest.approx(ratio)
    assert seen[-1] == (6, 6)
