"""A surface made ready for contact detection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limpet.geometry.bvh import Tree, build_tree
from limpet.geometry.distance import Adjacency, adjacency
from limpet.geometry.surface import Surface

Array = np.ndarray


class Edges(NamedTuple):
    """Each edge is owned by one of its triangles: a walk over triangles meets it once."""

    edges: Array  # (e, 2) int32
    triangles: Array  # (e, 2) int32, the two triangles of each edge
    opposite: Array  # (e, 2) int32, the vertex of each that is off the edge
    owned_start: (
        Array  # (m + 1,) int32, edges of triangle t: owned[owned_start[t]:owned_start[t+1]]
    )
    owned: Array  # (e,) int32


class Shape(NamedTuple):
    """All that kernels need of one surface; positions apart."""

    tree: Tree
    adjacent: Adjacency
    edges: Edges


@dataclass(frozen=True)
class Collider:
    """One surface made ready for detection. Its tree's boxes follow the last positions seen."""

    surface: Surface
    shape: Shape


def collider(surface: Surface, x: Array) -> Collider:
    """Prepare a surface, with its tree built at positions x (n, 3) [m], usually those at rest."""
    owner = surface.edge_triangles[:, 0]
    start = np.zeros(len(surface.triangles) + 1, dtype=np.int32)
    np.cumsum(np.bincount(owner, minlength=len(surface.triangles)), out=start[1:])
    edges = Edges(
        edges=surface.edges,
        triangles=np.ascontiguousarray(surface.edge_triangles, dtype=np.int32),
        opposite=surface.opposite,
        owned_start=start,
        owned=np.argsort(owner, kind="stable").astype(np.int32),
    )
    tree = build_tree(np.ascontiguousarray(x, dtype=np.float64), surface.triangles)
    return Collider(surface, Shape(tree, adjacency(surface), edges))
