"""Write kernels.json anew: `python -m limpet.warm_up.record`, after kernels were added or changed.

It runs every scene for a while, or only the scenes that are named, and notes which kernels were
called, for which arguments, and how long those took to compile that were not compiled yet. What
other scenes call stays listed as far as the kernels still take it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from time import process_time
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

from limpet.warm_up.kernels import FILE, known
from limpet.warm_up.signatures import UnknownTypeError, encode, kernel_name, named

STEPS = 100  # of a scene
WHOLE = ("ground", "toy")  # scenes that are run to their end: a cup lets go
SETTINGS = [("ground", "element=tet4"), ("ground", "element=tet10"), ("soft-cube", "element=tet4")]


def loaded_kernels() -> Iterator[Dispatcher]:
    """Those of all modules that are imported."""
    for name, module in list(sys.modules.items()):
        if name.startswith("limpet."):
            for value in list(vars(module).values()):
                if isinstance(value, Dispatcher) and value.py_func.__module__ == name:
                    yield value


def called() -> dict[str, list[Any]]:
    """By kernel: the arguments for which it was compiled or loaded."""
    found: dict[str, list[Any]] = {}
    for kernel in loaded_kernels():
        for arguments in kernel.signatures:
            try:
                found.setdefault(kernel_name(kernel), []).append([encode(t) for t in arguments])
            except UnknownTypeError:
                continue  # compiled when it is needed
    return found


class _Seconds(event.Listener):
    """How long each kernel took to compile, with those that it calls."""

    def __init__(self) -> None:
        self.begun: list[float] = []
        self.of: dict[str, float] = {}

    def on_start(self, event: Any) -> None:
        self.begun.append(process_time())

    def on_end(self, event: Any) -> None:
        seconds = process_time() - self.begun.pop()
        if not self.begun:  # a kernel, not one that it calls
            name = kernel_name(event.data["dispatcher"])
            self.of[name] = round(self.of.get(name, 0.0) + seconds, 1)


def _run(scene: str, settings: list[str], folder: Path) -> None:
    """In a process of its own."""
    from limpet.record.run import record_run
    from limpet.scenes.registry import load
    from limpet.scenes.settings import parse_settings

    seconds = _Seconds()
    event.register("numba:compile", seconds)
    chosen: dict[str, object] = dict(parse_settings(settings))
    whole = load(scene, chosen)
    if scene not in WHOLE:
        chosen["duration"] = min(whole.duration, STEPS * whole.h)
    shorter = load(scene, chosen)
    record_run(shorter, shorter.simulation(), folder / "run", force=True)
    (folder / "calls.json").write_text(json.dumps([called(), seconds.of]))


def still_taken(name: str, arguments: list[Any]) -> list[Any]:
    """Those of the listed arguments of a kernel that it may still be called with."""
    try:
        kernel = named(name)
    except (ImportError, AttributeError):
        return []
    if not isinstance(kernel, Dispatcher):
        return []
    count = len(signature(kernel.py_func).parameters)
    return [each for each in arguments if len(each) == count]


def main(chosen: list[str]) -> None:
    from limpet.scenes.registry import scenes

    arguments: dict[str, list[Any]] = {}
    cost = dict(known().seconds)
    by_scene: dict[str, list[str]] = {}
    if chosen:
        listed = {name: still_taken(name, own) for name, own in known().arguments.items()}
        arguments = {name: own for name, own in listed.items() if own}
        by_scene = {
            scene: [name for name in own if name in arguments]
            for scene, own in known().scenes.items()
        }
    every = [*((name,) for name in sorted(scenes())), *SETTINGS]
    with tempfile.TemporaryDirectory() as folder:
        for scene, *settings in every:
            if chosen and scene not in chosen:
                continue
            done = subprocess.run(
                [sys.executable, "-m", __spec__.name, "--in", folder, scene, *settings],
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            if done.returncode:
                print(f"{scene} failed, left out", file=sys.stderr)
                continue
            calls, measured = json.loads((Path(folder) / "calls.json").read_text())
            for name, found in calls.items():
                own = arguments.setdefault(name, [])
                own += [each for each in found if each not in own]
            cost |= measured
            if not settings:
                by_scene[scene] = sorted(calls)
            print(f"{scene} {' '.join(settings)}: {len(calls)} kernels", flush=True)
    seconds = {name: cost.get(name, 0.1) for name in sorted(arguments)}
    table: dict[str, Mapping[str, object]] = {
        "arguments": dict(sorted(arguments.items())),
        "seconds": seconds,
        "scenes": dict(sorted(by_scene.items())),
    }
    FILE.write_text(_one_a_line(table))


def _one_a_line(table: Mapping[str, Mapping[str, object]]) -> str:
    """JSON with a line for each entry of each part."""
    parts = []
    for part, entries in table.items():
        lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
        parts.append(json.dumps(part) + ": {\n" + ",\n".join(lines) + "\n}")
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in"]:
        _run(sys.argv[3], sys.argv[4:], Path(sys.argv[2]))
    else:
        main(sys.argv[1:])
