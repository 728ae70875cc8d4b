"""All defects of a triangle surface, each with its fix; repair of those that are safe to repair.

`check_surface` stops at the first defect; `inspect` finds all. Holes are never closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from limpet.geometry.bvh import build_tree, self_intersections
from limpet.geometry.shape import Array
from limpet.geometry.surface import triangle_normals, volume
from limpet.meshing.check import MAX_EXTENT, MIN_AREA
from limpet.meshing.files import MIN_EXTENT, UNITS, outward, weld

USUAL = (2e-3, 2.0)  # [m] usual sizes of cups and of the objects that they lift


@dataclass(frozen=True)
class Fault:
    name: str
    found: str
    fix: str
    mendable: bool = False  # by `repaired`


@dataclass(frozen=True)
class MeshReport:
    """Size and defects of a surface; lengths in `unit`."""

    vertices: int  # in the file
    triangles: int
    doubled: int  # duplicate vertices
    parts: int
    size: tuple[float, float, float]  # along x, y, z
    area: float
    volume: float | None  # None where the surface is open
    unit: str | None
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = field(default=())


def inspect(points: Array, triangles: Array, unit: str | None, soup: bool = False) -> MeshReport:
    """The report on a surface in `unit`; a triangle `soup` (STL) always has duplicate vertices."""
    x, t = weld(points, triangles)
    doubled = len(np.unique(triangles)) - len(x)
    collapsed = len(triangles) - len(t)
    faults: list[Fault] = []
    if doubled and not soup:
        faults.append(
            Fault("duplicate vertices", f"{doubled} coincide with another", "merge them", True)
        )
    if len(t) == 0:
        return _empty(points, triangles, doubled, unit, faults)
    extent = float(np.ptp(x, axis=0).max())
    normals = np.linalg.norm(triangle_normals(x, t), axis=1)
    thin = int(np.sum(normals <= MIN_AREA * extent**2))
    if collapsed:
        found = f"{collapsed} with coincident corners"
        faults.append(Fault("degenerate triangles", found, "remove them", True))
    if thin:
        faults.append(
            Fault("needles", f"{thin} triangles with collinear corners", "remesh the surface")
        )
    single = _without_duplicates(t)
    if len(single) < len(t):
        found = f"{len(t) - len(single)} coincide with another one"
        faults.append(Fault("duplicate triangles", found, "remove them", True))
        t = single
    manifold, free = _edges(x, t, faults)
    closed = manifold and len(free) == 0
    crossing = _crossings(x, t) if not thin else np.zeros((0, 2), int)
    right = _outward(x, t, manifold, crossing)
    if manifold:
        _orientation(t, right, free, faults)
    if len(crossing):
        place = x[t[crossing[0, 0]]].mean(axis=0)
        found = f"{len(crossing)} pairs of triangles, the first near {_place(place)}"
        fix = "unite its parts (Boolean union), or separate the walls"
        faults.append(Fault("self-intersection", found, fix))
    notes = _size(extent, unit, faults)
    return MeshReport(
        vertices=len(points), triangles=len(triangles), doubled=doubled,
        parts=len(np.unique(_part_of(t))), size=_triple(np.ptp(x, axis=0)),
        area=float(np.linalg.norm(triangle_normals(x, t), axis=1).sum()),
        volume=float(volume(x, right)) if closed else None, unit=unit, faults=tuple(faults),
        notes=notes,
    )  # fmt: skip


def repaired(points: Array, triangles: Array) -> tuple[Array, Array]:
    """Merge vertices, remove degenerate and duplicate triangles, orient all outward."""
    x, t = weld(points, triangles)
    t = _without_duplicates(t)
    if len(t) == 0:
        return x, t
    used, compact = np.unique(t, return_inverse=True)
    x, t = x[used], compact.reshape(-1, 3).astype(np.int32)
    manifold, _ = _edges(x, t, [])
    return x, _outward(x, t, manifold, _crossings(x, t))


def _edges(x: Array, t: Array, faults: list[Fault]) -> tuple[bool, Array]:
    """Whether all edges have at most two triangles, and the edges (k, 2) with only one."""
    half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    pairs, count = np.unique(np.sort(half, axis=1), axis=0, return_counts=True)
    free, many = pairs[count == 1], int(np.sum(count > 2))
    if many:
        found = f"{many} edges have more than two triangles"
        fix = "remove inner walls and fins, so that the surface separates inside and outside"
        faults.append(Fault("not manifold", found, fix))
    if len(free):
        nodes, compact = np.unique(free, return_inverse=True)
        links = compact.reshape(-1, 2).T
        graph = coo_array((np.ones(links.shape[1]), tuple(links)), shape=(len(nodes),) * 2)
        holes, label = connected_components(graph, directed=False)
        length = np.linalg.norm(x[free[:, 0]] - x[free[:, 1]], axis=1)
        around = np.bincount(label[links[0]], length, holes)
        largest = nodes[label == around.argmax()]
        found = (
            f"{len(free)} edges have only one triangle, around {holes} "
            f"hole{'s' if holes > 1 else ''}; the largest has perimeter {around.max():.3g}, near "
            f"{_place(x[largest].mean(axis=0))}"
        )
        fix = "close the holes in your CAD or mesh tool"
        faults.append(Fault("open", found, fix))
    return not many, free


def _crossings(x: Array, t: Array) -> Array:
    return self_intersections(build_tree(x, t), x, t) if len(t) else np.zeros((0, 2), int)


def _outward(x: Array, t: Array, manifold: bool, crossing: Array) -> Array:
    """As `outward`, but parts that intersect do not bound voids."""
    return outward(x, t, voids=len(crossing) == 0) if manifold and len(t) else t


def _orientation(t: Array, right: Array, free: Array, faults: list[Fault]) -> None:
    """Triangles oriented unlike their neighbours, and closed parts that are inside-out."""
    half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    disagree = len(half) - len(np.unique(half, axis=0))
    turned = np.any(right != t, axis=1)
    label = _part_of(t)
    in_closed = ~np.isin(label, label[np.isin(t, free).any(axis=1)])
    if turned.all() and in_closed.all():
        faults.append(Fault("inside-out", "all triangles face inward", "flip them", True))
    elif disagree or np.any(turned & in_closed):
        found = f"{int(turned.sum())} of {len(t)} triangles have the wrong orientation"
        faults.append(Fault("orientation", found, "flip them", True))


def _size(extent: float, unit: str | None, faults: list[Fault]) -> tuple[str, ...]:
    """Faults and notes on the unit."""
    if unit is None:
        usual = [u for u, size in UNITS.items() if USUAL[0] <= extent * size <= USUAL[1]]
        across = ", ".join(f"{1e3 * extent * UNITS[u]:.4g} mm in {u}" for u in ("mm", "m"))
        likely = f"likely {' or '.join(usual)}" if usual else "its size is unusual in any unit"
        return (f"unit not given: {across} ({likely}); give it with --unit",)
    metres = extent * UNITS[unit]
    told = f"{1e3 * metres:.4g} mm ({metres:.4g} m) large in {unit}"
    if not MIN_EXTENT <= metres <= MAX_EXTENT:
        limits = f"{1e3 * MIN_EXTENT:g} mm to {MAX_EXTENT:g} m"
        faults.append(Fault("size", f"{told}, expected {limits}", "use another --unit"))
    elif not USUAL[0] <= metres <= USUAL[1]:
        return (f"it is {told}: check the unit",)
    return ()


def _without_duplicates(t: Array) -> Array:
    """One of the triangles with the same corners, or none if their orientations cancel."""
    turned = np.take_along_axis(t, (t.argmin(axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    sense = np.where(turned[:, 1] < turned[:, 2], 1, -1)
    corners = np.sort(t, axis=1)
    _, first, group = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    net = np.bincount(group.ravel(), sense, len(first)).astype(int)
    keep = np.zeros(len(t), dtype=bool)
    for sign in (1, -1):  # the first of each group with the orientation of the majority
        right = np.flatnonzero((sense == sign) & (np.sign(net)[group.ravel()] == sign))
        keep[right[np.unique(group.ravel()[right], return_index=True)[1]]] = True
    return t[keep]


def _part_of(t: Array) -> Array:
    """(m,) the part of each triangle; triangles with a common vertex are in one part."""
    nodes, compact = np.unique(t, return_inverse=True)
    a, b, c = compact.reshape(-1, 3).T
    rows, columns = np.concatenate([a, b]), np.concatenate([b, c])
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(nodes),) * 2)
    return connected_components(graph, directed=False)[1][a]


def _empty(
    points: Array, triangles: Array, doubled: int, unit: str | None, faults: list[Fault]
) -> MeshReport:
    flat = Fault("no area", "all triangles have zero area", "export the mesh again")
    size = _triple(np.ptp(points, axis=0))
    return MeshReport(
        len(points), len(triangles), doubled, 0, size, 0.0, None, unit, (*faults, flat)
    )


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z


def _place(point: Array) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in point) + ")"
