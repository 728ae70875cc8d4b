"""Worlds built in Python, recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

import limpet as lp
from limpet.record.saved_state import summary_of
from limpet.scenes.registry import read_scene_file


def falling() -> lp.World:
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), 0.1, name="box")
    world.add_rigid(
        lp.shapes.box(0.1, 0.1, 0.01), 1.0, name="floor", position=(0, 0, -0.03), fixed=True
    )
    return world


def test_a_world_is_recorded(tmp_path: Path) -> None:
    seen: list[int] = []
    found = lp.run(
        falling(), tmp_path / "own", "0.1 s", plots=False, on_step=lambda r: seen.append(r.step)
    )
    assert found.ended == "finished" and found.steps == 10 and seen == list(range(1, 11))
    assert summary_of(tmp_path / "own") == found and found.scene == "own"
    assert found.parameters == {"h": 0.01, "duration": 0.1}
    rows = (tmp_path / "own" / "history.csv").read_text().splitlines()
    assert len(rows) == 11
    with pytest.raises(lp.LimpetError, match=r"a run of lp.run has none: run its script"):
        read_scene_file(tmp_path / "own" / "scene.toml")
    with pytest.raises(lp.LimpetError, match="exists and is not empty"):
        lp.run(falling(), tmp_path / "own", 0.1)


def test_a_simulation_is_recorded_with_its_step(tmp_path: Path) -> None:
    simulation = lp.Simulation(falling(), h=0.02)
    assert lp.run(simulation, tmp_path / "own", 0.1, plots=False).steps == 5
    with pytest.raises(lp.LimpetError, match="is at step 5; expected one at its start"):
        lp.run(simulation, tmp_path / "more", 0.1)


def test_wrong_arguments_are_one_line(tmp_path: Path) -> None:
    for given, duration, message in (
        (falling(), -1.0, "duration"), (falling(), "soon", "duration = 'soon': expected a time"),
        ("ground", 1.0, "str: expected a World or a Simulation"),
    ):  # fmt: skip
        with pytest.raises(lp.LimpetError, match=message) as problem:
            lp.run(given, tmp_path / "own", duration)  # type: ignore[arg-type]
        assert "\n" not in str(problem.value)
    assert not (tmp_path / "own").exists()
