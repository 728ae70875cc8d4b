"""The element faces under the triangles between rings of vertices of a body of revolution.

Rings stand at stations, angles and layers of the grid, where element faces are squares two steps
wide, wedges at the axis. So a triangle that straddles faces has affine coordinates in each of them.
"""

from __future__ import annotations

from itertools import product
from math import ceil, floor

import numpy as np

from limpet.geometry.cells import CELLS
from limpet.geometry.face_patches import FacePatches, collect_patches
from limpet.geometry.shape import outer_faces

Array = np.ndarray
Key = tuple[int, int, int]  # station, angle, layer


class RingPatches:
    """Collects the patches of triangles one by one."""

    def __init__(self, ids: dict[Key, int], turn: int, cells: dict[str, Array]) -> None:
        """ids: node of each key; turn: angle steps in a revolution; cells by kind."""
        self._ids, self._turn = ids, turn
        self._outer: dict[frozenset[int], bool] = {}  # nodes of an outer face -> control points
        for name in cells:
            for block in outer_faces(name, cells):
                for face in block.tolist():
                    self._outer[frozenset(face)] = CELLS[name].control
        self._number: dict[tuple[int, ...], int] = {}
        self._patches: list[list[tuple[int, Array]]] = []

    def collect(self) -> FacePatches:
        faces = [np.array(nodes) for nodes in self._number]
        control = [self._outer[frozenset(nodes)] for nodes in self._number]
        return collect_patches(faces, control, self._patches)

    def add(self, corners: Array) -> None:
        """A triangle with corners (3, 3) at station, angle and layer; at the axis at any angle."""
        p = corners.copy()
        off = p[:, 0] > 0.0
        first = p[off][0, 1]
        p[off, 1] -= self._turn * np.round((p[off, 1] - first) / self._turn)
        p[~off, 1] = p[off, 1].mean()
        found: list[tuple[int, Array]] | None = None
        if np.ptp(p[:, 2]) == 0.0:
            found = self._wedges(p) if p[:, 0].max() <= 2 else self._squares(p, (0, 1))
        elif np.ptp(p[:, 0]) == 0.0:
            found = self._squares(p, (1, 2))
        self._patches.append(found or [])

    def _wedges(self, p: Array) -> list[tuple[int, Array]] | None:
        found = []
        k = int(p[0, 2])
        for e in range(floor(p[:, 1].min() / 2), ceil(p[:, 1].max() / 2)):
            j = 2 * e
            ring = [(0, 0), (2, j), (2, j + 2), (1, j), (2, j + 1), (1, j + 2)]
            number = self._face([(a, b, k) for a, b in ring])
            if number is None:
                return None
            s = p[:, 1] / 2.0 - e
            found.append((number, 0.5 * p[:, :1] * np.column_stack([1.0 - s, s])))
        return found

    def _squares(self, p: Array, axes: tuple[int, int]) -> list[tuple[int, Array]] | None:
        """In the plane of two of station, angle and layer; None where a face is not outer."""
        found: list[tuple[int, Array]] = []
        low, high = p.min(axis=0), p.max(axis=0)
        spans = [range(floor(low[a] / 2), ceil(high[a] / 2)) for a in axes]
        for cell in product(*spans):
            base = np.rint(p[0]).astype(int)
            base[list(axes)] = 2 * np.array(cell)
            u, v = (p[:, axes] / 2.0 - cell).T
            here = self._square(base, axes, u, v)
            if here is None:
                return None
            found += here
        return found

    def _square(
        self, base: Array, axes: tuple[int, int], u: Array, v: Array
    ) -> list[tuple[int, Array]] | None:
        """A quadrilateral, or two triangles on either diagonal; u, v (3,) in [0, 1] on it."""

        def key(a: float, b: float) -> Key:
            at = base.copy()
            at[axes[0]] += int(a)
            at[axes[1]] += int(b)
            return int(at[0]), int(at[1]), int(at[2])

        def face(*ends: tuple[int, int]) -> int | None:
            nexts = (*ends[1:], ends[0])
            middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in zip(ends, nexts)]
            return self._face([key(*end) for end in (*ends, *middles)])

        whole = face((0, 0), (2, 0), (2, 2), (0, 2))
        if whole is not None:
            return [(whole, np.column_stack([2.0 * u - 1.0, 2.0 * v - 1.0]))]
        one, two = face((0, 0), (2, 0), (2, 2)), face((0, 0), (0, 2), (2, 2))
        if one is not None and two is not None:
            return [(one, np.column_stack([u - v, v])), (two, np.column_stack([v - u, u]))]
        one, two = face((0, 0), (2, 0), (0, 2)), face((2, 2), (0, 2), (2, 0))
        if one is not None and two is not None:
            return [(one, np.column_stack([u, v])), (two, np.column_stack([1.0 - u, 1.0 - v]))]
        return None

    def _face(self, keys: list[Key]) -> int | None:
        """The number of the outer face with these nodes, if there is one."""
        nodes = tuple(self._ids.get((i, j % self._turn if i else 0, k), -1) for i, j, k in keys)
        if frozenset(nodes) not in self._outer:
            return None
        return self._number.setdefault(nodes, len(self._number))
