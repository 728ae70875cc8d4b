"""Mutated inputs: half a minute of them, and that a failing one would be seen."""

import os
import time

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.studies.fuzz import seeds, targets, workers
from limpet.studies.fuzz.mutate import mutated
from limpet.studies.fuzz.report import run
from limpet.studies.fuzz.targets import Input, Outcome, judge, make_input


def nothing(done, total, text):
    pass


def test_mutated_inputs_end_in_one_line(tmp_path):
    result = run(nothing, tmp_path, inputs=0, seed=20, minutes=0.4)
    assert result.ok, [table.as_dict() for table in result.tables[1:]]
    *kinds, total = (row[:5] for row in result.tables[0].rows)
    assert {"scene", "set", "message", "stl binary", "ply text", "obj", "off"} <= {
        row[0] for row in kinds
    }
    _, number, accepted, refused, failed = total
    assert number > 200 and failed == 0
    assert accepted > 0.03 * number and refused > 0.5 * number  # neither all sound nor all noise


def test_the_same_seed_gives_the_same_inputs():
    assert [make_input(3, k) for k in range(50)] == [make_input(3, k) for k in range(50)]
    assert make_input(3, 1) != make_input(4, 1)
    content, rng = seeds.meshes()["obj"], np.random.default_rng(0)
    assert sum(mutated(content, rng) != content for _ in range(200)) > 150


def test_sound_inputs_are_accepted(tmp_path):
    given = [Input(kind, content) for kind, content in seeds.meshes().items()]
    given += [Input("message", text.encode()) for text in seeds.MESSAGES]
    given += [Input("scene", text.encode()) for text in seeds.SCENES]
    for one in given:
        assert judge(one, tmp_path) == Outcome("accepted"), one


@pytest.mark.parametrize(
    ("problem", "verdict"),
    [
        (ValueError("oops"), "traceback"),
        (MemoryError(), "traceback"),
        (LimpetError("wrong"), "refused"),
        (LimpetError(""), "not one line"),
    ],
)
def test_what_a_reader_raises_is_judged(tmp_path, monkeypatch, problem, verdict):
    def broken(path, unit):
        raise problem

    monkeypatch.setattr(targets, "check_file", broken)
    outcome = judge(Input("obj", b""), tmp_path)
    assert outcome.verdict == verdict
    assert outcome.failed == (verdict != "refused")


def test_hangs_crashes_and_tracebacks_are_kept_as_files(tmp_path, monkeypatch):
    """Every fourth input hangs, crashes or raises; the third kind is made small."""

    def work(pipe, seed):
        pipe.send("ready")
        while True:
            task = pipe.recv()
            if task == "alive?":
                pipe.send("alive")
            elif isinstance(task, Input) or task % 4 == 3:
                content = task.content if isinstance(task, Input) else b"with x in it"
                bad = b"x" in content
                pipe.send(Outcome("traceback", "KeyError: x") if bad else Outcome("accepted"))
            elif task % 4 == 1:
                time.sleep(60)
            elif task % 4 == 2:
                os._exit(9)
            else:
                pipe.send(Outcome("accepted"))

    monkeypatch.setattr(workers, "METHOD", "fork")
    monkeypatch.setattr(workers, "LIMIT", 0.3)
    monkeypatch.setattr(workers, "_work", work)
    monkeypatch.setattr(workers, "make_input", lambda seed, k: Input("obj", b"with x in it"))
    result = run(nothing, tmp_path, inputs=4, seed=0, minutes=None)
    assert not result.ok
    assert [row[2] for row in result.tables[1].rows] == ["hang", "crash", "traceback"]
    kept = sorted((tmp_path / "failures").glob("*.obj"))
    assert [path.read_bytes() for path in kept] == [b"with x in it", b"with x in it", b"x"]
    assert (tmp_path / "failures" / f"{kept[2].name}.txt").read_text() == "KeyError: x\n"
