"""Does a cup seal on a cylinder? The same answer for all meshes of the cup and of the cylinder.

A bell of 30 mm is pressed on fixed tubes, held and pulled off. Its mesh has as many sectors as its
lip needs on the tube (`lip_sectors`), or more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from limpet.dynamics.motion import path
from limpet.engine.simulation import Simulation
from limpet.fem.material import Material
from limpet.geometry.smooth import CREASE
from limpet.model.world import World
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.shapes.cups import CupProfile, cup
from limpet.shapes.curved import rod

BELL = CupProfile(
    "bell", radius=15e-3, depth=6e-3, height=13e-3, stem_radius=5e-3, hub_thickness=2e-3,
    lip_thickness=0.8e-3,
)  # fmt: skip
YOUNG, MASS, LENGTH = 1e6, 0.01, 0.05  # [Pa], [kg] of the cup, [m] of the tubes
CLEARANCE, PUSH, LIFT = 0.2e-3, 4.5e-3, 6e-3  # [m]
SPEED, HOLD = 10e-3, 0.1  # [m/s], [s]
HELD = 1.0  # [N] less is no suction
RADII = (20.0, 25.0, 30.0, 50.0, 70.0, 100.0)  # [mm]
NODES = (434, 1200, 2500)
FACETS = (24, 90, 360)


@dataclass(frozen=True)
class Seal:
    """One cup on one tube."""

    radius: float  # [m] of the tube
    nodes: int  # of the cup, about
    facets: int  # round the tube
    sealed: bool  # at the end of the hold
    flips: int  # how often it sealed or opened
    peak: float  # [N]
    volume: float  # [m^3] at the end of the hold
    unsolved: int  # steps that did not meet the tolerance
    depth: float  # [m] largest penetration

    @property
    def holds(self) -> bool:
        return self.sealed and self.peak > HELD


def seal(radius: float, nodes: int, facets: int, h: float = 0.02, crease: float = CREASE) -> Seal:
    """Press the bell on a tube, hold, and pull it off. h [s]; crease [rad] of the tube."""
    world = World(friction=0.5)
    shape = cup(BELL, nodes=nodes, part_radius=radius)
    soft = world.add_soft(
        shape, Material(YOUNG, 0.45), MASS, name="cup", position=(0.0, 0.0, CLEARANCE)
    )
    low = -(CLEARANCE + PUSH)
    down = -low / SPEED
    stroke = [(0.0, 0.0), (down, low), (down + HOLD, low), (down + HOLD + LIFT / SPEED, low + LIFT)]
    world.prescribe_motion(soft["top"], path(stroke))
    tube = rod(radius, LENGTH, facets=facets)
    world.add_rigid(tube, 1.0, name="tube", fixed=True, crease=crease)
    reports = list(Simulation(world, h=h).run(stroke[-1][0]))
    closed = [len(r.cavities) > 0 for r in reports]
    held = round((down + HOLD) / h) - 1
    return Seal(
        radius, nodes, facets, closed[held], sum(a != b for a, b in pairwise(closed)),
        max(float(r.reactions["cup"][2]) for r in reports),
        sum(c.volume for c in reports[held].cavities), sum(not r.converged for r in reports),
        max(r.max_penetration for r in reports),
    )  # fmt: skip


def run(
    progress: Progress, try_one: Callable[[float, int, int], Seal] = seal,
    radii: Sequence[float] = RADII, nodes: Sequence[int] = NODES, facets: Sequence[int] = FACETS,
) -> Result:  # fmt: skip
    """The table of all meshes, and whether they agree at each radius."""
    tick = Ticker(progress, len(radii) * len(nodes) * len(facets), "cylinders")
    rows: list[tuple[Cell, ...]] = []
    verdicts: list[tuple[Cell, ...]] = []
    for radius in radii:
        found = []
        for n in nodes:
            for f in facets:
                found.append(try_one(1e-3 * radius, n, f))
                tick()
        rows += [
            (
                radius, s.nodes, s.facets, s.holds, s.flips, s.peak, 1e9 * s.volume, s.unsolved,
                1e6 * s.depth,
            )
            for s in found
        ]  # fmt: skip
        count = sum(s.holds for s in found)
        verdicts.append((radius, count, len(found), count in (0, len(found))))
    agree = [bool(row[3]) for row in verdicts]
    columns = (
        "radius [mm]", "nodes", "facets", "seals", "flips", "peak [N]", "air [mm3]",
        "steps not converged", "penetration [um]",
    )  # fmt: skip
    tables = (
        Table("cylinders: a 30 mm bell pressed on tubes", columns, tuple(rows)),
        Table(
            "cylinders: do all meshes agree?",
            ("radius [mm]", "seal", "of", "agree"),
            tuple(verdicts),
            ("Seals: it is closed at the end of the hold and pulls more than 1 N.",),
        ),
    )
    # at one radius, the limit, they may differ
    return Result(tables, sum(not a for a in agree) <= 1, {})
