"""Two sweeps, as C has them, and sweeps to a tolerance: the same cloth and jellies, what changes.

C tunes the number of sweeps by eye, "more interactive or more accurate". Here both ends are run,
with the scenes as they are set up between them, and judged at the accurate end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from limpet.particles.settings import ParticleSolverSettings
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes import draped, jellies
from limpet.studies.reproduce.rest_states import Served, cloth, jelly

DIVISIONS, CLOTH_SECONDS = 20, 4.0
JELLY, JELLY_SECONDS = (4, 5), 2.0
MOST = 300  # sweeps
TOLERANCES = (1e-2, 1e-3, 1e-4)  # [m/s]
STRETCH, DEEP = 1e-3, 1e-5  # at rest, that the finest tolerance may leave: of a length, [m]


@dataclass(frozen=True)
class Way:
    """A scene, how it was swept, and what it came to."""

    scene: str
    sweeps: str
    told: Served


def ways(settings: ParticleSolverSettings, solves: int) -> dict[str, ParticleSolverSettings]:
    """The plans from C's to the finest; `solves` a step with C's."""
    two = ParticleSolverSettings(sweeps=2, rigid_sweeps=2, substeps=solves, max_substeps=solves)
    fine = {
        f"to {1e3 * t:g} mm/s": replace(settings, sweeps=MOST, max_sweeps=0, tolerance=t)
        for t in TOLERANCES
    }
    return {"two, C's": two, "as set up": settings, **fine}


def scenes(
    divisions: int = DIVISIONS,
    cells: tuple[int, int] = JELLY,
    seconds: tuple[float, float] = (CLOTH_SECONDS, JELLY_SECONDS),
) -> dict[
    str, tuple[Callable[[ParticleSolverSettings], Served], dict[str, ParticleSolverSettings]]
]:
    """How each scene is run, and by which plans."""
    return {
        "cloth": (
            partial(cloth, divisions=divisions, seconds=seconds[0]), ways(draped.PLAN, 1)
        ),
        "jelly": (partial(jelly, divisions=cells, seconds=seconds[1]), ways(jellies.PLAN, 3)),
    }  # fmt: skip


def run(progress: Progress) -> Result:
    """Both scenes by all plans."""
    chosen = scenes()
    tick = Ticker(progress, sum(len(plans) for _, plans in chosen.values()), "sweeps-c")
    found = []
    for scene, (serve, plans) in chosen.items():
        for label, settings in plans.items():
            found.append(Way(scene, label, serve(settings)))
            tick()
    return judge(found)


def judge(found: list[Way]) -> Result:
    """The table, and what is claimed of the finest sweeps of each scene."""
    table = Table(
        "C 5: two sweeps, and sweeps to a tolerance",
        (
            "scene", "sweeps", "a step", "stretch, most [%]", "stretch at rest [%]",
            "penetration at rest [mm]", "sunk [mm]", "speed at rest [mm/s]", "ms a step",
        ),
        tuple(
            (
                w.scene, w.sweeps, w.told.sweeps, 100.0 * w.told.stretch,
                100.0 * w.told.stretch_at_rest, 1e3 * w.told.penetration_at_rest,
                1e3 * w.told.sunk, 1e3 * w.told.speed_at_rest, w.told.ms,
            )
            for w in found
        ),
        (
            'C: two sweeps; "by tuning the iteration number, the simulation can be made more '
            'interactive or more accurate"; no figures',
            f"a tolerance ends the sweeps when no row changes a velocity by more, {MOST} at most; "
            "at rest: the most over the last quarter of the run",
            "C's two: 2 rigid sweeps besides, the threads still solved whole; one solve a step of "
            "the cloth, three of the jellies, which those of C's size need to be stable",
            "sunk: the cloth's centre; the bar, which began 2 mm above the jellies",
            "times are reported, never judged",
        ),
    )  # fmt: skip
    finest = [[w for w in found if w.scene == scene][-1] for scene in {w.scene: 0 for w in found}]
    claims = (
        ("finest: stretch at rest", max(w.told.stretch_at_rest for w in finest), STRETCH),
        ("finest: penetration at rest [m]", max(w.told.penetration_at_rest for w in finest), DEEP),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple((*c, bool(c[1] <= c[2])) for c in claims)
    claimed = Table("what is claimed", ("claim", "worst", "allowed", "holds"), rows)
    ok = all(w.told.done for w in found) and all(worst <= most for _, worst, most in claims)
    return Result((table, claimed), ok, {"sweeps-c.png": partial(_draw, found)})


def _draw(found: list[Way], path: Path) -> None:
    figure = new_figure(10.0, 4.0)
    names = {"cloth": ("o-", "#1f5fa8"), "jelly": ("s-", "#b8431f")}
    panels = (
        ("stretch at rest [%]", lambda t: 100.0 * t.stretch_at_rest, "log"),
        ("sunk [mm], from the finest", lambda t: 1e3 * t.sunk, "linear"),
        ("ms a step", lambda t: t.ms, "log"),
    )
    for column, (label, value, scale) in enumerate(panels, 1):
        axis = figure.add_subplot(1, len(panels), column)
        for scene, (style, colour) in names.items():
            told = [w.told for w in found if w.scene == scene]
            y = np.array([value(t) for t in told])
            y = y - y[-1] if scale == "linear" else y
            axis.plot([t.sweeps for t in told], y, style, color=colour, ms=4, label=scene)
        axis.set(xscale="log", yscale=scale, xlabel="sweeps a step", ylabel=label)
        axis.grid(alpha=0.25)
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)
