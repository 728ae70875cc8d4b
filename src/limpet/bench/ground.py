"""P table 1, row 'ground': time by phase, for the paper's linear tets and for our default."""

from __future__ import annotations

from limpet.bench.timing import STEPS, Timing, time_steps
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.registry import load
from limpet.simulation import Simulation

START = 1.25  # [s] into the pull: the timed steps hold the suction and the peak
REPEATS = 3
# P table 1 (i9-9980HK): free motion, collision, cavities, compliance, solve
PAPER = {"free": 9.02, "collision": 0.40, "cavities": 3.13, "compliance": 21.31, "solve": 1.33}
PAPER_TOTAL, PAPER_ROWS, PAPER_FEM, PAPER_COLLISION = 38.51, 122.75, 434, 135


def run(progress: Progress) -> Result:
    """Time the ground scene with tet4 and with the default element."""
    tick = Ticker(progress, 2 * (REPEATS + 1), "ground")
    tets, default = (_time(element, tick) for element in ("tet4", None))
    rows: list[tuple[Cell, ...]] = [
        ("FEM nodes", PAPER_FEM, tets.fem_nodes, default.fem_nodes),
        ("collision nodes", PAPER_COLLISION, tets.collision_nodes, default.collision_nodes),
        ("rows, mean", PAPER_ROWS, round(tets.rows, 1), round(default.rows, 1)),
        *((f"{p} [ms]", PAPER.get(p), tets.ms[p], default.ms[p]) for p in tets.ms),
        ("total [ms]", PAPER_TOTAL, tets.total, default.total),
        ("solved to 1e-10", "50 sweeps", tets.converged, default.converged),
    ]
    table = Table(
        "ground: time per step by phase",
        ("", "P table 1 (tets)", "tet4", "hex20p (default)"),
        tuple(rows),
        (
            f"mean over {STEPS} steps of the pull, each step's least of {REPEATS} runs, one thread",
            "P's machine is an i9-9980HK; its total holds 3.3 ms of drawing and bookkeeping",
        ),
    )
    return Result((table,), ok=tets.converged and default.converged)


def _time(element: str | None, tick: Ticker) -> Timing:
    scene = load("ground", {"element": element, "speed": "5 mm/s", "duration": "3.3 s"})
    return time_steps(lambda: Simulation(scene.world, h=scene.h), START, REPEATS, tick)
