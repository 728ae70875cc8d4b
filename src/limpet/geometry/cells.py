"""Volume cells by name: their nodes in reference coordinates, and their outward faces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Cell:
    name: str
    nodes: Array  # (k, 3) reference coordinates, corners first
    faces: tuple[tuple[int, ...], ...]  # outward; corners, then midsides in the same sense


def _with_midsides(corners: list[list[float]], edges: tuple[tuple[int, int], ...]) -> Array:
    c = np.array(corners, dtype=float)
    return np.concatenate([c, [0.5 * (c[a] + c[b]) for a, b in edges]])


TET4 = Cell(
    "tet4",
    np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
)

# Corners counter-clockwise below, then above; midsides: below, uprights, above.
HEX20 = Cell(
    "hex20",
    _with_midsides(
        [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1],
         [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]],
        ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7),
         (4, 5), (5, 6), (6, 7), (7, 4)),
    ),
    (
        (0, 3, 2, 1, 11, 10, 9, 8),
        (4, 5, 6, 7, 16, 17, 18, 19),
        (0, 1, 5, 4, 8, 13, 16, 12),
        (1, 2, 6, 5, 9, 14, 17, 13),
        (2, 3, 7, 6, 10, 15, 18, 14),
        (3, 0, 4, 7, 11, 12, 19, 15),
    ),
)  # fmt: skip

WEDGE15 = Cell(
    "wedge15",
    _with_midsides(
        [[0, 0, -1], [1, 0, -1], [0, 1, -1], [0, 0, 1], [1, 0, 1], [0, 1, 1]],
        ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
    ),
    (
        (0, 2, 1, 8, 7, 6),
        (3, 4, 5, 9, 10, 11),
        (0, 1, 4, 3, 6, 13, 9, 12),
        (1, 2, 5, 4, 7, 14, 10, 13),
        (2, 0, 3, 5, 8, 12, 11, 14),
    ),
)

HEX20R = replace(HEX20, name="hex20r")  # the same cell, integrated with fewer points

CELLS: dict[str, Cell] = {c.name: c for c in (TET4, HEX20, HEX20R, WEDGE15)}


def serendipity8(s: float, t: float) -> Array:
    """Shape functions of a quadratic quadrilateral face at (s, t) in [-1, 1]^2; corners first."""
    x, y = np.array([-1.0, 1.0, 1.0, -1.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    corners = 0.25 * (1.0 + s * x) * (1.0 + t * y) * (s * x + t * y - 1.0)
    sides = 0.5 * np.array(
        [
            (1.0 - s * s) * (1.0 - t),
            (1.0 + s) * (1.0 - t * t),
            (1.0 - s * s) * (1.0 + t),
            (1.0 - s) * (1.0 - t * t),
        ]
    )
    return np.concatenate([corners, sides])


def triangle6(b: float, c: float) -> Array:
    """Shape functions of a quadratic triangular face at barycentrics (1 - b - c, b, c)."""
    a = 1.0 - b - c
    return np.array(
        [
            a * (2.0 * a - 1.0), b * (2.0 * b - 1.0), c * (2.0 * c - 1.0),
            4.0 * a * b, 4.0 * b * c, 4.0 * c * a,
        ]
    )  # fmt: skip
