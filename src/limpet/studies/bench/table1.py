"""P table 1: time per step of seven scenes, by phase, beside the paper's.

The paper averages over 150 steps around the suction. A scene that is not there yet is left out and
said so. Where a scene lets its element be chosen it is timed twice: with the paper's linear tets,
and with the default.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, thread_time

from pydantic import Field

from limpet.engine.simulation import Simulation
from limpet.errors import MissingPackageError
from limpet.fem.elements.choose import LockingWarning
from limpet.model.settings import MOST_THREADS
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.registry import load, parameters_of, scenes
from limpet.studies.bench.timing import PHASES, STEPS, Timing, suction_begins, time_steps
from limpet.studies.options import StudyOptions, read_options

REPEATS = 3
NEAR = 0.1  # sizes within this share of P's count as the same


@dataclass(frozen=True)
class SceneRow:
    """A row of P table 1, and the scene that stands for it."""

    name: str
    scene: str
    fem_nodes: int
    collision_nodes: int
    constraints: float
    total: float  # [ms] of the paper, as the next; the rest is drawing and bookkeeping
    ms: tuple[float, ...]  # free motion, collision, cavities, compliance, solve
    parameters: Mapping[str, object] = field(default_factory=dict)
    start: float | None = None  # [s] of the first timed step; where suction begins if not given

    def near(self, t: Timing) -> bool:
        """Whether the sizes are the paper's."""
        sizes = (t.fem_nodes / self.fem_nodes, t.collision_nodes / self.collision_nodes)
        return all(abs(size - 1.0) <= NEAR for size in sizes)


# the pull of the ground scene as it was timed from the first: it holds the suction and the peak
GROUND = SceneRow(
    "ground", "ground", 434, 135, 122.75, 38.51, (9.02, 0.40, 3.13, 21.31, 1.33),
    {"speed": "5 mm/s", "duration": "3.3 s"}, start=1.25,
)  # fmt: skip
# P table 1 (i9-9980HK)
ROWS = (
    GROUND,
    SceneRow(
        "soft cube",
        "soft-cube",
        820,
        325,
        111.96,
        56.55,
        (16.52, 0.57, 6.91, 26.58, 1.96),
        {"cube_element": "hex8", "divisions": 6, "layers": 5, "finer": 1, "nodes": 450},
    ),
    SceneRow(
        "bunny",
        "bunny",
        434,
        572,
        182.00,
        67.59,
        (9.10, 0.94, 6.33, 41.67, 3.01),
        {"vertices": 330},
    ),
    SceneRow(
        "toy",
        "toy",
        628,
        212,
        234.72,
        86.48,
        (19.12, 0.76, 1.62, 56.22, 2.17),
        {"spring_element": "hex8", "per_turn": 15},
    ),
    SceneRow(
        "robot",
        "pick-and-place",
        434,
        507,
        262.64,
        87.96,
        (15.24, 2.44, 9.06, 51.17, 3.15),
        {"h": "10 ms", "facet": "2.5 mm"},
    ),
    SceneRow(
        "cube halves",
        "cube-halves",
        644,
        801,
        705.16,
        390.04,
        (14.31, 1.91, 2.92, 343.85, 18.21),
        {"finer": 3},
    ),
    SceneRow(
        "tentacle",
        "tentacle",
        1585,
        2044,
        249.70,
        427.61,
        (36.56, 1.83, 98.30, 263.15, 3.24),
        {"rim_vertices": 5},
    ),
)


class BenchOptions(StudyOptions):
    """What can be chosen."""

    threads: int = Field(1, ge=1, le=MOST_THREADS)


def chosen_threads(settings: Mapping[str, object]) -> int:
    return read_options(BenchOptions, settings).threads


def run(progress: Progress, settings: Mapping[str, object], folder: Path | None) -> Result:
    """Time every row whose scene is there."""
    return compare(progress, ROWS, "table1", chosen_threads(settings))


def compare(progress: Progress, rows: tuple[SceneRow, ...], title: str, threads: int = 1) -> Result:
    """Time some rows; `ok` if every timed step was solved: no time is ever judged."""
    left_out = {row.name: why for row in rows if (why := _why_not(row))}
    present = [row for row in rows if row.name not in left_out]
    jobs = [(row, element) for row in present for element in _elements(row)]
    tick = Ticker(progress, len(jobs) * (REPEATS + 1), title)
    timed = [(row, element, _time(row, element, tick, threads)) for row, element in jobs]
    clock = "time of the one thread" if threads == 1 else f"{threads} threads, time of the clock"
    notes = [
        f"mean over {STEPS} steps around the suction, minimum per step of {REPEATS} runs, {clock}; "
        "converged to 1e-10, P's to 50 sweeps",
        f"sizes as in P: FEM and collision nodes within {100 * NEAR:g} %; P's machine: i9-9980HK",
    ]
    notes += [f"{name}: left out, {why}" for name, why in left_out.items()]
    tables = (
        _totals(f"{title}: time per step", timed, tuple(notes)),
        _phases(f"{title}: where the time goes [ms]", timed),
    )
    return Result(tables, ok=all(t.converged for _, _, t in timed))


def _why_not(row: SceneRow) -> str:
    """Why a row cannot be timed here; empty if it can."""
    if row.scene not in scenes():
        return f"there is no scene '{row.scene}'"
    try:
        load(row.scene, row.parameters)
    except MissingPackageError as missing:
        return str(missing)
    return ""


def _elements(row: SceneRow) -> tuple[str | None, ...]:
    return ("tet4", None) if "element" in parameters_of(row.scene) else (None,)


def _time(row: SceneRow, element: str | None, tick: Ticker, threads: int) -> Timing:
    chosen = {} if element is None else {"element": element}
    clock = thread_time if threads == 1 else perf_counter

    def build() -> Simulation:
        scene = load(row.scene, {**row.parameters, **chosen})
        return scene.simulation(threads=threads)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # P's tets lock; here they are only timed
        start = suction_begins(build()) if row.start is None else row.start
        return time_steps(build, start, REPEATS, tick, clock)


def _totals(
    title: str, timed: list[tuple[SceneRow, str | None, Timing]], notes: tuple[str, ...]
) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for row, element, t in timed:
        sizes = (
            row.fem_nodes, t.fem_nodes, row.collision_nodes, t.collision_nodes, row.near(t),
            row.constraints, round(t.rows, 1),
        )  # fmt: skip
        times = (row.total, t.total, row.total / t.total, t.median, t.plain, t.converged)
        cells.append((row.name, element or "default", *sizes, *times))
    columns = (
        "scene", "element", "FEM nodes in P", "FEM nodes", "coll. nodes in P", "coll. nodes",
        "sizes as in P", "rows in P", "rows", "P [ms]", "Limpet [ms]", "speed-up",
        "median step [ms]", "plain mean [ms]", "converged",
    )  # fmt: skip
    return Table(title, columns, tuple(cells), notes)


def _phases(title: str, timed: list[tuple[SceneRow, str | None, Timing]]) -> Table:
    cells: list[tuple[Cell, ...]] = []
    shown: set[str] = set()
    for row, element, t in timed:
        if row.name not in shown:
            given = dict(zip(PHASES, row.ms))
            cells.append((row.name, "P (tets)", *(given.get(p) for p in PHASES), row.total))
            shown.add(row.name)
        cells.append((row.name, element or "default", *(t.ms[p] for p in PHASES), t.total))
    return Table(title, ("scene", "element", *PHASES, "total"), tuple(cells))
