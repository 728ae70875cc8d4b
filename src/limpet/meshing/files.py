"""Shapes from mesh files (STL, OBJ, PLY, OFF; others by meshio; STEP by Netgen).

A mesh file does not contain its unit, so the caller gives it. A STEP file does.

Duplicate vertices (every STL has them) are merged and triangles are oriented outward. An open or
self-intersecting surface is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree

from limpet.errors import LimpetError, MeshError, suggest
from limpet.geometry.shape import Array, RigidShape, SoftShape
from limpet.geometry.surface import volume, winding
from limpet.meshing.cad import STEP, surface_of_step
from limpet.meshing.check import check_surface
from limpet.meshing.formats import obj, off, other, ply, stl
from limpet.meshing.formats.surface_data import FormatError, SurfaceData
from limpet.meshing.tetrahedra import fill, require_package, solid, tetrahedralise

UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "in": 0.0254}
FARTHEST = 1e9  # largest coordinate in a file
CROWD = 64  # vertices within the distance that is merged, on average
WELD = 1e-6  # of the extent: vertices within this distance are merged
MIN_EXTENT = 5e-4  # [m] a smaller body is most likely in metres
SURFACE = 0.8  # approximate fraction of the nodes on the surface; above it the surface is coarsened
ENDS = 0.02  # of the height: regions bottom and top are this high

READERS = {".stl": stl.read, ".obj": obj.read, ".ply": ply.read, ".off": off.read}
MOST_BYTES = 100_000_000  # of a file
MOST_TRIANGLES = 500_000  # of a surface
MOST_PARTS = 200  # of a surface

PathLike = str | os.PathLike[str]


def load_mesh(path: PathLike, unit: str | None = None, *, name: str | None = None) -> RigidShape:
    """A rigid shape from the closed surface in a file; `unit` of its lengths: mm, cm, m or in.

    Formats: STL, OBJ, PLY, OFF and the others of meshio, and STEP, which contains its unit.
    Duplicate vertices are merged and triangles are oriented outward. An open or self-intersecting
    surface is an error. The position is that in the file.
    """
    file = Path(path)
    name = name or file.stem
    points, triangles = _in_metres(file, unit)
    extent = float(np.ptp(points, axis=0).max())
    if extent < MIN_EXTENT:
        raise MeshError(
            f"mesh file '{file}' is {1e3 * extent:.3g} mm large in unit = '{unit}': expected "
            f"{1e3 * MIN_EXTENT:g} mm or more; is it in another unit?"
        )
    triangles = outward(points, triangles)
    check_surface(points, triangles, f"mesh file '{file}'")
    return RigidShape(name or file.stem, points, triangles)


def load_scan(path: PathLike, unit: str | None = None, *, name: str | None = None) -> RigidShape:
    """A scanned surface for comparison (hausdorff). It may be open, and is not for simulation."""
    file = Path(path)
    return RigidShape(name or file.stem, *_in_metres(file, unit))


def soft_mesh(
    path: PathLike, unit: str | None = None, nodes: int | None = None, *, order: int = 2,
    name: str | None = None,
) -> SoftShape:  # fmt: skip
    """A soft shape of tetrahedra in the closed surface of a file (Netgen); see load_mesh.

    `nodes`: approximate number of corner nodes; the surface is coarsened if it has too many
    vertices for that, else it stays as it is. `order`: 1 for tet4, 2 for tet10 cells.
    Regions: bottom, top.
    """
    surface = load_mesh(path, unit, name=name)
    x, t = surface.points, surface.triangles
    if nodes is not None and len(x) > SURFACE * nodes:
        coarse, tets = tetrahedralise(x, t, nodes, 0.8, SURFACE, surface.name)
        coarse[:, 2] += x[:, 2].min()
    else:
        coarse, tets = fill(x, t, nodes=nodes, name=surface.name)
    shape = solid(coarse, tets, surface.name, order)
    z = shape.points[:, 2]
    near = ENDS * np.ptp(z)
    regions = {
        "bottom": np.flatnonzero(z < z.min() + near),
        "top": np.flatnonzero(z > z.max() - near),
    }
    return replace(shape, regions=regions)


def _in_metres(file: Path, unit: str | None) -> tuple[Array, Array]:
    """Merged points (n, 3) [m] and triangles (m, 3) of a file."""
    points, triangles = read_surface(file, unit)
    if len(points) == 0:
        raise MeshError(f"mesh file '{file}': it has no points; export it again")
    points, triangles = weld(points, triangles)
    if len(triangles) == 0:
        raise MeshError(f"mesh file '{file}': all its triangles have zero area; export it again")
    return points, triangles


def read_surface(file: Path, unit: str | None) -> tuple[Array, Array]:
    """Points (n, 3) [m] and triangles (m, 3) of a file, not merged."""
    try:
        known = file.is_file()
    except (OSError, ValueError):  # a name that is too long, or with a zero byte
        known = False
    if not known:
        raise LimpetError(f"mesh file '{file}': there is no such file")
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise MeshError(
            f"mesh file '{file}' has {size / 1e6:.0f} MB: expected {MOST_BYTES / 1e6:.0f} MB or "
            "less; decimate it, or remove parts without contact"
        )
    if file.suffix.lower() in STEP:
        if unit not in (None, "mm"):
            raise LimpetError(
                f"mesh file '{file}': unit = '{unit}': a STEP file contains its unit; leave it out"
            )
        return surface_of_step(file, f"mesh file '{file}'")
    if unit is None:
        raise LimpetError(
            f"mesh file '{file}': the unit is missing; expected unit='mm', 'cm', 'm' or 'in'"
        )
    if unit not in UNITS:
        raise LimpetError(f"mesh file '{file}': unit = '{unit}'{suggest(unit, UNITS)}")
    points, triangles = _read(file)
    return points * UNITS[unit], triangles


def _check_stl(file: Path) -> None:
    """Check the size of a binary STL file against the number of triangles in its header."""
    with file.open("rb") as opened:
        head = opened.read(84)
    if stl.is_text(head):
        return
    count = int.from_bytes(head[80:84], "little")
    size = file.stat().st_size
    if len(head) < 84 or size < 84 + 50 * count:
        raise MeshError(
            f"mesh file '{file}': not a valid STL file: it has {size} bytes, and {count} triangles "
            f"take {84 + 50 * count}; export it again"
        )
    _check_count(file, count)


def _check_count(file: Path, count: int) -> None:
    if count > MOST_TRIANGLES:
        raise MeshError(
            f"mesh file '{file}' has {count} triangles: expected {MOST_TRIANGLES} or fewer; "
            "decimate it, or remove parts without contact"
        )


def _read(file: Path) -> tuple[Array, Array]:
    """Points (n, 3) and triangles (m, 3) of a file, in its own unit."""
    kind = file.suffix.lower()
    if kind == ".stl":
        _check_stl(file)
    try:
        if kind in READERS:
            found = READERS[kind](file.read_bytes())
        else:
            require_package("meshio", "meshio", "reading a mesh file")
            found = other.read(file)
    except FormatError as problem:
        raise MeshError(
            f"mesh file '{file}': cannot be read ({problem}); expected STL, OBJ, PLY, OFF or "
            "another format of meshio, or STEP"
        ) from None
    except OSError as problem:
        raise LimpetError(f"mesh file '{file}': cannot be read ({problem.strerror})") from None
    _check_numbers(file, found)
    return found.points, found.triangles


def _check_numbers(file: Path, found: SurfaceData) -> None:
    """Whether there are triangles, not too many, of points that exist and can be computed with."""
    x, t = found.points, found.triangles
    if len(t) == 0:
        raise MeshError(f"mesh file '{file}': expected triangles, it has none; export its surface")
    _check_count(file, len(t))
    if x.ndim != 2 or x.shape[1] != 3 or not np.all(np.abs(x) <= FARTHEST):  # a NaN neither
        raise MeshError(
            f"mesh file '{file}': expected points of three finite coordinates up to {FARTHEST:g}"
        )
    low, high = int(t.min()), int(t.max())
    if low < 0 or high >= len(x):
        raise MeshError(
            f"mesh file '{file}': a triangle has the vertex {low if low < 0 else high}: expected 0 "
            f"to {len(x) - 1}, as it has {len(x)} vertices; export it again"
        )


def weld(points: Array, triangles: Array, near: float = WELD) -> tuple[Array, Array]:
    """Merge vertices within `near` times the extent; remove the triangles that collapse."""
    distance = near * float(np.ptp(points, axis=0).max())
    n = len(points)
    # Points at one place are linked one by one: a million of them have 10^12 pairs.
    _, first, which = np.unique(points, axis=0, return_index=True, return_inverse=True)
    single = np.sort(first)
    tree = cKDTree(points[single])
    if tree.count_neighbors(tree, distance) > CROWD * len(single):
        raise MeshError(
            f"more than {CROWD} vertices are within {distance:.3g} of each other on average, "
            f"{near:g} of the extent: expected a surface; export it again"
        )
    pairs = single[tree.query_pairs(distance, output_type="ndarray")]
    pairs = np.concatenate([pairs, np.stack([first[which.ravel()], np.arange(n)], axis=1)])
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    group = connected_components(links, directed=False)[1]
    t = group[triangles]
    t = t[np.all(t != np.roll(t, 1, axis=1), axis=1)]
    used, t = np.unique(t, return_inverse=True)
    first = np.unique(group, return_index=True)[1]
    return np.ascontiguousarray(points[first[used]]), t.reshape(-1, 3).astype(np.int32)


def outward(points: Array, triangles: Array, voids: bool = True) -> Array:
    """The triangles, oriented consistently within each part and outward from the solid.

    With `voids` a part inside another one bounds a void.
    """
    t = triangles.copy()
    parts = []
    for part, turned in _oriented_parts(t):
        t[part[turned]] = t[part[turned]][:, [0, 2, 1]]
        if volume(points, t[part]) < 0.0:
            t[part] = t[part][:, [0, 2, 1]]
        parts.append(part)
    if not voids:
        return t
    within = [
        sum(
            winding(points, t[other], points[t[part[0], 0]]) > 0.5
            for other in parts
            if other is not part
        )
        for part in parts
    ]
    for part, depth in zip(parts, within):
        if depth % 2:
            t[part] = t[part][:, [0, 2, 1]]
    return t


def _oriented_parts(t: Array) -> Iterator[tuple[Array, Array]]:
    """For each connected part: its triangles, and which of them to flip to match the first."""
    half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).astype(np.int64)
    owner = np.tile(np.arange(len(t)), 3)
    key = half.min(axis=1) * (int(t.max()) + 1) + half.max(axis=1)
    order = np.argsort(key, kind="stable")
    twins = np.flatnonzero(key[order][1:] == key[order][:-1])
    one, two = order[twins], order[twins + 1]
    # consistent triangles traverse their common edge in opposite directions
    sense = np.where(half[one, 0] == half[two, 0], 2.0, 1.0)
    n = len(t)
    rows, columns = owner[one], owner[two]
    _, unique = np.unique(np.stack([rows, columns], axis=1), axis=0, return_index=True)
    rows, columns, sense = rows[unique], columns[unique], sense[unique]
    links = coo_array((sense, (rows, columns)), shape=(n, n)).tocsr()
    links = links.maximum(links.T)
    label = connected_components(links, directed=False)[1]
    if (count := int(label.max()) + 1) > MOST_PARTS:  # each is compared with each
        raise MeshError(
            f"surface has {count} separate parts: expected {MOST_PARTS} or fewer; unite them, or "
            "remove those without contact"
        )
    for k in range(count):
        part = np.flatnonzero(label == k)
        reached, before = breadth_first_order(links, part[0], directed=False)
        flip = np.zeros(n, dtype=bool)
        steps = np.asarray(links[before[reached[1:]], reached[1:]]).ravel()
        for here, there, step in zip(reached[1:], before[reached[1:]], steps):
            flip[here] = flip[there] ^ (step > 1.5)
        yield part, flip[part]
