"""Tetrahedral meshes of solids: closed surfaces are coarsened, then filled by Netgen.

A surface is (points (n, 3) [m], triangles (m, 3)). The result is deterministic.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from limpet.errors import LimpetError, MeshError, MissingPackageError, require_positive
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.geometry.surface import volume, volume_gradient
from limpet.meshing.check import check_surface
from limpet.meshing.grids import quadratic_tets

SIZE = 0.7  # default size of the tets inside, in mean edges of the surface: good quality
MIN_SIZE = 0.02  # smallest size in the search for a number of nodes, in mean edges
NODE_TOLERANCE = 0.03  # relative tolerance of the number of nodes
MAX_TRIALS = 9
TIMEOUT = 120.0  # [s] for Netgen, which may not terminate on degenerate triangles
MOST_CELLS = 5e6  # of the lattice over the bounding box: more take minutes and gigabytes
VOLUME_TOLERANCE = 1e-9  # fraction of the volume that may be missing, for round-off
# Weights of the normal against the position, tried in turn: separate the sides of a thin wall.
NORMAL_WEIGHTS = (0.4, 0.6, 0.9)
CENTRE_WEIGHT = 0.05  # weight of the cluster's centre against its planes
SWEEPS = 15  # iterations of Lloyd's algorithm; the clusters hardly move after ten
TINY = 1e-300  # avoids 0 / 0


def tet_volumes(points: Array, tets: Array) -> Array:
    """(m,) [m^3] by the corners; positive if the faces of cells.TET4 point outward."""
    a, b, c, d = (points[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0


def qualities(points: Array, tets: Array) -> Array:
    """(m,) mean ratio quality: 1 for a regular tetrahedron, 0 for a flat one."""
    squares = sum(
        ((points[tets[:, a]] - points[tets[:, b]]) ** 2).sum(axis=1)
        for a, b in combinations(range(4), 2)
    )
    return 12.0 * np.cbrt(3.0 * np.abs(tet_volumes(points, tets))) ** 2 / squares


def solid(points: Array, tets: Array, name: str, order: int = 2) -> SoftShape:
    """A soft shape of linear (order 1) or quadratic (2) cells from a tet4 mesh.

    points (n, 3) [m], tets (m, 4). Both surfaces are its boundary; it has no regions.
    """
    if order not in (1, 2):
        raise LimpetError(f"{name} order = {order!r}: expected 1 (tet4) or 2 (tet10)")
    if order == 2:
        points, tets = quadratic_tets(points, tets)
    cells = {("tet4", "tet10")[order - 1]: np.ascontiguousarray(tets, dtype=np.int32)}
    skin = boundary(cells)
    return SoftShape(name, points, cells, skin, skin)


def fill(
    points: Array,  # (n, 3) [m]
    triangles: Array,  # (m, 3), outward
    *,
    size: float | None = None,  # [m] of the tets inside; None: slightly below that of the surface
    nodes: int | None = None,  # or the approximate number of nodes, with those of the surface
    name: str = "solid",  # of the shape, in messages
) -> tuple[Array, Array]:
    """Tetrahedra (points, tets) inside a closed surface, whose points come first, unchanged."""
    check_surface(points, triangles, name)
    used, compact = np.unique(triangles, return_inverse=True)
    skin = np.ascontiguousarray(points, dtype=float)[used]
    faces = compact.reshape(-1, 3).astype(np.int32)
    if nodes is None:
        if size is not None:
            require_positive(f"{name} size", size, " m")
        edges = SIZE if size is None else size / mean_edge(skin, faces)
        return _netgen(skin, faces, edges, name)
    if size is not None:
        raise LimpetError(f"{name} has both size and nodes: expected one of them; leave one out")
    if nodes < len(skin):
        raise LimpetError(
            f"{name} nodes = {nodes}: expected at least {len(skin)}, those of its surface; "
            "coarsen the surface first"
        )
    coarse, fine, edges = np.inf, 0.0, 1.0
    found: list[tuple[Array, Array]] = []
    for _ in range(MAX_TRIALS):
        found.append(_netgen(skin, faces, edges, name))
        ratio = len(found[-1][0]) / nodes
        if abs(ratio - 1.0) < NODE_TOLERANCE or edges <= MIN_SIZE:
            break
        coarse, fine = (edges, fine) if ratio < 1.0 else (coarse, edges)
        edges = min(max(np.sqrt(coarse * fine), edges / 2.0), 2.0 * edges)
    return min(found, key=lambda mesh: abs(len(mesh[0]) - nodes))


def mean_edge(points: Array, triangles: Array) -> float:
    """The mean edge length of a surface [m]."""
    corners = points[triangles]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


def _netgen(skin: Array, faces: Array, size: float, name: str) -> tuple[Array, Array]:
    """Fill a checked surface; `size` in mean edges."""
    require_package("netgen", "netgen-mesher", "filling a surface with tetrahedra")
    edge, centre = mean_edge(skin, faces), skin.mean(axis=0)
    # A rotation, so that symmetric shapes do not coincide with the planes of Netgen's octree.
    rotation = Rotation.from_rotvec((0.3, 0.5, 0.7)).as_matrix()
    turned = (skin - centre) / edge @ rotation.T
    if np.prod(np.ptp(turned, axis=0) / size) > MOST_CELLS:
        raise MeshError(
            f"{name} size = {size * edge:.3g} m: its bounding box has more than {MOST_CELLS:.0e} "
            "cells of that size; use a larger size, or make the body smaller"
        )
    with TemporaryDirectory() as folder:
        inside = _lattice_inside(turned, faces, size)
        np.savez(f"{folder}/surface.npz", points=turned, triangles=faces, inside=inside, size=size)
        worker = Path(__file__).with_name("netgen_worker.py")
        try:
            run = subprocess.run(
                [sys.executable, "-P", str(worker), folder],
                capture_output=True,
                errors="replace",
                timeout=TIMEOUT,
            )
            succeeded = run.returncode == 0
            reason = (run.stderr.strip().splitlines() or ["it stopped without a message"])[-1]
        except subprocess.TimeoutExpired:
            succeeded, reason = False, f"it took longer than {TIMEOUT:g} s"
        if succeeded:
            with np.load(f"{folder}/mesh.npz") as mesh:
                found, tets = mesh["points"], mesh["tets"].astype(np.int32)
            points = np.concatenate([skin, found[len(skin) :] @ rotation * edge + centre])
            tets = tets[:, [0, 2, 1, 3]] if tets.size else np.empty((0, 4), np.int32)
            volumes, enclosed = tet_volumes(points, tets), volume(skin, faces)
            # Most failures of Netgen show only as an empty part of the interior.
            if abs(volumes.sum() - enclosed) < VOLUME_TOLERANCE * enclosed and volumes.min() > 0.0:
                return points, tets
    raise MeshError(
        f"{name} could not be filled with tetrahedra, Netgen failed on its {len(faces)} triangles "
        f"({reason}): make them more uniform (coarsen), or use another size"
    )


def _lattice_inside(x: Array, triangles: Array, size: float) -> Array:
    """Points (k, 3) of a cubic lattice inside a surface, by the normal of the nearest vertex."""
    low, high = x.min(axis=0), x.max(axis=0)
    axes = [np.arange(low[a] + 0.5 * size, high[a], size) for a in range(3)]
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    near = cKDTree(x).query(lattice)[1]
    normal = volume_gradient(x, triangles)[near]
    return lattice[np.einsum("ij,ij->i", lattice - x[near], normal) < 0.0]


def require_package(module: str, package: str, purpose: str) -> None:
    """Raise MissingPackageError if a package is missing."""
    if find_spec(module) is None:
        raise MissingPackageError(f"{purpose} needs the package {package}: pip install {package}")


def coarsen(
    points: Array, triangles: Array, vertices: int, name: str = "surface",
    seen: Array | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Approximate a closed surface by about `vertices` vertices with uniform triangles.

    Lloyd's algorithm clusters the vertices by position and normal. Each cluster becomes a vertex at
    the least-squares intersection of its planes; triangles that join three clusters remain. `seen`
    (n, 3) are other positions for the clustering: what is larger there stays finer.
    """
    if not 4 <= vertices < len(points):
        raise LimpetError(f"{name} vertices = {vertices}: expected 4 to {len(points) - 1}")
    used, compact = np.unique(triangles, return_inverse=True)
    p, t = np.ascontiguousarray(points, dtype=float)[used], compact.reshape(-1, 3)
    normal = np.cross(p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]) / 2.0
    area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(area, TINY)[:, None]
    places = p if seen is None else np.ascontiguousarray(seen, dtype=float)[used]
    size = np.cross(places[t[:, 1]] - places[t[:, 0]], places[t[:, 2]] - places[t[:, 0]]) / 2.0
    size = np.linalg.norm(size, axis=1)
    share = np.zeros(len(p))  # of that area, a third of each triangle [m^2]
    direction = np.zeros_like(p)
    for k in range(3):
        np.add.at(share, t[:, k], size / 3.0)
        np.add.at(direction, t[:, k], area[:, None] * normal)
    direction /= np.maximum(np.linalg.norm(direction, axis=1), TINY)[:, None]
    spacing = np.sqrt(size.sum() / vertices)
    for weight in NORMAL_WEIGHTS:
        cluster = _lloyd(np.hstack([places / spacing, weight * direction]), share, vertices)
        coarse = _cluster_vertices(p, t, normal, area, cluster)
        joined = _joined(cluster[t])
        try:
            check_surface(coarse, joined, name)
            return coarse, joined
        except MeshError as error:
            reason = str(error)
    raise MeshError(
        f"{name} cannot be coarsened to {vertices} vertices ({reason}); keep more vertices"
    )


