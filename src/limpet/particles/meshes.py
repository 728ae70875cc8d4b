"""Meshes of particles: sheets (cloth), strips (rope) and volumes, as points joined by edges.

A sheet has triangles only; a volume has tetrahedra, and the triangles of its skin.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from limpet.errors import LimpetError, MeshError, require_positive
from limpet.geometry.cells import TET_EDGES
from limpet.geometry.shape import Array, boundary, check_points
from limpet.meshing.grids import structured

ROUND = 0.7  # how far a cylinder's cross-section goes from a square to a circle
SHORTEST = 1e-9  # of the mesh's size: an edge below that has no direction


@dataclass(frozen=True)
class ParticleMesh:
    """Particles and their connections at rest."""

    name: str
    points: Array  # (n, 3) [m]
    triangles: Array  # (m, 3) int32: the sheet, or the skin of a volume, outward
    tets: Array  # (t, 4) int32, none in a sheet
    edges: Array  # (e, 2) int32, each once, lower point first
    hinges: Array  # (k, 4) int32: an edge and the two points opposite to it, i, j, left, right
    regions: dict[str, Array] = field(default_factory=dict)  # name -> points

    @property
    def closed(self) -> bool:
        """Whether the triangles enclose a volume."""
        return len(self.tets) > 0

    @property
    def lengths(self) -> Array:
        """(e,) [m] of the edges at rest."""
        return edge_lengths(self.points, self.edges)

    def skin_edges(self) -> Array:
        """(s, 2) the edges of the triangles: all of a sheet, those of the surface of a volume."""
        return _edges(self.triangles)

    def volume(self) -> float:
        """[m^3] of the tetrahedra at rest; 0 of a sheet."""
        a, b, c, d = (self.points[self.tets[:, k]] for k in range(4))
        return float(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a).sum()) / 6.0

    def shares(self) -> Array:
        """(n,) each point's share of the area or volume at rest, sum 1."""
        x, out = self.points, np.zeros(len(self.points))
        if self.closed:
            a, b, c, d = (x[self.tets[:, k]] for k in range(4))
            size = np.abs(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a))
            np.add.at(out, self.tets, np.repeat(size[:, None], 4, axis=1))
        else:
            a, b, c = (x[self.triangles[:, k]] for k in range(3))
            size = np.linalg.norm(np.cross(b - a, c - a), axis=1)
            np.add.at(out, self.triangles, np.repeat(size[:, None], 3, axis=1))
        return out / out.sum()

    def moved(self, shift: tuple[float, float, float] | Array) -> ParticleMesh:
        return ParticleMesh(
            self.name, self.points + np.asarray(shift, float), self.triangles, self.tets,
            self.edges, self.hinges, self.regions,
        )  # fmt: skip


def edge_lengths(points: Array, edges: Array) -> Array:
    return np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)


def _edges(cells: Array) -> Array:
    """Every pair of points that share a triangle or tetrahedron, once."""
    pairs = ((0, 1), (1, 2), (0, 2)) if cells.shape[1] == 3 else TET_EDGES
    both = np.sort(np.concatenate([cells[:, p] for p in pairs]), axis=1)
    return np.unique(both, axis=0).astype(np.int32)


def _hinges(triangles: Array, name: str) -> Array:
    """(k, 4): the edges with two triangles, left of i -> j the third point, then right of it."""
    half = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    third = np.concatenate([triangles[:, 2], triangles[:, 0], triangles[:, 1]])
    key = np.sort(half, axis=1)
    order = np.lexsort((key[:, 1], key[:, 0]))
    _, first, count = np.unique(key[order], axis=0, return_index=True, return_counts=True)
    if np.any(count > 2):
        a, b = key[order[first[np.argmax(count)]]]
        raise MeshError(
            f"mesh '{name}' is not manifold: {int(np.sum(count > 2))} edges have more than two "
            f"triangles, the first between points {a} and {b}; remove the surplus triangles"
        )
    pair = first[count == 2]
    one, two = order[pair], order[pair + 1]
    if np.any(half[one, 0] == half[two, 0]):
        raise MeshError(
            f"mesh '{name}': triangles are not consistently oriented; flip those that disagree"
        )
    return np.column_stack([half[one], third[one], third[two]]).astype(np.int32)


def _mesh(
    name: str, points: Array, triangles: Array, tets: Array, regions: dict[str, Array]
) -> ParticleMesh:
    points = check_points(points, f"mesh '{name}'")
    triangles = np.ascontiguousarray(triangles, dtype=np.int32)
    tets = np.ascontiguousarray(tets, dtype=np.int32)
    cells = tets if len(tets) else triangles
    if len(cells) == 0:
        raise MeshError(f"mesh '{name}' has no triangles and no tetrahedra: nothing holds it")
    if cells.min() < 0 or cells.max() >= len(points):
        raise MeshError(
            f"mesh '{name}' names points {int(cells.min())} to {int(cells.max())}, there are "
            f"{len(points)} from 0 up"
        )
    used = np.zeros(len(points), bool)
    used[cells] = True
    if not used.all():
        raise MeshError(
            f"mesh '{name}' has {int((~used).sum())} points that belong to nothing, the first is "
            f"{int(np.argmin(used))}: remove them"
        )
    edges = _edges(cells)
    length = edge_lengths(points, edges)
    if length.min() <= SHORTEST * np.ptp(points, axis=0).max():
        a, b = edges[np.argmin(length)]
        raise MeshError(
            f"mesh '{name}': edge between points {a} and {b} has no length at rest; "
            "merge the points"
        )
    return ParticleMesh(name, points, triangles, tets, edges, _hinges(triangles, name), regions)


