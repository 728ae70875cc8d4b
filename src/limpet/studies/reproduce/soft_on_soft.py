"""Cups on soft bodies down to a deep vacuum: contact and air between two soft walls.

A cup is pressed on a soft box, or on another cup, the air is drawn off (or not), and the cup is
pulled away. The other body is from a hundred times softer to a hundred times stiffer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from limpet.cavity.gas.vacuum_line import Pump, Regulator
from limpet.dynamics.motion import path as motion
from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.fem.material import Material
from limpet.model.settings import Settings
from limpet.model.world import World
from limpet.record.table import Progress, Result, Table
from limpet.report import StepReport
from limpet.shapes.boxes import soft_box
from limpet.shapes.cups import cup
from limpet.studies.options import LISTED, StudyOptions, read_options
from limpet.units import Positive, Time

YOUNG = 1e6  # [Pa] of the cup
RATIOS = (0.01, 0.1, 1.0, 10.0, 100.0)  # the other's modulus over it
VACUUM = 90e3  # [Pa]
FLOW = 2e-4  # [m^3/s] free flow of the pump
PRESSED, PULLED = 3e-3, 2e-2  # [m]
DURATION = 0.9  # [s]
FINER = 3  # squares of the box's contact surface along an edge of a cell
OVERLAP = 5e-5  # [m] that is allowed
AIR = 1e-9


class Options(StudyOptions):
    """What can be set with ``--set``."""

    others: Annotated[tuple[Literal["box", "cup"], ...], LISTED] = ("box", "cup")
    sources: Annotated[tuple[Literal["none", "regulator", "pump"], ...], LISTED] = (
        "none", "regulator", "pump",
    )  # fmt: skip
    ratios: Annotated[tuple[Positive[float], ...], LISTED] = RATIOS
    h: Positive[Time] = 0.01
    nodes: int = Field(434, ge=100)
    cells: int = Field(6, ge=2)  # along the box


@dataclass(frozen=True)
class Outcome:
    """The worst of one run."""

    unconverged: int
    overlap: float  # [m]
    wall_overlap: float  # [m] on average, where no volume is left
    air: float  # relative error
    lowest: float  # [Pa] pressure
    peak: float  # [N] pull
    seconds: float
    stopped: str = ""

    @property
    def holds(self) -> bool:
        sound = not self.stopped and self.unconverged == 0 and self.air <= AIR
        return sound and self.overlap <= OVERLAP and self.wall_overlap <= OVERLAP


def build(
    other: str, source: str, ratio: float, h: float, nodes: int, cells: int = 6
) -> Simulation:
    """A cup on a soft box or on its like."""
    world = World(friction=0.5)
    shape = cup("standard", nodes=nodes)
    upper = world.add_soft(
        shape, Material(YOUNG, 0.45), 0.01, name="cup", position=(0.0, 0.0, 1e-4)
    )
    material = Material(ratio * YOUNG, 0.45)
    if other == "box":
        block = soft_box(0.06, 0.06, 0.02, (cells, cells, max(2, cells // 2)), finer=FINER)
        world.fix(world.add_soft(block, material, 0.05, name="other")["bottom"])
    else:
        below = np.diag([1.0, -1.0, -1.0])
        lower = world.add_soft(shape, material, 0.01, name="other", rotation=below)
        world.fix(lower["top"])
    stations = [(0.0, 0.0), (0.1, -PRESSED), (0.5, -PRESSED), (DURATION, PULLED - PRESSED)]
    world.prescribe_motion(upper["top"], motion(stations))
    if source == "regulator":
        world.connect(upper, Regulator([(0.0, 0.0), (0.12, 0.0), (0.3, VACUUM)]))
    elif source == "pump":
        world.connect(upper, Pump(FLOW, VACUUM))
    return Simulation(world, h=h, settings=Settings())


def examine(simulation: Simulation) -> Outcome:
    """Run it to its end."""
    before, stopped = process_time(), ""
    reports: list[StepReport] = []
    try:
        reports.extend(simulation.run(DURATION))
    except LimpetError as problem:
        stopped = str(problem)
    cavities = [c for r in reports for c in r.cavities]
    return Outcome(
        unconverged=sum(not r.converged for r in reports),
        overlap=max((r.max_penetration for r in reports), default=0.0),
        wall_overlap=max((c.wall_overlap for c in cavities), default=0.0),
        air=max((r.air_error for r in reports), default=0.0),
        lowest=min((c.pressure for c in cavities), default=np.inf),
        peak=max((float(r.reactions["cup"][2]) for r in reports), default=0.0),
        seconds=process_time() - before,
        stopped=stopped,
    )


def run(progress: Progress, settings: Mapping[str, object], folder: Path | None) -> Result:
    """All cases that were asked for, one row each."""
    options = read_options(Options, settings)
    cases = [(o, s, r) for o in options.others for s in options.sources for r in options.ratios]
    rows, sound = [], True
    for i, (other, source, ratio) in enumerate(cases):
        progress(i, len(cases), f"soft-on-soft: {other}, {source}, E ratio {ratio:g}")
        found = examine(build(other, source, ratio, options.h, options.nodes, options.cells))
        sound &= found.holds
        rows.append(
            (
                other, source, ratio, found.unconverged, 1e3 * found.overlap,
                1e3 * found.wall_overlap, found.air, 1e-3 * found.lowest, found.peak,
                found.seconds, found.stopped or ("yes" if found.holds else "no"),
            )
        )  # fmt: skip
    progress(len(cases), len(cases), "soft-on-soft")
    table = Table(
        f"cups on soft bodies, E of the cup {1e-6 * YOUNG:g} MPa, down to {-1e-3 * VACUUM:g} kPa",
        (
            "other", "source", "E ratio", "unconverged", "overlap [mm]", "walls meet [mm]",
            "air error", "lowest P [kPa]", "peak [N]", "CPU [s]", "holds",
        ),
        tuple(rows),
        (f"h = {1e3 * options.h:g} ms, {options.nodes} nodes a cup, {options.cells} cells a box.",),
    )  # fmt: skip
    return Result((table,), sound, {})
