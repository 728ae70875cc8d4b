"""Fine surfaces embedded in hexahedra: any closed surface in voxels, a coil spring in swept cells.

The hexahedra carry the mechanics, the surface rides on them (P 5, 'Toy': "a wrapped deformable
model composed of hexahedra"). Voxels are fuller than the solid inside them, so that Young's modulus
is that of the wrapping, not of the solid; `fill_ratio` tells how much fuller. Metres.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from limpet.errors import LimpetError, MeshError, require_positive
from limpet.geometry.cells import HEX8, HEX_EDGES
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.geometry.surface import triangle_normals, volume, winding
from limpet.meshing.check import check_surface
from limpet.meshing.embedded import Bricks, Lines, hexahedra, layers

SPACING = 0.25  # of the points looked at on the surface, in voxels
LARGEST = 2_000_000  # voxels of the box round the surface
TOUCH = 1e-6  # of a voxel: a surface that only touches one is not in it


def wrap(
    points: Array,
    triangles: Array,
    size: float,
    element: str | None = None,
    name: str = "wrapped",
    *,
    collision: tuple[Array, Array] | None = None,
    joined: bool = False,
) -> SoftShape:
    """A closed surface, points (n, 3) [m], in the voxels of edge `size` [m] that hold a part of it.

    Of hex8 unless `element` says otherwise. `collision` is a coarser surface (points, triangles)
    for contact, the same one if not given. Voxels that join parts which are apart are refused
    unless `joined`. Regions: bottom, top (the faces of the lowest and the highest voxels).
    """
    kind = hexahedra(element, "hex8", name)
    require_positive(f"{name} size", size, " m")
    x = np.ascontiguousarray(points, dtype=float)
    surface = check_surface(x, triangles, name)
    filled, lines = _voxels(x, surface.triangles, size, name)
    parts = ndimage.label(filled)[1]
    if parts > 1:
        raise MeshError(
            f"{name} falls into {parts} parts at size = {size:g} m: expected one body; "
            "take a smaller size, or wrap its parts one by one"
        )
    body = Bricks(filled, lines, kind, name)
    # The surface's Euler number is twice that of its solid.
    solid = (len(x) - len(surface.edges) + len(surface.triangles)) // 2
    if not joined and _euler(body.cells[:, :8]) != solid:
        raise MeshError(
            f"{name} size = {size:g} m: its voxels join parts that are apart, or close a hole "
            f"(Euler number {_euler(body.cells[:, :8])}, of the solid {solid}); take a smaller "
            "size, or joined=True"
        )
    skin = body.bind(x, surface.triangles)
    touched = skin
    if collision is not None:
        coarse = np.ascontiguousarray(collision[0], dtype=float)
        known = check_surface(coarse, collision[1], f"{name} collision surface")
        touched = body.bind(coarse, known.triangles)
    return SoftShape(
        name, body.points, {kind: body.cells}, touched, skin, layers(body.points), element
    )


def fill_ratio(shape: SoftShape) -> float:
    """The visual surface's volume over that of the voxels (cells with straight edges) it is in."""
    skin, outside = shape.visual, boundary(shape.cells)
    inside = volume(skin.positions(shape.points), skin.triangles)
    return inside / volume(outside.positions(shape.points), outside.triangles)


def _voxels(x: Array, triangles: Array, size: float, name: str) -> tuple[Array, Lines]:
    """The voxels (nx, ny, nz) that hold a part of the solid, and the lines of their grid.

    One that the surface passes is found by a point on it (the points stand so close that any two
    neighbours' centres are parted by a found one); the others are inside or outside by the whole.
    """
    low, high = x.min(axis=0), x.max(axis=0)
    count = np.maximum(np.ceil((high - low) / size - TOUCH), 1.0).astype(int)
    if np.prod(count.astype(float)) > LARGEST:
        raise LimpetError(
            f"{name} size = {size:g} m: {count[0]} x {count[1]} x {count[2]} voxels; "
            "take a larger size"
        )
    origin = 0.5 * (low + high - size * count)
    normal = triangle_normals(x, triangles)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    corners = x[triangles] - TOUCH * size * normal[:, None]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    cuts = np.ceil(longest / (SPACING * size)).astype(int)
    filled = np.zeros(count, dtype=bool)
    for n in np.unique(cuts):
        i, j = np.nonzero(np.add.outer(np.arange(n + 1), np.arange(n + 1)) <= n)
        weights = np.stack([i, j, n - i - j], axis=1) / n
        on_surface = np.einsum("wk,tkd->twd", weights, corners[cuts == n]).reshape(-1, 3)
        found = np.clip(((on_surface - origin) / size).astype(int), 0, count - 1)
        filled[tuple(found.T)] = True
    rest, parts = ndimage.label(~filled)
    for part in range(1, parts + 1):
        voxel = np.argwhere(rest == part)[0]
        if winding(x, triangles, origin + size * (voxel + 0.5)) > 0.5:
            filled[rest == part] = True
    x_lines, y_lines, z_lines = (o + size * np.arange(n + 1) for o, n in zip(origin, count))
    return filled, (x_lines, y_lines, z_lines)


def _euler(hexes: Array) -> int:
    """Corners - edges + faces - cells, each counted once: 1 for a ball, 0 for a ring."""
    faces = np.concatenate([hexes[:, face] for face in HEX8.faces])
    edges = hexes[:, np.array(HEX_EDGES)].reshape(-1, 2)
    counts = [len(np.unique(np.sort(part, axis=1), axis=0)) for part in (edges, faces)]
    return len(np.unique(hexes)) - counts[0] + counts[1] - len(hexes)
