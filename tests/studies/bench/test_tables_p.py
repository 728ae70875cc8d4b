"""P tables 1 and 2 in small: rows, sizes and phases stand beside the paper's; no time is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.clock import PHASES
from limpet.engine.simulation import Simulation
from limpet.errors import MissingPackageError
from limpet.scenes.registry import load, scenes
from limpet.studies.bench import ground, table1, table2, timing

QUICK = {"push_time": "0.1 s", "hold": "0.05 s", "duration": "0.5 s"}


@pytest.fixture
def short(monkeypatch):
    """Few steps, once; a mesh that is not the paper's."""
    monkeypatch.setattr(timing, "STEPS", 4)
    for module in (table1, table2):
        monkeypatch.setattr(module, "REPEATS", 1)
    small = replace(table1.GROUND, parameters=QUICK | {"sectors": 8, "segments": 5}, start=0.2)
    monkeypatch.setattr(table1, "GROUND", small)
    monkeypatch.setattr(table1, "ROWS", (small, *table1.ROWS[1:]))


def seen_by(run, *settings):
    seen = []
    result = run(lambda done, total, text: seen.append((done, total)), *settings)
    assert seen[-1][0] == seen[-1][1]
    return result


def test_table1_times_what_is_there_and_names_what_is_not(short, monkeypatch):
    absent = replace(table1.ROWS[1], name="absent", scene="no-such-scene")
    monkeypatch.setattr(table1, "ROWS", (table1.GROUND, absent))
    totals, phases = seen_by(table1.run, {}, None).tables
    assert [row[:2] for row in totals.rows] == [("ground", "tet4"), ("ground", "default")]
    assert any("no scene 'no-such-scene'" in note for note in totals.notes)
    for row in totals.as_dict()["rows"]:
        assert row["speed-up"] == pytest.approx(row["P [ms]"] / row["Limpet [ms]"])
        assert row["sizes as in P"] is False  # the mesh is small
        assert row["converged"] is True
    paper, *ours = phases.rows
    assert paper[1] == "P (tets)"
    assert paper[2:] == (9.02, 0.40, 3.13, 21.31, 1.33, None, 38.51)
    for row, total in zip(ours, totals.rows):
        assert sum(row[2:-1]) == pytest.approx(row[-1])
        assert row[-1] == total[10]


def test_the_papers_phases_nearly_add_up_to_its_totals():
    """What is left is its drawing and bookkeeping: a slip of a digit would show."""
    for row in table1.ROWS:
        assert 0.8 * row.total < sum(row.ms) < row.total
    for row in table2.ROWS:
        assert 0.85 * row.total < sum(row.ms) < row.total


def test_the_ground_row_has_the_papers_sizes():
    scene = load("ground", {**table1.GROUND.parameters, "element": "tet4"})
    simulation = Simulation(scene.world, h=scene.h)
    sizes = timing.Timing(simulation.fem_nodes, simulation.collision_nodes, 0.0, {}, True, 1)
    assert table1.GROUND.near(sizes)
    assert not table1.GROUND.near(replace(sizes, collision_nodes=150))


def solved(build, start, repeats, tick, clock):
    """In the place of time_steps."""
    for _ in range(repeats + 1):
        tick()
    return timing.Timing(434, 135, 100.0, dict.fromkeys(PHASES, 1.0), True, 1)


def test_bench_ground_is_the_first_row_alone(monkeypatch):
    monkeypatch.setattr(table1, "time_steps", solved)
    totals, _ = seen_by(ground.run, {}, None).tables
    assert [row[0] for row in totals.rows] == ["ground", "ground"]
    assert not any("left out" in note for note in totals.notes)
    shared, _ = seen_by(ground.run, {"threads": 2}, None).tables
    assert "2 threads, time of the clock" in shared.notes[0]


