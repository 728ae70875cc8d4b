"""User-defined cups: a wall between two lines, or the solid in a mesh or STEP file.

The lip is at z = 0 and the axis along z; the region "top" is for a gripper.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from limpet.errors import BudgetError, LimpetError, Notice, suggest
from limpet.geometry.cells import mesh_of
from limpet.geometry.shape import Array, RigidShape, SoftShape, boundary
from limpet.meshing.cad import STEP, tets_of_step, tets_of_surface
from limpet.meshing.check import MAX_EXTENT, check_surface
from limpet.meshing.files import ENDS, PathLike, load_mesh
from limpet.meshing.resolution import width_over_wall
from limpet.meshing.section.outline import Corner
from limpet.meshing.section.recognise import section_of_step, section_of_surface
from limpet.meshing.tetrahedra import solid
from limpet.shapes.cups import CoarseLipWarning, mesh_size
from limpet.shapes.section import cup_from_section
from limpet.shapes.suckers import Sucker, revolve, wall_budget

MM = 1e-3

RIM = 0.1  # of the height: the mesh is finer in this lowest part
MANY = 400  # largest number of points for this refinement
OUTER = 0.95  # of the largest radius: vertices beyond it are on the edge of the lip
# [m] largest sagitta of the edge of a lip between two corners: at a tilt of some ten degrees it
# lifts off by a fifth of that, which is near the sealing distance
COARSE = 1.5e-4
# Of a mesh of 10-node tetrahedra: largest width of cells over the thickness of the wall, and [m]
# largest sagitta of its lip. By the stem cup of the README as an STL of 64 corners, against its
# section: 6.4 and 0.28 mm push 6 to 23 % too hard, without a cavity; 5.3 and 0.16 mm push 2 to 4 %
# too hard and pull off at 6 instead of 50 N; 4.6 and 0.11 mm at 45.5 N; 4.1 and 0.08 mm at 47.4 N.
BENDS, SEALS = 5.5, 1e-4
BORE = 1e-3  # of the extent: the wall of a bore is as near as this to its least radius
HANDLE = 0.3  # default radius of the region "top", in radii of the cup
MIN_NODES, MAX_NODES = 100, 20_000  # nodes
# Direction "up" in the file -> rows of the rotation that maps it to z.
UP: dict[str, tuple[tuple[int, int, int], ...]] = {
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "-z": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "x": ((0, 0, -1), (0, 1, 0), (1, 0, 0)),
    "-x": ((0, 0, 1), (0, 1, 0), (-1, 0, 0)),
}

Line = Sequence[Sequence[float]]


class CoarseMeshWarning(UserWarning):
    """A cup of tetrahedra has too few nodes to bend or to seal as its form would."""


def cup_from_lines(
    inner: Line, *, thickness: float | Sequence[float] | None = None, outer: Line | None = None,
    handle: float | None = None, element: str | None = None, nodes: int | None = None,
    sectors: int | None = None, segments: int | None = None,
) -> SoftShape:  # fmt: skip
    """A cup of revolution from its half section in metres: (r, z) points from the axis to the lip.

    With `thickness` (one value, or one per point) the inner face is a smooth line through the
    points, and there are 434 nodes if not given. With `outer` the section is what two polylines
    enclose; it is meshed as by cup_from_section. The region "top" is the part of the top within
    the radius `handle`.
    """
    low = _line("inner", inner)
    if (thickness is None) == (outer is None):
        raise LimpetError("cup inner: expected either thickness or outer")
    radius = float(low[:, 0].max())
    handle = HANDLE * radius if handle is None else handle
    if not 0.0 < handle < radius:
        raise LimpetError(
            f"cup handle = {handle:g} m: expected more than 0 and less than the radius {radius:g} m"
        )
    if outer is not None:
        if segments is not None:
            raise LimpetError("cup segments: not valid with outer; give nodes, or sectors")
        outline = _enclosed(low, _line("outer", outer), handle)
        return cup_from_section(outline, nodes=nodes, sectors=sectors, element=element)
    depths = np.array(thickness, dtype=float)
    if depths.ndim == 0:
        depths = np.full(len(low), depths)
    if len(depths) != len(low) or not np.all((depths > 0.0) & (depths <= MAX_EXTENT)):
        raise LimpetError(
            f"cup thickness = {thickness}: expected a length above 0, or {len(low)} of them, "
            "one for each point of inner"
        )
    wall = Sucker("own", tuple(map(tuple, low / MM)), tuple(depths / MM), handle / MM)
    kind = mesh_of(element, "hex20", "cup")
    numbers = mesh_size("cup", kind, nodes or 434, sectors, segments, 4, wall_budget)
    shape = revolve(wall, kind, *numbers)
    x = shape.collision.positions(shape.points)
    check_surface(x, shape.collision.triangles, "cup made from these lines")
    points = shape.points - [0.0, 0.0, x[:, 2].min()]
    return replace(shape, name="cup", points=points, element=element)


def _enclosed(inner: Array, outer: Array, handle: float) -> list[Corner]:
    """The outline of what two lines from the axis to the lip enclose; held within `handle`."""
    out = [Corner(*p) for p in inner]
    for end, start in zip(outer[:0:-1], outer[-2::-1]):  # towards the axis
        held = "held" if max(start[0], end[0]) <= handle else None
        if not np.allclose(end, [out[-1].r, out[-1].z], rtol=0.0, atol=1e-12):
            out.append(Corner(end[0], end[1], edge=held))
        if start[0] < handle < end[0]:
            share = (handle - start[0]) / (end[0] - start[0])
            r, z = start + share * (end - start)
            out.append(Corner(r, z, edge="held"))
    return [*out, Corner(*outer[0])]


def _line(label: str, points: Line) -> Array:
    line = np.array(points, dtype=float)
    if line.ndim != 2 or line.shape[1] != 2 or len(line) < 3 or not np.all(np.isfinite(line)):
        raise LimpetError(f"cup {label}: expected three points (r, z) or more, all finite")
    if np.abs(line).max() > MAX_EXTENT:
        raise LimpetError(f"cup {label}: expected lengths up to {MAX_EXTENT:g} m")
    if line[0, 0] != 0.0 or np.any(line[1:, 0] <= 0.0):
        raise LimpetError(
            f"cup {label} starts at r = {line[0, 0]:g} m: expected r = 0, on the axis, then "
            "r above 0, up to the lip"
        )
    if np.any(np.linalg.norm(np.diff(line, axis=0), axis=1) == 0.0):
        raise LimpetError(f"cup {label}: expected consecutive points that differ")
    return line


def cup_from_mesh(
    path: PathLike, unit: str | None = None, nodes: int = 1000, *, order: int = 2, up: str = "z",
    top: float | None = None, revolve: bool = True,
) -> SoftShape:  # fmt: skip
    """A cup from the solid in a file (Netgen); `nodes` includes mid-side nodes.

    With `revolve`, a body of revolution is recognised and meshed as by cup_from_section, and a note
    says so; a bore through it is taken for a port. Others are meshed with tetrahedra, and sharp
    edges, such as the lip, are kept. `unit` as in load_mesh. `up` is the direction in the file from
    lip to top. The lowest point is moved to z = 0, the middle of the solid to the axis.
    Regions: "top", the highest `top` [m] (if not given 2 % of the height, or the flat top of a body
    of revolution), and "rim", the lowest 2 %.
    """
    file = Path(path)
    label = f"mesh file '{file}'"
    if up not in UP:
        raise LimpetError(f"{label}: up = '{up}'{suggest(up, UP)}")
    if not MIN_NODES <= nodes <= MAX_NODES:
        raise LimpetError(
            f"{label}: nodes = {nodes}: expected {MIN_NODES} to {MAX_NODES}; 1000 is usual"
        )
    if order not in (1, 2):
        raise LimpetError(f"{label}: order = {order!r}: expected 1 (tet4) or 2 (tet10)")
    surface = load_mesh(file, unit, name="cup")
    turn = np.array(UP[up], dtype=float)
    if revolve:
        found = _as_section(file, surface, turn, nodes, top, label)
        if found is not None:
            return found
    rim = _lowest(surface.points, turn[2])
    if file.suffix.lower() in STEP:
        points, tets = tets_of_step(file, nodes, order, rim, label)
    else:
        _warn_coarse_lip(surface.points @ turn.T, label)
        points, tets = tets_of_surface(surface.points, surface.triangles, nodes, order, rim, label)
    points = points @ turn.T
    if order == 2:  # elements of order 1 warn by themselves
        _warn_coarse_mesh(points, tets, nodes, label)
    low, high = points.min(axis=0), points.max(axis=0)
    points = points - [*(0.5 * (low + high))[:2], low[2]]
    shape = solid(points, tets, "cup", order)
    rim_nodes = np.flatnonzero(shape.points[:, 2] < ENDS * float(high[2] - low[2]))
    return replace(shape, regions={"top": _top(shape.points, top, label), "rim": rim_nodes})


def _top(points: Array, top: float | None, label: str) -> Array:
    """The nodes in the highest `top` [m] of a cup on z = 0."""
    z = points[:, 2]
    height = float(z.max())
    depth = ENDS * height if top is None else top
    if not 0.0 < depth < height:
        raise LimpetError(f"{label}: top = {depth:g} m: expected more than 0, less than {height:g}")
    return np.flatnonzero(z > height - depth)


def _as_section(
    file: Path, surface: RigidShape, turn: Array, nodes: int, top: float | None, label: str
) -> SoftShape | None:
    """The cup by its section if the solid is a body of revolution, else None."""
    if file.suffix.lower() in STEP:
        path = section_of_step(file, turn[2])
    else:
        path = section_of_surface(surface.points @ turn.T, surface.triangles)
    if path is None:
        return None
    corners = _with_port(path)
    try:
        try:
            shape = cup_from_section(corners, nodes=nodes)
        except BudgetError:
            shape = cup_from_section(corners)
    except LimpetError:  # a section that cannot be meshed; the solid may be
        return None
    if top is not None or "top" not in shape.regions:
        held = _top(shape.points, top, label)
        held = np.union1d(held, shape.regions.get("port", held)).astype(np.int32)  # a fitting
        shape = replace(shape, regions={**shape.regions, "top": held})
    port = ", its bore as a port" if "port" in shape.regions else ""
    warnings.warn(
        f"{label}: is a body of revolution; it is meshed by its section{port}, with "
        f"{len(shape.points)} nodes",
        Notice,
        stacklevel=3,
    )
    return shape


def _with_port(path: Array) -> list[Corner]:
    """Corners of a recovered section; the wall of a bore is called port."""
    least, extent = float(path[:, 0].min()), float(np.ptp(path, axis=0).max())
    bore = (path[:, 0] < least + BORE * extent) & (least > 0.0)
    both = bore & np.roll(bore, -1)
    return [Corner(r, z, edge="port" if on else None) for (r, z), on in zip(path, both)]


def sagitta(points: Array) -> tuple[float, float]:
    """Largest angle [rad] between corners of a lip around z, and its sagitta [m].

    points (n, 3) [m]: the vertices in the file.
    """
    z = points[:, 2]
    low = points[z < z.min() + ENDS * np.ptp(z)]
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))[:2]
    x, y = (low[:, :2] - middle).T
    radius = np.hypot(x, y)
    outer = radius > OUTER * radius.max()
    angle = np.sort(np.arctan2(y[outer], x[outer]))
    gap = float(np.diff(np.append(angle, angle[0] + 2.0 * np.pi)).max())
    return gap, float(radius.max() * (1.0 - np.cos(0.5 * min(gap, np.pi))))


def _warn_coarse_lip(points: Array, label: str) -> None:
    gap, inset = sagitta(points)
    if inset > COARSE:
        warnings.warn(
            f"{label}: the lip has corners {np.degrees(gap):.0f} degrees apart; when it tilts, the "
            "edges between them lift off and may leak: export it with 40 corners or more",
            CoarseLipWarning,
            stacklevel=3,
        )


def _warn_coarse_mesh(points: Array, tets: Array, nodes: int, label: str) -> None:
    """Say before anything runs what is missing, and how many nodes it would take."""
    skin = boundary({"tet4": tets}).triangles
    wide = width_over_wall(points, skin)
    inset = sagitta(points[np.unique(skin)])[1]
    bends, seals = wide / BENDS, inset / SEALS
    if max(bends, seals) <= 1.0:
        return
    faults = []
    if bends > 1.0:
        faults.append(f"to bend (cells are {wide:.1f} times as wide as the wall is thick)")
    if seals > 1.0:
        faults.append(f"to seal (the lip's edges lie {1e3 * inset:.2f} mm inside its circle)")
    # nodes of a wall grow with the square of the fineness, and so does the inset fall
    needed = float(f"{nodes * max(bends**2, seals):.2g}")
    warnings.warn(
        f"{label}: a mesh of {nodes} nodes is too coarse {' and '.join(faults)}: about "
        f"{needed:.0f} nodes would be needed",
        CoarseMeshWarning,
        stacklevel=3,
    )


def _lowest(points: Array, up: Array) -> Array:
    """(k, 3) points at the lower end, where the mesh is refined for contact."""
    z = points @ up
    low = points[z < z.min() + RIM * np.ptp(z)]
    return low[:: 1 + len(low) // MANY]
