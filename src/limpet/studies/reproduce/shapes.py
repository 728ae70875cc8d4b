"""P figure 12: a plunger, an octopus sucker and a shop cup each lift 190 g by their top."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.scenes.registry import load

Array = np.ndarray

SHAPES = ("plunger", "octopus", "shop")
LIFTED = 1e-3  # [m] a cube whose centre has risen by more is in the air
WEIGHT = 9.81 * (0.190 + 0.020)  # [N] of cube and cup


@dataclass(frozen=True)
class ShapeLift:
    """How one cup did."""

    time: Array  # [s]
    force: Array  # [N] of the drive
    pressure: Array  # [Pa] nan where no air is trapped
    expelled: float  # share of the trapped air that was driven out
    lifted: bool
    converged: bool


def lift(shape: str, **parameters: object) -> ShapeLift:
    """Run the scene `shapes` with one cup."""
    scene = load("shapes", {"shape": shape, **parameters})
    simulation = scene.simulation()
    start = simulation.probes()["cube_z"]
    reports = list(simulation.run(scene.duration))
    air = [r.cavities[0].air for r in reports if r.cavities]
    risen = reports[-1].probes["cube_z"] - start > LIFTED
    return ShapeLift(
        np.array([r.time for r in reports]),
        np.array([r.reactions["cup"][2] for r in reports]),
        np.array([r.cavities[0].pressure if r.cavities else np.nan for r in reports]),
        1.0 - air[-1] / max(air) if air else 0.0,
        bool(reports[-1].cavities) and risen,
        all(r.converged for r in reports),
    )


def run(progress: Progress) -> Result:
    """Every cup of the figure."""
    lifts: dict[str, ShapeLift] = {}
    for i, shape in enumerate(SHAPES):
        progress(i, len(SHAPES), f"shapes: {shape}")
        lifts[shape] = lift(shape)
    progress(len(SHAPES), len(SHAPES), "shapes")
    table = Table(
        "shapes: cups that empty their cavity by deforming their top lift 190 g (P figure 12)",
        (
            "cup", "paper", "Limpet", "push [N]", "air driven out [%]", "weight [N]",
            "pull at the end [N]", "pressure at the end [kPa]", "converged",
        ),
        tuple(_row(shape, result) for shape, result in lifts.items()),
        ("The paper shows its cups without measures: the profiles are ours.",),
    )  # fmt: skip
    ok = all(result.lifted and result.converged for result in lifts.values())
    return Result((table,), ok, {"shapes.png": lambda path: _plot(lifts, path)})


def _row(shape: str, result: ShapeLift) -> tuple[Cell, ...]:
    return (
        shape, "lifts", "lifts" if result.lifted else "fails", -float(result.force.min()),
        100.0 * result.expelled, WEIGHT, float(result.force[-1]), 1e-3 * float(result.pressure[-1]),
        result.converged,
    )  # fmt: skip


def _plot(lifts: dict[str, ShapeLift], path: Path) -> None:
    figure = new_figure(8.0, 7.0)
    above, below = figure.subplots(2, 1, sharex=True)
    for shape, result in lifts.items():
        above.plot(result.time, result.force, lw=1.2, label=shape)
        below.plot(result.time, 1e-3 * result.pressure, lw=1.2)
    above.axhline(WEIGHT, color="0.6", lw=0.8, ls="--", label="cube and cup")
    above.set_ylabel("pull force [N]")
    above.legend()
    below.set(xlabel="time [s]", ylabel="pressure in the cavity [kPa]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.suptitle("Cups that lift by deforming their top (P figure 12)")
    figure.savefig(path, dpi=130)