def sheet_mesh(points: Array, triangles: Array, name: str = "sheet") -> ParticleMesh:
    """A sheet of your own triangles (m, 3); open or closed, but manifold."""
    return _mesh(name, points, triangles, np.zeros((0, 4), np.int32), {})


def solid_mesh(points: Array, tets: Array, name: str = "solid") -> ParticleMesh:
    """A volume of your own tetrahedra (t, 4)."""
    tets = np.ascontiguousarray(tets, dtype=np.int32)
    if len(tets) == 0:
        return _mesh(name, points, np.zeros((0, 3)), tets, {})
    skin = boundary({"tet4": tets})
    return _mesh(name, points, skin.nodes[skin.triangles], tets, {})


def cloth(
    width: float, depth: float, divisions: tuple[int, int], name: str = "cloth"
) -> ParticleMesh:
    """A flat sheet centred on the origin, z = 0; regions corners, west, east, south, north.

    The diagonals alternate, so that it has no preferred direction.
    """
    require_positive("cloth width", width, " m")
    require_positive("cloth depth", depth, " m")
    if min(divisions) < 1:
        raise LimpetError(f"cloth divisions = {divisions}: expected two whole numbers from 1 up")
    nx, ny = divisions
    at = np.arange((nx + 1) * (ny + 1), dtype=np.int32).reshape(nx + 1, ny + 1)
    p, q, r, t = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    one = np.stack([np.stack([p, q, t], -1), np.stack([q, r, t], -1)], -2)
    two = np.stack([np.stack([p, q, r], -1), np.stack([p, r, t], -1)], -2)
    i, j = np.indices(p.shape)
    triangles = np.where(((i + j) % 2 == 1)[:, :, None, None], one, two).reshape(-1, 3)
    x, y = np.linspace(-0.5, 0.5, nx + 1) * width, np.linspace(-0.5, 0.5, ny + 1) * depth
    grid = np.stack([*np.meshgrid(x, y, indexing="ij"), np.zeros(at.shape)], axis=-1)
    regions = {
        "corners": at[[0, 0, -1, -1], [0, -1, 0, -1]],
        "west": at[0], "east": at[-1], "south": at[:, 0], "north": at[:, -1],
    }  # fmt: skip
    return _mesh(name, grid.reshape(-1, 3), triangles, np.zeros((0, 4)), regions)


def grid_edges(mesh: ParticleMesh, divisions: tuple[int, int]) -> Array:
    """Of a `cloth` the edges along both directions of its weave, without the diagonals: (e, 2)."""
    nx, ny = divisions
    at = np.arange((nx + 1) * (ny + 1), dtype=np.int32).reshape(nx + 1, ny + 1)
    along = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    edges = np.concatenate([along, across])
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def rope(length: float, width: float, segments: int, name: str = "rope") -> ParticleMesh:
    """A strip along x, two points wide; regions west and east (its ends)."""
    return cloth(length, width, (segments, 1), name)


def gel_block(
    size: tuple[float, float, float], divisions: tuple[int, int, int], name: str = "block"
) -> ParticleMesh:
    """A volume, `size` [m], its top face centred on the origin; regions bottom and top."""
    for label, value in zip(("length", "width", "height"), size):
        require_positive(f"block {label}", value, " m")
    if min(divisions) < 1:
        raise LimpetError(f"block divisions = {divisions}: expected whole numbers from 1 up")
    grid, tets = structured("tet4", divisions)
    skin, z = boundary({"tet4": tets}), grid[:, 2]
    regions = {"bottom": np.flatnonzero(z == 0.0), "top": np.flatnonzero(z == 1.0)}
    points = (grid - [0.5, 0.5, 1.0]) * np.asarray(size)
    return _mesh(name, points, skin.nodes[skin.triangles], tets, regions)


def cylinder(
    radius: float, height: float, divisions: tuple[int, int], taper: float = 1.0,
    name: str = "cylinder",
) -> ParticleMesh:  # fmt: skip
    """A volume standing on z = 0: divisions across and along; its top `taper` times as wide.

    Cubes of a square grid, mapped to the disc and cut into tetrahedra; regions bottom and top.
    """
    require_positive("cylinder radius", radius, " m")
    require_positive("cylinder height", height, " m")
    require_positive("cylinder taper", taper)
    if min(divisions) < 1:
        raise LimpetError(f"cylinder divisions = {divisions}: expected two whole numbers from 1 up")
    across, along = divisions
    grid, tets = structured("tet4", (across, across, along))
    u, v, z = 2.0 * grid[:, 0] - 1.0, 2.0 * grid[:, 1] - 1.0, grid[:, 2]
    # the square's point (u, v) goes towards the disc along its ray from the centre, the more so the
    # farther out; not all the way, or the cells at its corners would be flat
    size, length = np.maximum(np.abs(u), np.abs(v)), np.hypot(u, v)
    shrink = np.where(length > 0.0, size / np.where(length > 0.0, length, 1.0), 1.0)
    shrink = 1.0 + ROUND * size * (shrink - 1.0)
    wide = radius * (1.0 + (taper - 1.0) * z) * shrink
    points = np.stack([wide * u, wide * v, height * z], axis=1)
    skin = boundary({"tet4": tets})
    regions = {"bottom": np.flatnonzero(z == 0.0), "top": np.flatnonzero(z == 1.0)}
    return _mesh(name, points, skin.nodes[skin.triangles], tets, regions)
