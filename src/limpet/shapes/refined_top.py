"""Collision surface of a soft box whose top is finer than its cells."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError
from limpet.geometry.cells import serendipity8
from limpet.geometry.shape import Array, Binding, SoftShape
from limpet.meshing.strips import strip

# The faces of a hexahedron seen from above: corners counter-clockwise, then midsides.
LOWER, UPPER = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 16, 17, 18, 19)


def with_fine_top(box: SoftShape, divisions: tuple[int, int, int], fine: int) -> SoftShape:
    """A soft_box of hexahedra with a finer collision surface on top, for cups.

    `divisions` are those of the box. Each cell edge has `fine` squares on top, one elsewhere.
    """
    (kind, cells), *others = box.cells.items()
    if others or kind not in ("hex8", "hex20"):
        raise LimpetError(f"fine top of a box of {kind}: expected hexahedra; use another element")
    if fine < 1:
        raise LimpetError(f"fine top = {fine}: expected a whole number from 1 up")
    nx, ny, nz = divisions
    skin = _Skin(kind, cells.reshape(nx, ny, nz, -1))
    triangles: list[tuple[int, int, int]] = []
    rings = []
    for level in range(nz + 1):
        n = fine if level == nz else 1
        around = _perimeter(nx * n, ny * n)
        rings.append(([skin.vertex(i / n, j / n, level) for i, j in around], n))
    for (one, n), (two, m) in pairwise(rings):
        stations = np.arange(len(one)) / n, np.arange(len(two)) / m
        triangles += strip(one, stations[0], two, stations[1], 2.0 * (nx + ny))
    for level, n in ((0, 1), (nz, fine)):
        for i in range(nx * n):
            for j in range(ny * n):
                corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                p, q, r, t = (skin.vertex(a / n, b / n, level) for a, b in corners)
                if level == 0:
                    p, q, r, t = t, r, q, p
                # alternate the diagonal, so that the face has no preferred direction
                triangles += [(p, q, t), (q, r, t)] if (i + j) % 2 else [(p, q, r), (p, r, t)]
    return replace(box, collision=skin.binding(triangles))


def _perimeter(nx: int, ny: int) -> list[tuple[int, int]]:
    """The boundary of a grid of nx by ny squares from (0, 0), counter-clockwise."""
    return [
        *((i, 0) for i in range(nx)), *((nx, j) for j in range(ny)),
        *((nx - i, ny) for i in range(nx)), *((0, ny - j) for j in range(ny)),
    ]  # fmt: skip


class _Skin:
    """Vertices by position in cells; each is bound to the horizontal face that contains it."""

    def __init__(self, kind: str, cells: Array) -> None:
        self.kind, self.cells = kind, cells  # (nx, ny, nz, k)
        self.ids: dict[tuple[float, float, int], int] = {}
        self.nodes: list[Array] = []
        self.weights: list[Array] = []

    def vertex(self, x: float, y: float, level: int) -> int:
        key = (x, y, level)
        if key not in self.ids:
            self.ids[key] = len(self.nodes)
            nx, ny, _, _ = self.cells.shape
            i, j = min(int(x), nx - 1), min(int(y), ny - 1)
            s, t = 2.0 * (x - i) - 1.0, 2.0 * (y - j) - 1.0
            corners_first = (UPPER if level else LOWER)[: 8 if self.kind == "hex20" else 4]
            nodes = self.cells[i, j, max(level - 1, 0)][list(corners_first)]
            weights = serendipity8(s, t) if self.kind == "hex20" else _bilinear(s, t)
            used = np.abs(weights) > 1e-12
            self.nodes.append(nodes[used])
            self.weights.append(weights[used])
        return self.ids[key]

    def binding(self, triangles: list[tuple[int, int, int]]) -> Binding:
        start = np.cumsum([0] + [len(n) for n in self.nodes])
        return Binding(
            np.array(triangles, dtype=np.int32), start.astype(np.int32),
            np.concatenate(self.nodes).astype(np.int32), np.concatenate(self.weights),
        )  # fmt: skip


def _bilinear(s: float, t: float) -> Array:
    return 0.25 * np.array(
        [(1.0 - s) * (1.0 - t), (1.0 + s) * (1.0 - t), (1.0 + s) * (1.0 + t), (1.0 - s) * (1.0 + t)]
    )
