"""A section swept along a path: 20-node hexahedra and 15-node wedges, surfaces and regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.geometry.shape import Array
from limpet.meshing.section.mesh import PlaneMesh
from limpet.meshing.section.sweep import Sweep

# A section counter-clockwise in (r, z) faces against the path: its cells begin at the far station.
FAR, MIDDLE, NEAR = 2, 1, 0


class SweptNodes:
    """Nodes by point of the section and station, created on first use."""

    def __init__(self, mesh: PlaneMesh, sweep: Sweep) -> None:
        self.mesh, self.sweep = mesh, sweep
        self.ids: dict[tuple[int, object], int] = {}  # by point and station; on the axis by foot
        self.points: list[Array] = []

    def node(self, point: int, station: int) -> int:
        station %= self.sweep.steps
        if self.mesh.points[point, 0] == 0.0:
            x, y = self.sweep.foot[station]
            return self.node_on_axis(point, float(x), float(y))
        key = (point, station)
        if key not in self.ids:
            self.ids[key] = len(self.points)
            self.points.append(self.sweep.place(self.mesh.points[point], station))
        return self.ids[key]

    def node_on_axis(self, point: int, x: float, y: float) -> int:
        """A point with r = 0 at a foot (x, y) [m]."""
        key = (point, (round(x, 9) + 0.0, round(y, 9) + 0.0))
        if key not in self.ids:
            self.ids[key] = len(self.points)
            self.points.append(np.array([x, y, self.mesh.points[point, 1]]))
        return self.ids[key]

    def turns(self, station: int) -> bool:
        """Whether the sector that begins at a station turns about an axis."""
        foot = self.sweep.foot
        step = foot[(station + 2) % self.sweep.steps] - foot[station % self.sweep.steps]
        return bool(np.abs(step).max() < 1e-9)

    def of(self, points: Array) -> Array:
        """All nodes at points of the section, sorted."""
        wanted = set(np.ravel(points).tolist())
        found = [n for (p, _), n in self.ids.items() if p in wanted]
        return np.array(sorted(found), dtype=np.int32)


@dataclass(frozen=True)
class SweptCells:
    cells: dict[str, Array]  # by kind
    part: dict[str, Array]  # of each cell


def sweep_cells(nodes: SweptNodes) -> SweptCells:
    """The cells of all sectors."""
    mesh = nodes.mesh
    cells: dict[str, list[list[int]]] = {}
    part: dict[str, list[int]] = {}

    def add(kind: str, cell: list[int], its: int) -> None:
        cells.setdefault(kind, []).append(cell)
        part.setdefault(kind, []).append(its)

    for j in range(0, nodes.sweep.steps, 2):
        for cell, its in zip(mesh.quads, mesh.quad_part):
            on_axis = mesh.points[cell[:4], 0] == 0.0
            if on_axis.any() and nodes.turns(j):
                add("wedge15", _axis_wedge(nodes, cell, on_axis, j), int(its))
            else:
                add("hex20", _prism(nodes, cell, j), int(its))
        for cell, its in zip(mesh.triangles, mesh.triangle_part):
            add("wedge15", _prism(nodes, cell, j), int(its))
    for cell, its in _core(nodes):
        add("hex20", cell, its)
    arrays = {kind: np.array(block, dtype=np.int32) for kind, block in cells.items()}
    return SweptCells(arrays, {kind: np.array(block) for kind, block in part.items()})


def _prism(nodes: SweptNodes, cell: Array, j: int) -> list[int]:
    """A cell of the section along one sector."""
    half = len(cell) // 2
    corners, middles = cell[:half].tolist(), cell[half:].tolist()
    far, near = ([nodes.node(p, j + k) for p in corners] for k in (FAR, NEAR))
    far_sides, near_sides = ([nodes.node(p, j + k) for p in middles] for k in (FAR, NEAR))
    between = [nodes.node(p, j + MIDDLE) for p in corners]
    if half == 4:
        return [*far, *near, *far_sides, *between, *near_sides]
    return [*far, *near, *far_sides, *near_sides, *between]


def _axis_wedge(nodes: SweptNodes, cell: Array, on_axis: Array, j: int) -> list[int]:
    """A quadrilateral with a side on the axis, along one sector: triangles lie across the axis."""
    first = next(k for k in range(4) if on_axis[k] and not on_axis[(k + 1) % 4])
    a, b, c, d = (int(cell[(first + k) % 4]) for k in range(4))
    ab, bc, cd, da = (int(cell[4 + (first + k) % 4]) for k in range(4))

    def triangle(axis: int, outer: int) -> list[int]:
        return [nodes.node(axis, j), nodes.node(outer, j), nodes.node(outer, j + 2)]

    def sides(inner: int, outer: int) -> list[int]:
        return [nodes.node(inner, j), nodes.node(outer, j + 1), nodes.node(inner, j + 2)]

    return [
        *triangle(a, b), *triangle(d, c), *sides(ab, b), *sides(cd, c), *triangle(da, bc),
    ]  # fmt: skip


def _core(nodes: SweptNodes) -> list[tuple[list[int], int]]:
    """Cells within the rectangle that the feet go round, if the section has sides on the axis."""
    mesh, core = nodes.mesh, nodes.sweep.core
    out: list[tuple[list[int], int]] = []
    if core is None:
        return out
    xs, ys = core
    square = [(0, 0), (2, 0), (2, 2), (0, 2)]
    sides = [(1, 0), (2, 1), (1, 2), (0, 1)]
    for cell, its in zip(mesh.quads, mesh.quad_part):
        on_axis = mesh.points[cell[:4], 0] == 0.0
        if not on_axis.any():
            continue
        first = next(k for k in range(4) if on_axis[k] and not on_axis[(k + 1) % 4])
        low, high = int(cell[first]), int(cell[(first + 3) % 4])
        middle = int(cell[4 + (first + 3) % 4])
        for i in range(0, len(xs) - 1, 2):
            for j in range(0, len(ys) - 1, 2):
                levels = [(low, square), (high, square), (low, sides), (middle, square)]
                out.append(
                    (
                        [
                            nodes.node_on_axis(point, float(xs[i + a]), float(ys[j + b]))
                            for point, places in [*levels, (high, sides)]
                            for a, b in places
                        ],
                        int(its),
                    )
                )
    return out


def runs_of(edges: Array, mesh: PlaneMesh, without: Sequence[bool]) -> list[list[int]]:
    """The outer edges, but for some, as runs: each a list of edges end to end.

    A closed run begins at the upper end of the bore.
    """
    left = [k for k in range(len(edges)) if not without[k]]
    after = {int(edges[k, 0]): k for k in left}
    ends = {int(edges[k, 2]) for k in left}
    starts = [k for k in left if int(edges[k, 0]) not in ends]
    runs, done = [], set()
    for k in [*starts, *sorted(left, key=lambda k: _bore_first(mesh.points[edges[k, 0]]))]:
        if k in done:
            continue
        run = [k]
        done.add(k)
        while (following := after.get(int(edges[run[-1], 2]))) is not None and (
            following not in done
        ):
            run.append(following)
            done.add(following)
        runs.append(run)
    return runs


def _bore_first(point: Array) -> tuple[float, float]:
    return round(float(point[0]), 9), -float(point[1])
