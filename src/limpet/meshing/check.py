"""Can this surface be simulated? If not, one line says what is wrong with it and how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import ConvexHull

from limpet.errors import MeshError
from limpet.geometry.bvh import build_tree, self_intersections
from limpet.geometry.surface import Surface, surface_topology, triangle_normals, volume
from limpet.geometry.union import union

Array = np.ndarray

LARGEST = 100.0  # [m] a larger body was most likely given in millimetres
THINNEST = 1e-12  # a triangle's area over the square of the surface's extent
TOUCH = 1e-5  # share of the smaller body that two bodies may have in common at the start
SAME_PLACE = 1e-9  # distance of doubled vertices over the surface's extent


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
            f"{name} triangles name vertex {low if low < 0 else high} of {len(x)}: "
            f"expected 0 to {len(x) - 1}; count vertices from 0"
        )
    triangles = triangles.astype(np.int32)
    extent = float(np.ptp(x, axis=0).max())
    if extent > LARGEST:
        raise MeshError(
            f"{name} is {extent:g} m large: expected less than {LARGEST:g} m; "
            "if the mesh is in millimetres, multiply its points by 1e-3"
        )
    area = np.linalg.norm(triangle_normals(x, triangles), axis=1)
    thin = np.flatnonzero(area <= THINNEST * extent**2)
    if len(thin):
        raise MeshError(
            f"{name} triangle {thin[0]} has no area: expected none such, found {len(thin)}; "
            "remove degenerate triangles"
        )
    try:
        surface = surface_topology(triangles, len(x))
    except MeshError as error:
        doubled = _doubled(x, SAME_PLACE * extent)
        if "open" in str(error) and doubled:
            raise MeshError(
                f"{name} is open and {doubled} vertices stand where another one does: "
                "expected one vertex for each point; merge the doubled vertices"
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
    """Refuse bodies (name, vertices, triangles) that overlap by more than a touch.

    `may_touch` says of two names whether the bodies have anything to do with each other.
    """
    for i, (one, x, t) in enumerate(bodies):
        for other, y, u in bodies[i + 1 :]:
            if not may_touch(one, other):
                continue
            if np.any(x.min(axis=0) >= y.max(axis=0)) or np.any(y.min(axis=0) >= x.max(axis=0)):
                continue
            own, its = volume(x, t), volume(y, u)
            shared = own + its - float(union([(x, t), (y, u)]).shell_volume.sum())
            if shared > TOUCH * min(own, its):
                raise MeshError(
                    f"'{one}' and '{other}' overlap at the start, by {1e9 * shared:.3g} mm^3: "
                    "move one of them with position=(x, y, z)"
                )


def has_hollow(x: Array, triangles: Array) -> bool:
    """Whether a closed surface x (n, 3) dents in anywhere: it holds less than its convex hull."""
    hull = float(ConvexHull(x).volume)
    return hull - volume(x, triangles) > 1e-6 * hull


def _doubled(x: Array, distance: float) -> int:
    """How many vertices stand within about `distance` of another."""
    cells = np.round((x - x.min(axis=0)) / max(distance, 1e-300)).astype(np.int64)
    return len(x) - len(np.unique(cells, axis=0))
