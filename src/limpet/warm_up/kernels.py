"""Which kernels a scene calls, which of them are not compiled yet, and how to compile them.

kernels.json lists the kernels with the arguments that they are called with, the seconds that they
took to compile on one machine, and the kernels of each scene; `record.py` writes it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from limpet.kernel_cache import KernelCache
from limpet.warm_up.signatures import decode, named

FILE = Path(__file__).with_name("kernels.json")
USUAL = "ground"  # the scene whose kernels others need, too
MOST_WORKERS = 8
WORTH = 4.0  # [s] less is compiled by the way

Progress = Callable[[float, float, str], None]


@dataclass(frozen=True)
class Kernels:
    """What kernels.json says."""

    arguments: dict[str, list[Any]]  # by kernel
    seconds: dict[str, float]  # by kernel
    scenes: dict[str, list[str]]  # kernels by scene


@cache
def known() -> Kernels:
    """The kernels of this version; none if they were not recorded."""
    if not FILE.is_file():
        return Kernels({}, {}, {})
    return Kernels(**json.loads(FILE.read_text(encoding="utf-8")))


def of_scene(scene: str | None) -> list[str]:
    """Those of a scene, of the usual one if it is not known; of all if it is None."""
    kernels = known()
    if scene is None:
        return sorted(kernels.arguments)
    return kernels.scenes.get(scene, kernels.scenes.get(USUAL, []))


def missing(names: Sequence[str]) -> list[str]:
    """The kernels that are not compiled yet."""
    return [name for name in names if not _is_compiled(name)]


def _is_compiled(name: str) -> bool:
    try:
        kernel = named(name)
    except (ImportError, AttributeError):
        return True  # it is gone
    if not isinstance(getattr(kernel, "_cache", None), KernelCache):
        return True  # no kernel any more, or nowhere to keep it
    codegen = kernel.targetctx.codegen()
    return all(
        kernel._cache.has(tuple(map(decode, each)), codegen) for each in known().arguments[name]
    )


def compile_now(name: str) -> None:
    """In this process."""
    for each in known().arguments[name]:
        named(name).compile(tuple(map(decode, each)))


def compile_on_all_cores(names: Sequence[str], progress: Progress, jobs: int | None = None) -> None:
    """Compile kernels in processes of their own, the slowest first."""
    cost = {name: known().seconds.get(name, 0.1) for name in names}
    todo: SimpleQueue[str] = SimpleQueue()
    for name in sorted(names, key=lambda name: -cost[name]):
        todo.put(name)
    done: list[float] = [0.0]

    def report(seconds: float) -> None:
        done.append(done[-1] + seconds)
        progress(done[-1], sum(cost.values()), f"compiling {len(names)} kernels, once")

    def feed(worker: subprocess.Popen[str]) -> None:
        assert worker.stdin is not None and worker.stdout is not None
        with suppress(Empty, OSError):
            while True:
                name = todo.get_nowait()
                print(name, file=worker.stdin, flush=True)
                if not worker.stdout.readline():
                    return  # it died: the kernel is compiled when it is needed
                report(cost[name])
        with suppress(OSError):
            worker.stdin.close()

    report(0.0)
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "limpet.warm_up.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(min(jobs or min(available_cores(), MOST_WORKERS), len(names)))
    ]  # fmt: skip
    try:
        with ThreadPoolExecutor(max(1, len(workers))) as threads:
            try:
                list(threads.map(feed, workers))
            except BaseException:
                for worker in workers:
                    worker.kill()
                raise
    finally:
        for worker in workers:
            worker.wait()


def prepare(scene: str | None, progress: Progress) -> int:
    """Compile what a scene needs, if that takes long; the number of kernels compiled."""
    names = missing(of_scene(scene))
    if sum(known().seconds.get(name, 0.0) for name in names) < WORTH:
        return 0
    compile_on_all_cores(names, progress)
    return len(names)


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
