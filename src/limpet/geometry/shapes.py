"""Shapes as records: volume meshes, the surfaces bound to them, rigid surfaces; boxes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from limpet.errors import LimpetError, MeshError, require_positive, suggest
from limpet.geometry.cells import CELLS

Array = np.ndarray


@dataclass(frozen=True)
class Binding:
    """A triangle surface whose vertices ride on a volume mesh: vertex i = sum of weight * node."""

    triangles: Array  # (m, 3) int32, outward
    start: Array  # (n + 1,) int32: vertex i owns entries start[i]:start[i+1]
    nodes: Array  # (k,) int32
    weights: Array  # (k,), each vertex's sum to 1

    @property
    def n_vertices(self) -> int:
        return len(self.start) - 1

    def positions(self, x: Array) -> Array:
        """Vertex positions (n, 3) for node positions x."""
        return np.add.reduceat(self.weights[:, None] * x[self.nodes], self.start[:-1], axis=0)


@dataclass(frozen=True)
class SoftShape:
    """A volume mesh with its collision and visual surfaces and its named node regions."""

    name: str
    points: Array  # (n, 3) [m]
    cells: dict[str, Array]  # element name -> (m, k) int32
    collision: Binding
    visual: Binding
    regions: dict[str, Array] = field(default_factory=dict)  # name -> node indices

    def region(self, name: str) -> Array:
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
    """The outer faces of a volume mesh as triangles bound to its nodes (quadratic faces bent)."""
    faces: list[tuple[int, ...]] = []
    for name, block in cells.items():
        for local in CELLS[name].faces:
            faces.extend(map(tuple, block[:, local]))
    seen: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for face in faces:
        seen.setdefault(tuple(sorted(face)), []).append(face)
    triangles: list[tuple[int, int, int]] = []
    for twins in seen.values():
        if len(twins) == 1:
            triangles.extend(_face_triangles(twins[0]))
    tri = np.array(triangles, dtype=np.int32)
    nodes, compact = np.unique(tri, return_inverse=True)
    return bind_to_nodes(compact.reshape(-1, 3), nodes)


def _face_triangles(face: tuple[int, ...]) -> list[tuple[int, int, int]]:
    if len(face) == 3:
        return [(face[0], face[1], face[2])]
    if len(face) == 4:
        return [(face[0], face[1], face[2]), (face[0], face[2], face[3])]
    if len(face) == 6:
        a, b, c, ab, bc, ca = face
        return [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    a, b, c, d, ab, bc, cd, da = face
    return [(a, ab, da), (b, bc, ab), (c, cd, bc), (d, da, cd), (ab, bc, cd), (ab, cd, da)]


def box(
    length: float, width: float, height: float, divisions: tuple[int, int, int] = (1, 1, 1)
) -> RigidShape:
    """A rigid box centred on the origin in x and y, its top face at z = 0."""
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


def soft_box(
    length: float,
    width: float,
    height: float,
    divisions: tuple[int, int, int],
    element: str = "hex20",
) -> SoftShape:
    """A soft box, its top face at z = 0, as structured hex20, hex20r or tet4 cells.

    hex20r (2x2x2 points) has soft modes where cells stand in a single stack.
    """
    outline = box(length, width, height, divisions)
    size = np.array([length, width, height])
    nx, ny, nz = divisions
    if element in ("hex20", "hex20r"):
        cells, points = _hex20_grid(nx, ny, nz)
    elif element == "tet4":
        cells, points = _tet4_grid(nx, ny, nz)
    else:
        raise LimpetError(f"element = '{element}'{suggest(element, ['hex20', 'hex20r', 'tet4'])}")
    points = (points - np.array([0.5, 0.5, 1.0])) * size
    nearest = np.array([int(np.argmin(((points - p) ** 2).sum(axis=1))) for p in outline.points])
    regions = {
        "top": np.flatnonzero(np.abs(points[:, 2]) < 1e-9 * height),
        "bottom": np.flatnonzero(np.abs(points[:, 2] + height) < 1e-9 * height),
    }
    return SoftShape(
        "soft box",
        points,
        {element: cells},
        bind_to_nodes(outline.triangles, nearest),
        boundary({element: cells}),
        regions,
    )


def _hex20_grid(nx: int, ny: int, nz: int) -> tuple[Array, Array]:
    steps = np.rint(CELLS["hex20"].nodes + 1.0).astype(int)  # node positions in half cells: 0, 1, 2
    ids: dict[tuple[int, ...], int] = {}
    cells = []
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                corner = np.array([2 * i, 2 * j, 2 * k])
                cells.append([ids.setdefault(tuple(corner + s), len(ids)) for s in steps])
    points = np.array(list(ids), dtype=float) / (2.0 * np.array([nx, ny, nz]))
    return np.array(cells, dtype=np.int32), points


def _tet4_grid(nx: int, ny: int, nz: int) -> tuple[Array, Array]:
    x, y, z = np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), np.arange(nz + 1), indexing="ij")
    points = np.stack([x.ravel() / nx, y.ravel() / ny, z.ravel() / nz], axis=1)

    def node(i: int, j: int, k: int) -> int:
        return (i * (ny + 1) + j) * (nz + 1) + k

    cells = []
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                corners = [
                    node(i + a, j + b, k + c)
                    for a, b, c in (
                        (0, 0, 0),
                        (1, 0, 0),
                        (1, 1, 0),
                        (0, 1, 0),
                        (0, 0, 1),
                        (1, 0, 1),
                        (1, 1, 1),
                        (0, 1, 1),
                    )
                ]
                cells.extend(hexahedron_tets(corners))
    return np.array(cells, dtype=np.int32), points


def hexahedron_tets(c: list[int]) -> list[tuple[int, int, int, int]]:
    """Six tets round the diagonal 0-6; neighbours split alike agree on their shared faces."""
    return [
        (c[0], c[1], c[2], c[6]), (c[0], c[2], c[3], c[6]), (c[0], c[3], c[7], c[6]),
        (c[0], c[7], c[4], c[6]), (c[0], c[4], c[5], c[6]), (c[0], c[5], c[1], c[6]),
    ]  # fmt: skip


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
