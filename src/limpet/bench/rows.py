"""P table 2: the cost of a step as the block's collision mesh grows, and with it the paper's rows.

Vertices in the middle of a rigid flat face touch nothing that the other body's vertices do not
touch first. Without them the rows do not grow with the block's mesh; with them they do as in P.
"""

from __future__ import annotations

from limpet.bench.timing import STEPS, Timing, time_steps
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.registry import load
from limpet.simulation import Settings, Simulation

START = 0.75  # [s] the pull begins: the lip still lies flat
REPEATS = 2
DIVISIONS = (1, 12, 18, 32, 42)  # of the block, chosen for about the paper's numbers of rows
ALL = Settings(all_vertices=True, give=1e-4)  # redundant rows need more give to share their load
# P table 2: collision nodes, constraints, compliance and total ms
PAPER = (
    (135, 123.52, 22.56, 37.17),
    (225, 229.22, 56.81, 74.00),
    (360, 322.91, 105.17, 127.42),
    (991, 674.60, 430.39, 475.36),
    (1817, 1022.85, 1082.72, 1185.12),
)


def run(progress: Progress) -> Result:
    """Time the ground scene on blocks of growing resolution, as it is and with every vertex."""
    tick = Ticker(progress, 2 * len(DIVISIONS) * (REPEATS + 1), "rows")
    tables, converged = [], True
    for title, settings in (("as it is", Settings()), ("with all redundant rows", ALL)):
        timings = [_time(divisions, settings, tick) for divisions in DIVISIONS]
        converged &= all(t.converged for t in timings)
        rows = tuple(_row(t, paper) for t, paper in zip(timings, PAPER))
        tables.append(_table(f"rows: time per step as the block's mesh grows, {title}", rows))
    return Result(tuple(tables), ok=converged)


def _time(divisions: int, settings: Settings, tick: Ticker) -> Timing:
    parameters = {
        "element": "tet4", "block_divisions": divisions, "block_edge": "40 mm", "speed": "5 mm/s",
        "duration": "3.3 s",
    }  # fmt: skip
    scene = load("ground", parameters)
    return time_steps(
        lambda: Simulation(scene.world, h=scene.h, settings=settings), START, REPEATS, tick
    )


def _row(t: Timing, paper: tuple[int, float, float, float]) -> tuple[Cell, ...]:
    own = (t.collision_nodes, round(t.rows, 1), t.ms["compliance"], t.ms["solve"], t.total)
    return (*own, t.converged, *paper)


def _table(title: str, rows: tuple[tuple[Cell, ...], ...]) -> Table:
    own = ("coll. nodes", "rows", "compliance [ms]", "solve [ms]", "total [ms]", "converged")
    paper = ("P coll. nodes", "P rows", "P compliance [ms]", "P total [ms]")
    note = f"cup of linear tets; mean over {STEPS} steps of the early pull, least of {REPEATS} runs"
    return Table(title, own + paper, rows, (note,))
