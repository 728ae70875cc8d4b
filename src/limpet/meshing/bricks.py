"""Solids from the filled cells of a grid, as hexahedra or as six tetrahedra per cell."""

from __future__ import annotations

import numpy as np

from limpet.geometry.cells import CELLS
from limpet.geometry.shape import Array
from limpet.meshing.grids import HEXAHEDRON_TETS


def bricks(filled: Array, lines: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    """Filled cells (nx, ny, nz) of a grid of lines [m]: (points, hex8 cells, their (i, j, k))."""
    place = np.argwhere(filled)
    shape = tuple(n + 1 for n in filled.shape)
    corners = place[:, None, :] + _corner_offsets()
    flat = np.ravel_multi_index(tuple(corners.reshape(-1, 3).T), shape)
    used, cells = np.unique(flat, return_inverse=True)
    grid = np.unravel_index(used, shape)
    points = np.stack([line[g] for line, g in zip(lines, grid)], axis=1)
    return points, cells.reshape(-1, 8).astype(np.int32), place


def brick_tets(cells: Array, place: Array, mirrored: bool = True) -> Array:
    """Six tets per brick around a diagonal: (6 m, 4).

    With parallel diagonals a bent beam twists. With diagonals that are mirrored from brick to brick
    a mesh with even divisions is as symmetric as its shape.
    """
    if not mirrored:
        return cells[:, HEXAHEDRON_TETS].reshape(-1, 4)
    offset, odd = _corner_offsets(), place % 2
    number = np.empty((2, 2, 2), dtype=np.intp)
    number[tuple(offset.T)] = np.arange(8)
    swapped = number[tuple(np.moveaxis(offset[None] ^ odd[:, None], 2, 0))]
    tets = np.take_along_axis(cells, swapped, axis=1)[:, HEXAHEDRON_TETS]
    inside_out = odd.sum(axis=1) % 2 == 1
    tets[inside_out] = tets[inside_out][:, :, [0, 2, 1, 3]]
    return tets.reshape(-1, 4)


def _corner_offsets() -> Array:
    return np.rint((CELLS["hex8"].nodes + 1.0) / 2.0).astype(np.intp)
