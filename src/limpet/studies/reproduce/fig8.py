"""Bernardin et al. 2019 (A), figure 8: pull force on a silicone cup at several vacuum levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limpet.record.plots import new_figure
from limpet.record.table import Progress, Result, Table, Ticker
from limpet.scenes.registry import load

Array = np.ndarray

VACUA = (2e3, 4e3, 6e3, 11e3, 20e3, 30e3, 40e3, 60e3)  # [Pa]
CUPS = ("active-a20", "active-a30")
BALANCE = 1e-6  # [N] largest momentum residual of a step
GRAVITY = 9.81
RELEASED = 0.15  # [s] shown after it let go


@dataclass(frozen=True)
class VacuumPull:
    """One run, from the start of the pull on."""

    vacuum: float  # [Pa]
    time: Array  # [s] since the pull began
    force: Array  # [N]
    area: Array  # [m^2] that the vacuum acts on
    weight: float  # [N] of the cup
    opened: int | None  # the step in which the seal is open
    balance: float  # [N] worst of all steps
    converged: bool

    @property
    def peak(self) -> int:
        """The step of the largest pull: what it takes to detach the cup."""
        return int(self.force.argmax())


def pull(scene: str, vacuum: float, **parameters: object) -> VacuumPull:
    """Run a scene at one vacuum until shortly after the cup has let go."""
    loaded = load(scene, {"vacuum": vacuum, "duration": "8 s", **parameters})
    simulation = loaded.simulation()
    start = loaded.parameters.pull_start  # type: ignore[attr-defined]
    rows: list[tuple[float, float, float]] = []
    opened: int | None = None
    balance, converged = 0.0, True
    for report in simulation.run(loaded.duration):
        balance, converged = (
            max(balance, report.momentum_residual or 0.0),
            converged and report.converged,
        )
        if report.time <= start:
            continue
        area = max((c.area for c in report.cavities), default=0.0)
        rows.append((report.time - start, float(report.reactions["cup"][2]), area))
        if opened is None and not report.vacuum_sensors["plate"].sealed:
            opened = len(rows) - 1
        if opened is not None and rows[-1][0] > rows[opened][0] + RELEASED:
            break
    time, force, area = np.array(rows).T
    weight = GRAVITY * simulation.world.specs["cup"].mass
    return VacuumPull(vacuum, time, force, area, weight, opened, balance, converged)


def run(progress: Progress) -> Result:
    """Every vacuum, both cups."""
    tick = Ticker(progress, len(CUPS) * len(VACUA), "fig8")
    found: dict[str, list[VacuumPull]] = {}
    for name in CUPS:
        for vacuum in VACUA:
            found.setdefault(name, []).append(pull(name, vacuum))
            tick()
    columns = (
        "vacuum [kPa]", "pull-off [N]", "at [s]", "sealed area then [mm^2]",
        "vacuum x area [N]", "left on the lip [N]", "opens at [s]", "largest imbalance [N]",
        "converged",
    )  # fmt: skip
    notes = (
        "time from the start of the pull, at 5 mm/s. Pull-off is the largest pull on the stem; it "
        "is vacuum x area + the cup's weight - what still presses on the plate (left on the lip).",
        f"claimed: more pull-off at each deeper vacuum; forces balance to {BALANCE:g} N in each "
        "step; the cup lets go in the end; every step converged",
    )
    tables = tuple(
        Table(f"fig8: pull-off of {name}", columns, tuple(map(_row, pulls)), notes)
        for name, pulls in found.items()
    )
    ok = all(map(_as_claimed, found.values()))
    return Result(tables, ok, {f"fig8-{n}.png": _plotter(n, pulls) for n, pulls in found.items()})


def _as_claimed(pulls: list[VacuumPull]) -> bool:
    peaks = [float(p.force.max()) for p in pulls]
    sound = all(p.converged and p.balance <= BALANCE and p.opened is not None for p in pulls)
    return sound and bool(np.all(np.diff(peaks) > 0.0))


def _row(p: VacuumPull) -> tuple[float | bool | None, ...]:
    i = p.peak
    pressed = p.vacuum * p.area[i]
    opens = None if p.opened is None else float(p.time[p.opened])
    return (
        -1e-3 * p.vacuum, float(p.force[i]), float(p.time[i]), 1e6 * float(p.area[i]),
        float(pressed), float(pressed + p.weight - p.force[i]), opens, p.balance, p.converged,
    )  # fmt: skip


def _plotter(name: str, pulls: list[VacuumPull]) -> Callable[[Path], None]:
    def plot(path: Path) -> None:
        figure = new_figure(8.0, 5.0)
        axis = figure.subplots()
        for k, p in enumerate(pulls):
            colour = f"C{k}"
            axis.plot(p.time, p.force, color=colour, lw=1.4, label=f"{-1e-3 * p.vacuum:g} kPa")
            if p.opened is not None:
                i = max(p.opened - 1, 0)
                axis.plot(p.time[i], p.force[i], "x", color=colour, ms=7, mew=1.8)
        axis.axhline(0.0, color="0.6", lw=0.8)
        axis.set(xlabel="time since the pull began [s]", ylabel="pull on the stem [N]")
        axis.set_title(f"{name}: pulled at 5 mm/s (A figure 8); x: it lets go")
        axis.grid(alpha=0.3)
        axis.legend(title="regulated at")
        figure.savefig(path, dpi=130)

    return plot
