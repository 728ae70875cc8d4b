"""What the catalogue of cups says of each: volume, stroke, nodes, stiffness, and a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limpet.dynamics.motion import path
from limpet.engine.simulation import Simulation
from limpet.fem.rubbers import Rubber
from limpet.geometry.shape import Array, SoftShape
from limpet.meshing.section.mesh import PlaneMesh
from limpet.model.world import World
from limpet.shapes.boxes import box
from limpet.shapes.catalogue import CupDesign
from limpet.shapes.section import underside
from limpet.shapes.section_mesh import MeshedSection

MM = 1e-3
SHARE = 0.15  # of the stroke: how far the cup is pushed for its stiffness
STEPS = 15  # of that push
CLEARANCE = 0.002  # diameters between lip and part at the start
COLOURS = {"quads": "#cfe0f0", "triangles": "#f4cccc"}


@dataclass(frozen=True)
class CupRow:
    """A line of the catalogue."""

    name: str
    diameter: float  # [m] of the lip; of an oval its width
    height: float  # [m]
    volume: float  # [m^3] of the air under it, standing on a plane
    stroke: float  # [m] until its inside meets the part or itself
    nodes: int
    stiffness: float | None  # [N/m] pushed on a plane; None: not computed
    summary: str


def cup_row(design: CupDesign, diameter: float, rubber: Rubber | None) -> CupRow:
    """With a rubber its stiffness is computed too, by a short push."""
    section, shape = design.section(diameter), design.shape(diameter)
    stroke = design.stroke * diameter
    return CupRow(
        design.name, diameter, float(np.ptp(shape.points[:, 2])),
        air_under(section, design.straight * diameter), stroke, len(shape.points),
        None if rubber is None else push_stiffness(shape, rubber, stroke, diameter),
        design.summary,
    )  # fmt: skip


def air_under(section: MeshedSection, straight: float) -> float:
    """[m^3] between the underside and the plane of the lip; straight [m]: sides of an oval."""
    (r, z) = underside(section.mesh).T
    fall = z[:-1] - z[1:]
    round_ = np.pi / 3.0 * np.sum(fall * (r[:-1] ** 2 + r[:-1] * r[1:] + r[1:] ** 2))
    sides = 2.0 * straight * 0.5 * np.sum(fall * (r[:-1] + r[1:]))
    return float(round_ + sides)


def push_stiffness(shape: SoftShape, rubber: Rubber, stroke: float, diameter: float) -> float:
    """[N/m] force over travel of a slow push on a plane by some of the stroke, air let out."""
    world = World(friction=rubber.friction_on("glass"))
    gap = CLEARANCE * diameter
    cup = world.add_soft(shape, rubber.material(), rubber.mass(shape), position=(0, 0, gap))
    extent = 1.5 * float(np.ptp(shape.points[:, :2], axis=0).max())
    world.add_rigid(box(extent, extent, 0.01), mass=1.0, fixed=True)
    end, travel = 1.0, gap + SHARE * stroke
    world.prescribe_motion(cup["top"], path([(0.0, 0.0), (end, -travel)]))
    reports = list(Simulation(world, h=end / STEPS).run(end))
    force = np.array([-r.reactions["cup"][2] for r in reports])
    depth = np.array([r.time for r in reports]) * travel / end
    late = depth > 0.5 * travel
    return float(np.polyfit(depth[late], force[late], 1)[0])


def draw_section(mesh: PlaneMesh, title: str, file: Path) -> None:
    """A picture of a section and its mesh; the mirrored half is in outline."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 6))
    x = mesh.points / MM
    orders = {"quads": [0, 4, 1, 5, 2, 6, 3, 7], "triangles": [0, 3, 1, 4, 2, 5]}
    for kind, order in orders.items():
        for cell in getattr(mesh, kind):
            axes.fill(*x[cell[order]].T, fc=COLOURS[kind], ec="black", lw=0.6)
    for edge, name in zip(mesh.edges, mesh.names):
        axes.plot(-x[edge, 0], x[edge, 1], color="grey", lw=0.8)
        if name is not None:
            axes.plot(*x[edge].T, lw=2.5, color=_colour(name))
    axes.set_aspect("equal")
    axes.set_xlabel("r [mm]")
    axes.set_ylabel("z [mm]")
    axes.set_title(title)
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)


def _colour(name: str) -> str:
    return {"port": "tab:green", "held": "tab:red", "lip": "tab:blue"}.get(name, "tab:orange")


def table_lines(rows: list[CupRow]) -> list[str]:
    """The rows as text, in columns."""
    head = ["name", "diameter", "height", "volume", "stroke", "nodes", "stiffness"]
    body = [
        [
            row.name, f"{row.diameter / MM:g} mm", f"{row.height / MM:.1f} mm",
            f"{row.volume / MM**3:.4g} mm³", f"{row.stroke / MM:.1f} mm", str(row.nodes),
            "" if row.stiffness is None else f"{row.stiffness / 1e3:.3g} N/mm",
        ]
        for row in rows
    ]  # fmt: skip
    wide: Array = np.array([[len(cell) for cell in line] for line in [head, *body]]).max(axis=0)
    return ["  ".join(f"{c:{w}}" for c, w in zip(line, wide)).rstrip() for line in [head, *body]]