def test_a_row_without_its_package_is_left_out(monkeypatch):
    def load_no_bunny(name, parameters):
        if name == "bunny":
            raise MissingPackageError("the bunny needs the package pymeshfix")
        return load(name, parameters)

    monkeypatch.setattr(table1, "time_steps", solved)
    monkeypatch.setattr(table1, "suction_begins", lambda simulation: 0.1)
    monkeypatch.setattr(table1, "load", load_no_bunny)
    rows = tuple(row for row in table1.ROWS if row.name in ("ground", "bunny"))
    totals, _ = table1.compare(lambda *_: None, rows, "table1").tables
    assert {row[0] for row in totals.rows} == {"ground"}
    assert "bunny: left out, the bunny needs the package pymeshfix" in totals.notes


def test_the_plain_mean_is_that_of_all_repeats(short):
    def build():
        return load("ground", table1.GROUND.parameters).simulation()

    timed = timing.time_steps(build, 0.05, 2, lambda: None)
    assert timed.median > 0.0
    assert 0.0 < timed.total <= timed.plain * (1.0 + 1e-12)  # the least of each step is no more


def test_a_failed_step_fails_the_bench(monkeypatch):
    monkeypatch.setattr(table1, "time_steps", lambda *a: replace(solved(*a), converged=False))
    assert not ground.run(lambda *_: None, {}, None).ok


def test_suction_is_found_by_running():
    parameters = {"element": "tet4", "sectors": 8, "segments": 5, **QUICK, "speed": "10 mm/s"}

    def build():
        scene = load("ground", parameters)
        return Simulation(scene.world, h=scene.h)

    begin = timing.suction_begins(build())
    assert 0.15 < begin < 0.3  # the pull begins at 0.15 s
    with pytest.raises(timing.LimpetError, match="no suction within 5 steps"):
        timing.suction_begins(build(), within=5)


@pytest.mark.parametrize("row", table2.ROWS, ids=lambda row: str(row.collision_nodes))
def test_table2_has_the_papers_collision_nodes(row):
    scene = load("ground", table2.parameters(row))
    simulation = Simulation(scene.world, h=scene.h)
    assert simulation.collision_nodes == pytest.approx(row.collision_nodes, rel=0.1)


def test_table2_in_small(short, monkeypatch):
    monkeypatch.setattr(table2, "ROWS", table2.ROWS[::3])
    monkeypatch.setattr(table2, "START", 0.16)
    monkeypatch.setattr(table2, "parameters", lambda row: {
        "element": "tet4", "sectors": 8, "segments": 5, "block_divisions": row.divisions,
        "block_edge": "40 mm", **QUICK,
    })  # fmt: skip
    result = seen_by(table2.run)
    redundant, plain = result.tables
    assert result.ok
    assert redundant.rows[1][3] > redundant.rows[0][3]  # all vertices: rows grow with the mesh
    assert plain.rows[1][3] == plain.rows[0][3]  # without the redundant ones they do not
    for table in result.tables:
        assert [row[0] for row in table.rows] == [135, 991]
        assert all(sum(row[7:13]) == pytest.approx(row[5]) for row in table.rows)


def test_growth_is_a_power_of_the_rows():
    rows = [100.0, 200.0, 400.0, 800.0]
    assert table2.power(rows, [r**1.5 for r in rows]) == pytest.approx(1.5)
    assert table2.power([129.0, 129.0], [1.0, 2.0]) is None
    ms = [5.0, 5.0, 40.0, 80.0]
    text = table2.growth([135, 360, 991, 1817], rows, ms)
    assert text.endswith("1.00 between those finer than the cup's 434 nodes")
    paper = table2.power([r.constraints for r in table2.ROWS[-2:]], [475.36, 1185.12])
    assert paper == pytest.approx(np.log(1185.12 / 475.36) / np.log(1022.85 / 674.60))


def test_there_are_seven_rows():
    assert table1.ROWS[0].scene in scenes()
    assert len({row.scene for row in table1.ROWS}) == len(table1.ROWS) == 7
