"""`limpet fuzz`: mutated inputs, and whether any of them ends in more than one line."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from limpet.record.table import Progress, Result, Table
from limpet.storage.files import write_whole
from limpet.studies.fuzz.workers import LIMIT, Judged, judged

COLUMNS = ("input", "number", "accepted", "refused", "failed", "slowest [s]")


def run(
    progress: Progress, folder: Path | None, *, inputs: int, seed: int, minutes: float | None
) -> Result:
    """Judge so many inputs, or as many as there is time for; failing ones are kept as files."""
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    slowest: dict[str, float] = defaultdict(float)
    failures: list[Judged] = []
    count, seconds = (inputs, None) if minutes is None else (None, 60.0 * minutes)
    for done, found in enumerate(judged(seed, count, seconds), 1):
        kind = found.given.kind
        verdicts[kind][found.outcome.verdict] += 1
        slowest[kind] = max(slowest[kind], found.seconds)
        if found.outcome.failed:
            failures.append(found)
            if folder is not None:
                _keep(found, folder)
        total = inputs if minutes is None else max(inputs, done)
        progress(done, total, f"{len(failures)} of {done} failed")
    rows = [_row(kind, verdicts[kind], slowest[kind]) for kind in sorted(verdicts)]
    total_row = _row("all", sum(verdicts.values(), Counter()), max(slowest.values(), default=0.0))
    notes = (
        f"seed {seed}; an input fails if it ends in a traceback, in a crash, in a message of more "
        f"than one line, or not within {LIMIT:g} s",
    )
    tables = [Table("Mutated inputs", COLUMNS, (*rows, total_row), notes)]
    if failures:
        tables.append(_failures(failures))
    return Result(tuple(tables), ok=not failures)


def _row(kind: str, verdicts: Counter[str], slowest: float) -> tuple[str | int | float, ...]:
    number, fine = verdicts.total(), verdicts["accepted"] + verdicts["refused"]
    return kind, number, verdicts["accepted"], verdicts["refused"], number - fine, slowest


def _failures(failures: list[Judged]) -> Table:
    rows = [
        (
            f.index,
            f.given.kind,
            f.outcome.verdict,
            (f.outcome.text.strip().splitlines() or [""])[-1],
        )
        for f in failures
    ]
    return Table("Failures", ("index", "input", "verdict", "last line"), tuple(rows))


def _keep(found: Judged, folder: Path) -> None:
    """The input as a file, and next to it what it ended in."""
    place = folder / "failures" / f"{found.index:06d}-{found.given.file_name}"
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, found.given.content)
    write_whole(place.with_name(f"{place.name}.txt"), found.outcome.text + "\n")
