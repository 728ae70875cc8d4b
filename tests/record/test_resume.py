"""Runs that are ended from outside: what their folder has, and what --resume makes of it."""

import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.record import journal, saved_state
from limpet.record.frames import read
from limpet.record.history import read_rows
from limpet.record.journal import Journal, read_journal
from limpet.record.run import record_run
from limpet.record.run_folder import Recorder, check_folder
from limpet.record.saved_state import summary_of
from limpet.record.signals import STOPPING, reason
from limpet.scenes.registry import load
from limpet.viewer.replay import write_replay

SMALL = {"sectors": 6, "segments": 3, "h": "10 ms", "push_time": "0.1 s", "hold": "0.1 s"}
STEPS = 40


def scene():
    return load("ground", {**SMALL, "duration": "0.4 s"})


def run(folder, **options):
    own = scene()
    return record_run(own, own.simulation(), folder, plots=False, **options)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    assert run(folder).ended == "finished"
    return folder


def without_times(folder):
    rows, _ = read_rows(folder / "history.csv")
    return [{k: v for k, v in row.items() if not k.startswith("ms_")} for row in rows]


def assert_same_record(one: Path, other: Path):
    """To the bit, but for the times that the steps took."""
    assert without_times(one) == without_times(other)
    assert (one / "frames.vtkhdf").read_bytes() == (other / "frames.vtkhdf").read_bytes()
    with np.load(one / "frames.npz") as a, np.load(other / "frames.npz") as b:
        assert a.files == b.files
        assert all(a[name].tobytes() == b[name].tobytes() for name in a.files)
    assert sorted(p.name for p in one.iterdir()) == sorted(p.name for p in other.iterdir())


@pytest.fixture
def heard() -> Iterator[None]:
    """Signals that tests under nohup or in the background would ignore."""
    before = {n: signal.getsignal(n) for n in STOPPING}
    for number, handler in before.items():
        if handler is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_after_its_step_and_it_is_resumed(undisturbed, tmp_path, number):
    def send(report):
        if report.step == 25:
            os.kill(os.getpid(), number)

    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    summary = run(tmp_path / "run", on_step=send)
    assert {n: signal.getsignal(n) for n in before} == before
    assert (summary.ended, summary.why) == ("interrupted", reason(number))
    assert summary.steps == summary.ended_step == 26  # the signal came between two steps
    assert len(without_times(tmp_path / "run")) == 26
    assert read(tmp_path / "run").frames[-1].step == 26
    assert run(tmp_path / "run", resume=True).ended == "finished"
    assert_same_record(tmp_path / "run", undisturbed)


def killed_at(folder, step, *, state=None):
    """As a process leaves its folder that kill -9 ends after a step, with a state or without."""
    own = scene()
    simulation = own.simulation()
    recorder = Recorder(folder, own, simulation)
    from limpet.record.run import _frame_recorder

    film = _frame_recorder(own, simulation, recorder)
    for report in simulation.run(step * own.h):
        recorder.add(report)
        film.add(report)
        if report.step == state:
            recorder.save_state(report.step, now=True)
    recorder._lock.release()


@pytest.mark.parametrize("state", [None, 12, 20])
def test_a_killed_run_is_read_and_resumed(undisturbed, tmp_path, state):
    folder = tmp_path / "run"
    killed_at(folder, 20, state=state)
    with (folder / "history.csv").open("a") as torn:
        torn.write("21,0.2")
    with (folder / journal.FILE).open("ab") as torn:
        torn.write(b"\xff\0\0\0half a record")
    assert json.loads((folder / "summary.json").read_text())["ended"] == "running"
    summary = summary_of(folder)
    assert (summary.ended, summary.steps, summary.fem_nodes) == ("killed", 20, 181)
    recording = read(folder)
    assert [frame.step for frame in recording.frames] == list(range(21))
    assert write_replay(folder).stat().st_size > 100_000
    with h5py.File(folder / "frames.vtkhdf") as file:
        assert file["VTKHDF/Steps"].attrs["NSteps"] >= 1
    assert run(folder, resume=True).ended == "finished"
    assert_same_record(folder, undisturbed)
    assert summary_of(folder).ended == "finished"


