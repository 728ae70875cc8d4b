"""The outcome table: P's twelve scenes must end alike at all time steps and on two meshes.

Each finished run is kept in the output folder, so an interrupted table continues where it was.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal

from pydantic import Field

from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.studies.options import LISTED, StudyOptions, read_options
from limpet.studies.outcome_cases import OutcomeCase, chosen_cases
from limpet.studies.outcome_rows import Outcome, fingerprint, keep, read_kept, run_case
from limpet.studies.parallel import in_processes
from limpet.units import Positive, Time

PEAK, RELEASE, JUMP = 0.03, 0.03, 0.10  # largest relative deviations from the reference
JUMP_FROM = 0.010  # [s] longer steps are not judged by the jump
PASSED, EDGE, MISSED = "passes", "edge", "misses"


class Options(StudyOptions):
    """What can be set with ``--set``."""

    scenes: Annotated[tuple[str, ...], LISTED] = ()  # scenes or cases; all if ()
    steps: Annotated[tuple[Positive[Time], ...], LISTED] = Field(
        (0.02, 0.01, 0.005, 0.0025), min_length=1
    )
    meshes: Annotated[tuple[Literal["default", "fine"], ...], LISTED] = Field(
        ("default", "fine"), min_length=1
    )
    jobs: int = Field(1, ge=1)  # processes


@dataclass(frozen=True)
class Verdict:
    """How the runs of one case agree; deviations are from `reference`."""

    case: OutcomeCase
    outcomes: tuple[str, ...]  # that occurred
    reference: Outcome  # the smallest step on the finest mesh
    peak: float | None  # largest relative deviation
    release: float | None
    jump: float | None
    margin: float | None  # [m] least
    unconverged: int  # steps of all runs

    @property
    def alike(self) -> bool:
        return self.outcomes == (self.case.expected,)

    @property
    def word(self) -> str:
        limits = (self.peak, PEAK), (self.release, RELEASE), (self.jump, JUMP)
        close = all(off is None or off <= limit for off, limit in limits)
        if self.alike and close:
            return PASSED
        return EDGE if self.case.edge else MISSED


def run(progress: Progress, settings: Mapping[str, object], folder: Path | None) -> Result:
    """Run what is not kept yet, and judge every case."""
    options = read_options(Options, settings)
    cases = chosen_cases(options.scenes)
    # coarse steps and the default mesh first: a first table is there soon
    todo = [
        (case, mesh, h)
        for mesh in options.meshes
        for h in sorted(options.steps, reverse=True)
        for case in cases
    ]
    outcomes = collect(todo, options.jobs, progress, folder)
    return tabulate(cases, outcomes)


def collect(
    todo: Sequence[tuple[OutcomeCase, str, float]], jobs: int, progress: Progress,
    folder: Path | None,
) -> list[Outcome]:  # fmt: skip
    """All runs of `todo` that are not kept in `folder`, and those that are."""
    kept = read_kept(folder)
    keys = [(c.name, mesh, h, fingerprint(c, mesh, h)) for c, mesh, h in todo]
    left = [one for one, key in zip(todo, keys) if key not in kept]
    before = done = len(todo) - len(left)
    started = perf_counter()

    def told(name: str, mesh: str, h: float, share: float) -> None:
        new = done - before + share
        rest = (perf_counter() - started) * (len(left) / new - 1.0) / 60.0 if new else None
        text = f"outcomes: {name}, {mesh} mesh, {1e3 * h:g} ms ({done} of {len(todo)}"
        text += ")" if rest is None else f", {rest:.0f} min left)"
        progress(done + share, len(todo), text)

    for outcome in _runs(left, jobs, told):
        keep(folder, [outcome])
        kept[outcome.key] = outcome
        done += 1
        told(outcome.case, outcome.mesh, outcome.h, 0.0)
    return [kept[key] for key in keys]


def _runs(
    left: Sequence[tuple[OutcomeCase, str, float]], jobs: int,
    told: Callable[[str, str, float, float], None],
) -> Iterator[Outcome]:  # fmt: skip
    if jobs == 1 or len(left) < 2:
        for case, mesh, h in left:
            yield run_case(case, mesh, h, partial(told, case.name, mesh, h))
        return
    yield from in_processes(run_case, [(*one, _silent) for one in left], jobs)


def _silent(share: float) -> None:
    """Workers have no progress bar."""


def tabulate(cases: Sequence[OutcomeCase], outcomes: Sequence[Outcome]) -> Result:
    """Tables, CSV file and plot."""
    verdicts = [judge_case(case, [o for o in outcomes if o.case == case.name]) for case in cases]
    runs = Table(
        "outcomes: every run",
        (
            "case", "mesh", "nodes", "h [ms]", "outcome", "peak [N]", "release [s]", "seals",
            "jump [mm]", "margin [um]", "unconverged", "steps", "computing [s]",
        ),
        tuple(_run_row(o) for case in cases for o in outcomes if o.case == case.name),
        ("Margin: sealing distance less seal gap, the least from the hardest push to the end.",),
    )  # fmt: skip
    table = Table(
        "outcomes: P's scenes over time step and mesh",
        (
            "case", "in P", "outcomes", "peak [N]", "peak off [%]", "release [s]",
            "release off [%]", "jump off [%]", "least margin [um]", "unconverged", "verdict",
        ),
        tuple(_verdict_row(v) for v in verdicts),
        (
            "Deviations are the largest from the smallest step on the finest mesh, which is shown. "
            f"Allowed: peak {PEAK:.0%}, release {RELEASE:.0%}, jump {JUMP:.0%} from "
            f"{1e3 * JUMP_FROM:g} ms on.",
            *(f"{v.case.name}: {v.case.edge}" for v in verdicts if v.case.edge),
        ),
    )  # fmt: skip
    ok = all(v.word != MISSED for v in verdicts)
    files = {
        "outcomes.csv": partial(_write_csv, outcomes),
        "outcomes.png": partial(_plot, verdicts, outcomes),
    }
    return Result((runs, table), ok, files)


def judge_case(case: OutcomeCase, runs: Sequence[Outcome]) -> Verdict:
    """Compare the runs of one case."""
    reference = min(runs, key=lambda o: (o.mesh == "default", o.h))
    brief = [o for o in runs if o.h <= JUMP_FROM * (1 + 1e-9)]
    return Verdict(
        case, tuple(dict.fromkeys(o.outcome for o in runs)), reference,
        peak=_off([o.peak for o in runs], reference.peak),
        release=_off([o.release for o in runs], reference.release),
        jump=_off([o.jump for o in brief], reference.jump),
        margin=min((o.margin for o in runs if o.margin is not None), default=None),
        unconverged=sum(o.unconverged for o in runs),
    )  # fmt: skip


def _off(values: Sequence[float | None], reference: float | None) -> float | None:
    """Largest |value/reference - 1|; None where nothing can be compared."""
    if not reference:
        return None
    return max((abs(v / reference - 1.0) for v in values if v is not None), default=None)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value


def _run_row(o: Outcome) -> tuple[Cell, ...]:
    return (
        o.case, o.mesh, o.nodes, 1e3 * o.h, o.outcome, o.peak, o.release, o.seals,
        _scaled(o.jump, 1e3), _scaled(o.margin, 1e6), o.unconverged, o.steps, o.seconds,
    )  # fmt: skip


def _verdict_row(v: Verdict) -> tuple[Cell, ...]:
    return (
        v.case.name, v.case.expected, " / ".join(v.outcomes), v.reference.peak,
        _scaled(v.peak, 100.0), v.reference.release, _scaled(v.release, 100.0),
        _scaled(v.jump, 100.0), _scaled(v.margin, 1e6), v.unconverged, v.word,
    )  # fmt: skip


def _write_csv(outcomes: Sequence[Outcome], path: Path) -> None:
    """SI units, all digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f.name for f in fields(Outcome)])
        writer.writerows(astuple(o) for o in outcomes)


