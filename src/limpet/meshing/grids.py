"""Structured meshes of the unit cube for every cell kind, and conversion between cell kinds."""

from __future__ import annotations

import numpy as np

from limpet.geometry.cells import CELLS, HEX_EDGES, TET_EDGES

Array = np.ndarray

# Six tets around the diagonal 0-6 of a hexahedron; the shared faces of neighbours match.
HEXAHEDRON_TETS = np.array(
    [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
)


def structured(kind: str, divisions: tuple[int, int, int]) -> tuple[Array, Array]:
    """(points in the unit cube, cells int32) of a cube divided into `divisions` bricks."""
    if kind == "hex20":
        return _bricks(divisions, 2)
    points, bricks = _bricks(divisions, 1)
    if kind == "hex8":
        return points, bricks
    tets = bricks[:, HEXAHEDRON_TETS].reshape(-1, 4)
    return (points, tets) if kind == "tet4" else quadratic_tets(points, tets)


def _bricks(divisions: tuple[int, int, int], order: int) -> tuple[Array, Array]:
    """Hexahedra with corners (order 1), or with midsides (order 2)."""
    steps = np.rint(CELLS["hex20"].nodes + 1.0).astype(int) * order // 2
    if order == 1:
        steps = steps[:8]
    n = np.array(divisions)
    brick = np.stack(np.meshgrid(*(np.arange(k) for k in n), indexing="ij"), axis=-1)
    keys = order * brick.reshape(-1, 1, 3) + steps  # (bricks, k, 3)
    size = order * n + 1
    flat = (keys[..., 0] * size[1] + keys[..., 1]) * size[2] + keys[..., 2]
    used, cells = np.unique(flat, return_inverse=True)
    grid = np.stack(np.unravel_index(used, size), axis=1)
    return grid / (order * n), cells.reshape(flat.shape).astype(np.int32)


def quadratic_tets(points: Array, tets: Array) -> tuple[Array, Array]:
    """Linear tetrahedra with their straight midsides added: (points, cells (m, 10))."""
    pairs = np.sort(tets[:, np.array(TET_EDGES)].reshape(-1, 2), axis=1)
    ends, midside = np.unique(pairs, axis=0, return_inverse=True)
    middle = 0.5 * (points[ends[:, 0]] + points[ends[:, 1]])
    cells = np.hstack([tets, len(points) + midside.reshape(-1, 6)])
    return np.concatenate([points, middle]), cells.astype(np.int32)


def quadratic_hexes(points: Array, hexes: Array) -> tuple[Array, Array]:
    """Linear hexahedra with their straight midsides added: (points, cells (m, 20))."""
    pairs = np.sort(hexes[:, np.array(HEX_EDGES)].reshape(-1, 2), axis=1)
    ends, midside = np.unique(pairs, axis=0, return_inverse=True)
    middle = 0.5 * (points[ends[:, 0]] + points[ends[:, 1]])
    cells = np.hstack([hexes, len(points) + midside.reshape(-1, 12)])
    return np.concatenate([points, middle]), cells.astype(np.int32)
