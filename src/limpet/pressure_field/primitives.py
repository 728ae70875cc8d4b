"""Tetrahedra and penetration extents of simple solids (F VI-A1).

Each mesh has vertices on the surface, where the extent is 0, and on the medial axis, so
that the distance to the surface is linear in every tetrahedron. The extent is that distance over
the largest distance. All are centred at the origin. Facets of round ones cross the exact surface,
so that they enclose the same volume: with all vertices on it, a ball of facets of a quarter of its
radius would press on a plane with a quarter of the force at a depth of 1 % of its radius.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.meshing.tetrahedra import tet_volumes

Array = np.ndarray

FLAT = 1e-12  # of the mean volume: smaller tetrahedra come from merged vertices
GOLDEN = (1.0 + np.sqrt(5.0)) / 2.0


class Solid(NamedTuple):
    """A tetrahedral mesh in the body's frame and the penetration extent at its vertices."""

    points: Array  # (n, 3) [m]
    tets: Array  # (m, 4) int32
    extent: Array  # (n,) 0 on the surface, 1 at the deepest points


def sphere(radius: float, edge: float, inscribed: bool = False) -> Solid:
    """A ball of `radius` [m], facets of about `edge` [m]; every facet is joined to the centre.

    inscribed: with all vertices on the exact surface.
    """
    require_positive("sphere radius", radius, " m")
    directions, triangles = icosphere(_rounds("sphere", radius, edge))
    centre = np.full((len(triangles), 1), len(directions))
    factor = np.ones(len(directions)) if inscribed else _outward(directions, triangles)
    out = radius * factor[:, None]
    points = np.vstack([out * directions, np.zeros((1, 3))])
    extent = np.append(np.zeros(len(directions)), 1.0)
    return _solid(points, np.hstack([triangles, centre]), extent)


def box(length: float, width: float, height: float) -> Solid:
    """A box with sides [m] along x, y, z: one layer from each face to the medial axis."""
    half = 0.5 * np.array([length, width, height])
    for name, side in zip(("length", "width", "height"), 2.0 * half):
        require_positive(f"box {name}", float(side), " m")
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    # half - half.min() is exactly 0 along the shortest side, where the inner corners merge
    points, index = _merged(np.vstack([signs * half, signs * (half - half.min())]))
    number = index.reshape(2, 2, 2, 2)  # depth, sign of x, of y, of z
    tets: list[tuple[int, ...]] = []
    for axis in range(3):
        for side in range(2):
            tets += _cube_tets(np.moveaxis(np.take(number, side, axis=axis + 1), 0, -1))
    extent = np.zeros(len(points))
    extent[index[8:]] = 1.0
    return _solid(points, np.array(tets), extent)


def cylinder(radius: float, length: float, edge: float, inscribed: bool = False) -> Solid:
    """A cylinder (or disc) along z, with facets of about `edge` [m]."""
    require_positive("cylinder radius", radius, " m")
    require_positive("cylinder length", length, " m")
    sides = _sides("cylinder", radius, edge)
    depth = min(radius, 0.5 * length)
    z, inner_z, inner_r = 0.5 * length, 0.5 * length - depth, radius - depth
    rings = [_ring(radius, -z, sides, inscribed), _ring(radius, z, sides, inscribed)]
    rings += [_ring(inner_r, side, sides, inscribed) for side in (-inner_z, inner_z)]
    axis = np.array([[0.0, 0.0, -z], [0.0, 0.0, z], [0.0, 0.0, -inner_z], [0.0, 0.0, inner_z]])
    points, index = _merged(np.vstack([*rings, axis]))
    ring, pole = index[: 4 * sides].reshape(2, 2, sides), index[4 * sides :].reshape(2, 2)
    tets = _mantle(ring)
    for k in range(sides):
        for end in range(2):
            corners = np.stack([pole[:, end], ring[:, end, k], ring[:, end, (k + 1) % sides]])
            tets += _prism_tets(corners)
    extent = np.zeros(len(points))
    extent[index[2 * sides : 4 * sides]] = 1.0
    extent[pole[1]] = 1.0
    return _solid(points, np.array(tets), extent)


def capsule(radius: float, length: float, edge: float, inscribed: bool = False) -> Solid:
    """A cylinder along z of `length` [m] between half balls, with facets of about `edge` [m]."""
    require_positive("capsule radius", radius, " m")
    require_positive("capsule length", length, " m")
    sides = _sides("capsule", radius, edge)
    rows = max(1, round(0.25 * sides))
    ends = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
    points = [ends, np.sign(ends) * (np.abs(ends) + radius) * [0.0, 0.0, 1.0]]
    tets: list[tuple[int, ...]] = []
    first = np.empty((2, rows), dtype=int)  # vertex of each ring, from the equator to the pole
    count = 4
    for end, sign in enumerate((-1.0, 1.0)):
        for row in range(rows):
            tilt = 0.5 * np.pi * row / rows
            height = sign * (0.5 * length + radius * np.sin(tilt))
            points.append(_ring(radius * np.cos(tilt), height, sides, inscribed))
            first[end, row] = count
            count += sides
        for k in range(sides):
            j = (k + 1) % sides
            for row in range(rows - 1):
                a, b = first[end, row], first[end, row + 1]
                tets += [(a + k, a + j, b + j, end), (a + k, b + j, b + k, end)]
            tets.append((first[end, -1] + k, first[end, -1] + j, 2 + end, end))
    ring = np.empty((2, 2, sides), dtype=int)
    ring[0] = first[:, :1] + np.arange(sides)
    ring[1] = np.array([[0], [1]])
    extent = np.zeros(count)
    extent[:2] = 1.0
    return _solid(np.vstack(points), np.array(tets + _mantle(ring)), extent)


