"""Vezzaro et al. 2015 (C), figure 1: convergence of the sweeps, as RMS of delta lambda.

During a run of cloth and jelly, single steps are repeated with many more sweeps and then restored:
once with a warm start from the last step (C 4.6), once with a cold start.

A sweep solves the chains before the contacts. A cloth in free fall does not load its chains in the
first sweep; the contacts of that sweep reach them in the second one, so delta lambda is largest
there. With the contacts first it would be largest in the first sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from limpet.particles.system import ParticleSystem
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.cloth import cloth_system
from limpet.scenes.jellies import jelly_system

Array = np.ndarray

STEPS, EVERY = 60, 5  # of a run, and between two samples
SWEEPS = 20  # of a sample
FIRST = 2  # sweeps that C takes: its "first iterations"
SHOWN = (1, 2, 3, 5, 10, 20)  # sweeps in the table
SCENES: dict[str, Callable[[], ParticleSystem]] = {"cloth": cloth_system, "jelly": jelly_system}
STARTS = {"warm": None, "cold": 0.0}  # factor of the last impulses; None: as in the scene


def sample_convergence(world: ParticleSystem, sweeps: int, share: float | None = None) -> Array:
    """(sweeps,) [N] RMS of delta lambda in the last solve of the next step; restores the state."""
    state, settings = world.get_state(), world.settings
    share = settings.warm_start if share is None else share
    world.settings = replace(settings, sweeps=sweeps, max_sweeps=0, tolerance=0.0, warm_start=share)
    world.step()
    rms = np.full(sweeps, 0.0)
    rms[: world.last_sweep.sweeps] = world.last_sweep.rms  # zero after convergence
    world.settings = settings
    world.set_state(state)
    return rms


@dataclass(frozen=True)
class Convergence:
    """Samples of one scene."""

    scene: str
    start: str
    rms: Array  # (samples, sweeps) [N]

    @property
    def typical(self) -> Array:
        """(sweeps,) [N] The median of the samples."""
        return np.median(self.rms, axis=0)

    def rate(self, first: int, last: int) -> float:
        """Mean reduction factor per sweep from `first` to `last`, counted from 1."""
        typical = self.typical
        return float((typical[last - 1] / typical[first - 1]) ** (1.0 / (last - first)))

    @property
    def largest(self) -> int:
        """The sweep that changes most, from 1."""
        return int(np.argmax(self.typical)) + 1

    @property
    def falls(self) -> bool:
        """Whether each sweep after it changes less than the one before."""
        return bool(np.all(np.diff(self.typical[self.largest - 1 :]) < 0.0))

    @property
    def first(self) -> bool:
        """C's statement: the largest change is in the first sweeps, and all later ones are less."""
        return self.largest <= FIRST and bool(
            self.typical[FIRST:].max(initial=0.0) < self.typical[:FIRST].max()
        )

    @property
    def early(self) -> float:
        return self.rate(1, 3)

    @property
    def late(self) -> float:
        return self.rate(3, self.rms.shape[1])


def sample_run(
    scene: str, world: ParticleSystem, tick: Callable[[], None], steps: int = STEPS,
    every: int = EVERY, sweeps: int = SWEEPS,
) -> list[Convergence]:  # fmt: skip
    """Run the first steps of a scene and sample the convergence."""
    samples: dict[str, list[Array]] = {start: [] for start in STARTS}
    for step in range(1, steps + 1):
        world.step()
        if step % every == 0:
            for start, share in STARTS.items():
                samples[start].append(sample_convergence(world, sweeps, share))
            tick()
    return [Convergence(scene, start, np.array(rms)) for start, rms in samples.items()]


def run(progress: Progress) -> Result:
    """Both scenes; C's statement decides `ok`: the first sweeps change most, by far."""
    tick = Ticker(progress, len(SCENES) * (STEPS // EVERY), "fig1-c")
    found = [c for name, build in SCENES.items() for c in sample_run(name, build(), tick)]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{c.scene}, {c.start}", *(1e3 * float(c.typical[k - 1]) for k in SHOWN),
            c.early, c.late, c.early < c.late, c.largest, c.falls, c.first,
        )
        for c in found
    )  # fmt: skip
    table = Table(
        "C figure 1: root mean square of delta lambda, the median of "
        f"{STEPS // EVERY} samples of each scene [mN]",
        (
            "scene, start", *(f"sweep {k}" for k in SHOWN),
            "factor per sweep, 1 to 3", f"factor per sweep, 3 to {SWEEPS}", "fastest at first",
            "largest in sweep", "then monotonic", "C: largest in the first two",
        ),
        rows,
        (
            'C: "the convergence rate [...] is very high in the first iterations"; no figures',
            "warm: from the last step's impulses, as the scenes run; cold: from none",
            "rows of forces and of moments are taken together, as C does",
        ),
    )  # fmt: skip
    return Result((table,), all(c.first for c in found), {"fig1-c.png": partial(_draw, found)})


def _draw(found: list[Convergence], path: Path) -> None:
    figure = new_figure(10.0, 4.5)
    styles = {"cloth": ("o", "#1f5fa8", -0.12), "jelly": ("x", "#b8431f", 0.12)}
    for column, start in enumerate(STARTS, 1):
        axis = figure.add_subplot(1, len(STARTS), column)
        for c in (c for c in found if c.start == start):
            marker, colour, aside = styles[c.scene]
            sweeps = np.arange(1, c.rms.shape[1] + 1)
            places = np.repeat(sweeps[None] + aside, len(c.rms), axis=0)
            axis.plot(places.ravel(), c.rms.ravel(), marker, color=colour, ms=3, alpha=0.5)
            axis.plot(sweeps, c.typical, "-", color=colour, lw=1.2, label=f"{c.scene}, median")
        axis.set(yscale="log", xlabel="sweep", ylabel="rms of delta lambda [N]")
        axis.set_title(f"{start} start", fontsize=10)
        axis.grid(alpha=0.25)
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)
