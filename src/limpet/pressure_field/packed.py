"""What the kernels read of a tetrahedron, in one row of numbers: near in memory, one argument."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# Columns of a cell's row: corners, pressures there, faces (outward unit normal, offset; face k is
# opposite to corner k), the pressure as slope . x + constant, and the size of the terms of that
# sum, for round-off.
CORNERS, PRESSURES, FACES, SLOPE, CONSTANT, SCALE, CELL = 0, 12, 16, 32, 35, 36, 37


def pack(points: Array, tets: Array, pressure: Array, gradient: Array, shape: Array) -> Array:
    """(m, CELL) from the mesh, its gradients (m, 3) and those of its shape functions (m, 4, 3)."""
    corners, at = points[tets], pressure[tets]
    cells = np.empty((len(tets), CELL))
    cells[:, CORNERS:PRESSURES] = corners.reshape(-1, 12)
    cells[:, PRESSURES:FACES] = at
    normal = -shape / np.linalg.norm(shape, axis=2, keepdims=True)
    for k in range(4):
        plane = cells[:, FACES + 4 * k : FACES + 4 * k + 4]
        plane[:, :3] = normal[:, k]
        others = corners[:, [c for c in range(4) if c != k]].mean(axis=1)
        plane[:, 3] = np.einsum("ij,ij->i", normal[:, k], others)
    cells[:, SLOPE:CONSTANT] = gradient
    middle = np.einsum("ij,ij->i", gradient, corners.mean(axis=1))
    cells[:, CONSTANT] = at.mean(axis=1) - middle
    reach = np.abs(points).max()
    cells[:, SCALE] = np.abs(gradient).sum(axis=1) * reach + at.max(axis=1)
    return cells
