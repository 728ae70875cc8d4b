"""Long studies: work in several processes, and a file of finished lines to continue from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

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
