"""The section of a cup meshed in the plane, at a budget of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.errors import BudgetError, LimpetError, require_positive
from limpet.geometry.cells import mesh_of
from limpet.geometry.shape import Array
from limpet.meshing.section.chains import OUTSIDE, Lines, lines_of
from limpet.meshing.section.mesh import PlaneMesh, plane_meshes
from limpet.meshing.section.outline import CornerLike, Part
from limpet.meshing.section.sweep import Sweep, circle, rounded

HELD, PORT, LIP = "held", "port", "lip"  # names of edges that have a meaning
LOWEST = 0.01  # of the height: the lip, if no edge is called so
ELONGATED = 3.4  # length of cells along the lip over that in the section
FEWEST, MOST = 8, 400  # sectors
MOST_NODES = 30_000
USUAL_SIZE = 1.0 / 5.0  # of the largest radius
SIZES = np.geomspace(0.8, 0.03, 15)  # of the largest radius: those tried for a number of nodes

Outline = Sequence[CornerLike] | Sequence[Part]


@dataclass(frozen=True)
class MeshedSection:
    """A section and its mesh, before it is swept."""

    parts: tuple[Part, ...]
    lines: Lines
    mesh: PlaneMesh
    sectors: int

    @property
    def nodes(self) -> int:
        """Number of nodes of the revolved mesh."""
        return node_count(self.mesh, self.sectors)

    def path(self, straight: tuple[float, float]) -> Sweep:
        """A revolution, or a path with straight sides [m] along x and y."""
        if max(straight) == 0.0:
            return circle(self.sectors)
        quarter = max(2, round(self.sectors / 4))
        arc = 0.5 * np.pi * float(self.mesh.points[:, 0].max()) / quarter
        divisions = [max(1, round(side / arc)) for side in straight]
        return rounded(*straight, quarter, (divisions[0], divisions[1]))


def mesh_section(
    outline: Outline, nodes: int | None = None, sectors: int | None = None,
    element: str | None = None, straight: tuple[float, float] = (0.0, 0.0),
) -> MeshedSection:  # fmt: skip
    """The section meshed in the plane, with the number of sectors for about `nodes` nodes."""
    if mesh_of(element, "hex20", "section") != "hex20":
        raise LimpetError(
            f"section element = '{element}': expected hex20, hex20p or hex20r, or none"
        )
    parts = _parts(outline)
    lines = lines_of(parts)
    points = np.concatenate([c.points for c in lines.chains])
    radius = float(points[:, 0].max())
    lip = _lip_points(lines)
    if sectors is not None and not FEWEST <= sectors <= MOST:
        raise LimpetError(f"section sectors = {sectors}: expected {FEWEST} to {MOST}")
    # what straight sides add to a revolution
    longer = 1.0 + 2.0 * sum(straight) / (2.0 * np.pi * radius)
    if nodes is None:
        size = USUAL_SIZE * radius
        mesh = plane_meshes(lines, lip, [size, 0.9 * size, 0.8 * size])[0]
        made = MeshedSection(parts, lines, mesh, sectors or _sectors(radius, size))
    else:
        require_positive("section nodes", nodes, hint="some hundreds")
        if nodes > MOST_NODES:
            raise LimpetError(f"section nodes = {nodes:g}: expected up to {MOST_NODES}")
        meshes = plane_meshes(lines, lip, list(radius * SIZES))
        made = MeshedSection(parts, lines, *_for_budget(meshes, radius, nodes, sectors, longer))
    arc = 2.0 * np.pi * radius / made.sectors  # a grid of this fills a rectangle
    core = 4.0 * straight[0] * straight[1] / arc**2 * int((made.mesh.points[:, 0] == 0.0).sum())
    if (count := longer * made.nodes + core) > MOST_NODES:
        raise LimpetError(
            f"section: its mesh would have {count:.0f} nodes: expected up to {MOST_NODES}; use "
            "fewer sectors or nodes, or shorter straight sides"
        )
    return made


def _for_budget(
    meshes: Sequence[PlaneMesh], radius: float, nodes: int, sectors: int | None, longer: float
) -> tuple[PlaneMesh, int]:
    """The mesh and number of sectors nearest to a number of nodes."""
    best: tuple[float, int, int] | None = None
    for k, mesh in enumerate(meshes):
        ideal = _sectors(radius, mesh.size)
        for m in [sectors] if sectors else range(FEWEST, min(2 * ideal, MOST) + 1, 2):
            miss = abs(np.log(longer * node_count(mesh, m) / nodes))
            # a finer section is worth more than sectors
            skewed = 0.0 if sectors else (0.1 if m < ideal else 0.3) * abs(np.log(m / ideal))
            if best is None or (miss + skewed, k, m) < best:
                best = (miss + skewed, k, m)
    assert best is not None
    mesh, m = meshes[best[1]], best[2]
    count = round(longer * node_count(mesh, m))
    if not 0.75 < count / nodes < 1.3:
        raise BudgetError(f"section nodes = {nodes}: the nearest mesh has {count}; use about that")
    return mesh, m


def _sectors(radius: float, size: float) -> int:
    even = 2 * round(np.pi * radius / (ELONGATED * size))
    return int(np.clip(even, FEWEST, MOST))


def node_count(mesh: PlaneMesh, sectors: int) -> int:
    """Of the revolved mesh: corners have nodes at twice as many stations as middles of sides."""
    axis, corners = mesh.points[:, 0] == 0.0, mesh.corners
    off = 2 * int((corners & ~axis).sum()) + int((~corners & ~axis).sum())
    return sectors * off + int(axis.sum())


def _parts(outline: Outline) -> tuple[Part, ...]:
    items = list(outline)
    if not items:
        raise LimpetError("section: is empty; expected three corners or more")
    of_parts = [isinstance(item, Part) for item in items]
    if not any(of_parts):
        return (Part(items),)  # type: ignore[arg-type]
    if not all(of_parts):
        raise LimpetError("section: expected either corners or parts, not both")
    parts = tuple(item for item in items if isinstance(item, Part))
    names = [part.name for part in parts]
    for part in parts:
        require_positive(f"section stiffness of part '{part.name}'", part.stiffness)
        if names.count(part.name) > 1:
            raise LimpetError(f"section: two parts are called '{part.name}'")
    return parts


def _lip_points(lines: Lines) -> Array:
    outer = [c for c in lines.chains if OUTSIDE in (c.left, c.right)]
    named = [c.points for c in outer if c.name == LIP]
    if named:
        return np.concatenate(named)
    points = np.concatenate([c.points for c in outer])
    z = points[:, 1]
    return points[z <= z.min() + LOWEST * np.ptp(z)]
