"""Time of the sweeps over the number of constraints, step by step as a scene runs (C figures 5, 6).

The number grows with the contacts within a run, and with the scene's size from run to run. No time
is judged; `ok` states only that all runs were stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from limpet.particles.system import ParticleSystem
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.studies.bench.constrained import PHASES, SweepTiming, time_world

SWEEPS = 2  # of C


@dataclass(frozen=True)
class GrowthStudy:
    """The runs of one figure."""

    name: str  # of the study
    title: str
    notes: tuple[str, ...]  # results of C
    sizes: Sequence[tuple[str, Callable[[], ParticleSystem]]]
    steps: int = 40
    repeats: int = 2


@dataclass(frozen=True)
class LinearFit:
    """ms = fixed + each * constraints, by least squares."""

    fixed: float  # [ms]
    each: float  # [ms]
    explained: float  # share of the variance: 1 is a line

    @staticmethod
    def through(constraints: np.ndarray, ms: np.ndarray) -> LinearFit:
        each, fixed = np.polyfit(constraints, ms, 1)
        off = ms - fixed - each * constraints
        return LinearFit(float(fixed), float(each), 1.0 - float(off.var() / ms.var()))


def measure(figure: GrowthStudy, progress: Progress) -> Result:
    """Every size, step by step."""
    tick = Ticker(progress, len(figure.sizes) * (figure.repeats + 1), figure.name)
    timed = {
        label: time_world(build, figure.steps, figure.repeats, tick)
        for label, build in figure.sizes
    }
    solve = {label: _solve(t) for label, t in timed.items()}
    rows: list[tuple[Cell, ...]] = []
    for label, t in timed.items():
        ms, share = solve[label], t.ms.sum(axis=0) / t.ms.sum()
        rows.append(
            (
                label, t.nodes, int(t.each.min()), t.rows, t.substeps, float(ms.mean()),
                float(ms.max()), float(1e6 * (ms / t.each).mean() / (SWEEPS * t.substeps)),
                *(100.0 * float(share[PHASES.index(p)]) for p in ("free", "collision", "solve")),
                t.stable,
            )
        )  # fmt: skip
    count = np.concatenate([t.each for t in timed.values()])
    line = LinearFit.through(count.astype(float), np.concatenate(list(solve.values())))
    table = Table(
        figure.title,
        (
            "size", "nodes", "constraints, min", "constraints, max", "solves per step",
            "sweeps [ms]", "worst [ms]", "ns per constraint and sweep", "bodies [%]",
            "collision [%]", "sweeps [%]", "stable",
        ),
        tuple(rows),
        (
            *figure.notes,
            f"Limpet: {line.fixed:.2g} ms and {1e6 * line.each:.3g} ns per constraint, a line that "
            f"explains {100.0 * line.explained:.1f} % of the variance over all steps and sizes",
            f"{figure.steps} steps of 20 ms from the drop on, {SWEEPS} sweeps per solve, minimum "
            f"per step of {figure.repeats} runs, thread time",
        ),
    )  # fmt: skip
    stable = all(t.stable for t in timed.values())  # no time is ever judged
    return Result((table,), stable, {f"{figure.name}.png": partial(_draw, timed, line)})


def _solve(t: SweepTiming) -> np.ndarray:
    """(steps,) [ms]"""
    return t.ms[:, PHASES.index("solve")]


def _draw(timed: dict[str, SweepTiming], line: LinearFit, path: Path) -> None:
    figure = new_figure(7.0, 5.0)
    axis = figure.add_subplot()
    for label, t in timed.items():
        axis.plot(t.each, _solve(t), ".", ms=4, alpha=0.6, label=label)
    ends = np.array(
        [min(t.each.min() for t in timed.values()), max(t.rows for t in timed.values())]
    )
    axis.plot(ends, line.fixed + line.each * ends, "-", color="0.5", lw=1, label="line through all")
    axis.set(xlabel="constraints", ylabel="sweeps, ms per step")
    axis.grid(alpha=0.25)
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)
