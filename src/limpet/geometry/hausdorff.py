"""Hausdorff distance between two surfaces (A IV-B compares a deformed cup with its scan)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.errors import require_positive
from limpet.geometry.bvh import build_tree, closest_points
from limpet.geometry.shape import Array, RigidShape

SPACING = 0.01  # default spacing of the samples, as a fraction of the extent


@dataclass(frozen=True)
class Apart:
    """Distances between the surfaces a and b [m]; of an incomplete scan use one direction."""

    distance: float  # Hausdorff distance: the larger of the next two
    a_to_b: float  # largest distance from a point of a to b
    b_to_a: float  # largest distance from a point of b to a
    mean: float  # mean distance from the points of a to b
    place: Array  # (3,) the point of either surface that is farthest from the other


def hausdorff(a: RigidShape, b: RigidShape, spacing: float | None = None) -> Apart:
    """The Hausdorff distance between two surfaces, open or closed, in the same frame.

    Both are sampled at their vertices and on their triangles. `spacing` [m] is the largest distance
    between samples, and also the largest error of the result, which is never too large.
    """
    extent = float(np.ptp(np.concatenate([a.points, b.points]), axis=0).max())
    spacing = SPACING * extent if spacing is None else require_positive("spacing", spacing, " m")
    from_a, from_b = (samples(s.points, np.asarray(s.triangles), spacing) for s in (a, b))
    there, back = _distances(from_a, b), _distances(from_b, a)
    far_a, far_b = int(there.argmax()), int(back.argmax())
    to_b, to_a = float(there[far_a]), float(back[far_b])
    place = from_a[far_a] if to_b >= to_a else from_b[far_b]
    return Apart(max(to_b, to_a), to_b, to_a, float(there.mean()), place)


def samples(x: Array, triangles: Array, spacing: float) -> Array:
    """(k, 3) [m]: the vertices in use, and regular grids on triangles larger than the spacing."""
    corner = x[triangles]
    longest = np.linalg.norm(corner - np.roll(corner, 1, axis=1), axis=2).max(axis=1)
    parts = np.ceil(longest / spacing).astype(int)
    out = [x[np.unique(triangles)]]
    for n in np.unique(parts[parts > 1]).tolist():
        i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        inside = i + j <= n
        u, v = i[inside] / n, j[inside] / n
        weights = np.stack([1.0 - u - v, u, v], axis=1)  # (g, 3)
        out.append(np.einsum("gk,tki->tgi", weights, corner[parts == n]).reshape(-1, 3))
    return np.concatenate(out)


def _distances(points: Array, surface: RigidShape) -> Array:
    """(k,) [m] of points (k, 3) from a surface."""
    triangles = np.ascontiguousarray(surface.triangles, dtype=np.int32)
    tree = build_tree(surface.points, triangles)
    return closest_points(tree, surface.points, triangles, points, np.inf)[2]
