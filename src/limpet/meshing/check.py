"""Checks of a surface before simulation; an error names the defect and how to repair it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import ConvexHull

from limpet.errors import MeshError
from limpet.geometry.bvh import build_tree, self_intersections
from limpet.geometry.surface import Surface, surface_topology, triangle_normals, volume
from limpet.geometry.union import union

Array = np.ndarray

MAX_EXTENT = 100.0  # [m] a larger body is most likely in millimetres
MIN_AREA = 1e-12  # least area of a triangle over the square of the surface's extent
MAX_OVERLAP = 1e-5  # of the smaller volume: largest overlap of two bodies at the start
SAME_PLACE = 1e-9  # distance of duplicate vertices over the surface's extent


def check_surface(x: Array, triangles: Array, name: str = "surface") -> Surface:
    """The topology of a closed, outward, simple surface x (n, 3) [m], or a MeshError."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    triangles = np.ascontiguousarray(triangles)
    if x.size == 0 or triangles.size == 0:
        raise MeshError(
            f"{name} is empty ({len(x)} vertices, {len(triangles)} triangles): "
            "expected a closed surface; check that the file has triangles"
        )
    if x.ndim != 2 or x.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise MeshError(
            f"{name} has vertices of shape {x.shape} and triangles of shape {triangles.shape}: "
            "expected (n, 3) and (m, 3); split polygons into triangles"
        )
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{name} vertex {bad[0]} is {x[bad[0]].tolist()}: expected finite coordinates; "
            f"{len(bad)} such vertices, export the mesh again"
        )
    low, high = int(triangles.min()), int(triangles.max())
    if low < 0 or high >= len(x):
        raise MeshError(
            f"{name} triangles have vertex index {low if low < 0 else high}: "
            f"expected 0 to {len(x) - 1}; indices start at 0"
        )
    triangles = triangles.astype(np.int32)
    extent = float(np.ptp(x, axis=0).max())
    if extent > MAX_EXTENT:
        raise MeshError(
            f"{name} is {extent:g} m large: expected less than {MAX_EXTENT:g} m; "
            "if the mesh is in millimetres, multiply its points by 1e-3"
        )
    area = np.linalg.norm(triangle_normals(x, triangles), axis=1)
    thin = np.flatnonzero(area <= MIN_AREA * extent**2)
    if len(thin):
        raise MeshError(
            f"{name} triangle {thin[0]} has zero area, {len(thin)} such triangles: "
            "remove the degenerate triangles"
        )
    try:
        surface = surface_topology(triangles, len(x))
    except MeshError as error:
        doubled = _count_duplicates(x, SAME_PLACE * extent)
        if "open" in str(error) and doubled:
            raise MeshError(
                f"{name} is open and has {doubled} duplicate vertices: "
                "expected one vertex for each point; merge the duplicate vertices"
            ) from None
        raise MeshError(str(error).replace("surface", name, 1)) from None
    enclosed = volume(x, triangles)
    if enclosed < 0.0:
        raise MeshError(
            f"{name} is inside-out (volume {enclosed:.3g} m^3): expected triangles that are "
            "counter-clockwise seen from outside; flip the triangles"
        )
    pairs = self_intersections(build_tree(x, triangles), x, triangles)
    if len(pairs):
        raise MeshError(
            f"{name} intersects itself at {len(pairs)} pairs of triangles, the first "
            f"{pairs[0].tolist()}: expected a simple surface; repair it or unite its parts"
        )
    return surface


def check_apart(
    bodies: Sequence[tuple[str, Array, Array]],
    may_touch: Callable[[str, str], bool] = lambda one, other: True,
) -> None:
    """Raise a MeshError if bodies (name, vertices, triangles) overlap.

    `may_touch` tells whether the bodies of two names can make contact; other pairs are skipped.
    """
    for i, (one, x, t) in enumerate(bodies):
        for other, y, u in bodies[i + 1 :]:
            if not may_touch(one, other):
                continue
            if np.any(x.min(axis=0) >= y.max(axis=0)) or np.any(y.min(axis=0) >= x.max(axis=0)):
                continue
            own, its = volume(x, t), volume(y, u)
            shared = own + its - float(union([(x, t), (y, u)]).shell_volume.sum())
            if shared > MAX_OVERLAP * min(own, its):
                raise MeshError(
                    f"'{one}' and '{other}' overlap at the start, by {1e9 * shared:.3g} mm^3: "
                    "move one of them with position=(x, y, z)"
                )


def has_hollow(x: Array, triangles: Array) -> bool:
    """Whether a closed surface x (n, 3) is concave: its volume is below that of its convex hull."""
    hull = float(ConvexHull(x).volume)
    return hull - volume(x, triangles) > 1e-6 * hull


def _count_duplicates(x: Array, distance: float) -> int:
    """The number of vertices within about `distance` of another one."""
    cells = np.round((x - x.min(axis=0)) / max(distance, 1e-300)).astype(np.int64)
    return len(x) - len(np.unique(cells, axis=0))
