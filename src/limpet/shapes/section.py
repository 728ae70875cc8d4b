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

import numpy as np

from limpet.errors import LimpetError, MeshError
from limpet.geometry.shape import Array, Binding, SoftShape, boundary
from limpet.meshing.check import check_surface
from limpet.meshing.section.mesh import PlaneMesh
from limpet.meshing.section.outline import MAX_EXTENT, distance_to_segments
from limpet.meshing.section.surface import Ring, Run, swept_surface
from limpet.meshing.section.sweep import Sweep
from limpet.meshing.section.swept import SweptCells, SweptNodes, runs_of, sweep_cells
from limpet.shapes.section_mesh import (
    HELD,
    LIP,
    LOWEST,
    PORT,
    MeshedSection,
    Outline,
    mesh_section,
)

HIGHEST = 1e-3  # of the height: what is held, if no edge is called so
RIM = 0.25  # fraction of the edges of the underside, from the lip, with a fine collision surface
CURVED = 0.02  # of the size: an edge whose middle is this far off its chord is curved
APART = 0.3  # of the thickness of a wall: how far facets may cut into it


class OpenBoreWarning(UserWarning):
    """Air can pass through the middle of a cup."""


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
    surface = _sound_surface(section, nodes, [mesh.edges[run] for run in runs], lips)
    _warn_open_bore(mesh, named)
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


def _sound_surface(
    section: MeshedSection, nodes: SweptNodes, runs: list[Array],
    lips: list[tuple[int, int] | None],
) -> Binding:  # fmt: skip
    """A collision surface that does not cut itself, with as few vertices as may be."""
    for dense in (False, True):
        surface = swept_surface(
            nodes,
            [
                _with_rings(section.mesh, edges, lip, section.sectors, dense)
                for edges, lip in zip(runs, lips)
            ],
        )
        x = surface.positions(np.array(nodes.points))
        try:
            check_surface(x, surface.triangles, "cup made from this section")
            break
        except MeshError:
            if dense:
                raise
    return surface


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


def _with_rings(
    mesh: PlaneMesh, edges: Array, lip: tuple[int, int] | None, sectors: int, dense: bool
) -> Run:
    """Rings of vertices at all nodes of the underside, at corners elsewhere; fine ones at the lip.

    The underside is what comes before the lip: the material lies to the left of a run. On the other
    face of a thin wall there are as many as it takes to keep the faces apart. `dense`: all, fine.
    """
    closed = bool(edges[0, 0] == edges[-1, 2])
    below = mesh.points[np.append(edges[:, :2].ravel(), edges[-1, 2])]  # by place
    rings = []
    for place in range(2 * len(edges) + (0 if closed else 1)):
        if place % 2 == 0 and below[place, 0] == 0.0:
            continue  # a cap closes it
        off = _off_chord(mesh, edges[place // 2]) if place % 2 else 0.0
        needed = place % 2 == 0 or off > CURVED * mesh.size
        near = False
        if lip is not None:
            needed = needed or place <= lip[1]
            near = _rim(lip[0]) < place <= lip[1] + 2
            if place > lip[1] + 2 and lip[0] > 0:
                needed = needed or off > APART * _distance(below[place], below[: lip[0] + 1])
                inset = below[place, 0] * (1.0 - np.cos(np.pi / sectors))
                near = inset > APART * _distance(below[place], below[_rim(lip[0]) : lip[0] + 1])
        if needed or dense:
            rings.append(Ring(place, near or dense))
    return Run(edges, rings, closed)


def _off_chord(mesh: PlaneMesh, edge: Array) -> float:
    """[m] how far the middle of an edge lies off its chord."""
    a, m, b = mesh.points[edge]
    return float(np.linalg.norm(m - 0.5 * (a + b)))


def _distance(point: Array, line: Array) -> float:
    """[m] from a point to a polyline."""
    return float(distance_to_segments(point[None], line[:-1], line[1:]).min())


def _warn_open_bore(mesh: PlaneMesh, named: Array) -> None:
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
