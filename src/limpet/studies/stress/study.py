"""`limpet stress`: many random worlds, each checked, with a folder that it continues from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from limpet.record.table import Progress, Result
from limpet.studies.parallel import Died, add_lines, outliving, read_lines
from limpet.studies.stress.examine import Outcome, crashed, digest, examine
from limpet.studies.stress.report import report

KEPT = "worlds.jsonl"  # one finished seed per line
HANGS = 600.0  # [s] for one world with all its checks, each of which ends after 20 s by itself


def stress(
    scenes: int, seed: int, jobs: int, progress: Progress, folder: Path | None,
    everything: bool = False,
) -> Result:  # fmt: skip
    """Examine the seeds from `seed` on that are not kept in the folder, and report on all."""
    seeds = range(seed, seed + scenes)
    outcomes = collect(seeds, jobs, progress, folder, everything)
    return report(outcomes, progress, folder)


def collect(
    seeds: Sequence[int], jobs: int, progress: Progress, folder: Path | None, everything: bool
) -> list[Outcome]:
    """The outcomes of all seeds, in their order."""
    code = digest()
    kept = {
        o.seed: o
        for o in (Outcome.of_record(r) for r in read_lines(folder, KEPT) if r.get("code") == code)
        if o.seed in seeds
    }
    left = [s for s in seeds if s not in kept]
    before, began = len(kept), perf_counter()
    for outcome in _examined(left, jobs, everything):
        add_lines(folder, KEPT, [outcome.as_record()])
        kept[outcome.seed] = outcome
        done = len(kept)
        rest = (perf_counter() - began) * (len(seeds) - done) / (done - before) / 60.0
        bad = sum(bool(o.findings) for o in kept.values())
        progress(done, len(seeds), f"stress: {done} worlds, {bad} with findings, {rest:.0f} min")
    return [kept[s] for s in seeds]


def _examined(left: Sequence[int], jobs: int, everything: bool) -> Iterator[Outcome]:
    if len(left) == 1:
        yield examine(left[0], everything)
        return
    # in processes of their own, which may crash
    for (seed, _), found in outliving(examine, [(s, everything) for s in left], jobs, HANGS):
        yield crashed(int(str(seed)), found.how) if isinstance(found, Died) else found
