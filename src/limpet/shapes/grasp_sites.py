"""Grasp sites for a cup on a scanned body: smoothing, the smoothest site, local refinement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_matrix, diags, identity
from scipy.sparse.linalg import splu
from scipy.spatial import ConvexHull, cKDTree
from scipy.spatial.transform import Rotation

from limpet.errors import MeshError
from limpet.geometry.shape import Array
from limpet.geometry.surface import surface_topology
from limpet.meshing.tetrahedra import coarsen

SECTORS = 12  # of the disc around a site; each must reach the edge of the disc


@dataclass(frozen=True)
class GraspSite:
    """A point on a surface with its curvature."""

    point: Array  # (3,) [m]
    normal: Array  # (3,) unit
    curvature: Array  # (2,) [1/m] principal curvatures, negative where it is convex
    roughness: float  # [m] rms distance from the fitted paraboloid


def smooth(points: Array, triangles: Array, length: float) -> Array:
    """The points after smoothing of features smaller than about `length` [m].

    One implicit diffusion step over the edges: (1 + (length / edge)^2 L) x = points.
    """
    i, j = surface_topology(triangles.astype(np.int32), len(points)).edges.T
    n, one = len(points), np.ones(2 * len(i))
    joined = coo_matrix((one, (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
    degree = np.asarray(joined.sum(axis=1)).ravel()
    mean = diags(1.0 / degree) @ joined
    edge = np.linalg.norm(points[i] - points[j], axis=1).mean()
    return splu((identity(n) + (length / edge) ** 2 * (identity(n) - mean)).tocsc()).solve(points)


def vertex_normals(points: Array, triangles: Array) -> Array:
    """(n, 3) unit normals, weighted by area."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    out = np.zeros_like(points)
    for k in range(3):
        np.add.at(out, triangles[:, k], face)
    return out / np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]


def paraboloid(offset: Array) -> tuple[Array, float]:
    """Least-squares fit z = a + b x + c y + d x^2 + e x y + f y^2 to points (n, 3); rms error."""
    x, y, z = offset.T
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
    fit = np.linalg.lstsq(terms, z, rcond=None)[0]
    return fit, float(np.sqrt(((terms @ fit - z) ** 2).mean()))


def split_around(
    points: Array, triangles: Array, spot: Array, radius: float
) -> tuple[Array, Array]:
    """Split every edge with both ends within `radius` [m] of the spot at its midpoint."""
    close = np.linalg.norm(points - spot, axis=1) < radius
    middle: dict[tuple[int, int], int] = {}
    out: list[tuple[int, ...]] = []
    for triangle in triangles.tolist():
        polygon = []  # the triangle with its new vertices
        for a, b in zip(triangle, triangle[1:] + triangle[:1]):
            polygon.append(a)
            if close[a] and close[b]:
                key = (min(a, b), max(a, b))
                polygon.append(middle.setdefault(key, len(points) + len(middle)))
        if len(polygon) == 6:  # four triangles
            p, q, r, s, t, u = polygon
            out += [(p, q, u), (q, r, s), (u, s, t), (q, s, u)]
        else:  # two triangles from the new vertex, or unchanged
            k = int(np.argmax(polygon))
            first, *others = polygon[k:] + polygon[:k]
            out += [(first, a, b) for a, b in pairwise(others)]
    ends = np.array(list(middle), dtype=int).reshape(-1, 2)
    return np.concatenate([points, points[ends].mean(axis=1)]), np.array(out, dtype=np.int32)


def summit(points: Array, spot: Array, radius: float) -> Array:
    """The highest point (3,) [m] of the dome around a spot: best for a cup that moves down."""
    offset = points - spot
    a, b, c, d, e, f = paraboloid(offset[np.linalg.norm(offset, axis=1) < radius])[0]
    x, y = np.linalg.solve([[2.0 * d, e], [e, 2.0 * f]], [-b, -c])
    top = a + b * x + c * y + d * x * x + e * x * y + f * y * y
    return spot + np.array([x, y, top])


def dome(points: Array, spot: Array, radius: float) -> tuple[Array, Array]:
    """The point (3,) [m] over a spot and the normal (3,) there of the paraboloid round it."""
    offset = points - spot
    a, b, c, *_ = paraboloid(offset[np.linalg.norm(offset, axis=1) < radius])[0]
    normal = np.array([-b, -c, 1.0])
    return spot + np.array([0.0, 0.0, a]), normal / np.linalg.norm(normal)


