"""P table 2: the cost of a step as the block's collision mesh grows, and with it the rows.

Vertices in the middle of a rigid flat face touch nothing that the other body's vertices do not
touch first. Without them the rows do not grow with the block's mesh; with them they do as in P.
P grasps a free cube; here the block is fixed, so that no rows are spent on what it stands on.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from limpet.engine.simulation import Simulation
from limpet.fem.elements.choose import LockingWarning
from limpet.model.settings import Settings
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.registry import load
from limpet.studies.bench.timing import PHASES, STEPS, Timing, time_steps

START = 0.75  # [s] the pull begins: the lip still lies flat
REPEATS = 2
# redundant rows need more regularisation to share their load
ALL = Settings(keep_flat_vertices=True, use_all_contacts=True, regularisation=1e-4)
FINER = 434  # nodes of the cup: from here on the collision mesh is the finer one


@dataclass(frozen=True)
class MeshRow:
    """A row of P table 2 (i9-9980HK), and the block that has about as many vertices."""

    divisions: int  # of the edges of the block's top
    collision_nodes: int
    constraints: float
    total: float  # [ms]
    ms: tuple[float, ...]  # free motion, collision, cavities, compliance, solve


ROWS = (
    MeshRow(1, 135, 123.52, 37.17, (8.99, 0.42, 1.07, 22.56, 0.76)),
    MeshRow(8, 225, 229.22, 74.00, (9.15, 0.59, 1.56, 56.81, 2.41)),
    MeshRow(14, 360, 322.91, 127.42, (9.65, 0.75, 2.95, 105.17, 4.63)),
    MeshRow(28, 991, 674.60, 475.36, (9.26, 1.18, 8.98, 430.39, 21.48)),
    MeshRow(40, 1817, 1022.85, 1185.12, (9.59, 2.13, 24.17, 1082.72, 61.74)),
)


def run(progress: Progress) -> Result:
    """Time the ground scene on blocks of growing resolution, as it is and with every vertex."""
    tick = Ticker(progress, 2 * len(ROWS) * (REPEATS + 1), "table2")
    tables, converged = [], True
    for title, settings in (("with all redundant rows, as P", ALL), ("as it is", Settings())):
        timings = [_time(row, settings, tick) for row in ROWS]
        converged &= all(t.converged for t in timings)
        tables.append(_table(f"table2: time per step as the block's mesh grows, {title}", timings))
    return Result(tuple(tables), ok=converged)


def parameters(row: MeshRow) -> dict[str, object]:
    """Of the ground scene; the block is hardly wider than the cup, as its tiles are few."""
    return {
        "element": "tet4", "block_divisions": row.divisions, "block_edge": "40 mm",
        "speed": "5 mm/s", "duration": "3.3 s",
    }  # fmt: skip


def _time(row: MeshRow, settings: Settings, tick: Ticker) -> Timing:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # P's tets lock; here they are only timed
        scene = load("ground", parameters(row))
        return time_steps(
            lambda: Simulation(scene.world, h=scene.h, settings=settings), START, REPEATS, tick
        )


def power(rows: list[float], ms: list[float]) -> float | None:
    """The power of the rows that the time grows with; None where the rows do not grow."""
    if not rows or max(rows) < 1.1 * min(rows):
        return None
    return float(np.polyfit(np.log(rows), np.log(ms), 1)[0])


def growth(sizes: list[int], rows: list[float], ms: list[float]) -> str:
    """In words: over all rows of the table, and over those whose collision mesh is the finer."""
    fine = [k for k, size in enumerate(sizes) if size > FINER]
    powers = power(rows, ms), power([rows[k] for k in fine], [ms[k] for k in fine])
    shown = [f"{p:.2f}" if p is not None else "- (they do not grow)" for p in powers]
    return f"{shown[0]} over all, {shown[1]} between those finer than the cup's {FINER} nodes"


def _table(title: str, timings: list[Timing]) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for row, t in zip(ROWS, timings):
        cells.append((
            row.collision_nodes, t.collision_nodes, row.constraints, round(t.rows, 1), row.total,
            t.total, row.total / t.total, *(t.ms[p] for p in PHASES), row.ms[3], row.ms[4],
            t.converged,
        ))  # fmt: skip
    columns = (
        "coll. nodes in P", "coll. nodes", "rows in P", "rows", "P [ms]", "Limpet [ms]",
        "speed-up", *PHASES, "compliance in P", "solve in P", "converged",
    )  # fmt: skip
    sizes = [t.collision_nodes for t in timings]
    ours = growth(sizes, [t.rows for t in timings], [t.total for t in timings])
    paper = growth(sizes, [r.constraints for r in ROWS], [r.total for r in ROWS])
    notes = (
        f"cup of linear tets; mean over {STEPS} steps of the early pull, minimum per step of "
        f"{REPEATS} runs, thread time",
        f"total grows as rows to the power {ours}",
        f"P's grows as rows to the power {paper}",
    )
    return Table(title, columns, tuple(cells), notes)
