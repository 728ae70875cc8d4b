"""Penetration extents of a tetrahedral mesh (F VI-A2), and refinement of walls for them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from limpet.errors import LimpetError, MeshError
from limpet.geometry.bvh import build_tree, closest_points
from limpet.geometry.cells import TET_EDGES
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.fields import check_tets, shape_gradients, surface_triangles
from limpet.pressure_field.primitives import Solid

Array = np.ndarray

EQUAL = 1e-9  # of a depth: tolerance for equal depths in the middle of a uniform wall


def distance_extent(points: Array, tets: Array, name: str = "field") -> Solid:
    """Extents of a tet mesh: distance to the surface over the largest distance."""
    points, tets = check_tets(points, tets, name)
    distance = _depths(points, tets, name)
    return Solid(points, tets, distance / distance.max())


def laplace_extent(
    points: Array, tets: Array, core: Array | None = None, name: str = "field"
) -> Solid:
    """Extents of a tet mesh by Laplace's equation (F eq 4): 0 on the surface, 1 in the core.

    `core` (n,) bool marks the vertices of the core; None: the discrete medial axis, the
    vertices at least as far from the surface as all their neighbours.
    """
    points, tets = check_tets(points, tets, name)
    depth = _depths(points, tets, name)
    n = len(points)
    rows, columns = np.repeat(tets, 4, axis=1).ravel(), np.tile(tets, 4).ravel()
    if core is None:
        highest = np.zeros(n)
        np.maximum.at(highest, rows, depth[columns])
        core = (depth > 0.0) & (depth >= (1.0 - EQUAL) * highest)
    core = np.asarray(core, dtype=bool)
    surface = depth == 0.0
    if core.shape != (n,) or not core.any() or (core & surface).any():
        raise LimpetError(
            f"{name} core: expected one flag for each of the {n} vertices, true at some and only "
            "inside"
        )
    shape, volume = shape_gradients(points, tets), tet_volumes(points, tets)
    local = np.einsum("iaj,ibj,i->iab", shape, shape, volume)
    stiffness = coo_matrix((local.ravel(), (rows, columns)), shape=(n, n)).tocsr()
    extent = core.astype(float)
    free = ~(core | surface)
    if free.any():
        load = -(stiffness[free] @ extent)
        extent[free] = spsolve(stiffness[free][:, free].tocsc(), load)
    # obtuse tets can slightly violate the range; the pressure must not be negative
    return Solid(points, tets, np.clip(extent, 0.0, 1.0))


def refine_walls(points: Array, tets: Array, name: str = "field") -> tuple[Array, Array]:
    """Refine a mesh until every tet has an interior vertex.

    First split the interior edges with both ends on the surface at their midpoint, the longest
    first; then split the tets that still have all corners on the surface at their centre.
    """
    points, tets = check_tets(points, tets, name)
    x, cells = points.tolist(), [tuple(t) for t in tets.tolist()]
    skin = surface_triangles(tets)
    outer = {tuple(e) for e in np.sort(skin[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)).tolist()}
    on = set(np.unique(skin).tolist())
    edges = np.unique(np.sort(tets[:, list(TET_EDGES)].reshape(-1, 2), axis=1), axis=0)
    inner = [e for e in map(tuple, edges.tolist()) if e not in outer and on.issuperset(e)]
    inner.sort(key=lambda e: (-np.sum((points[e[0]] - points[e[1]]) ** 2), e))
    about: dict[int, set[int]] = {}  # the cells around each vertex
    for c, cell in enumerate(cells):
        for v in cell:
            about.setdefault(v, set()).add(c)
    for i, j in inner:
        middle = len(x)
        x.append([0.5 * (p + q) for p, q in zip(x[i], x[j])])
        about[middle] = set()
        for c in about[i] & about[j]:
            new = tuple(middle if v == i else v for v in cells[c])
            cells[c] = tuple(middle if v == j else v for v in cells[c])
            about[j].discard(c)
            about[middle].add(c)
            for v in new:
                about[v].add(len(cells))
            cells.append(new)
    for c in [c for c, cell in enumerate(cells) if on.issuperset(cell)]:
        centre = len(x)
        x.append(np.mean([x[v] for v in cells[c]], axis=0).tolist())
        a, b, c0, d = cells[c]
        cells[c] = (centre, b, c0, d)
        cells += [(a, centre, c0, d), (a, b, centre, d), (a, b, c0, centre)]
    return np.array(x), np.array(cells, dtype=np.int32)


def _depths(points: Array, tets: Array, name: str) -> Array:
    """(n,) [m] distances to the surface, exactly 0 on it; each tet must have an interior vertex."""
    skin = surface_triangles(tets)
    depth = closest_points(build_tree(points, skin), points, skin, points, np.inf)[2]
    depth[skin] = 0.0
    walls = int(np.sum(~(depth[tets] > 0.0).any(axis=1)))
    if walls:
        raise MeshError(
            f"{name} has {walls} of {len(tets)} tets without an interior vertex, and so "
            "without pressure: expected none; refine_walls(points, tets) adds such vertices"
        )
    return depth
