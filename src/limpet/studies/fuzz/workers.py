"""Inputs are judged in a process of their own, which may hang or crash."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limpet.studies.fuzz.targets import Input, Outcome, judge, make_input

METHOD = "spawn"  # of starting a process
LIMIT = 5.0  # [s] for one input
WARM_UP = 300.0  # [s] for the first one of each kind, which may compile kernels
MEMORY = 16 * 1024**3  # [byte] of addresses
SHRINKING = 200  # attempts to make a failing input smaller


@dataclass(frozen=True)
class Judged:
    index: int
    given: Input
    outcome: Outcome
    seconds: float


def judged(seed: int, count: int | None, seconds: float | None) -> Iterator[Judged]:
    """The inputs 0, 1, ... of a seed, so many or for so long."""
    end = None if seconds is None else time.monotonic() + seconds
    index = 0
    worker = _Worker(seed)
    try:
        while (count is None or index < count) and (end is None or time.monotonic() < end):
            yield worker.judge(index)
            index += 1
    finally:
        worker.stop()


class _Worker:
    """A process that judges one input after the other; a new one after a hang or a crash."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._start()

    def _start(self) -> None:
        context: Any = multiprocessing.get_context(METHOD)
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other, self._seed), daemon=True)
        self._process.start()
        other.close()
        if not self._pipe.poll(WARM_UP) or self._pipe.recv() != "ready":
            raise RuntimeError("the sound inputs could not be read")

    def judge(self, index: int) -> Judged:
        self._pipe.send(index)
        begin = time.monotonic()
        outcome = Outcome("hang", f"no answer in {LIMIT:g} s")
        try:
            if self._pipe.poll(LIMIT):
                outcome = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(LIMIT)
            outcome = Outcome("crash", f"exit code {self._process.exitcode}")
        taken = time.monotonic() - begin
        if outcome.verdict in ("hang", "crash"):
            self.stop()
            self._start()
        given = make_input(self._seed, index)
        if outcome.verdict == "traceback":
            given = self._shrunk(given, outcome)
        return Judged(index, given, outcome, taken)

    def _shrunk(self, given: Input, outcome: Outcome) -> Input:
        """A shorter input with the same last line of its traceback."""
        wanted, size, left = _last_line(outcome), max(1, len(given.content) // 2), SHRINKING
        content, at = given.content, 0
        while size and left:
            left -= 1
            trial = Input(given.kind, content[:at] + content[at + size :])
            self._pipe.send(trial)
            try:
                same = self._pipe.poll(LIMIT) and _last_line(self._pipe.recv()) == wanted
            except (EOFError, OSError):
                same = False
            if not self._process.is_alive() or (same is False and not self._responds()):
                self.stop()
                self._start()
                break
            if same and len(trial.content) < len(content):
                content = trial.content
            else:
                at += size
            if at >= len(content):
                at, size = 0, size // 2
        return Input(given.kind, content)

    def _responds(self) -> bool:
        """Whether it waits for the next input, and is not within a hanging one."""
        self._pipe.send("alive?")
        return bool(self._pipe.poll(LIMIT)) and self._pipe.recv() == "alive"

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _last_line(outcome: Outcome) -> str:
    return outcome.last_line[:60] if outcome.failed else ""


def _work(pipe: Any, seed: int) -> None:
    _limit_memory()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _warm_up(folder)
        pipe.send("ready")
        while True:
            try:
                task = pipe.recv()
            except EOFError:
                return
            if task == "alive?":
                pipe.send("alive")
            else:
                given = make_input(seed, task) if isinstance(task, int) else task
                pipe.send(judge(given, folder))


def _warm_up(folder: Path) -> None:
    """Read sound inputs, so that kernels are compiled before times are limited."""
    from limpet.studies.fuzz import seeds

    for scene in seeds.SCENES:
        judge(Input("scene", scene.encode()), folder)
    for name in seeds.QUICK:
        judge(Input("set", f"{name} h=5 ms".encode()), folder)
    for kind, content in seeds.meshes().items():
        judge(Input(kind, content), folder)
    for message in seeds.MESSAGES:
        judge(Input("message", message.encode()), folder)


def _limit_memory() -> None:
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
