"""Records of shapes: volume meshes, surfaces bound to them, and rigid surfaces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from limpet.errors import LimpetError, MeshError, suggest
from limpet.geometry.cells import CELLS
from limpet.geometry.face_patches import (
    QUAD_NODES,
    TRIANGLE_NODES,
    FacePatches,
    collect_patches,
)

Array = np.ndarray


@dataclass(frozen=True)
class Binding:
    """A triangle surface embedded in a volume mesh: vertex i = sum of weight * node."""

    triangles: Array  # (m, 3) int32, outward
    start: Array  # (n + 1,) int32: vertex i owns entries start[i]:start[i+1]
    nodes: Array  # (k,) int32 nodes of the volume mesh
    weights: Array  # (k,), those of each vertex sum to 1
    patches: FacePatches | None = None  # curved element faces under its triangles, where known

    @property
    def n_vertices(self) -> int:
        return len(self.start) - 1

    def positions(self, x: Array) -> Array:
        """Vertex positions (n, 3) [m] for node positions x (nodes, 3) [m]."""
        return np.add.reduceat(self.weights[:, None] * x[self.nodes], self.start[:-1], axis=0)

    def vertices_of(self, nodes: Array) -> Array:
        """The vertices that depend on these nodes only."""
        return np.flatnonzero(np.logical_and.reduceat(np.isin(self.nodes, nodes), self.start[:-1]))


@dataclass(frozen=True)
class SoftShape:
    """A volume mesh with its collision and visual surfaces and its named node regions."""

    name: str  # of the shape
    points: Array  # (n, 3) [m] nodes
    cells: dict[str, Array]  # cell kind -> (m, k) int32
    collision: Binding  # the surface for contact
    visual: Binding  # the surface for display
    regions: dict[str, Array] = field(default_factory=dict)  # name -> node indices
    element: str | None = None  # intended element; None: chosen by the material
    # cell kind -> (m,) Young's modulus of each cell over that of the material; 1 if not given
    stiffness: dict[str, Array] = field(default_factory=dict)

    def region(self, name: str) -> Array:
        """Indices (k,) of the nodes of a named region."""
        if name not in self.regions:
            raise LimpetError(
                f"shape '{self.name}' has no region '{name}'{suggest(name, self.regions)}"
            )
        return self.regions[name]


@dataclass(frozen=True)
class RigidShape:
    """A closed triangle surface of a rigid body."""

    name: str  # of the shape
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
    """The boundary faces of a volume mesh as triangles bound to its nodes.

    A quadratic face is split at its midsides. A midside vertex is at its node or, if that is a
    control point, at half the control point and a quarter of each corner.
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
    """Faces of the cells of kind `name` that no other cell shares, grouped by number of nodes."""
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
        # `alike` has the faces in `own` in the same order, after those of the earlier cell kinds
        before = sum(
            len(cells[other]) * sum(len(f) == size for f in CELLS[other].faces)
            for other in list(cells)[: list(cells).index(name)]
        )
        single = count[twin.ravel()[before : before + len(own)]] == 1
        out.append(own[single])
    return out


def face_patches(cells: dict[str, Array], surface: Binding) -> FacePatches | None:
    """The curved element faces under the triangles of a surface; None if there are none.

    Without better knowledge a triangle has one where all its vertices lie on the same face.
    """
    if surface.patches is not None:
        return surface.patches
    faces: list[Array] = []
    control: list[bool] = []
    for name in cells:
        for block in outer_faces(name, cells):
            if block.shape[1] in (6, 8):
                faces += list(block)
                control += [CELLS[name].control] * len(block)
    of_node: dict[int, set[int]] = {}
    for f, nodes in enumerate(faces):
        for node in nodes.tolist():
            of_node.setdefault(node, set()).add(f)
    carriers = np.split(surface.nodes, surface.start[1:-1])
    shares = np.split(surface.weights, surface.start[1:-1])
    none: set[int] = set()
    on = [set.intersection(*(of_node.get(n, none) for n in c.tolist())) for c in carriers]
    patches: list[list[tuple[int, Array]]] = []
    used: dict[int, int] = {}
    for triangle in surface.triangles.tolist():
        common = set.intersection(*(on[v] for v in triangle))
        patches.append([])
        if common:
            f = min(common)
            reference = QUAD_NODES if len(faces[f]) == 8 else TRIANGLE_NODES
            place = {n: reference[i] for i, n in enumerate(faces[f].tolist())}
            # shape functions reproduce the coordinates themselves
            corners = [
                sum(w * place[n] for n, w in zip(carriers[v].tolist(), shares[v].tolist()))
                for v in triangle
            ]
            patches[-1].append((used.setdefault(f, len(used)), np.array(corners)))
    if not used:
        return None
    return collect_patches([faces[f] for f in used], [control[f] for f in used], patches)


# Triangles of a face, by its number of nodes.
_CUTS = {
    3: [(0, 1, 2)],
    4: [(0, 1, 2), (0, 2, 3)],
    6: [(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)],
    8: [(0, 4, 7), (1, 5, 4), (2, 6, 5), (3, 7, 6), (4, 5, 6), (4, 6, 7)],
}


def _face_triangles(faces: Array) -> Array:
    """(m, nodes per face) -> (triangles, 3), grouped by face."""
    return faces[:, _CUTS[faces.shape[1]]].reshape(-1, 3)


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
