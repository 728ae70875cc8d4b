"""Surfaces embedded in hexahedra, and bodies of bricks with a finer collision surface."""

from __future__ import annotations

import numpy as np

from limpet.errors import LimpetError, MeshError
from limpet.geometry.cells import HEX_SHAPES, hex20_shape, mesh_of
from limpet.geometry.shape import Array, Binding, SoftShape, boundary
from limpet.meshing.bricks import bricks
from limpet.meshing.grids import quadratic_hexes

Lines = tuple[Array, Array, Array]  # grid lines along x, y, z [m], increasing
NEAR = 1e-9  # of the grid: tolerance for a point in a brick


def hexahedra(element: str | None, default: str, name: str) -> str:
    """The cell kind of an element, which must be hexahedral."""
    kind = mesh_of(element, default, name)
    if kind not in HEX_SHAPES:
        raise LimpetError(f"{name} element = '{element}': expected hexahedra (hex8, hex20, hex20p)")
    return kind


def embed(kind: str, cells: Array, cell: Array, xi: Array, triangles: Array) -> Binding:
    """A surface whose vertex i is in hexahedron cell[i] at xi[i], in [-1, 1]^3 or slightly off."""
    weights = HEX_SHAPES[kind](xi)
    used = np.abs(weights) > 1e-12
    start = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    return Binding(
        np.ascontiguousarray(triangles, dtype=np.int32),
        start.astype(np.int32),
        np.ascontiguousarray(cells[cell][used], dtype=np.int32),
        weights[used],
    )


class Vertices:
    """Collects the vertices of a surface one by one, each bound to nodes of a hex20 mesh."""

    def __init__(self) -> None:
        self._nodes: list[Array] = []
        self._weights: list[Array] = []
        self._at_node: dict[int, int] = {}

    def at_node(self, node: int) -> int:
        """Index of the vertex at a node, which is created once."""
        if node not in self._at_node:
            self._at_node[node] = self._add(np.array([node]), np.ones(1))
        return self._at_node[node]

    def in_cell(self, cell: Array, xi: tuple[float, float, float]) -> int:
        """Index of a new vertex in a hexahedron (20,) at xi in [-1, 1]^3."""
        return self._add(cell, hex20_shape(np.array(xi)))

    def _add(self, nodes: Array, weights: Array) -> int:
        used = np.abs(weights) > 1e-12
        self._nodes.append(nodes[used])
        self._weights.append(weights[used])
        return len(self._nodes) - 1

    def bind(self, triangles: Array) -> Binding:
        start = np.concatenate([[0], np.cumsum([len(n) for n in self._nodes])])
        nodes = np.concatenate(self._nodes).astype(np.int32)
        return Binding(
            np.ascontiguousarray(triangles, dtype=np.int32),
            start.astype(np.int32),
            nodes,
            np.concatenate(self._weights),
        )


class Bricks:
    """The filled bricks of a grid as cells of one kind, and surfaces bound to them."""

    def __init__(self, filled: Array, lines: Lines, kind: str, name: str) -> None:
        self.filled, self.lines, self.kind, self.name = filled, lines, kind, name
        self.points, self.cells, place = bricks(filled, lines)
        if kind == "hex20":
            self.points, self.cells = quadratic_hexes(self.points, self.cells)
        self.number = np.full(filled.shape, -1)
        self.number[tuple(place.T)] = np.arange(len(place))

    def bind(self, points: Array, triangles: Array) -> Binding:
        """A surface inside the bricks; each vertex is bound to a brick that contains it."""
        cell = np.full(len(points), -1)
        near = NEAR * max(float(np.ptp(line)) for line in self.lines)
        for k in range(8):  # of the bricks at a face, edge or corner, one that is filled
            place = [
                np.clip(
                    np.searchsorted(line, x + near * (1 if k >> d & 1 else -1)) - 1,
                    0,
                    len(line) - 2,
                )
                for d, (line, x) in enumerate(zip(self.lines, points.T))
            ]
            cell = np.where(cell < 0, self.number[tuple(place)], cell)
        held = self.points[self.cells[cell, :8]]
        low, high = held.min(axis=1), held.max(axis=1)
        away = np.maximum(low - points, points - high).max(axis=1)
        away[cell < 0] = np.inf
        if away.max() > 10.0 * near:
            raise MeshError(
                f"{self.name}: {int((away > 10.0 * near).sum())} surface vertices are outside its "
                "cells; expected all inside"
            )
        xi = np.clip(2.0 * (points - low) / (high - low) - 1.0, -1.0, 1.0)
        return embed(self.kind, self.cells, cell, xi, triangles)


def brick_body(
    filled: Array, lines: Lines, finer: int = 1, element: str | None = None, name: str = "bricks",
) -> SoftShape:  # fmt: skip
    """The filled bricks (nx, ny, nz) of a grid as a soft body; hex20 by default.

    Each edge has `finer` subdivisions in the collision surface. Regions: bottom, top.
    """
    if finer < 1:
        raise LimpetError(f"{name} finer = {finer}: expected a whole number from 1 up")
    body = Bricks(filled, lines, hexahedra(element, "hex20", name), name)
    cuts = [
        np.interp(np.arange(finer * (len(a) - 1) + 1) / finer, np.arange(len(a)), a) for a in lines
    ]
    dense = filled
    for axis in range(3):
        dense = np.repeat(dense, finer, axis=axis)
    points, cells, _ = bricks(dense, (cuts[0], cuts[1], cuts[2]))
    skin = boundary({"hex8": cells})
    surface = body.bind(skin.positions(points), skin.triangles)
    cells_by_kind = {body.kind: body.cells}
    visual = boundary(cells_by_kind)
    return SoftShape(
        name, body.points, cells_by_kind, surface, visual, end_regions(body.points), element
    )


def end_regions(points: Array) -> dict[str, Array]:
    """Regions bottom and top: the lowest and the highest nodes."""
    z = points[:, 2]
    near = 1e-6 * np.ptp(z)
    return {
        "bottom": np.flatnonzero(z < z.min() + near),
        "top": np.flatnonzero(z > z.max() - near),
    }
