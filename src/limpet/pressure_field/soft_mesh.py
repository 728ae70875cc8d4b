"""The cells of a soft body as linear tetrahedra whose vertices are bound to its nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from limpet.geometry.cells import CELLS, HEX_SHAPES, TET_EDGES, serendipity8
from limpet.geometry.shape import SoftShape

Array = np.ndarray

# tets of a quadratic one, by corners 0 to 3 and midsides 4 to 9 (TET_EDGES)
EIGHT = (
    (0, 4, 6, 7), (4, 1, 5, 8), (6, 5, 2, 9), (7, 8, 9, 3),
    (4, 5, 6, 8), (4, 6, 7, 8), (6, 9, 7, 8), (6, 5, 9, 8),
)  # fmt: skip
TRIANGLE6 = ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))


class BoundTets(NamedTuple):
    """Tetrahedra of which each vertex is a weighted mean of nodes."""

    points: Array  # (n, 3) [m] at rest
    tets: Array  # (m, 4) int32
    binding: csr_array  # (n, nodes) the weights; those of a vertex sum to 1


class _Vertices:
    """Vertices, each once."""

    def __init__(self) -> None:
        self._number: dict[tuple, int] = {}
        self.weights: list[dict[int, float]] = []

    def add(self, key: tuple, weights: dict[int, float]) -> int:
        if key not in self._number:
            self._number[key] = len(self.weights)
            self.weights.append(weights)
        return self._number[key]

    def node(self, i: int) -> int:
        return self.add((i,), {i: 1.0})


def bound_tets(shape: SoftShape) -> BoundTets:
    """Of all cells: a tet of four nodes as it is, one of ten as eight, others about their centre.

    Hexahedra and wedges have vertices at their nodes, the centres of their faces of four sides, and
    their own. Quadratic cells so have straight edges between their nodes.
    """
    vertices, tets = _Vertices(), []
    for kind, cells in shape.cells.items():
        split = {"tet4": _tet4, "tet10": _tet10}.get(kind)
        for cell in cells.tolist():
            tets += split(vertices, cell) if split else _about_centre(vertices, kind, cell)
    row, column, value = [], [], []
    for i, weights in enumerate(vertices.weights):
        row += [i] * len(weights)
        column += list(weights)
        value += list(weights.values())
    size = len(vertices.weights), len(shape.points)
    binding = csr_array((value, (row, column)), shape=size)
    points = binding @ shape.points
    corners = np.array(tets, dtype=np.int32)
    volume = np.linalg.det(points[corners[:, 1:]] - points[corners[:, :1]])
    corners = np.where((volume < 0.0)[:, None], corners[:, [1, 0, 2, 3]], corners)
    return BoundTets(np.ascontiguousarray(points), np.ascontiguousarray(corners), binding)


def _tet4(vertices: _Vertices, cell: list[int]) -> list[tuple[int, ...]]:
    return [tuple(vertices.node(i) for i in cell)]


def _tet10(vertices: _Vertices, cell: list[int]) -> list[tuple[int, ...]]:
    """A midside node is a control point: the middle of its edge is half of it (M eq 20)."""
    at = [vertices.node(i) for i in cell[:4]]
    for (a, b), control in zip(TET_EDGES, cell[4:]):
        middle = {cell[a]: 0.25, cell[b]: 0.25, control: 0.5}
        at.append(vertices.add((control,), middle))
    return [tuple(at[k] for k in tet) for tet in EIGHT]


def _about_centre(vertices: _Vertices, kind: str, cell: list[int]) -> list[tuple[int, ...]]:
    triangles, centres = [], []
    for face in CELLS[kind].faces:
        nodes = [cell[k] for k in face]
        own = [vertices.node(i) for i in nodes]
        if len(nodes) in (3, 6):
            cuts = TRIANGLE6 if len(nodes) == 6 else ((0, 1, 2),)
            triangles += [tuple(own[k] for k in cut) for cut in cuts]
            continue
        shape = serendipity8(0.0, 0.0) if len(nodes) == 8 else np.full(4, 0.25)
        weights = dict(zip(nodes, shape.tolist()))
        centres.append(weights)
        centre = vertices.add(tuple(sorted(nodes)), weights)
        ring = own if len(nodes) == 4 else [own[k // 2 + 4 * (k % 2)] for k in range(8)]
        triangles += [(centre, a, b) for a, b in zip(ring, [*ring[1:], ring[0]])]
    if kind in HEX_SHAPES:
        inside = dict(zip(cell, HEX_SHAPES[kind](np.zeros(3)).tolist()))
    else:
        inside = {i: float(np.mean([w.get(i, 0.0) for w in centres])) for i in cell}
    middle = vertices.add(("centre", *cell), inside)
    return [(middle, *triangle) for triangle in triangles]
