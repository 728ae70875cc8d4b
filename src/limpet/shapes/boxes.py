"""Boxes, rigid and soft."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.geometry.cells import HEX_SHAPES, mesh_of
from limpet.geometry.shape import Array, Binding, RigidShape, SoftShape, boundary
from limpet.meshing.grids import structured

MOST_DIVISIONS = 300  # of a face along an edge
TOP = np.array([0.5, 0.5, 1.0])  # centre of the top face in a unit cube


def box(
    length: float, width: float, height: float, divisions: tuple[int, int, int] = (1, 1, 1)
) -> RigidShape:
    """A rigid box centred on the origin in x and y, its top face at z = 0.

    length, width, height [m] along x, y, z; `divisions` of the faces along each.
    """
    _check_box(length, width, height, divisions)
    return _outline(length, width, height, divisions)


def _check_box(length: float, width: float, height: float, divisions: tuple[int, int, int]) -> None:
    for label, value in (("length", length), ("width", width), ("height", height)):
        require_positive(f"box {label}", value, " m")
    if min(divisions) < 1 or max(divisions) > MOST_DIVISIONS:
        raise LimpetError(
            f"box divisions = {divisions}: expected three whole numbers from 1 to {MOST_DIVISIONS}"
        )


def _outline(
    length: float, width: float, height: float, divisions: tuple[int, int, int]
) -> RigidShape:
    ids: dict[tuple[int, ...], int] = {}
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, divisions[axis]):
            for i in range(divisions[u]):
                for j in range(divisions[v]):
                    corners = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        key = [side, side, side]
                        key[u], key[v] = i + di, j + dj
                        corners.append(ids.setdefault(tuple(key), len(ids)))
                    p, q, r, t = corners if side else corners[::-1]
                    # alternate the diagonal, so that a fine face has no preferred direction
                    triangles += [(p, q, t), (q, r, t)] if (i + j) % 2 else [(p, q, r), (p, r, t)]
    grid = np.array(list(ids), dtype=float) / np.array(divisions)
    points = (grid - TOP) * np.array([length, width, height])
    return RigidShape("box", points, np.array(triangles, dtype=np.int32))


def tiled_box(length: float, width: float, height: float, tiles: int) -> RigidShape:
    """As `box`, but only the top is divided, into tiles x tiles squares.

    The collision mesh is fine only where there is contact (P 5.1).
    """
    sizes = {"length": length, "width": width, "height": height, "tiles": tiles}
    for label, value in sizes.items():
        require_positive(f"box {label}", value)
    if tiles > MOST_DIVISIONS:
        raise LimpetError(f"box tiles = {tiles}: expected {MOST_DIVISIONS} or fewer")
    top = np.arange((tiles + 1) ** 2).reshape(tiles + 1, tiles + 1)  # vertex by position along x, y
    base = top.size + np.arange(4)
    triangles = [(base[0], base[3], base[2]), (base[0], base[2], base[1])]
    for i in range(tiles):
        for j in range(tiles):
            p, q, r, t = top[i, j], top[i + 1, j], top[i + 1, j + 1], top[i, j + 1]
            triangles += [(p, q, t), (q, r, t)] if (i + j) % 2 else [(p, q, r), (p, r, t)]
    sides = (top[:, 0], top[-1], top[::-1, -1], top[0, ::-1])  # counter-clockwise from above
    for k, side in enumerate(sides):  # each is a fan from one corner of the base
        triangles += [(a, base[k], b) for a, b in pairwise(side)]
        triangles.append((side[-1], base[k], base[(k + 1) % 4]))
    step = np.linspace(0.0, 1.0, tiles + 1)
    above = [(x, y, 1.0) for x in step for y in step]
    grid = np.array([*above, (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    points = (grid - TOP) * np.array([length, width, height])
    return RigidShape("box", points, np.array(triangles, dtype=np.int32))


def soft_box(
    length: float, width: float, height: float, divisions: tuple[int, int, int],
    element: str | None = None, finer: int | None = None,
) -> SoftShape:  # fmt: skip
    """A soft box of structured cells, its top face at z = 0; hex20 by default.

    length, width, height [m] along x, y, z; `divisions`: cells along each. Regions: bottom, top.
    finer: squares of the contact surface along each edge of a hexahedron. By default 2 of hex20:
    between its corners such a face bends by more than the gap that seals a cup.
    hex20r (2x2x2 points) has zero-energy modes in a single stack of cells.
    """
    kind = mesh_of(element, "hex20", "box")
    finer = _finer(kind, finer)
    _check_box(length, width, height, divisions)
    nx, ny, nz = divisions
    outline = _outline(length, width, height, (finer * nx, finer * ny, finer * nz))
    size = np.array([length, width, height])
    points, cells = structured(kind, divisions)
    skin = boundary({kind: cells})
    contact = _on_cells(outline, size, kind, cells, divisions) if kind in HEX_SHAPES else skin
    points = (points - TOP) * size
    regions = {
        "top": np.flatnonzero(np.abs(points[:, 2]) < 1e-9 * height),
        "bottom": np.flatnonzero(np.abs(points[:, 2] + height) < 1e-9 * height),
    }
    return SoftShape("soft box", points, {kind: cells}, contact, skin, regions, element)


def _finer(kind: str, finer: int | None) -> int:
    """How many squares of the contact surface an edge of a cell has."""
    if finer is None:
        return 2 if kind == "hex20" else 1
    if kind not in HEX_SHAPES:
        raise LimpetError(f"box finer = {finer} with {kind}: expected hexahedra, or leave it out")
    if isinstance(finer, bool) or not isinstance(finer, int) or finer < 1:
        raise LimpetError(f"box finer = {finer}: expected a whole number from 1 up")
    return finer


def _on_cells(
    outline: RigidShape, size: Array, kind: str, cells: Array, divisions: tuple[int, int, int]
) -> Binding:
    """The outline bound to the hexahedra that its points lie in, by their shape functions."""
    n = np.array(divisions)
    at = (outline.points / size + TOP) * n  # in cells
    cell = np.clip(np.floor(at + 1e-9).astype(int), 0, n - 1)
    nodes = cells.reshape(*divisions, -1)[tuple(cell.T)]
    weights = HEX_SHAPES[kind](2.0 * (at - cell) - 1.0)
    used = np.abs(weights) > 1e-9
    start = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    return Binding(outline.triangles, start.astype(np.int32), nodes[used], weights[used])
