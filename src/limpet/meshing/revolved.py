"""Meshes of revolution: sectors around an axis, one layer through the wall, more in a stem above.

The section is a `Wall`; nodes are indexed by station, angle and layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from limpet.geometry.cells import (
    CELLS,
    TET_EDGES,
    bezier_triangle,
    serendipity8,
    triangle6,
)
from limpet.geometry.shape import Array, Binding
from limpet.meshing.grids import HEXAHEDRON_TETS
from limpet.meshing.ring_patches import RingPatches
from limpet.meshing.strips import strip

LINEAR = ("tet4", "hex8")
STEM_LAYERS = 2


class Wall(Protocol):
    """The section of a body of revolution."""

    @property
    def height(self) -> float: ...  # [m] of a stem's top, if there is one

    def wall(self, r: Array | float, across: float) -> tuple[Array, Array]: ...


def even(r: float, angle: float) -> float:
    return 1.0


class RevolvedGrid:
    """Nodes by (station, angle, layer) in steps of 1/order, created on first use.

    `thickness` of the wall by radius [m] and angle [rad], of that of the profile.
    """

    def __init__(
        self, profile: Wall, sectors: int, kind: str, station: Array,
        thickness: Callable[[float, float], float] = even,
    ) -> None:  # fmt: skip
        self.profile, self.sectors, self.kind, self.station = profile, sectors, kind, station
        self.thickness = thickness
        self.order = 1 if kind in LINEAR else 2
        self.ids: dict[tuple[int, int, int], int] = {}
        self.points: list[Array] = []
        self.edges: dict[int, tuple[int, int]] = {}  # control point -> the ends of its edge

    def position(self, i: int, j: int, k: int) -> Array:
        p, order = self.profile, self.order
        angle = 2.0 * np.pi * j / (order * self.sectors)
        across = min(k / order, 1.0) * self.thickness(self.station[i], angle)
        r, z = p.wall(self.station[i], across)
        if k > order:  # in the stem: straight up from the wall to the top
            z = z + (p.height - z) * (k / order - 1.0) / STEM_LAYERS
        return np.array([r * np.cos(angle), r * np.sin(angle), z])

    def node(self, i: int, j: int, k: int) -> int:
        key = (i, j % (self.order * self.sectors) if i else 0, k)
        if key not in self.ids:
            self.ids[key] = len(self.points)
            self.points.append(self.position(*key))
        return self.ids[key]

    def nodes(self, where: Callable[[int, int], bool]) -> Array:
        """The nodes whose (station, layer) satisfy `where`."""
        found = sorted(n for (i, _, k), n in self.ids.items() if where(i, k))
        return np.array(found, dtype=np.int32)

    def fill(self, layers: Sequence[int]) -> dict[str, Array]:
        """All cells by kind; `layers` is the number of layers of each segment."""
        cells: dict[str, list[list[int]]] = {}
        for j in range(self.sectors):
            for i, count in enumerate(layers):
                for k in range(count):
                    for name, cell in self.cells((self.order * i, self.order * j, self.order * k)):
                        cells.setdefault(name, []).append(cell)
        return {name: np.array(block, dtype=np.int32) for name, block in cells.items()}

    def cells(self, corner: tuple[int, int, int]) -> list[tuple[str, list[int]]]:
        """(kind, nodes) of the cells in the brick at `corner`; at the axis it is a wedge."""
        i, j, k = corner
        if self.kind.startswith("tet"):
            return [(self.kind, tet) for tet in self.tets(corner)]
        order = self.order
        if i == 0:  # wedge: triangle (axis, ring at j, ring at j + order), along the layer
            tri = [(0, j), (order, j), (order, j + order), (1, j), (2, j + 1), (1, j + 2)]
            low, middle, high = ([(a, b, k + up) for a, b in tri] for up in (0, 1, order))
            keys = low[:3] + high[:3]
            if order == 2:
                keys += low[3:] + high[3:] + middle[:3]
            return [(f"wedge{len(keys)}", [self.node(*key) for key in keys])]
        steps = np.rint(CELLS[self.kind].nodes + 1.0).astype(int) * order // 2
        return [(self.kind, [self.node(i + s[0], j + s[1], k + s[2]) for s in steps])]

    def tets(self, corner: tuple[int, int, int]) -> list[list[int]]:
        o = self.order
        square = ((0, 0), (o, 0), (o, o), (0, o))
        keys = [(corner[0] + a, corner[1] + b, corner[2] + e) for e in (0, o) for a, b in square]
        out = []
        for tet in HEXAHEDRON_TETS:
            ends = [self.node(*keys[a]) for a in tet]
            # at the axis corners 0 = 3 and 4 = 7: skip the tets that have collapsed
            if len(set(ends)) == 4:
                edges = TET_EDGES if o == 2 else ()
                middles = [self.middle(keys[tet[a]], keys[tet[b]]) for a, b in edges]
                for (a, b), middle in zip(edges, middles):
                    self.edges[middle] = (ends[a], ends[b])
                out.append(ends + middles)
        return out

    def middle(self, one: tuple[int, int, int], two: tuple[int, int, int]) -> int:
        """The node half-way between two corners, on the profile; the axis has no angle."""
        angle = two[1] if one[0] == 0 else one[1] if two[0] == 0 else (one[1] + two[1]) // 2
        return self.node((one[0] + two[0]) // 2, angle, (one[2] + two[2]) // 2)

    def control_points(self) -> Array:
        """The points, with Bezier control points such that edges pass through the profile."""
        points = np.array(self.points)
        out = points.copy()
        for middle, (a, b) in self.edges.items():
            out[middle] = 2.0 * points[middle] - 0.5 * (points[a] + points[b])
        return out

    def bind(self, i: int, j: float, k: int) -> tuple[list[int], Array]:
        """Nodes and weights of the point at station i, angle j, on layer k's face of the mesh."""
        if self.order == 1 or i == 0:
            return [self.node(i, int(j), k)], np.ones(1)
        e = int(j // 2)
        t = j - 2 * e - 1.0  # -1 to 1 across the sector
        c = min(i // 2, len(self.station) // 2 - 1)
        if i == 1:  # in a wedge: barycentrics of axis and the two corners of the ring
            keys = [(0, 0), (2, 2 * e), (2, 2 * e + 2), (1, 2 * e), (2, 2 * e + 1), (1, 2 * e + 2)]
            b = 0.25 * (1.0 - t), 0.25 * (1.0 + t)
            bezier = self.kind == "tet10"
            weights = bezier_triangle(0.5, *b) if bezier else triangle6(*b)
        elif self.kind == "tet10":
            keys, weights = _half_face(2 * c, 2 * e, 0.5 * (i - 2 * c), 0.5 * (1.0 + t))
        else:
            square = CELLS["hex20"].nodes[[0, 1, 2, 3, 8, 9, 10, 11], :2]
            keys = [(2 * c + 1 + round(p), 2 * e + 1 + round(q)) for p, q in square]
            weights = serendipity8(i - 2 * c - 1.0, t)
        used = np.abs(weights) > 1e-12
        nodes = [self.node(p, q, k) for (p, q), u in zip(keys, used) if u]
        return nodes, weights[used]


def _half_face(i: int, j: int, u: float, v: float) -> tuple[list[tuple[int, int]], Array]:
    """Keys and weights at (u, v) in [0, 1]^2 of a face divided into two triangles."""
    corner = (i + 2, j) if u >= v else (i, j + 2)
    keys = [
        (i, j), corner, (i + 2, j + 2),
        ((i + corner[0]) // 2, (j + corner[1]) // 2),
        ((corner[0] + i + 2) // 2, (corner[1] + j + 2) // 2), (i + 1, j + 1),
    ]  # fmt: skip
    return keys, bezier_triangle(1.0 - max(u, v), abs(u - v), min(u, v))


@dataclass(frozen=True)
class VertexRing:
    """A closed ring of collision vertices at one station of the profile."""

    station: int
    layer: int
    angles: Array  # increasing, in steps of the grid, within one revolution


def ring_surface(
    grid: RevolvedGrid, rings: list[VertexRing], top: int, cells: dict[str, Array]
) -> Binding:
    """Triangle strips between the rings, closed by fans at the axis on layers 0 and `top`."""
    start: list[int] = [0]
    nodes: list[int] = []
    weights: list[float] = []
    places: list[tuple[int, float, int]] = []

    def vertex(i: int, j: float, k: int) -> int:
        n, w = grid.bind(i, j, k)
        places.append((i, j, k))
        nodes.extend(n)
        weights.extend(w)
        start.append(len(nodes))
        return len(start) - 2

    loops = [[vertex(r.station, j, r.layer) for j in r.angles] for r in rings]
    below, above = vertex(0, 0, 0), vertex(0, 0, top)
    first, final = loops[0], loops[-1]
    triangles = [(below, first[(a + 1) % len(first)], first[a]) for a in range(len(first))]
    for (one, two), (lower, upper) in zip(pairwise(loops), pairwise(rings)):
        triangles += strip(one, lower.angles, two, upper.angles, grid.order * grid.sectors)
    triangles += [(above, final[a], final[(a + 1) % len(final)]) for a in range(len(final))]
    patches = None
    if grid.order == 2:
        collected = RingPatches(grid.ids, 2 * grid.sectors, cells)
        for triangle in triangles:
            collected.add(np.array([places[v] for v in triangle], float))
        patches = collected.collect()
    return Binding(
        np.array(triangles, dtype=np.int32), np.array(start, dtype=np.int32),
        np.array(nodes, dtype=np.int32), np.array(weights), patches,
    )  # fmt: skip