def polish(points: Array, spot: Array, radius: float, fade: float) -> Array:
    """The points, with those around a spot moved along z onto the fitted paraboloid.

    Points within `radius` [m] move completely; the displacement decreases to 0 at `fade` [m].
    """
    offset = points - spot
    r = np.linalg.norm(offset, axis=1)
    a, b, c, d, e, f = paraboloid(offset[r < radius])[0]
    x, y, z = offset.T
    dome = a + b * x + c * y + d * x * x + e * x * y + f * y * y
    share = np.clip((fade - r) / (fade - radius), 0.0, 1.0)
    return points + np.outer(share * (dome - z), [0.0, 0.0, 1.0])


def grasp_sites(
    points: Array, triangles: Array, radius: float, tilt: float = np.radians(5.0)
) -> list[GraspSite]:
    """The vertices whose disc of `radius` [m] is complete and on a dome: a cup can seal there.

    tilt [rad]: largest angle between the normal and z. The paraboloid fitted to the disc must be
    convex.
    """
    normal, tree = vertex_normals(points, triangles), cKDTree(points)
    found = []
    for v in np.flatnonzero(normal[:, 2] > np.cos(tilt)):
        near = np.array(tree.query_ball_point(points[v], 1.15 * radius))
        near = near[normal[near] @ normal[v] > 0.0]
        offset = points[near] - points[v]
        around = np.arctan2(*offset[np.hypot(*offset.T[:2]) > 0.8 * radius].T[:2])
        sectors = np.floor(SECTORS * (around / (2.0 * np.pi) + 0.5)) % SECTORS
        if len(np.unique(sectors)) < SECTORS:
            continue
        fit, rough = paraboloid(offset)
        curvature = np.linalg.eigvalsh([[2.0 * fit[3], fit[4]], [fit[4], 2.0 * fit[5]]])
        if curvature[1] < 0.0:
            found.append(GraspSite(points[v], normal[v], curvature, rough))
    return found


def best_site(
    points: Array, triangles: Array, radius: float, centre: Array, roughness: float, name: str,
    tilt: float = np.radians(15.0),
) -> GraspSite:  # fmt: skip
    """Where a planner of grasps sets a cup of `radius` [m] down, along the normal.

    First it must seal: of all sites those with at most `roughness` [m], or else the smoothest. Then
    the load must turn it little: of these the nearest, seen from above, to the `centre` (3,) of
    mass.
    """
    sites = grasp_sites(points, triangles, radius, tilt)
    if not sites:
        raise MeshError(
            f"{name} has no dome of radius {1e3 * radius:g} mm that faces up: rotate or enlarge it"
        )
    limit = max(roughness, min(site.roughness for site in sites))
    sealed = [site for site in sites if site.roughness <= limit]
    return min(sealed, key=lambda site: float(np.hypot(*(site.point - centre)[:2])))


def coarsen_around(
    points: Array, triangles: Array, vertices: int, spot: Array, radius: float, times: float
) -> tuple[Array, Array]:
    """As tetrahedra.coarsen, with triangles `times` smaller within `radius` [m] of the spot."""
    away = points - spot
    r = np.linalg.norm(away, axis=1)
    drawn = np.where(r < radius, times * r, r + (times - 1.0) * radius)
    seen = spot + away * (drawn / np.maximum(r, 1e-300))[:, None]
    return coarsen(points, triangles, vertices, "surface", seen)


def standing(points: Array, centre: Array, name: str) -> Array:
    """The smallest rotation (3, 3) that puts a body on a plane in stable equilibrium.

    It stands on the face of its convex hull below its `centre` of mass (3,).
    """
    hull = ConvexHull(points)
    best: Array | None = None
    for plane, corners in zip(hull.equations, hull.simplices):
        outward = plane[:3]
        foot = centre - (outward @ centre + plane[3]) * outward
        a, b, c = points[corners]
        inside = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), foot - a, rcond=None)[0]
        stable = inside.min() > 0.0 and inside.sum() < 1.0
        if stable and (best is None or outward[2] < best[2]):
            best = outward
    if best is None:
        raise MeshError(
            f"{name} stands on no face of its convex hull: its centre of mass is outside"
        )
    return Rotation.align_vectors([[0.0, 0.0, -1.0]], [best])[0].as_matrix()
