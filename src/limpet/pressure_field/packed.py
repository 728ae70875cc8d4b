"""The data of a tetrahedron for kernels, packed in one row: contiguous, and one argument."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# Columns of a row: the pressure as slope . x + constant, the size of the terms of that sum (for
# round-off), the pressures at the corners, the faces (outward unit normal, offset; face k is
# opposite to corner k), and the corners.
SLOPE, CONSTANT, SCALE, PRESSURES, FACES, CORNERS, CELL = 0, 3, 4, 5, 9, 25, 37


def pack(points: Array, tets: Array, pressure: Array, gradient: Array, shape: Array) -> Array:
    """(m, CELL) from the mesh, its gradients (m, 3) and those of its shape functions (m, 4, 3)."""
    corners, at = points[tets], pressure[tets]
    cells = np.empty((len(tets), CELL))
    cells[:, SLOPE:CONSTANT] = gradient
    middle = np.einsum("ij,ij->i", gradient, corners.mean(axis=1))
    cells[:, CONSTANT] = at.mean(axis=1) - middle
    cells[:, SCALE] = np.abs(gradient).sum(axis=1) * np.abs(points).max() + at.max(axis=1)
    cells[:, PRESSURES:FACES] = at
    normal = -shape / np.linalg.norm(shape, axis=2, keepdims=True)
    for k in range(4):
        plane = cells[:, FACES + 4 * k : FACES + 4 * k + 4]
        plane[:, :3] = normal[:, k]
        others = corners[:, [c for c in range(4) if c != k]].mean(axis=1)
        plane[:, 3] = np.einsum("ij,ij->i", normal[:, k], others)
    cells[:, CORNERS:] = corners.reshape(-1, 12)
    return cells


def pack_half_space(normal: Array, offset: float, stiffness: float, thickness: float) -> Array:
    """(1, CELL) a compliant half space as a cell with one face; the others are never reached."""
    cell = np.zeros((1, CELL))
    cell[0, SLOPE:CONSTANT], cell[0, CONSTANT] = -stiffness * normal, stiffness * offset
    cell[0, SCALE] = stiffness * (abs(offset) + thickness)
    faces = cell[0, FACES:CORNERS].reshape(4, 4)
    faces[0, :3], faces[0, 3], faces[1:, 3] = normal, offset, 1e300
    return cell


def pack_triangles(points: Array, triangles: Array) -> Array:
    """(m, CELL) triangles of a rigid body as flat cells: both sides and two edges as faces.

    For the search only: the pressure is NaN, which no comparison excludes.
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    cells = np.zeros((len(triangles), CELL))
    cells[:, CONSTANT] = np.nan
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    edges = [np.cross(end - start, normal) for start, end in ((a, b), (b, c))]
    for k, n in enumerate([normal, -normal, *edges]):
        plane = cells[:, FACES + 4 * k : FACES + 4 * k + 4]
        plane[:, :3] = n / np.linalg.norm(n, axis=1)[:, None]
        plane[:, 3] = np.einsum("ij,ij->i", plane[:, :3], b)  # a corner of all four
    return cells
