"""Kernels are compiled before they are needed, and kernels.json knows them all."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from limpet.warm_up.kernels import compile_on_all_cores, known, missing, of_scene
from limpet.warm_up.record import still_taken
from limpet.warm_up.signatures import decode, encode, named

SMALL = "limpet.geometry.rotation.quaternion_matrix"

# what a run of `ground` calls, beside what is listed
CALLS = """
import json
from limpet.scenes.registry import load
from limpet.warm_up.kernels import known
from limpet.warm_up.record import called
simulation = load("ground").simulation()
for _ in range(20):
    simulation.step()
listed = known().arguments
print(json.dumps({
    name: each for name, found in called().items() for each in found
    if each not in listed.get(name, [])
}))
"""


def test_every_listed_kernel_exists_with_types_that_are_understood():
    kernels = known()
    for name, every in kernels.arguments.items():
        assert named(name).py_func.__name__ == name.rpartition(".")[2]
        for arguments in every:
            assert [encode(decode(t)) for t in arguments] == arguments
    assert {name for own in kernels.scenes.values() for name in own} <= set(kernels.arguments)


def test_the_kernels_of_a_run_are_listed():
    """If not: python -m limpet.warm_up.record."""
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {}


def test_unknown_scenes_have_the_kernels_of_a_usual_one():
    assert of_scene("a scene of one's own") == of_scene("ground")
    assert set(of_scene("ground")) < set(of_scene(None))


def test_kernels_are_compiled_in_other_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = []
    compile_on_all_cores([SMALL], lambda *told: done.append(told), jobs=2)
    assert any(SMALL.rpartition(".")[2] in file.name for file in tmp_path.iterdir())
    assert done[0][0] == 0.0 and done[-1][0] == pytest.approx(done[-1][1])


def test_a_worker_that_dies_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "limpet").mkdir()
    (tmp_path / "limpet" / "__init__.py").write_text("raise SystemExit(1)\n")
    compile_on_all_cores([SMALL], lambda *told: None, jobs=1)


def test_what_is_compiled_is_not_missing(tmp_path):
    code = f"""
from limpet.warm_up.kernels import compile_now, missing
print(missing(["{SMALL}"]))
compile_now("{SMALL}")
print(missing(["{SMALL}"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split("\n")[:2] == [f"['{SMALL}']", "[]"]


def test_kernels_that_are_gone_are_not_missing(monkeypatch):
    gone = ["limpet.gone.kernel", "limpet.geometry.bvh.gone", "limpet.geometry.bvh.build_tree"]
    for name in gone:
        monkeypatch.setitem(known().arguments, name, [[]])
    assert missing(gone) == []


def test_arguments_that_a_kernel_takes_no_longer_are_dropped():
    listed = known().arguments[SMALL]
    assert still_taken(SMALL, listed) == listed
    assert still_taken(SMALL, [*listed, [*listed[0], "float64"]]) == listed
    assert still_taken("limpet.geometry.bvh.build_tree", [["float64"]]) == []  # no kernel
    assert still_taken("limpet.gone.kernel", listed) == []
