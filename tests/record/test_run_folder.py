"""The run folder: what is in it, how a run may end, which folders are refused."""

import json
import math
import os
import tomllib
from pathlib import Path

import pytest

from limpet.errors import DivergedError, LimpetError, MeshError
from limpet.record.run import record_run
from limpet.record.run_folder import Recorder, check_folder
from limpet.record.scene_toml import scene_toml
from limpet.scenes.registry import read_scene_file

from .kit import read_history


def test_a_finished_run_has_all_its_files(kit, toy_scene, story, tmp_path):
    steps = []
    folder = tmp_path / "deep" / "run"
    simulation = kit.simulation(story)
    summary = record_run(toy_scene, simulation, folder, on_step=lambda r: steps.append(r.step))
    assert steps == list(range(1, 11))
    assert summary.ended == "finished"
    assert json.loads((folder / "summary.json").read_text()) == json.loads(summary.to_json())
    assert [row["step"] for row in read_history(folder / "history.csv")] == steps
    for name in ("history.png", "section.png", "scene.png"):
        assert (folder / "plots" / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("problem", "ended"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (DivergedError("positions became nan"), "diverged"),
        (MeshError("surface is open"), "failed"),
    ],
)
def test_an_early_end_keeps_what_was_recorded(kit, toy_scene, story, tmp_path, problem, ended):
    summary = record_run(
        toy_scene, kit.simulation([*story[:4], problem]), tmp_path / "run", plots=False
    )
    content = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary.ended == content["ended"] == ended
    assert content["ended_step"] == content["steps"] == 4
    assert content["why"] == (str(problem) or "interrupted from the keyboard")
    assert len(read_history(tmp_path / "run" / "history.csv")) == 4


def test_nan_ends_the_run_and_reaches_no_file(kit, toy_scene, story, tmp_path):
    bad = kit.report(5, force=math.nan, pressure=1e5, volume=math.inf)
    summary = record_run(
        toy_scene, kit.simulation([*story[:4], bad]), tmp_path / "run", plots=False
    )
    assert (summary.ended, summary.ended_step) == ("diverged", 4)
    assert "at step 5" in summary.why
    for path in (
        (tmp_path / "run" / name) for name in ("scene.toml", "history.csv", "summary.json")
    ):
        assert "nan" not in path.read_text().lower().replace("became nan", "")
        assert "inf" not in path.read_text().lower()


def test_a_defect_keeps_the_record_and_its_traceback(kit, toy_scene, story, tmp_path):
    with pytest.raises(ZeroDivisionError):
        record_run(
            toy_scene, kit.simulation([*story[:2], ZeroDivisionError("oops")]), tmp_path / "run"
        )
    content = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (content["ended"], content["why"]) == ("failed", "ZeroDivisionError: oops")


def test_moments_of_the_section(kit, toy_scene, story, tmp_path):
    """Hold: least volume while pushed (not the small one at release). Peak: the largest pull."""
    simulation = kit.simulation(story)
    recorder = Recorder(tmp_path / "run", toy_scene, simulation)
    for report in simulation.run(1.0):
        recorder.add(report)
    recorder.finish()
    assert list(recorder.key_frames) == ["rest", "hold", "peak"]
    frames = [round(frame.time, 6) for frame in recorder.frames]
    assert frames == [round(0.1 * k, 6) for k in range(11)] + [1.0]  # every step, and the end
    assert [round(frame.time, 6) for frame in recorder.key_frames.values()] == [0.0, 0.3, 0.7]
    moved = {label: frame.bodies[-1][1][0, 0] for label, frame in recorder.key_frames.items()}
    assert (moved["hold"], moved["peak"]) == (3, 7)  # copies, though the array is at 10 by now


def test_the_history_is_on_disk_before_the_run_ends(kit, toy_scene, story, tmp_path):
    recorder = Recorder(tmp_path / "run", toy_scene, kit.simulation(story))
    recorder.add(story[0])
    assert len(read_history(tmp_path / "run" / "history.csv")) == 1
    recorder.finish()


def test_scene_toml_reads_back_to_the_same_parameters(toy_scene, tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(scene_toml(toy_scene))
    name, parameters = read_scene_file(path)
    assert name == "toy"
    assert type(toy_scene.parameters).model_validate(parameters) == toy_scene.parameters


def test_scene_toml_says_the_units(toy_scene):
    text = scene_toml(toy_scene)
    assert 'young = "4000000.0 Pa"  # 4 MPa' in text
    assert 'h = "0.1 s"  # 100 ms' in text
    assert "# gap is not set" in text
    assert "gap" not in tomllib.loads(text)["parameters"]


def test_a_folder_with_something_in_it_is_refused_unless_forced(kit, toy_scene, story, tmp_path):
    folder = tmp_path / "run"
    record_run(toy_scene, kit.simulation(story), folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(LimpetError, match=r"exists and is not empty; .* --out DIR, .* --force"):
        record_run(toy_scene, kit.simulation(story), folder)
    record_run(toy_scene, kit.simulation(story[:3]), folder, force=True, plots=False)
    assert len(read_history(folder / "history.csv")) == 3
    assert (folder / "notes.txt").read_text() == "mine"
    assert not (folder / "plots" / "history.png").exists()  # it showed the run before


def test_an_empty_folder_is_taken(kit, toy_scene, story, tmp_path):
    assert record_run(toy_scene, kit.simulation(story), tmp_path, plots=False).steps == 10


def test_folders_that_cannot_be_written_are_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(LimpetError, match="is a file"):
        check_folder(file)
    with pytest.raises(LimpetError, match="cannot be written to"):
        check_folder(file / "below")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(LimpetError, match="cannot be written to"):
        check_folder(tmp_path / "run")


def test_a_folder_the_system_refuses_is_one_line(kit, toy_scene, story):
    with pytest.raises(LimpetError, match="run folder '/proc/limpet': cannot be written to"):
        record_run(toy_scene, kit.simulation(story), Path("/proc/limpet"))
