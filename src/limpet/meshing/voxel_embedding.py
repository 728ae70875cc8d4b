"""A fine closed surface embedded in voxels.

The hexahedra are the mechanical mesh, the surface follows them (P 5, 'Toy': "a wrapped deformable
model composed of hexahedra"). The voxels have more volume than the solid, so Young's modulus is
that of the voxels, not of the solid; `fill_ratio` is the ratio of the volumes. Metres.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from limpet.errors import LimpetError, MeshError, require_positive
from limpet.geometry.cells import HEX8, HEX_EDGES
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.geometry.surface import triangle_normals, volume, winding
from limpet.meshing.check import check_surface
from limpet.meshing.embedded import Bricks, Lines, end_regions, hexahedra

SPACING = 0.25  # of the sample points on the surface, in voxels
MAX_VOXELS = 2_000_000  # voxels in the bounding box of the surface
TOUCH = 1e-6  # of a voxel: a surface that only touches a voxel is not in it


def wrap(
    points: Array, triangles: Array, size: float, element: str | None = None, name: str = "wrapped",
    *, collision: tuple[Array, Array] | None = None, joined: bool = False,
) -> SoftShape:  # fmt: skip
    """A closed surface, points (n, 3) [m], embedded in the voxels of edge `size` [m] around it.

    The cells are hex8 by default. `collision` is a coarser surface (points, triangles) for contact;
    the same surface if not given. It is an error if voxels connect separate parts, unless `joined`.
    Regions: bottom, top (the faces of the lowest and the highest voxels).
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
            "use a smaller size, or wrap its parts one by one"
        )
    body = Bricks(filled, lines, kind, name)
    # The surface's Euler number is twice that of its solid.
    solid = (len(x) - len(surface.edges) + len(surface.triangles)) // 2
    if not joined and _euler(body.cells[:, :8]) != solid:
        raise MeshError(
            f"{name} size = {size:g} m: its voxels connect separate parts, or close a hole "
            f"(Euler number {_euler(body.cells[:, :8])}, of the solid {solid}); use a smaller "
            "size, or joined=True"
        )
    skin = body.bind(x, surface.triangles)
    touched = skin
    if collision is not None:
        coarse = np.ascontiguousarray(collision[0], dtype=float)
        known = check_surface(coarse, collision[1], f"{name} collision surface")
        touched = body.bind(coarse, known.triangles)
    return SoftShape(
        name, body.points, {kind: body.cells}, touched, skin, end_regions(body.points), element
    )


def fill_ratio(shape: SoftShape) -> float:
    """Volume of the visual surface over that of the voxels (cells with straight edges)."""
    skin, outside = shape.visual, boundary(shape.cells)
    inside = volume(skin.positions(shape.points), skin.triangles)
    return inside / volume(outside.positions(shape.points), outside.triangles)


def _voxels(x: Array, triangles: Array, size: float, name: str) -> tuple[Array, Lines]:
    """The voxels (nx, ny, nz) that overlap the solid, and the lines of their grid.

    Voxels on the surface are found by sample points, dense enough to separate the others into
    connected groups, each of which is wholly inside or outside.
    """
    low, high = x.min(axis=0), x.max(axis=0)
    count = np.maximum(np.ceil((high - low) / size - TOUCH), 1.0).astype(int)
    if np.prod(count.astype(float)) > MAX_VOXELS:
        raise LimpetError(
            f"{name} size = {size:g} m: {count[0]} x {count[1]} x {count[2]} voxels; "
            "use a larger size"
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
