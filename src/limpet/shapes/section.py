"""Cups by their half section: any closed outline in (r, z), on the axis or round a port.

    lp.shapes.cup_from_section([(0, 4.5e-3), (17.5e-3, 0), ...])

The section is meshed in the plane with quadrilaterals and swept into 20-node hexahedra and 15-node
wedges. Edges may have names: `held` is what the gripper holds, `lip` what seals, `port` the bore
that the gripper's fitting fills. The fitting is part of the surface for contact and of the walls of
the cavity, and no part of the soft body: flat caps close the bore at both ends of the named edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.errors import BudgetError, LimpetError, require_positive
from limpet.geometry.cells import mesh_of
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.meshing.section.chains import OUTSIDE, Lines, lines_of
from limpet.meshing.section.mesh import PlaneMesh, plane_meshes
from limpet.meshing.section.outline import MAX_EXTENT, CornerLike, Part
from limpet.meshing.section.surface import Ring, Run, swept_surface
from limpet.meshing.section.sweep import Sweep, circle, rounded
from limpet.meshing.section.swept import SweptCells, SweptNodes, runs_of, sweep_cells

HELD, PORT, LIP = "held", "port", "lip"
LOWEST = 0.01  # of the height: the lip, if no edge is called so
HIGHEST = 1e-3  # of the height: what is held, if no edge is called so
RIM = 0.25  # fraction of the edges of the underside, from the lip, with a fine collision surface
ELONGATED = 3.4  # length of cells along the lip over that in the section
FEWEST, MOST = 8, 400  # sectors
USUAL_SIZE = 1.0 / 5.0  # of the largest radius
SIZES = np.geomspace(0.8, 0.03, 15)  # of the largest radius: those tried for a number of nodes
CURVED = 0.02  # of an edge: one whose middle is this far off its chord is curved


class OpenBoreWarning(UserWarning):
    """Air can pass through the middle of a cup."""


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


def cup_from_section(
    outline: Outline, *, nodes: int | None = None, sectors: int | None = None,
    straight: float | Sequence[float] = 0.0, element: str | None = None, name: str = "cup",
) -> SoftShape:  # fmt: skip
    """A cup of revolution with about `nodes` nodes from its closed half section in metres.

    outline: corners, each (r, z) or a Corner with a fillet, an arc or the name of the edge that
    follows; or several Parts of different stiffness, of which later ones replace what they cover.
    Edges or parts may be called "held" (by default the highest edges), "lip" (by default the
    lowest) and "port". `straight` [m]: of an oval, the length of its straight sides along x; of a
    rounded rectangle, those along x and y: the section is swept round a line or a rectangle of that
    size. `nodes`: by default a mesh with cells of a fifth of the radius. The lowest
    point is placed at z = 0.

    Regions: "top" and "held" (the same: held edges, and the port, which the fitting fills), "lip",
    "rim" (the underside next to the lip), "underside", and those that edges and parts are called.
    """
    sides = _sides(straight)
    section = mesh_section(outline, nodes, sectors, element, sides)
    return swept_section(section, section.path(sides), element, name)


def _sides(straight: float | Sequence[float]) -> tuple[float, float]:
    """[m] along x and y."""
    given = np.ravel(np.asarray(straight, dtype=float))
    sides = (*given.tolist(), 0.0)[:2] if len(given) in (1, 2) else (np.nan, np.nan)
    if not all(0.0 <= side <= MAX_EXTENT for side in sides):
        raise LimpetError(
            f"section straight = {straight}: expected one length of 0 or more, or two, up to "
            f"{MAX_EXTENT:g} m"
        )
    return sides[0], sides[1]


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
    if nodes is None:
        size = USUAL_SIZE * radius
        mesh = plane_meshes(lines, lip, [size, 0.9 * size, 0.8 * size])[0]
        return MeshedSection(parts, lines, mesh, sectors or _sectors(radius, size))
    require_positive("section nodes", nodes, hint="some hundreds")
    # what straight sides add to a revolution
    longer = 1.0 + 2.0 * sum(straight) / (2.0 * np.pi * radius)
    meshes = plane_meshes(lines, lip, list(radius * SIZES))
    return MeshedSection(parts, lines, *_for_budget(meshes, radius, nodes, sectors, longer))


def _for_budget(
    meshes: Sequence[PlaneMesh], radius: float, nodes: int, sectors: int | None, longer: float
) -> tuple[PlaneMesh, int]:
    """The mesh and number of sectors nearest to a number of nodes."""
    best: tuple[float, int, int] | None = None
    for k, mesh in enumerate(meshes):
        ideal = _sectors(radius, mesh.size)
        for m in [sectors] if sectors else range(FEWEST, min(2 * ideal, MOST) + 1, 2):
            miss = abs(np.log(longer * node_count(mesh, m) / nodes))
            skewed = 0.0 if sectors else 0.3 * abs(np.log(m / ideal))
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


def swept_section(
    section: MeshedSection, sweep: Sweep, element: str | None, name: str
) -> SoftShape:
    """The section along a path."""
    mesh = section.mesh
    nodes = SweptNodes(mesh, sweep)
    made = sweep_cells(nodes)
    named = np.array([n or "" for n in mesh.names])
    runs = [np.array(run) for run in runs_of(mesh.edges, mesh, named == PORT)]
    lips = [_lip(mesh, run, named) for run in runs]
    surface = swept_surface(
        nodes, [_with_rings(mesh, mesh.edges[run], lip) for run, lip in zip(runs, lips)]
    )
    _warn_open_bore(mesh, named, runs)
    regions = _edge_regions(section, nodes, named)
    regions |= _part_regions(section, made)
    for run, lip in zip(runs, lips):
        if lip is not None:
            regions |= _lip_regions(mesh.edges[run], lip, nodes)
    points = np.array(nodes.points)
    points[:, 2] -= points[:, 2].min()
    stiffness = {}
    if any(part.stiffness != 1.0 for part in section.parts):
        factor = np.array([part.stiffness for part in section.parts])
        stiffness = {kind: factor[which] for kind, which in made.part.items()}
    return SoftShape(
        name, points, made.cells, surface, boundary(made.cells), regions, element, stiffness
    )


def _lip(mesh: PlaneMesh, run: Array, named: Array) -> tuple[int, int] | None:
    """First and last place of the lip on a run of edges, None if it is on another."""
    called = np.flatnonzero(named[run] == LIP)
    if (named == LIP).any():
        return (2 * int(called[0]), 2 * int(called[-1]) + 2) if len(called) else None
    edges = mesh.edges[run]
    corners = edges[:, 0] if edges[0, 0] == edges[-1, 2] else np.append(edges[:, 0], edges[-1, 2])
    z = mesh.points[corners, 1]
    bottom, height = mesh.points[:, 1].min(), np.ptp(mesh.points[:, 1])
    lowest = np.flatnonzero(z <= bottom + LOWEST * height)
    return (2 * int(lowest[0]), 2 * int(lowest[-1])) if len(lowest) else None


def underside(mesh: PlaneMesh) -> Array:
    """(k, 2) [m] the points of the underside, from the axis or the bore to the lip."""
    named = np.array([n or "" for n in mesh.names])
    for run in runs_of(mesh.edges, mesh, named == PORT):
        lip = _lip(mesh, np.array(run), named)
        if lip is not None:
            edges = mesh.edges[run][: lip[0] // 2]
            return mesh.points[np.append(edges[:, :2].ravel(), edges[-1:, 2])]
    raise LimpetError("section has no lip: call its edges 'lip'")


def _rim(first: int) -> int:
    """The place on the underside at which the rim begins, which ends at `first`."""
    return max(first - 2 * max(1, round(RIM * first / 2)), 0)


def _with_rings(mesh: PlaneMesh, edges: Array, lip: tuple[int, int] | None) -> Run:
    """Rings of vertices at all nodes of the underside, at corners elsewhere; fine ones at the lip.

    The underside is what comes before the lip: the material lies to the left of a run.
    """
    closed = bool(edges[0, 0] == edges[-1, 2])
    places = range(2 * len(edges) + (0 if closed else 1))
    r = mesh.points[:, 0]
    rings = []
    for place in places:
        end = edges[0, 0] if place == 0 else edges[(place - 1) // 2, 2]
        if place % 2 == 0 and r[end] == 0.0:
            continue  # a cap closes it
        needed = place % 2 == 0 or _curved(mesh, edges[place // 2])
        near = False
        if lip is not None:
            needed = needed or place <= lip[1]
            near = _rim(lip[0]) < place <= lip[1] + 2
        if needed:
            rings.append(Ring(place, near))
    return Run(edges, rings, closed)


def _curved(mesh: PlaneMesh, edge: Array) -> bool:
    a, m, b = mesh.points[edge]
    return bool(np.linalg.norm(m - 0.5 * (a + b)) > CURVED * np.linalg.norm(b - a))


def _warn_open_bore(mesh: PlaneMesh, named: Array, runs: Sequence[Array]) -> None:
    least = float(mesh.points[:, 0].min())
    if least > 0.0 and not (named == PORT).any():
        warnings.warn(
            f"section: its bore of radius {1e3 * least:.3g} mm is open and lets air through; call "
            "the edge that a fitting closes 'port'",
            OpenBoreWarning,
            stacklevel=4,
        )


def _edge_regions(section: MeshedSection, nodes: SweptNodes, named: Array) -> dict[str, Array]:
    mesh = section.mesh
    regions = {str(name): nodes.of(mesh.edges[named == name]) for name in sorted(set(named) - {""})}
    called = {part.name for part in section.parts}
    held = regions.get(HELD)
    if held is None and HELD not in called:
        z = mesh.points[mesh.edges][:, :, 1]
        top, height = mesh.points[:, 1].max(), np.ptp(mesh.points[:, 1])
        held = nodes.of(mesh.edges[z.min(axis=1) >= top - HIGHEST * height])
    if held is not None and len(held):
        regions[HELD] = regions["top"] = np.union1d(held, regions.get(PORT, held)).astype(np.int32)
    return regions


def _part_regions(section: MeshedSection, made: SweptCells) -> dict[str, Array]:
    if len(section.parts) == 1:
        return {}
    out = {}
    for k, part in enumerate(section.parts):
        own = [made.cells[kind][which == k].ravel() for kind, which in made.part.items()]
        out[part.name] = np.unique(np.concatenate(own)).astype(np.int32)
    if HELD in out:
        out["top"] = out[HELD]
    return out


def _lip_regions(edges: Array, lip: tuple[int, int], nodes: SweptNodes) -> dict[str, Array]:
    first, last = lip[0] // 2, lip[1] // 2
    at_lip = edges[first:last] if last > first else edges[max(first - 1, 0) : first, 2]
    before = edges[:last] if last else edges[:1]
    return {
        LIP: nodes.of(at_lip.ravel()),
        "rim": nodes.of(edges[_rim(lip[0]) // 2 : max(last, 1)].ravel()),
        "underside": nodes.of(before.ravel()),
    }
