"""C 5: time per step of jelly and cloth, and how it grows with the number of constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import thread_time

import numpy as np

from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.cloth import INTERACTIVE, cloth_system
from limpet.scenes.jellies import jelly_system

REPEATS = 3
STEPS = 60  # timed, from the drop on
PHASES = ("free", "collision", "compliance", "solve", "correct")
PAPER_SWEEPS = ParticleSolverSettings.paper()
SIZES = (14, 25, 45, 78, 142)  # divisions of a cloth that give 1 000 to 100 000 constraints
TARGETS = {"jelly": 5.0, "cloth": 8.0, "30 000 constraints": 20.0}  # [ms]


@dataclass(frozen=True)
class SweepTiming:
    """Times of the steps: minimum of the repeats, by step and phase."""

    nodes: int
    rows: int  # most
    each: np.ndarray  # (steps,) rows of every step
    substeps: float  # mean
    ms: np.ndarray  # (steps, phases)
    stable: bool  # it neither diverged nor reached high speeds


def time_world(
    build: Callable[[], ParticleSystem], steps: int, repeats: int, tick: Ticker
) -> SweepTiming:
    """Step `repeats` + 1 times from the start; the first time compiles."""
    best: np.ndarray | None = None
    for repeat in range(repeats + 1):
        world = build()
        world.clock = thread_time
        reports, solves = [], []
        for _ in range(steps):
            reports.append(world.step())
            solves.append(world.substeps)
        times = 1e3 * np.array([[r.phases[p] for p in PHASES] for r in reports])
        if repeat:
            best = times if best is None else np.minimum(best, times)
        tick()
    assert best is not None
    moved = max(float(np.abs(b.v).max()) for b in world.soft)
    nodes = sum(len(b.x) for b in world.soft)
    each = np.array([r.rows for r in reports])
    return SweepTiming(nodes, int(each.max()), each, float(np.mean(solves)), best, moved < 20.0)


def run(progress: Progress) -> Result:
    """Jelly and cloth as they are set up, then cloths of growing size as C sweeps them."""
    tick = Ticker(progress, 2 * (REPEATS + 1) + 2 * len(SIZES), "constrained")
    scenes = {
        "jelly": time_world(jelly_system, STEPS, REPEATS, tick),
        "cloth": time_world(partial(cloth_system, settings=INTERACTIVE), STEPS, REPEATS, tick),
    }
    said: dict[str, tuple[Cell, ...]] = {
        "jelly": ("C (3.4 GHz i7)", 1720, 7595, 1, *(None,) * 5, 6.0, 14.0),
        "cloth": ("C, MuJoCo 58-81, PyBullet 152-185", 2601, 20492, 1, *(None,) * 5, None, None),
    }
    rows: list[tuple[Cell, ...]] = []
    for name, t in scenes.items():
        rows.append((f"{name}: {said[name][0]}", *said[name][1:]))
        total = t.ms.sum(axis=1)
        mean = [float(m) for m in t.ms.mean(axis=0)]
        rows.append(
            (f"{name}: Limpet", t.nodes, t.rows, t.substeps, *mean, float(total.mean()),
             float(total.max()))
        )  # fmt: skip
    phases = tuple(f"{p} [ms]" for p in PHASES)
    heads = ("scene", "nodes", "constraints, max", "solves per step")
    columns = (*heads, *phases, "mean [ms]", "worst [ms]")
    notes = (
        f"{STEPS} steps of 20 ms from the drop on, minimum per step of {REPEATS} runs, thread time",
        "targets: " + ", ".join(f"{k} {v:g} ms" for k, v in TARGETS.items()),
        "compliance: assembly of the rows; C reports real time for its cloth (20 ms per step)",
    )
    growth = [time_world(partial(_growing, n), 12, 1, tick) for n in SIZES]
    slope: list[tuple[Cell, ...]] = []
    for t in growth:
        late, count = t.ms[4:].mean(axis=0), float(t.each[4:].mean())
        solve = float(late[PHASES.index("solve")])
        slope.append(
            (t.nodes, round(count), solve, float(late.sum()), 1e6 * solve / (2 * count), t.stable)
        )
    doubled = Table(
        "constrained: cloth of growing size, two sweeps as C",
        (
            "nodes",
            "constraints",
            "sweeps [ms]",
            "whole step [ms]",
            "ns per constraint and sweep",
            "stable",
        ),
        tuple(slope),
        ("means of steps 5 to 12; linear where the time a constraint stays the same",),
    )
    first = Table("constrained: time per step", columns, tuple(rows), notes)
    stable = all(t.stable for t in scenes.values())  # no time is ever judged
    return Result((first, doubled), stable)


def _growing(divisions: int) -> ParticleSystem:
    return cloth_system(divisions, settings=PAPER_SWEEPS)
