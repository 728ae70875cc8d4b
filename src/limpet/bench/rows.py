"""P table 2: the cost of a step as the block's collision mesh, and with it the rows, grow."""

from __future__ import annotations

from limpet.bench.timing import STEPS, Ticker, time_steps
from limpet.record.table import Cell, Progress, Result, Table
from limpet.scenes.registry import load
from limpet.simulation import Simulation

START = 0.75  # [s] the pull begins: the lip still lies flat
REPEATS = 2
DIVISIONS = (1, 12, 18, 32, 42)  # of the block, chosen for about the paper's numbers of rows
# P table 2: collision nodes, constraints, compliance and total ms
PAPER = (
    (135, 123.52, 22.56, 37.17),
    (225, 229.22, 56.81, 74.00),
    (360, 322.91, 105.17, 127.42),
    (991, 674.60, 430.39, 475.36),
    (1817, 1022.85, 1082.72, 1185.12),
)


def run(progress: Progress) -> Result:
    """Time the ground scene on blocks of growing resolution."""
    tick = Ticker(progress, len(DIVISIONS) * (REPEATS + 1), "rows")
    rows: list[tuple[Cell, ...]] = []
    converged = True
    for divisions, (nodes, constraints, compliance, total) in zip(DIVISIONS, PAPER):
        scene = load(
            "ground",
            {"element": "tet4", "block_divisions": divisions, "block_edge": "40 mm"},
        )
        timing = time_steps(
            lambda scene=scene: Simulation(scene.world, h=scene.h),  # type: ignore[misc]
            START,
            REPEATS,
            tick,
        )
        converged &= timing.converged
        rows.append(
            (
                timing.collision_nodes,
                round(timing.rows, 1),
                timing.ms["compliance"],
                timing.ms["solve"],
                timing.total,
                timing.converged,
                nodes,
                constraints,
                compliance,
                total,
            )
        )
    table = Table(
        "rows: time per step as the block's collision mesh grows (cup of linear tets)",
        (
            "coll. nodes",
            "rows",
            "compliance [ms]",
            "solve [ms]",
            "total [ms]",
            "converged",
            "P coll. nodes",
            "P rows",
            "P compliance [ms]",
            "P total [ms]",
        ),
        tuple(rows),
        (f"mean over {STEPS} steps of the early pull, each step's least of {REPEATS} runs",),
    )
    return Result((table,), ok=converged)