def icosphere(rounds: int) -> tuple[Array, Array]:
    """Unit vectors (n, 3) and outward triangles: an icosahedron subdivided `rounds` times."""
    g = GOLDEN
    corners = [(0, s, t * g) for s in (-1, 1) for t in (-1, 1)]
    x = np.array([np.roll(c, k) for k in range(3) for c in corners], dtype=float)
    x /= np.linalg.norm(x[0])
    near = np.linalg.norm(x[:, None] - x, axis=2) < 1.1  # the edge is 1.0515 long
    triangles = np.array(
        [
            (i, j, k)
            for i, j, k in permutations(range(12), 3)
            if i < min(j, k)
            and near[i, j]
            and near[j, k]
            and near[k, i]
            and np.dot(np.cross(x[i], x[j]), x[k]) > 0
        ]
    )
    for _ in range(rounds):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, number = np.unique(edges, axis=0, return_inverse=True)
        middle = x[edges].sum(axis=1)
        a, b, c = triangles.T
        ab, bc, ca = number.reshape(-1, 3).T + len(x)
        x = np.vstack([x, middle / np.linalg.norm(middle, axis=1)[:, None]])
        triangles = np.concatenate(
            [np.stack(t, axis=1) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))]
        )
    return x, triangles.astype(np.int32)


def _outward(directions: Array, triangles: Array) -> Array:
    """(n,) factors of the vertices that give each facet the volume of its part of the ball."""
    a, b, c = (directions[triangles[:, k]] for k in range(3))
    flat = np.einsum("ij,ij->i", a, np.cross(b, c))  # six times the volume of the tet
    dots = np.einsum("kij,kij->i", np.stack([a, b, c]), np.stack([b, c, a]))
    angle = 2.0 * np.arctan2(flat, 1.0 + dots)  # solid angle (van Oosterom and Strackee)
    factor = np.repeat(np.cbrt(2.0 * angle / flat), 3)
    corners = triangles.ravel()
    return np.bincount(corners, factor) / np.bincount(corners)


def _rounds(name: str, radius: float, edge: float) -> int:
    """Number of subdivisions of the icosahedron."""
    require_positive(f"{name} edge", edge, " m")
    rounds = max(0, round(np.log2(1.0515 * radius / edge)))
    if rounds > 7:
        raise LimpetError(f"{name} edge = {edge:g} m: expected at least {radius / 122.0:.2g} m")
    return rounds


def _sides(name: str, radius: float, edge: float) -> int:
    require_positive(f"{name} edge", edge, " m")
    return max(6, round(2.0 * np.pi * radius / edge))


def _ring(radius: float, height: float, sides: int, inscribed: bool) -> Array:
    angle = 2.0 * np.pi * np.arange(sides) / sides
    out = 1.0 if inscribed else np.sqrt(angle[1] / np.sin(angle[1]))  # the area of the circle
    flat = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius * out
    return np.column_stack([flat, np.full(sides, height)])


def _merged(points: Array) -> tuple[Array, Array]:
    """The distinct points, and the index of each given point among them."""
    distinct, index = np.unique(points + 0.0, axis=0, return_inverse=True)
    return distinct, index.reshape(-1)


def _mantle(ring: Array) -> list[tuple[int, ...]]:
    """Tets between the outer and inner rings (depth, end, side) of a cylindrical surface."""
    tets: list[tuple[int, ...]] = []
    for k in range(ring.shape[2]):
        tets += _cube_tets(np.moveaxis(ring[:, :, [k, (k + 1) % ring.shape[2]]], 0, -1))
    return tets


def _cube_tets(corner: Array) -> list[tuple[int, ...]]:
    """Six tets of a cube of vertex numbers (2, 2, 2), around its main diagonal.

    The diagonal of each face goes from its lower to its upper corner, so that neighbours with the
    same axes match.
    """
    tets = []
    for order in permutations(range(3)):
        at = [0, 0, 0]
        path = [int(corner[0, 0, 0])]
        for axis in order:
            at[axis] = 1
            path.append(int(corner[at[0], at[1], at[2]]))
        tets.append(tuple(path))
    return tets


def _prism_tets(corner: Array) -> list[tuple[int, ...]]:
    """Three tets of a prism of vertex numbers (3, 2); diagonals as in _cube_tets."""
    a, b, c = corner.tolist()
    return [(a[0], b[0], c[0], c[1]), (a[0], b[0], b[1], c[1]), (a[0], a[1], b[1], c[1])]


def _solid(points: Array, tets: Array, extent: Array) -> Solid:
    """Remove the tets that were flattened by merged vertices; orient the others."""
    volume = tet_volumes(points, tets)
    tets = np.where((volume < 0.0)[:, None], tets[:, [1, 0, 2, 3]], tets)
    solid = np.abs(volume) > FLAT * np.abs(volume).mean()
    return Solid(points, np.ascontiguousarray(tets[solid], dtype=np.int32), extent)
