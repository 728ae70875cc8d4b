"""Compiled kernels are kept by what they were compiled from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from limpet import kernel_cache
from limpet.kernel_cache import KEPT, _Entries, source_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three files: a imports b, and c for type checkers only."""
    root = tmp_path / "limpet"
    root.mkdir()
    (root / "a.py").write_text(
        "from limpet.b import (\n    K,\n)\nif TYPE_CHECKING:\n    from limpet.c import C\n"
    )
    (root / "b.py").write_text("from limpet import d\nK = 1\n")
    (root / "c.py").write_text("C = 1\n")
    (root / "d.py").write_text("D = 1\n")
    monkeypatch.setattr(kernel_cache, "ROOT", root)
    return root


def digest(root: Path) -> str:
    source_digest.cache_clear()
    kernel_cache._imports.cache_clear()
    return source_digest(root / "a.py")


@pytest.mark.parametrize("file", ["a.py", "b.py", "d.py"])
def test_digest_covers_what_a_kernel_calls(package, file):
    before = digest(package)
    assert digest(package) == before
    with (package / file).open("a") as f:
        f.write("# changed\n")
    assert digest(package) != before


def test_digest_leaves_out_what_is_for_type_checkers(package):
    before = digest(package)
    (package / "c.py").write_text("C = 2\n")
    assert digest(package) == before


def test_entries_of_different_arguments_are_different_files(tmp_path):
    # numba numbers the files of a kernel, and two processes may take the same number
    one, two = (_Entries(str(tmp_path), "kernel", "stamp") for _ in range(2))
    one.save("float64", "code for float64")
    two.save("int64", "code for int64")
    assert one.load("int64") == "code for int64" and two.load("float64") == "code for float64"
    assert _Entries(str(tmp_path), "kernel", "another stamp").load("int64") is None


def test_a_damaged_entry_is_compiled_again(tmp_path):
    entries = _Entries(str(tmp_path), "kernel", "stamp")
    entries.save("float64", "code")
    entries.file("float64").write_bytes(b"\x80\x05cut")
    assert entries.load("float64") is None


def test_a_folder_that_is_gone_stops_nothing(tmp_path):
    entries = _Entries(str(tmp_path / "gone"), "kernel", "stamp")
    entries.save("float64", "code")
    assert entries.load("float64") is None


def test_entries_not_used_for_long_are_deleted(tmp_path):
    entries = _Entries(str(tmp_path), "kernel", "stamp")
    entries.save("old", "code")
    entries.save("used", "code")
    for key in ("old", "used"):
        past = entries.file(key).stat().st_mtime - KEPT - 1.0
        os.utime(entries.file(key), (past, past))
    assert entries.load("used") == "code"
    kernel_cache._prune.cache_clear()
    entries.save("new", "code")
    assert not entries.file("old").exists()
    assert entries.file("used").exists() and entries.file("new").exists()


KERNEL = """
from numba import types
from limpet.kernel_cache import KernelCache
from limpet.geometry.rotation import quaternion_product as kernel
assert isinstance(kernel._cache, KernelCache)
array = types.Array(types.float64, 1, "C")
kernel.compile((array, array))
print(sum(kernel.stats.cache_hits.values()))
"""


def test_a_kernel_is_compiled_once_for_all_processes(tmp_path):
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    hits = [
        subprocess.run(
            [sys.executable, "-c", KERNEL], env=place, capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert hits == ["0", "1"]
    assert [file.suffix for file in tmp_path.iterdir()] == [kernel_cache.SUFFIX]
