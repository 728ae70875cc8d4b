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
from limpet.geometry.check import check_surface
from limpet.geometry.embedded import Bricks, Lines, embed, hexahedra, layers
from limpet.geometry.grids import structured
from limpet.geometry.shapes import Array, Binding, SoftShape, boundary
from limpet.geometry.surface import triangle_normals, volume

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


def winding(x: Array, triangles: Array, p: Array) -> float:
    """How often a closed surface winds round p: 1 inside, 0 outside (solid angles over 4 pi)."""
    a, b, c = (x[triangles[:, k]] - p for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    ab, bc, ca = ((u * v).sum(axis=1) for u, v in ((a, b), (b, c), (c, a)))
    below = la * lb * lc + ab * lc + bc * la + ca * lb
    return float(np.arctan2(above, below).sum() / (2.0 * np.pi))


def _euler(hexes: Array) -> int:
    """Corners - edges + faces - cells, each counted once: 1 for a ball, 0 for a ring."""
    faces = np.concatenate([hexes[:, face] for face in HEX8.faces])
    edges = hexes[:, np.array(HEX_EDGES)].reshape(-1, 2)
    counts = [len(np.unique(np.sort(part, axis=1), axis=0)) for part in (edges, faces)]
    return len(np.unique(hexes)) - counts[0] + counts[1] - len(hexes)


# A round wire of diameter d and a square one of this side have the same second moments of area, in
# bending and (one cell across a section keeps it plane) in torsion; their areas differ by 2 %.
SQUARE = (3.0 * np.pi / 16.0) ** 0.25


def coil_spring(
    radius: float = 0.012,  # [m] of the coil, to the middle of the wire
    wire: float = 0.002,  # [m] diameter
    pitch: float = 0.008,  # [m] a turn
    turns: float = 4.0,  # active ones, between the ends
    *,
    ends: float = 0.5,  # turns that lie flat at each end
    per_turn: int | None = None,  # cells; 8 of hex20, 16 of hex8
    element: str | None = None,
    sides: int = 6,  # of the collision surface round the wire
) -> SoftShape:
    """A coil spring about z that stands on z = 0, one cell across its wire; hex20 unless told.

    The cells' square section is as stiff as the round wire, which is embedded in them: its axial
    stiffness is the helical spring's G d^4 / (8 D^3 turns). Regions: bottom, top (the flat ends,
    which are there to be held).
    """
    kind = hexahedra(element, "hex20", "coil spring")
    for label, value in (("radius", radius), ("wire", wire), ("pitch", pitch), ("turns", turns)):
        require_positive(f"coil spring {label}", value)
    if per_turn is None:
        per_turn = 8 if kind == "hex20" else 16
    if per_turn < 4 or sides < 3:
        raise LimpetError(
            f"coil spring per_turn = {per_turn}, sides = {sides}: expected 4 cells a turn and 3 "
            "sides or more"
        )
    if not 0.0 < ends < 1.0:
        raise LimpetError(f"coil spring ends = {ends:g}: expected part of a turn, between 0 and 1")
    if radius < wire:
        raise LimpetError(f"coil spring radius = {radius:g} m: expected at least wire = {wire:g} m")
    if turns + ends > 1.0 and pitch * (1.0 - ends) < 1.05 * wire:
        raise LimpetError(
            f"coil spring pitch = {pitch:g} m: its coils touch its flat ends; expected more than "
            f"{1.05 * wire / (1.0 - ends):.3g} m"
        )
    flat = max(round(ends * per_turn), 1)
    between = max(round(turns * per_turn), 2)
    # (cells,) edges of the cells along the wire, in turns: flat, rising, flat
    along = np.concatenate(
        [
            np.linspace(0.0, ends, flat + 1),
            ends + np.linspace(0.0, turns, between + 1)[1:],
            ends + turns + np.linspace(0.0, ends, flat + 1)[1:],
        ]
    )

    def place(cell: Array, across: Array) -> Array:
        """Points at `cell` (n,) along the wire, a share of a cell included; (up, out) in wires."""
        turn = np.interp(cell, np.arange(len(along)), along)
        angle = 2.0 * np.pi * turn
        r = radius + wire * across[:, 1]
        z = pitch * np.clip(turn - ends, 0.0, turns) + wire * (0.5 + across[:, 0])
        return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)

    n = len(along) - 1
    unit, cells = structured(kind, (n, 1, 1))  # along, up, out: right-handed
    points = place(unit[:, 0] * n, SQUARE * (unit[:, 1:] - 0.5))
    at = np.round(2.0 * n * unit[:, 0]).astype(int)  # in half cells
    regions = {
        "bottom": np.flatnonzero(at <= 2 * flat),
        "top": np.flatnonzero(at >= 2 * (n - flat)),
    }

    def round_wire(stations: Array, corners: int) -> Binding:
        """The wire's surface, rings of so many corners at stations counted in cells."""
        angle = 2.0 * np.pi * (np.arange(corners) + 0.5) / corners
        cell = np.minimum(stations.astype(int), n - 1)
        ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) / SQUARE  # the half side is 1
        ring = np.concatenate([np.tile(ring, (len(stations), 1)), np.zeros((2, 2))])
        where = np.append(np.repeat(np.arange(len(stations)), corners), [0, len(stations) - 1])
        xi = np.column_stack([2.0 * (stations - cell)[where] - 1.0, ring])
        return embed(kind, cells, cell[where], xi, _tube_triangles(len(stations), corners))

    ends_of_cells = np.arange(n + 1.0)
    smooth = np.arange(2 * n + 1) / 2.0 if kind == "hex20" else ends_of_cells
    return SoftShape(
        "coil spring",
        points,
        {kind: cells},
        round_wire(ends_of_cells, sides),
        round_wire(smooth, max(12, sides)),
        regions,
        element,
    )


def _tube_triangles(rings: int, corners: int) -> Array:
    """A tube of rings, outward when their corners turn from (up) to (out); two caps at the end."""
    number = np.arange(rings * corners).reshape(rings, corners)
    a, b = number[:-1], np.roll(number[:-1], -1, axis=1)
    d, c = number[1:], np.roll(number[1:], -1, axis=1)
    quads = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    first, last = number[0], number[-1]
    start, end = np.full(corners, rings * corners), np.full(corners, rings * corners + 1)
    caps = [
        np.stack([start, np.roll(first, -1), first], axis=1),
        np.stack([end, last, np.roll(last, -1)], axis=1),
    ]
    return np.concatenate([quads, *caps])
