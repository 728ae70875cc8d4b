"""A surface made ready for contact detection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limpet.geometry.bvh import Tree, build_tree
from limpet.geometry.distance import Adjacency, adjacency
from limpet.geometry.facet_normals import FacetNormals
from limpet.geometry.smooth import Patches, patches
from limpet.geometry.surface import Surface, triangle_normals

Array = np.ndarray

FLAT = 1e-10  # 1 - cosine between faces that count as one plane


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
    flat: Array  # (n,) bool, vertices that never make a contact: see flat_vertices
    patches: Patches  # the smooth surface over the triangles


class Walls(NamedTuple):
    """What a surface that deforms is at rest, by which two sides of one wall are told."""

    rest: Array  # (n, 3) [m]
    thickness: Array  # (n,) [m] of the wall behind each vertex


@dataclass(frozen=True)
class Collider:
    """One surface made ready for detection. Its tree's boxes follow the last positions seen."""

    surface: Surface
    shape: Shape
    walls: Walls | None = None  # of a surface that may touch itself


def flat_vertices(surface: Surface, x: Array) -> Array:
    """(n,) bool: vertices in the middle of a flat face.

    On a rigid body such a vertex is no local minimum of the distance to any other surface: where a
    face is flat, the other body's vertices or the face's border come nearest.
    """
    normals = triangle_normals(x, surface.triangles)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    one, two = surface.edge_triangles.T
    bent = np.einsum("ei,ei->e", normals[one], normals[two]) < 1.0 - FLAT
    flat = np.ones(surface.n_vertices, dtype=bool)
    flat[surface.edges[bent]] = False
    return flat


def collider(
    surface: Surface, x: Array, rigid: bool = False, *, crease: float = 0.0, deforms: bool = True,
    corners: int | None = None, facets: FacetNormals | None = None,
) -> Collider:  # fmt: skip
    """Prepare a surface, with its tree built at positions x (n, 3) [m], usually those at rest.

    rigid: leave out the vertices in the middle of flat faces, which stay flat. crease [rad]: of the
    smooth surface over the triangles, which keeps its shape unless it `deforms`; by default the
    surface is that of the triangles. corners: how many of the vertices are those of the body, the
    first; the others refine a smooth surface, with the normals `facets`, and make no contacts
    unless they are on a ridge.
    """
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
    flat = flat_vertices(surface, x) if rigid else np.zeros(surface.n_vertices, dtype=bool)
    flat |= np.diff(surface.vertex_start) == 0  # points that belong to no triangle
    if corners is not None and facets is not None:
        flat[corners : len(facets.whole)] |= facets.whole[corners:]
    smooth = patches(surface, x, crease, not deforms, facets)
    return Collider(surface, Shape(tree, adjacency(surface), edges, flat, smooth))
