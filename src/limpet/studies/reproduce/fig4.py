"""P figure 4: pressure, volume and air of the cavity while a cup lifts a rigid cuboid.

The paper's caption splits the time in three: (1) the cup is pushed on the object and held, (2) it
pulls the object, which still stands on the ground, (3) it lifts the object. The paper shows only
curves. The study checks what its equations require: air leaves only while the pressure is at P_max
(eq 14); it never returns; P V = n R T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from limpet.record.plots import CURVES, new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.scenes.lift import LiftParameters
from limpet.scenes.registry import load
from limpet.studies.reproduce.trace import Trace, trace

# P does not give the mass of the cuboid; 1.25 kg is the lightest of its figure 14, and makes the
# pull on the ground long enough to be visible
PARAMETERS: dict[str, object] = {"block_mass": "1.25 kg"}
OFF_GROUND = 1e-5  # [m] a block that has risen by this has left the ground
EXACT = 1e-9  # relative: what solver and round-off leave over
AT_REST, STEADY = 20, 1e-3  # over the last steps the pressure changes by no more than this share

PERIODS = ("push and hold", "pull, on the ground", "lift")


@dataclass(frozen=True)
class Lifted:
    """The run, and the last step of each period."""

    trace: Trace
    ends: tuple[int, int, int]  # the last step of each period, counted from 0
    p_max: float  # [Pa]
    rt: float  # R T [J/mol]
    weight: float  # [N] of cup and block

    def span(self, period: int) -> slice:
        """The steps of one period."""
        return slice(self.ends[period - 1] + 1 if period else 0, self.ends[period] + 1)


def run(progress: Progress) -> Result:
    """Lift the cuboid; the curves, the figures at the borders of the periods, and the checks."""
    lifted = lift(progress)
    checks = _checks(lifted)
    tables = (
        _borders(lifted),
        Table("fig4: requirements of P's model", ("check", "found", "allowed", "holds"), checks),
    )
    ok = all(bool(row[-1]) for row in checks)
    return Result(tables, ok, {"fig4.png": partial(_draw, lifted)})


def lift(progress: Progress) -> Lifted:
    """Run the scene and find when the pull begins and when the block leaves the ground."""
    scene = load("lift", PARAMETERS)
    p, atmosphere = scene.parameters, scene.world.atmosphere
    assert isinstance(p, LiftParameters)
    found = trace(scene, lambda share: progress(share, 1.0, "fig4: lift"))
    pulled = round((p.push_time + p.hold) / scene.h) - 1
    height = found["block_z"] - found["block_z"][0]
    risen = np.flatnonzero(height > OFF_GROUND)
    stands = int(risen[0]) - 1 if len(risen) else len(height) - 1
    gravity = float(np.linalg.norm(scene.world.gravity))
    return Lifted(
        found, (pulled, stands, len(height) - 1), atmosphere.p_max, atmosphere.rt,
        gravity * (p.cup_mass + p.block_mass),
    )  # fmt: skip


def _borders(lifted: Lifted) -> Table:
    t = lifted.trace
    sealed = int(np.flatnonzero(np.isfinite(t["pressure"]))[0])
    marks = [("the cavity is sealed", sealed)]
    marks += [(f"end of '{name}'", end) for name, end in zip(PERIODS, lifted.ends)]
    rows: list[tuple[Cell, ...]] = []
    for label, step in marks:
        figures = [scale * float(t[name][step]) for name, _, scale, _ in CURVES]
        height = 1e3 * float(t["block_z"][step] - t["block_z"][0])
        rows.append((label, float(t["time"][step]), *figures, height))
    return Table(
        "fig4: the cavity at the ends of the periods",
        ("when", "time [s]", *(label for _, label, _, _ in CURVES), "block risen [mm]"),
        tuple(rows),
        (
            "P figure 4 has curves and no figures; its model says (eq 14): while V falls P stays",
            "at P_max and air leaves; when the cup is pulled n stays, V grows and P falls, until P",
            "carries the block; then all three stay",
        ),
    )


def _checks(lifted: Lifted) -> tuple[tuple[Cell, ...], ...]:
    """(what, found, allowed, holds)"""
    t = lifted.trace
    push, pull, _ = (lifted.span(k) for k in range(3))
    after = slice(pull.start, None)
    pressure, air = t["pressure"], t["air"]
    below = 1.0 - pressure / lifted.p_max
    vents = t["vented"] > EXACT * np.nanmax(air)
    gas = np.abs(pressure * t["volume"] / (air * lifted.rt) - 1.0)
    held = air[after] / air[push.stop - 1] - 1.0
    hangs = pressure[-AT_REST:]

    def most(check: str, found: float, allowed: float) -> tuple[Cell, ...]:
        return check, float(found), allowed, bool(found <= allowed)

    gone = np.isnan(pressure[after])
    returned = np.nanmax(np.diff(air[push])) / air[push.stop - 1]
    carried = t["reaction"][-1] / lifted.weight
    left = lifted.ends[1] < lifted.ends[2]
    return (
        most("steps after the push without a cavity", int(gone.sum()), 0),
        most("air that comes back while pushing, of n", max(0.0, returned), EXACT),
        most("air that leaves after the push, of n", np.abs(held).max(), EXACT),
        most("P below P_max in a step that vents, of P_max", below[vents].max(initial=0.0), EXACT),
        most("P above P_max, of P_max", max(0.0, np.nanmax(-below)), EXACT),
        most("|P V / n R T - 1|", np.nanmax(gas), EXACT),
        most("rise of P in a step of the pull [Pa]", np.diff(pressure[pull]).max(initial=0.0), 0.0),
        most(
            f"spread of P in the last {AT_REST} steps, of P", np.ptp(hangs) / hangs.mean(), STEADY
        ),
        most("|reaction / weight of cup and block - 1| at the end", abs(carried - 1.0), 1e-3),
        most("steps not converged to 1e-10", t.summary.steps - t.summary.converged_steps, 0),
        ("block left the ground", left, None, left),
    )


def _draw(lifted: Lifted, path: Path) -> None:
    figure = new_figure(8.0, 7.0)
    axes = figure.subplots(3, 1, sharex=True)
    t = lifted.trace
    time = t["time"]
    for axis, (name, label, scale, colour) in zip(axes, CURVES):
        axis.plot(time, scale * t[name], color=colour, lw=1.6)
        axis.set_ylabel(label)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        for k, shade in enumerate(("0.93", "0.85", "0.97")):
            span = lifted.span(k)
            left = time[span.start - 1] if k else 0.0
            axis.axvspan(left, time[span.stop - 1], color=shade, lw=0, zorder=0)
    for k in range(len(PERIODS)):
        span = lifted.span(k)
        axes[0].annotate(
            f"({k + 1})", (time[span].mean(), 1.0), xycoords=("data", "axes fraction"),
            xytext=(0, 3), textcoords="offset points", ha="center", fontsize=9,
        )  # fmt: skip
    axes[-1].set_xlim(0.0, time[-1])
    axes[-1].set_xlabel(
        "time [s]     " + ",  ".join(f"({k + 1}) {p}" for k, p in enumerate(PERIODS))
    )
    figure.suptitle("A cup lifts a rigid cuboid (P figure 4)")
    figure.savefig(path, dpi=120)