def _plot(verdicts: Sequence[Verdict], outcomes: Sequence[Outcome], path: Path) -> None:
    """Peak, release and jump over the time step, each relative to its reference."""
    figure = new_figure(11.0, 11.0)
    panels = figure.subplots(3, 1, sharex=True)
    limits = ("peak", PEAK), ("release", RELEASE), ("jump", JUMP)
    for axes, (name, limit) in zip(panels, limits):
        axes.axhspan(-100 * limit, 100 * limit, color="0.92")
        for number, v in enumerate(verdicts):
            reference = getattr(v.reference, name)
            for mesh, style in (("default", "o-"), ("fine", "s--")):
                own = [o for o in outcomes if o.case == v.case.name and o.mesh == mesh]
                points = [(o.h, value) for o in own if (value := getattr(o, name)) is not None]
                if reference and points:
                    h, values = zip(*sorted(points))
                    axes.plot(
                        [1e3 * x for x in h], [100 * (y / reference - 1) for y in values], style,
                        lw=1, ms=3, color=f"C{number % 10}", alpha=0.8,
                        label=v.case.name if mesh == v.reference.mesh else None,
                    )  # fmt: skip
        axes.set(ylabel=f"{name}: deviation [%]", xscale="log", yscale="symlog")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=6, ncols=4)
    panels[-1].set_xlabel("time step [ms]; dashed: finer mesh")
    figure.suptitle("Outcome over time step and mesh; grey: allowed")
    figure.savefig(path, dpi=130)
