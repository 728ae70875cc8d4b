"""Long studies: work in several processes, and a file of finished lines to continue from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

import limpet
from limpet.errors import LimpetError

Result = TypeVar("Result")

LATER = ("cli", "viewer", "studies")  # packages that no result of a simulation depends on


def in_processes(
    work: Callable[..., Result], todo: Sequence[tuple[object, ...]], jobs: int
) -> Iterator[Result]:
    """The results of work(*one) for all of todo, in the order in which they are finished."""
    with ProcessPoolExecutor(min(jobs, len(todo)), mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(work, *one) for one in todo]
        try:
            for finished in as_completed(waiting):
                yield finished.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Died:
    """What became of a process instead of a result."""

    how: str  # "ended by signal 11", "killed after 600 s"


@dataclass
class _Worker:
    process: BaseProcess
    link: Connection
    todo: tuple[object, ...]
    until: float  # [s] on the clock: then it is killed


def outliving(
    work: Callable[..., Result], todo: Sequence[tuple[object, ...]], jobs: int, limit: float
) -> Iterator[tuple[tuple[object, ...], Result | Died]]:
    """Each of todo with the result of work(*one), whatever becomes of the process that does it.

    A process that crashes, or takes longer than `limit` [s] for one, is replaced.
    """
    context, left, workers = get_context("spawn"), list(reversed(todo)), list[_Worker]()

    def start() -> None:
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(work, there), daemon=True)
        process.start()
        there.close()
        workers.append(_Worker(process, here, (), np.inf))
        hand_out(workers[-1])

    def hand_out(worker: _Worker) -> None:
        if not left:
            workers.remove(worker)
            worker.link.close()
            return
        worker.todo, worker.until = left.pop(), perf_counter() + limit
        with suppress(OSError):  # it has died: then its link says so
            worker.link.send(worker.todo)

    try:
        for _ in range(min(jobs, len(todo))):
            start()
        while workers:
            patience = max(0.0, min(w.until for w in workers) - perf_counter())
            ready = wait([w.link for w in workers], patience)
            for worker in list(workers):
                late = perf_counter() > worker.until
                if worker.link not in ready and not late:
                    continue
                try:
                    result = worker.link.recv() if worker.link in ready else None
                except (EOFError, OSError):
                    result = None
                if result is not None:
                    yield worker.todo, result
                    hand_out(worker)
                    continue
                if not late:
                    worker.process.join(5.0)  # it is about to end by itself
                worker.process.kill()
                worker.process.join()
                code = worker.process.exitcode
                workers.remove(worker)
                ended = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
                how = f"killed after {limit:g} s" if late else f"ended by {ended}"
                yield worker.todo, Died(how)
                if left:
                    start()
    finally:
        for worker in workers:
            worker.process.kill()


def _serve(work: Callable[..., object], link: Connection) -> None:
    """What a process does: until nobody is at the other end."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            link.send(work(*link.recv()))


def read_lines(folder: Path | None, name: str) -> list[dict[str, object]]:
    """The records that earlier calls have kept in a file; lines that were cut off are left out."""
    file = folder / name if folder is not None else None
    if file is None or not file.is_file():
        return []
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:  # cut off when the call was ended
            continue
        if isinstance(values, dict):
            found.append(values)
    return found


def add_lines(folder: Path | None, name: str, records: Iterable[Mapping[str, object]]) -> None:
    """Add records to the file."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            # a line begins anew: the last one may have been cut off
            file.writelines("\n" + json.dumps(r, allow_nan=False) for r in records)
    except OSError as problem:
        raise LimpetError(
            f"folder '{folder}': cannot be written to ({problem.strerror}); "
            "choose another with --out DIR"
        ) from None


@cache
def code_digest(*more: str) -> str:
    """Of the code that results depend on, and of `more` packages below studies."""
    root = Path(limpet.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).parts
        if parts[0] not in LATER or (parts[0] == "studies" and parts[1] in more):
            digest.update(file.read_bytes())
    return digest.hexdigest()