def test_resuming_needs_the_same_scene(tmp_path):
    killed_at(tmp_path / "run", 3, state=2)
    other = load("ground", {**SMALL, "duration": "0.4 s", "young": "2 MPa"})
    with pytest.raises(LimpetError, match=r"recorded with young = .*4000000.*, not young = .*200"):
        record_run(other, other.simulation(), tmp_path / "run", resume=True)


def test_a_state_beyond_its_history_is_not_resumed(tmp_path):
    killed_at(tmp_path / "run", 3, state=3)
    (tmp_path / "run" / journal.FILE).write_bytes(b"")
    with pytest.raises(LimpetError, match=f"do not reach its {saved_state.FILE}; .* --force"):
        run(tmp_path / "run", resume=True)
    check_folder(tmp_path / "run", force=True)  # the lock is free again


def test_a_folder_that_a_run_is_writing_is_refused(kit, toy_scene, story, tmp_path):
    first = Recorder(tmp_path / "run", toy_scene, kit.simulation(story))
    first.add(story[0])
    for options in ({}, {"force": True}, {"resume": True}):
        with pytest.raises(LimpetError, match=rf"process {os.getpid()} is writing a run to it"):
            record_run(toy_scene, kit.simulation(story), tmp_path / "run", **options)
    first.add(story[1])
    first.finish()
    assert len(read_rows(tmp_path / "run" / "history.csv")[0]) == 2


@pytest.mark.parametrize("size", [400_000, 200_000, 4_000])
def test_a_full_disk_ends_the_run_and_keeps_what_was_written(tmp_path, size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    folder = tmp_path / "run"
    try:
        summary = run(folder)
    except LimpetError as problem:  # not even the first frame has space
        assert size == 4_000 and "cannot be written (File too large)" in str(problem)
        return
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert summary.ended == "failed" and "cannot be written (File too large)" in summary.why
    assert json.loads((folder / "summary.json").read_text())["ended"] == "failed"
    rows, end = read_rows(folder / "history.csv")
    assert end == (folder / "history.csv").stat().st_size and len(rows) == summary.steps
    assert len(read(folder)) > 0


def test_a_damaged_journal_ends_at_the_damage(tmp_path):
    book = Journal(tmp_path)
    for k in range(3):
        book.append("film", k, {"x": np.full(4, float(k)), "names": ("a", "b")})
    book.close()
    records = list(read_journal(tmp_path))
    assert [(r.step, r.content["x"][0], r.content["names"]) for r in records] == [
        (k, float(k), ("a", "b")) for k in range(3)
    ]
    path = tmp_path / journal.FILE
    data = bytearray(path.read_bytes())
    data[records[0].end + 12] ^= 1
    path.write_bytes(data)
    assert [r.step for r in read_journal(tmp_path)] == [0]
    path.write_bytes(data[: records[0].end - 1])
    assert list(read_journal(tmp_path)) == []


def test_a_run_with_longer_steps_is_resumed(tmp_path):
    """Its history has fewer rows than h."""
    own = load("ground", {**SMALL, "duration": "0.4 s", "stride": 4})
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    record_run(own, own.simulation(), whole, plots=False)
    rows, _ = read_rows(whole / "history.csv")
    assert len(rows) < STEPS and rows[-1]["step"] == STEPS
    half = len(rows) // 2

    def interrupt(report):
        if report.step == rows[half]["step"]:
            os.kill(os.getpid(), signal.SIGTERM)

    record_run(own, own.simulation(), cut, plots=False, on_step=interrupt)
    again = load("ground", {**SMALL, "duration": "0.4 s", "stride": 4})
    record_run(again, again.simulation(), cut, plots=False, resume=True)
    assert_same_record(whole, cut)
