"""Shapes as records: volume meshes, the surfaces bound to them, rigid surfaces; boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError, MeshError, require_positive, suggest
from limpet.geometry.cells import CELLS, mesh_of
from limpet.geometry.grids import structured

Array = np.ndarray


@dataclass(frozen=True)
class Binding:
    """A triangle surface whose vertices ride on a volume mesh: vertex i = sum of weight * node."""

    triangles: Array  # (m, 3) int32, outward
    start: Array  # (n + 1,) int32: vertex i owns entries start[i]:start[i+1]
    nodes: Array  # (k,) int32 that carry the vertices
    weights: Array  # (k,), each vertex's sum to 1

    @property
    def n_vertices(self) -> int:
        return len(self.start) - 1

    def positions(self, x: Array) -> Array:
        """Vertex positions (n, 3) for node positions x."""
        return np.add.reduceat(self.weights[:, None] * x[self.nodes], self.start[:-1], axis=0)

    def vertices_of(self, nodes: Array) -> Array:
        """The vertices that only these nodes carry."""
        return np.flatnonzero(np.logical_and.reduceat(np.isin(self.nodes, nodes), self.start[:-1]))


@dataclass(frozen=True)
class SoftShape:
    """A volume mesh with its collision and visual surfaces and its named node regions."""

    name: str
    points: Array  # (n, 3) [m] nodes
    cells: dict[str, Array]  # cell kind -> (m, k) int32
    collision: Binding  # the surface that touches
    visual: Binding  # the surface that is seen
    regions: dict[str, Array] = field(default_factory=dict)  # name -> node indices
    element: str | None = None  # the element its maker had in mind; None: chosen by the material

    def region(self, name: str) -> Array:
        """(k,) the nodes of a named region."""
        if name not in self.regions:
            raise LimpetError(
                f"shape '{self.name}' has no region '{name}'{suggest(name, self.regions)}"
            )
        return self.regions[name]


@dataclass(frozen=True)
class RigidShape:
    """A closed triangle surface that only moves as a whole."""

    name: str
    points: Array  # (n, 3) [m]
    triangles: Array  # (m, 3) int32, outward


def bind_to_nodes(triangles: Array, nodes: Array) -> Binding:
    """A surface whose vertices are nodes."""
    n = len(nodes)
    return Binding(
        np.ascontiguousarray(triangles, dtype=np.int32),
        np.arange(n + 1, dtype=np.int32),
        np.ascontiguousarray(nodes, dtype=np.int32),
        np.ones(n),
    )


def boundary(cells: dict[str, Array]) -> Binding:
    """The outer faces of a volume mesh as triangles that ride on its nodes (quadratic faces bent).

    A midside vertex lies on the surface: at its node, or, where that is a control point, at half
    the control point and a quarter of each corner.
    """
    triangles: list[Array] = []
    edges: list[Array] = []  # (corner, corner, control point)
    for name in cells:
        for faces in outer_faces(name, cells):
            triangles.append(_face_triangles(faces))
            if CELLS[name].control:
                corners = faces.shape[1] // 2
                for c in range(corners):
                    edges.append(faces[:, [c, (c + 1) % corners, corners + c]])
    tri = np.concatenate(triangles)
    nodes, compact = np.unique(tri, return_inverse=True)
    compact = compact.reshape(-1, 3)
    if not edges:
        return bind_to_nodes(compact, nodes)
    ends = np.full((int(nodes.max()) + 1, 2), -1, np.int64)
    table = np.concatenate(edges)
    ends[table[:, 2]] = table[:, :2]
    control = ends[nodes, 0] >= 0
    start = np.concatenate([[0], np.cumsum(np.where(control, 3, 1))]).astype(np.int32)
    carriers = np.repeat(nodes, np.where(control, 3, 1)).astype(np.int32)
    weights = np.ones(start[-1])
    first = start[:-1][control]
    weights[first], weights[first + 1], weights[first + 2] = 0.5, 0.25, 0.25
    carriers[first + 1], carriers[first + 2] = ends[nodes[control]].T
    return Binding(compact.astype(np.int32), start, carriers, weights)


def outer_faces(name: str, cells: dict[str, Array]) -> list[Array]:
    """Faces of the cells called `name` that no other cell shares, by number of nodes."""
    sizes = {len(f) for f in CELLS[name].faces}
    out = []
    for size in sizes:
        own = np.concatenate([cells[name][:, f] for f in CELLS[name].faces if len(f) == size])
        alike = [
            cells[other][:, f] for other in cells for f in CELLS[other].faces if len(f) == size
        ]
        _, twin, count = np.unique(
            np.sort(np.concatenate(alike), axis=1), axis=0, return_inverse=True, return_counts=True
        )
        # `own` faces stand in `alike` in the same order, after those of the cells named before
        before = sum(
            len(cells[other]) * sum(len(f) == size for f in CELLS[other].faces)
            for other in list(cells)[: list(cells).index(name)]
        )
        single = count[twin.ravel()[before : before + len(own)]] == 1
        out.append(own[single])
    return out


# How a face is cut into triangles, by its number of nodes.
_CUTS = {
    3: [(0, 1, 2)],
    4: [(0, 1, 2), (0, 2, 3)],
    6: [(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)],
    8: [(0, 4, 7), (1, 5, 4), (2, 6, 5), (3, 7, 6), (4, 5, 6), (4, 6, 7)],
}


def _face_triangles(faces: Array) -> Array:
    """(m, nodes a face) -> (triangles, 3), those of a face side by side."""
    return faces[:, _CUTS[faces.shape[1]]].reshape(-1, 3)


def box(
    length: float, width: float, height: float, divisions: tuple[int, int, int] = (1, 1, 1)
) -> RigidShape:
    """A rigid box centred on the origin in x and y, its top face at z = 0.

    length, width, height [m] along x, y, z; `divisions` of the faces along them.
    """
    for label, value in (("length", length), ("width", width), ("height", height)):
        require_positive(f"box {label}", value, " m")
    if min(divisions) < 1:
        raise LimpetError(f"box divisions = {divisions}: expected three whole numbers from 1 up")
    ids: dict[tuple[int, ...], int] = {}
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, divisions[axis]):
            for i in range(divisions[u]):
                for j in range(divisions[v]):
                    corners = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        key = [side, side, side]
                        key[u], key[v] = i + di, j + dj
                        corners.append(ids.setdefault(tuple(key), len(ids)))
                    p, q, r, t = corners if side else corners[::-1]
                    # alternate the diagonal, so that a fine face has no preferred direction
                    triangles += [(p, q, t), (q, r, t)] if (i + j) % 2 else [(p, q, r), (p, r, t)]
    grid = np.array(list(ids), dtype=float) / np.array(divisions)
    points = (grid - np.array([0.5, 0.5, 1.0])) * np.array([length, width, height])
    return RigidShape("box", points, np.array(triangles, dtype=np.int32))


def tiled_box(length: float, width: float, height: float, tiles: int) -> RigidShape:
    """As `box`, but only the top is divided, into tiles x tiles; the rest is as coarse as can be.

    A collision mesh is fine where things touch (P 5.1).
    """
    sizes = {"length": length, "width": width, "height": height, "tiles": tiles}
    for label, value in sizes.items():
        require_positive(f"box {label}", value)
    top = np.arange((tiles + 1) ** 2).reshape(tiles + 1, tiles + 1)  # vertex by place along x, y
    base = top.size + np.arange(4)
    triangles = [(base[0], base[3], base[2]), (base[0], base[2], base[1])]
    for i in range(tiles):
        for j in range(tiles):
            p, q, r, t = top[i, j], top[i + 1, j], top[i + 1, j + 1], top[i, j + 1]
            triangles += [(p, q, t), (q, r, t)] if (i + j) % 2 else [(p, q, r), (p, r, t)]
    sides = (top[:, 0], top[-1], top[::-1, -1], top[0, ::-1])  # anticlockwise from above
    for k, side in enumerate(sides):  # each a fan from one corner of the base
        triangles += [(a, base[k], b) for a, b in pairwise(side)]
        triangles.append((side[-1], base[k], base[(k + 1) % 4]))
    step = np.linspace(0.0, 1.0, tiles + 1)
    above = [(x, y, 1.0) for x in step for y in step]
    grid = np.array([*above, (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    points = (grid - np.array([0.5, 0.5, 1.0])) * np.array([length, width, height])
    return RigidShape("box", points, np.array(triangles, dtype=np.int32))


def soft_box(
    length: float,
    width: float,
    height: float,
    divisions: tuple[int, int, int],
    element: str | None = None,
) -> SoftShape:
    """A soft box, its top face at z = 0, as structured cells; hex20 if no element is named.

    length, width, height [m] along x, y, z; `divisions`: cells along them. Regions: bottom, top.
    hex20r (2x2x2 points) has soft modes where cells stand in a single stack.
    """
    outline = box(length, width, height, divisions)
    size = np.array([length, width, height])
    kind = mesh_of(element, "hex20", "box")
    points, cells = structured(kind, divisions)
    points = (points - np.array([0.5, 0.5, 1.0])) * size
    nearest = np.array([int(np.argmin(((points - p) ** 2).sum(axis=1))) for p in outline.points])
    regions = {
        "top": np.flatnonzero(np.abs(points[:, 2]) < 1e-9 * height),
        "bottom": np.flatnonzero(np.abs(points[:, 2] + height) < 1e-9 * height),
    }
    return SoftShape(
        "soft box",
        points,
        {kind: cells},
        bind_to_nodes(outline.triangles, nearest),
        boundary({kind: cells}),
        regions,
        element,
    )


def check_points(points: Array, name: str) -> Array:
    """Points as (n, 3) floats, or a MeshError."""
    p = np.ascontiguousarray(points, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3 or len(p) == 0:
        raise MeshError(f"{name} has points of shape {p.shape}: expected (n, 3) with n > 0")
    if not np.all(np.isfinite(p)):
        raise MeshError(
            f"{name} has {int(np.sum(~np.isfinite(p)))} coordinates that are NaN or infinite"
        )
    return p