def _cluster_vertices(p: Array, t: Array, normal: Array, area: Array, cluster: Array) -> Array:
    """Least-squares intersection of the planes of each cluster, weighted by area; regularised."""
    count = int(cluster.max()) + 1
    planes = np.zeros((count, 3, 3))
    offsets = np.zeros((count, 3))
    height = np.einsum("ij,ij->i", normal, p[t[:, 0]])
    pull = area[:, None] * normal
    for k in range(3):
        own = cluster[t[:, k]]
        weight = CENTRE_WEIGHT * area
        np.add.at(planes, own, pull[:, :, None] * normal[:, None, :])
        np.add.at(offsets, own, pull * height[:, None] + weight[:, None] * p[t[:, k]])
        planes += np.bincount(own, weight, count)[:, None, None] * np.eye(3)
    return np.linalg.solve(planes, offsets[:, :, None])[:, :, 0]


def _joined(t: Array) -> Array:
    """The triangles with three different corners; opposite ones cancel."""
    t = t[np.all(t != np.roll(t, 1, axis=1), axis=1)]
    t = np.take_along_axis(t, (t.argmin(axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    facing = np.where(t[:, 1] < t[:, 2], 1, -1)
    triples, number = np.unique(np.sort(t, axis=1), axis=0, return_inverse=True)
    net = np.bincount(number.ravel(), facing, len(triples)).astype(int)
    kept = np.where((net < 0)[:, None], triples[:, [0, 2, 1]], triples)[net != 0]
    return kept.astype(np.int32)


def _lloyd(x: Array, weight: Array, count: int) -> Array:
    """The cluster (n,) of each point x (n, d), of `count` clusters that start far apart."""
    start = [0]
    distance = np.full(len(x), np.inf)
    for _ in range(count - 1):
        np.minimum(distance, ((x - x[start[-1]]) ** 2).sum(axis=1), out=distance)
        start.append(int(distance.argmax()))
    centres = x[start]
    for _ in range(SWEEPS):
        # An empty cluster is removed.
        cluster = np.unique(cKDTree(centres).query(x)[1], return_inverse=True)[1].ravel()
        total = np.bincount(cluster, weight)
        sums = [np.bincount(cluster, weight * column) for column in x.T]
        centres = np.stack(sums, axis=1) / total[:, None]
    return cluster


def tetrahedralise(
    points: Array, triangles: Array, nodes: int, inner: float, share: float, name: str
) -> tuple[Array, Array]:
    """Coarsen and fill a fine closed surface with about `nodes` nodes; the lowest is at z = 0.

    `share` is a first guess of the fraction of the nodes on the surface.
    """
    require_positive(f"{name} inner", inner)
    if nodes < 30:
        raise LimpetError(f"{name} nodes = {nodes}: expected 30 or more")
    skin = round(share * nodes)
    few, many = 0, 0  # surface vertices with too few and with too many nodes
    found: list[tuple[Array, Array]] = []
    for _ in range(5):
        surface = coarsen(points, triangles, skin, name)
        found.append(fill(*surface, size=inner * mean_edge(*surface), name=name))
        ratio = nodes / len(found[-1][0])
        if abs(ratio - 1.0) < NODE_TOLERANCE:
            break
        few, many = (skin, many) if ratio > 1.0 else (few, skin)
        # The number of nodes inside grows faster than that on the surface.
        skin = (few + many) // 2 if few and many else round(skin * ratio**0.75)
    x, tets = min(found, key=lambda mesh: abs(len(mesh[0]) - nodes))
    return x - [0.0, 0.0, x[:, 2].min()], tets
