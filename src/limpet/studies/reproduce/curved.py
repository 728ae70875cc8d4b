"""P figure 10: blocks with ever more curved tops, convex and concave, until the cup lifts none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from limpet.engine.simulation import Simulation
from limpet.geometry.surface import surface_topology
from limpet.model.specs import SoftSpec
from limpet.record.plots import new_figure
from limpet.record.section import cut
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.report import SectionFrame
from limpet.scenes.curved import CurvedParameters
from limpet.scenes.registry import load

Array = np.ndarray

RADII = {  # [mm]
    "convex": (80, 50, 40, 30, 25, 20, 15),
    "concave": (80, 50, 40, 35, 30, 25, 20),
}
FINER = {"sectors": 28, "segments": 6}
QUICK = {"h": 0.02, "speed": 10e-3, "duration": 1.9}  # SI units
LIFTED = 5e-3  # [m] of the 10 mm by which the stem rises


@dataclass(frozen=True)
class CurvedLift:
    """What became of one block."""

    surface: str
    radius: float  # [m]
    rise: float  # [m] of the block
    peak: float  # [N] pull of the drive
    leak: float  # [m] widest gap along which air gets in, at the end of the hold
    pressure: float | None  # [Pa] least in the cavity
    converged: bool
    pressed: SectionFrame  # at the end of the hold
    raised: SectionFrame  # at the end

    @property
    def lifted(self) -> bool:
        return self.rise > LIFTED


def lift(surface: str, radius: float, **parameters: object) -> CurvedLift:
    """Push, hold and raise on one block."""
    scene = load("curved", {**QUICK, "surface": surface, "radius": radius, **parameters})
    p = scene.parameters
    assert isinstance(p, CurvedParameters)
    simulation = Simulation(scene.world, h=scene.h)
    start = simulation.probes()["block_z"]
    reports = list(simulation.run(p.push_time + p.hold))
    pressed = simulation.section_frame("pressed")
    leak = leak_gap(simulation, p)
    reports += simulation.run(p.duration - p.push_time - p.hold)
    held = [c.pressure for r in reports for c in r.cavities]
    return CurvedLift(
        surface, radius, simulation.probes()["block_z"] - start,
        max(float(r.reactions["cup"][2]) for r in reports), leak, min(held, default=None),
        all(r.converged for r in reports), pressed, simulation.section_frame("raised"),
    )  # fmt: skip


def leak_gap(simulation: Simulation, p: CurvedParameters) -> float:
    """[m] the largest over all paths from the cup's axis to its outside of the smallest gap there.

    Paths run from vertex to vertex of the cup's surface; the gaps are those to the true mantle,
    below the sealing distance if the cup is sealed.
    """
    spec = simulation.world.specs["cup"]
    assert isinstance(spec, SoftSpec)
    x = simulation.bodies[0].positions()
    height = x[:, 2] + p.touch  # over the top's middle line, where z = 0 in the block's own frame
    side = 1.0 if p.surface == "convex" else -1.0
    gap = side * (np.hypot(x[:, 0], height + side * p.radius) - p.radius)
    gap[np.abs(x[:, 0]) > p.radius] = np.inf
    inside = int(np.argmin(np.hypot(x[:, 0], x[:, 1]) + x[:, 2]))
    outside = int(np.argmax(x[:, 2]))
    skin = spec.shape.collision
    edges = surface_topology(skin.triangles, skin.n_vertices).edges
    width = np.minimum(gap[edges[:, 0]], gap[edges[:, 1]])
    low, high = 0, len(edges)  # of the edges, widest first, how many join the two?
    order = np.argsort(-width)
    while high - low > 1:
        middle = (low + high) // 2
        i, j = edges[order[:middle]].T
        graph = coo_matrix((np.ones(middle), (i, j)), shape=(len(x), len(x)))
        label = connected_components(graph, directed=False)[1]
        low, high = (low, middle) if label[inside] == label[outside] else (middle, high)
    return float(width[order[high - 1]])


def run(progress: Progress) -> Result:
    """The sweep; then again with a finer mesh, from the last radius that was lifted downwards."""
    tick = Ticker(progress, sum(map(len, RADII.values())) + 2 * len(RADII), "curved")
    found: list[CurvedLift] = []
    rows: list[tuple[Cell, ...]] = []
    limits: list[tuple[Cell, ...]] = []
    ok = True
    for surface, radii in RADII.items():
        own = []
        for millimetres in radii:
            own.append(lift(surface, 1e-3 * millimetres))
            tick()
        found += own
        last = _lifted(own)
        finer: list[CurvedLift] = []
        for millimetres in radii[max(last - 1, 0) :]:
            finer.append(lift(surface, 1e-3 * millimetres, **FINER))
            tick()
            if not finer[-1].lifted:
                break
        rows += [(*_row(each), "20 x 4") for each in own]
        rows += [(*_row(each), "{sectors} x {segments}".format(**FINER)) for each in finer]
        last_finer = max(last - 1, 0) + _lifted(finer)
        # both find a limit, and within one radius of the list
        agree = all(0 < k < len(radii) for k in (last, last_finer)) and abs(last - last_finer) <= 1
        limits.append((surface, *(_least(radii, k) for k in (last, last_finer)), agree))
        ok &= agree
    columns = (
        "top", "radius [mm]", "lifted", "rise [mm]", "peak pull [N]", "leak gap [um]",
        "lowest pressure [kPa]", "all steps converged", "mesh",
    )  # fmt: skip
    tables = (
        Table(
            "curved: a 190 g block with a curved top, raised by 10 mm",
            columns,
            tuple(rows),
            (
                "Leak gap: widest gap along which air gets in, at the end of the hold, to the true "
                "mantle; below 50 um counts as sealed. A hollow may seal later, as the stem rises.",
                "Mesh: sectors round the axis x segments of the wall.",
            ),
        ),
        Table(
            "curved: limits",
            ("top", "smallest lifted [mm]", "finer mesh [mm]", "agree to one radius"),
            tuple(limits),
        ),
    )
    return Result(tables, ok, {"curved.png": partial(_draw, found)})


def _lifted(own: list[CurvedLift]) -> int:
    """How many are lifted, from the first, before one is not."""
    return next((k for k, each in enumerate(own) if not each.lifted), len(own))


def _least(radii: tuple[int, ...], count: int) -> float | None:
    """[mm] the last of the radii that are lifted."""
    return float(radii[count - 1]) if count else None


def _row(each: CurvedLift) -> tuple[Cell, ...]:
    pressure = None if each.pressure is None else 1e-3 * each.pressure
    return (
        each.surface, 1e3 * each.radius, each.lifted, 1e3 * each.rise, each.peak, 1e6 * each.leak,
        pressure, each.converged,
    )  # fmt: skip


def _draw(found: list[CurvedLift], path: Path) -> None:
    """Sections across the cylinders' axis: pressed on above, raised below, a column a radius."""
    kinds = {s: [each for each in found if each.surface == s] for s in RADII}
    columns = max(map(len, kinds.values()))
    figure = new_figure(2.0 * columns, 2.1 * 2 * len(kinds))
    axes = figure.subplots(2 * len(kinds), columns, squeeze=False)
    for k, own in enumerate(kinds.values()):
        for column in range(columns):
            for axis in axes[2 * k : 2 * k + 2, column]:
                axis.set_axis_off()
        for column, each in enumerate(own):
            title = f"{each.surface}, {1e3 * each.radius:g} mm"
            _section(axes[2 * k, column], each.pressed, title)
            word = "lifted" if each.lifted else "not lifted"
            _section(axes[2 * k + 1, column], each.raised, word)
    figure.savefig(path, dpi=110)


def _section(axis: Axes, frame: SectionFrame, title: str) -> None:
    colours = {"cup": "#c9d6e3", "block": "#d8d2c4", "ground": "#b9b3a5"}
    top = max(1e3 * x[:, 2].max() for name, x, _ in frame.bodies if name == "cup")
    for name, points, triangles in frame.bodies:
        for loop in cut(points, triangles):
            axis.fill(*(1e3 * loop.T), facecolor=colours[name], edgecolor="0.3", lw=0.6)
    axis.set(xlim=(-32, 32), ylim=(top - 48, top + 2), aspect="equal")
    axis.set_title(title, fontsize=8)
