"""A failure made small, as a script and as a picture."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limpet.errors import LimpetError
from limpet.record.picture import draw_scene
from limpet.record.plots import new_figure
from limpet.studies.stress.compare import mirror, random_turn
from limpet.studies.stress.examine import chooser, finds
from limpet.studies.stress.invariants import Finding
from limpet.studies.stress.recipe import Recipe, build
from limpet.studies.stress.script import as_script
from limpet.studies.stress.shrink import shrink
from limpet.studies.stress.trace import Deadline, TooSlowError
from limpet.studies.stress.worlds import world_of

SECONDS = 60.0  # [s] of computing for shrinking one failure
ONE_RUN = 10.0  # [s] for one attempt


@dataclass(frozen=True)
class Failure:
    """A small world that fails an invariant."""

    seed: int
    finding: Finding
    recipe: Recipe
    script: str

    def draw(self, path: Path) -> None:
        """The world cut open at the start, and where the invariant fails."""
        frames = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                sim = build(self.recipe)
                frames.append(sim.section_frame("start"))
                sim.clock = Deadline(2.0 * ONE_RUN)
                for _ in range(min(self.finding.step, self.recipe.steps)):
                    sim.step()
                frames.append(sim.section_frame(self.finding.name))
            except (LimpetError, TooSlowError):
                pass  # the start alone is drawn
        try:
            draw_scene(frames, path)
        except Exception as problem:  # whatever a failing world looks like, the report is written
            figure = new_figure(4.0, 1.0)
            figure.text(0.05, 0.5, f"cannot be drawn: {problem}"[:60])
            figure.savefig(path)


def shrunk_failure(seed: int, finding: Finding, seconds: float = SECONDS) -> Failure:
    recipe = world_of(seed).recipe

    def fails(smaller: Recipe) -> bool:
        return finds(smaller, finding.name, seed, ONE_RUN) is not None

    small = shrink(recipe, fails, seconds)
    found = finds(small, finding.name, seed, 2.0 * ONE_RUN) or finding
    return Failure(seed, found, small, as_script(small, found, seed, turn_of(finding.name, seed)))


def turn_of(name: str, seed: int) -> np.ndarray | None:
    """How the world was turned or mirrored for that invariant."""
    kind = name.split(" (")[0]
    rng = chooser(seed, kind)
    return {"turned": random_turn, "mirrored": mirror}[kind](rng) if kind in TURNS else None


TURNS = ("turned", "mirrored")
