"""P figure 14: which cubes one cup lifts, and which take two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.scenes.registry import load

Array = np.ndarray

LIFTED = 1e-3  # [m] a cube whose centre has risen by more is in the air


@dataclass(frozen=True)
class LoadCase:
    """A cube, the cups on it, and whether the paper's lift it."""

    mass: float  # [kg]
    cups: int
    lifts: bool

    @property
    def label(self) -> str:
        return f"{self.mass:g} kg, {self.cups} cup{'s' if self.cups > 1 else ''}"


CASES = (
    LoadCase(1.25, 1, True),
    LoadCase(2.5, 1, True),
    LoadCase(5.0, 1, False),
    LoadCase(5.0, 2, True),
)


@dataclass(frozen=True)
class MassLift:
    """How one case went."""

    time: Array  # [s]
    force: Array  # [N] total reaction, upward
    height: Array  # [m] of the cube's centre over where it stood
    pressure: float | None  # [Pa] lowest in the end, None if it let go
    converged: bool

    @property
    def lifted(self) -> bool:
        return self.pressure is not None and float(self.height[-1]) > LIFTED


def lift(case: LoadCase, **parameters: object) -> MassLift:
    """Run the scene `masses` for one case."""
    scene = load("masses", {"block_mass": case.mass, "cups": case.cups, **parameters})
    simulation = scene.simulation()
    start = simulation.probes()["cube_z"]
    reports = list(simulation.run(scene.duration))
    return MassLift(
        np.array([r.time for r in reports]),
        np.array([sum(w[2] for w in r.reactions.values()) for r in reports]),
        np.array([r.probes["cube_z"] for r in reports]) - start,
        min((c.pressure for c in reports[-1].cavities), default=None),
        all(r.converged for r in reports),
    )


def run(progress: Progress) -> Result:
    """Every case of the figure."""
    lifts: list[MassLift] = []
    for i, case in enumerate(CASES):
        progress(i, len(CASES), f"masses: {case.label}")
        lifts.append(lift(case))
    progress(len(CASES), len(CASES), "masses")
    table = Table(
        "masses: rigid cubes lifted by one cup or two (P figure 14)",
        (
            "mass [kg]", "cups", "weight [N]", "paper", "Limpet", "peak pull [N]",
            "pull at the end [N]", "pressure at the end [kPa]", "agrees", "converged",
        ),
        tuple(_row(case, result) for case, result in zip(CASES, lifts)),
        ("The weight is that of cube and cups: the total pull force when the cube hangs.",),
    )  # fmt: skip
    ok = all(r.lifted == c.lifts and r.converged for c, r in zip(CASES, lifts))
    return Result((table,), ok, {"masses.png": lambda path: _plot(lifts, path)})


def _row(case: LoadCase, result: MassLift) -> tuple[Cell, ...]:
    words = {True: "lifts", False: "fails"}
    return (
        case.mass, case.cups, 9.81 * (case.mass + 0.020 * case.cups), words[case.lifts],
        words[result.lifted], float(result.force.max()), float(result.force[-1]),
        None if result.pressure is None else 1e-3 * result.pressure, case.lifts == result.lifted,
        result.converged,
    )  # fmt: skip


def _plot(lifts: list[MassLift], path: Path) -> None:
    figure = new_figure(8.0, 7.0)
    above, below = figure.subplots(2, 1, sharex=True)
    for case, result in zip(CASES, lifts):
        above.plot(result.time, result.force, lw=1.2, label=case.label)
        below.plot(result.time, 1e3 * result.height, lw=1.2)
    above.set_ylabel("total pull force [N]")
    above.legend()
    below.set(xlabel="time [s]", ylabel="height of the cube [mm]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.suptitle("Cubes of different masses (P figure 14)")
    figure.savefig(path, dpi=130)
