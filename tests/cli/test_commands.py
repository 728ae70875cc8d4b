"""The command line, as a user meets it: a process, its two streams and its exit status."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.record.kit import read_history

SHORT = ("--duration", "0.05")


def limpet(*arguments, cwd=None):
    """Run ``limpet`` where neither stream is a terminal."""
    command = [sys.executable, "-m", "limpet", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=500)


def assert_wrong_input(done, *pieces):
    """Exit status 2, nothing on stdout, one line on stderr that names these."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("limpet: ")
    assert done.stderr.count("\n") == 1
    for piece in pieces:
        assert piece in done.stderr


def test_help_and_version():
    assert "run" in limpet("--help").stdout
    assert limpet("--version").stdout == "limpet 0.1.0\n"


def test_lists_are_one_line_each_and_json_on_demand():
    for command, name in (("scenes", "ground"), ("bench", "table2"), ("reproduce", "robustness")):
        lines = limpet(command).stdout.splitlines()
        listed = json.loads(limpet(command, "--json").stdout)
        assert name in listed
        assert [line.split()[0] for line in lines] == list(listed)


def test_names_that_do_not_exist_are_answered_with_the_nearest():
    assert_wrong_input(limpet("run", "grund"), "scene 'grund'", "did you mean 'ground'?")
    assert_wrong_input(limpet("bench", "tabel2"), "bench 'tabel2'", "did you mean 'table2'?")
    assert_wrong_input(limpet("reproduce", "robust"), "did you mean 'robustness'?")


def test_a_missing_argument_is_wrong_input():
    done = limpet("run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        (["--set", "yuong=1"], ["yuong", "did you mean 'young'?"]),
        (["--set", "young"], ["--set young", "KEY=VALUE"]),
        (["--set", "young=4 mm"], ["young = '4 mm'", "expected a pressure"]),
        (["--set", "young=-4 MPa"], ["young = '-4 MPa'", "greater than 0"]),
        (["--set", "young=[1"], ["--set young=[1", "list"]),
        (["--h", "0"], ["h = '0'", "above 0"]),
        (["--h", "1 m"], ["h = '1 m'", "expected a time"]),
        (["--duration", "-1 s"], ["duration = '-1 s'", "above 0"]),
    ],
)
def test_wrong_parameters(tmp_path, arguments, pieces):
    assert_wrong_input(limpet("run", "ground", *arguments, cwd=tmp_path), *pieces)
    assert not list(tmp_path.iterdir())


def test_wrong_scene_file(tmp_path):
    assert_wrong_input(limpet("run", tmp_path / "none.toml"), "none.toml", "cannot be read")


def test_json_is_the_summary_and_nothing_else(tmp_path):
    done = limpet("run", "ground", *SHORT, "--json", "--no-plots", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    folder = tmp_path / "runs" / "ground"
    assert json.loads(done.stdout) == json.loads((folder / "summary.json").read_text())
    assert json.loads(done.stdout)["steps"] == 5
    assert not (folder / "plots").exists()


def test_a_run_prints_its_figures_and_folder_and_can_be_run_again(tmp_path):
    done = limpet("run", "ground", *SHORT, "--set", "young=2 MPa", "--out", "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "converged" in done.stdout
    assert done.stdout.rstrip().endswith("a")
    assert (tmp_path / "a" / "plots" / "section.png").exists()
    assert (tmp_path / "a" / "plots" / "scene.png").stat().st_size > 10_000

    refused = limpet("run", "ground", *SHORT, "--out", "a", cwd=tmp_path)
    assert_wrong_input(refused, "run folder 'a'", "not empty", "--force")

    again = limpet("run", "a/scene.toml", "--out", "b", "--no-plots", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "b" / "scene.toml").read_text() == (tmp_path / "a/scene.toml").read_text()
    forces = [
        [row["reaction"] for row in read_history(tmp_path / name / "history.csv")]
        for name in ("a", "b")
    ]
    assert forces[0] == forces[1]


def test_the_run_of_a_scene_file_is_called_as_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text('scene = "ground"\n')
    done = limpet("run", "mine.toml", *SHORT, "--no-plots", "--no-frames", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["mine"]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = limpet("run", "ground", *SHORT, "--out", tmp_path / "file")
    assert_wrong_input(done, "run folder", "is a file", "--out DIR")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_was_recorded(tmp_path, number, status):
    code = "from limpet.cli.commands import main; main()"
    # Ignored signals are inherited: a shell starts background jobs with SIGINT ignored.
    reset = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    command = [sys.executable, "-c", reset + code, "run", "ground", "--duration", "1000"]
    process = subprocess.Popen(
        [*command, "--out", "run", "--no-plots"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    history = tmp_path / "run" / "history.csv"
    deadline = time.monotonic() + 400
    while not (history.exists() and history.stat().st_size > 2000):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = limpet("run", "ground", "--out", "run", "--force", cwd=tmp_path)
    assert_wrong_input(second, "run folder 'run'", f"process {process.pid} is writing")
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in errors
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["ended"] == "interrupted"
    assert f"interrupted at step {summary['ended_step']}" in errors
    assert errors.count("\n") == 1 and "limpet run --resume run" in errors
    assert len(read_history(history)) == summary["steps"] == summary["ended_step"] > 0
