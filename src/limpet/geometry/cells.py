"""Volume cells by name: their nodes in reference coordinates, and their outward faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError, suggest

Array = np.ndarray


@dataclass(frozen=True)
class Cell:
    name: str
    nodes: Array  # (k, 3) reference coordinates, corners first
    faces: tuple[tuple[int, ...], ...]  # outward; corners, then midsides in the same order
    control: bool = False  # midsides are Bezier control points, which lie off a curved edge


def _with_midsides(corners: list[list[float]], edges: tuple[tuple[int, int], ...]) -> Array:
    c = np.array(corners, dtype=float)
    return np.concatenate([c, [0.5 * (c[a] + c[b]) for a, b in edges]])


TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))  # in the order of tet10's midsides

TET4 = Cell(
    "tet4",
    np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
)

# The midside nodes are control points of the Bernstein-Bezier form (M eq 20), see tet10.py.
TET10 = Cell(
    "tet10",
    _with_midsides([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], TET_EDGES),
    ((0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6)),
    control=True,
)

# Corners counter-clockwise below, then above; midsides: below, uprights, above.
HEX_EDGES = (
    (0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7),
    (4, 5), (5, 6), (6, 7), (7, 4),
)  # fmt: skip
HEX20 = Cell(
    "hex20",
    _with_midsides(
        [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1],
         [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]],
        HEX_EDGES,
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

HEX8 = Cell("hex8", HEX20.nodes[:8], tuple(face[:4] for face in HEX20.faces))
WEDGE6 = Cell(
    "wedge6", WEDGE15.nodes[:6], tuple(face[: 3 if len(face) == 6 else 4] for face in WEDGE15.faces)
)

CELLS: dict[str, Cell] = {c.name: c for c in (TET4, TET10, HEX8, HEX20, WEDGE6, WEDGE15)}


# The cell kind of each element; several elements may use the same cells.
MESHES: dict[str, str] = {
    "tet4": "tet4", "iicr10": "tet4", "iicr11": "tet4", "tet10": "tet10", "iicr21": "tet10",
    "hex8": "hex8", "hex20": "hex20", "hex20r": "hex20", "hex20p": "hex20",
}  # fmt: skip


def mesh_of(element: str | None, default: str, owner: str) -> str:
    """The cell kind of an element; `default` if no element is given."""
    if element is None:
        return default
    if element not in MESHES:
        raise LimpetError(f"{owner} element = '{element}'{suggest(element, MESHES)}")
    return MESHES[element]


def hex8_shape(xi: Array) -> Array:
    """Shape functions (..., 8) of a trilinear hexahedron at xi (..., 3) in [-1, 1]^3."""
    return 0.125 * (1.0 + xi[..., None, :] * HEX8.nodes).prod(axis=-1)


def hex20_shape(xi: Array) -> Array:
    """Shape functions (..., 20) of a serendipity hexahedron at xi (..., 3) in [-1, 1]^3."""
    s = xi[..., None, :] * HEX20.nodes  # (..., 20, 3): xi_i times the node's own coordinate
    corner = 0.125 * (1.0 + s[..., :8, :]).prod(axis=-1) * (s[..., :8, :].sum(axis=-1) - 2.0)
    # On a midside node one coordinate is zero: that factor becomes 1 - xi^2.
    factor = np.where(HEX20.nodes[8:] == 0.0, 1.0 - xi[..., None, :] ** 2, 1.0 + s[..., 8:, :])
    return np.concatenate([corner, 0.25 * factor.prod(axis=-1)], axis=-1)


HEX_SHAPES: dict[str, Callable[[Array], Array]] = {"hex8": hex8_shape, "hex20": hex20_shape}


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


def bezier_triangle(a: float, b: float, c: float) -> Array:
    """Bernstein polynomials of a quadratic triangular face at barycentrics (a, b, c); M eq 20."""
    return np.array([a * a, b * b, c * c, 2.0 * a * b, 2.0 * b * c, 2.0 * c * a])
