"""An independent judge of seals: the widest leak path on refined surfaces, by brute force.

It shares no code with the simulation. Both surfaces, that of the cup and that of the body nearest
to its dome, are covered by a lattice of points. Each point has a gap, its distance to all other
bodies, by the formula for a point and a triangle. The width of a path is its smallest gap, also
between the points. The widest path from inside (the middle of the dome; on the other body the point
nearest to it) to the far side of the same body is a leak; the wider one of the two bodies counts.

Surfaces are taken as their facets. Where facets stand for a smooth surface, the truth lies within
their sagitta; that is returned, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

Array = np.ndarray

FINENESS = 6  # lattice steps along each edge of a triangle
FAR = 3.0  # sealing distances: gaps are not told apart beyond
ROUNDS = 12  # bisections between two lattice points
CLOSED = 0.1  # of FAR: gaps below this are closed, whatever they are
SURE, STRAIGHT = 2, 0.02  # after so many bisections gaps that run straight, of FAR, are known
CHUNK = 200_000  # pairs of a point and a triangle at once
TIE = 1e-12  # [m]
CREASE = np.pi / 6.0  # [rad] facets that turn by less stand for a smooth surface


@dataclass(frozen=True)
class Facets:
    """A closed triangle surface."""

    points: Array  # (n, 3) [m]
    triangles: Array  # (m, 3)


@dataclass(frozen=True)
class Leak:
    """The widest leak path."""

    width: float  # [m] its smallest gap, at most FAR sealing distances
    slack: float  # [m] by which facets may miss the smooth surfaces there


def widest_leak(
    bodies: list[Facets], cup: int, inside: int, outside: int, distance: float
) -> Leak | None:
    """Out of a cup whose dome has the vertex `inside` and its far side the vertex `outside`.

    None: the dome touches another body there, so that nothing can be said.
    """
    far = FAR * distance
    others = [b for k, b in enumerate(bodies) if k != cup]
    own = bodies[cup]
    start = own.points[inside]
    away = np.array([_closest(start[None], b, np.inf)[0] for b in others]).ravel()
    if away.min() < 2.0 * distance:
        return None
    nearest = others[int(away.argmin())]
    rest = [own, *(b for b in others if b is not nearest)]
    first = _path(own, others, start, own.points[outside], far)
    end = _far_side(nearest, rest, start, far)
    second = _path(nearest, rest, start, end, far)
    return max((first, second), key=lambda leak: leak.width)


def _far_side(body: Facets, others: list[Facets], start: Array, far: float) -> Array:
    """The vertex (3,) farthest from the dome that touches nothing, if there is one.

    A part that stands on a ground is closed off at its bottom, however wide it leaks at the cup.
    """
    clear = body.points[_gaps(body.points, others, far) >= far]
    points = clear if len(clear) else body.points
    return np.asarray(points[np.linalg.norm(points - start, axis=1).argmax()])


def _path(own: Facets, others: list[Facets], start: Array, end: Array, far: float) -> Leak:
    points, edges = lattice(own)
    longest = float(np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).max())
    gap = _gaps(points, others, max(far, longest))
    a = int(np.linalg.norm(points - start, axis=1).argmin())
    b = int(np.linalg.norm(points - end, axis=1).argmin())
    width = _edge_widths(points, edges, gap, others, far)
    best, at = _widest(len(points), edges, width, a, b)
    place = points[edges[at]].mean(axis=0)
    near = [float(_closest(place[None], b, np.inf)[0]) for b in others]
    slack = bulge_at(own, place) + bulge_at(others[int(np.argmin(near))], place)
    return Leak(best, slack)


def lattice(surface: Facets) -> tuple[Array, Array]:
    """Points (k, 3) [m] on all triangles, shared along their edges, and links (l, 2) of them."""
    n = FINENESS
    grid = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    number = {ij: k for k, ij in enumerate(grid)}
    weights = np.array([(n - i - j, i, j) for i, j in grid], float) / n
    links = [
        (number[i, j], number[i + di, j + dj])
        for i, j in grid
        for di, dj in ((1, 0), (0, 1), (-1, 1))
        if (i + di, j + dj) in number
    ]
    corners = surface.points[surface.triangles]
    points = np.einsum("gk,mkd->mgd", weights, corners).reshape(-1, 3)
    # points on a common edge are one: told by the corners that they are made of
    key = _keys(surface.triangles, grid, n)
    _, first, same = np.unique(key, axis=0, return_index=True, return_inverse=True)
    steps = np.arange(len(surface.triangles))[:, None, None] * len(grid)
    edges = same.ravel()[(steps + np.array(links)[None]).reshape(-1, 2)]
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    return points[first], edges


def _keys(triangles: Array, grid: list[tuple[int, int]], n: int) -> Array:
    """(m g, 6) corners and their weights, sorted by corner, without those of no weight."""
    shares = np.array([(n - i - j, i, j) for i, j in grid])
    corner = np.repeat(triangles[:, None], len(grid), axis=1).astype(np.int64)
    share = np.repeat(shares[None], len(triangles), axis=0)
    corner = np.where(share > 0, corner, -1)
    order = np.argsort(corner, axis=2, kind="stable")
    both = [np.take_along_axis(v, order, axis=2).reshape(-1, 3) for v in (corner, share)]
    return np.concatenate(both, axis=1)


def _gaps(points: Array, others: list[Facets], far: float) -> Array:
    """(k,) [m] to the nearest of the others, negative inside, at most far."""
    return np.min([_closest(points, b, far) for b in others], axis=0)


def _closest(points: Array, surface: Facets, far: float) -> Array:
    """Signed distance (k,) [m] of points to a surface, at most far."""
    corners = surface.points[surface.triangles]
    middle = corners.mean(axis=1)
    size = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    if np.isfinite(far):
        near = cKDTree(points).query_ball_point(middle, far + size)
        count = np.array([len(n) for n in near])
        at = np.concatenate([np.asarray(n, int) for n in near]) if count.any() else np.zeros(0, int)
    else:
        count, at = (
            np.full(len(corners), len(points)),
            np.tile(np.arange(len(points)), len(corners)),
        )
    triangle = np.repeat(np.arange(len(corners)), count)
    found, best = np.full(len(points), far), np.full(len(points), -1.0)
    for k in range(0, len(at), CHUNK):
        _nearer(points, corners, at[k : k + CHUNK], triangle[k : k + CHUNK], found, best)
    return found


def _nearer(
    points: Array, corners: Array, at: Array, triangle: Array, found: Array, best: Array
) -> None:
    """Take the nearest of these triangles for each point, where it is nearer than what was found.

    Of triangles as near (they meet at an edge) the one that the point stands over most squarely
    tells the side; `best` (k,) is how squarely.
    """
    t = corners[triangle]
    normal = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    length = np.linalg.norm(normal, axis=1)
    solid = length > 0.0
    at, t, normal, length = at[solid], t[solid], normal[solid], length[solid]
    r = points[at] - closest_on_triangles(points[at], t[:, 0], t[:, 1], t[:, 2])
    d = np.linalg.norm(r, axis=1)
    height = (r * normal).sum(axis=1) / length
    square = np.abs(height) / np.maximum(d, 1e-300)
    least = np.abs(found)
    np.minimum.at(least, at, d)
    tied = d <= least[at] + TIE
    best[np.abs(found) > least + TIE] = -1.0
    np.maximum.at(best, at[tied], square[tied])
    take = tied & (square >= best[at])
    found[at[take]] = np.where(height[take] < 0.0, -d[take], d[take])


def closest_on_triangles(p: Array, a: Array, b: Array, c: Array) -> Array:
    """(k, 3) the points of triangles nearest to p (k, 3): in the plane, or else on an edge."""
    u, v, w = b - a, c - a, p - a
    uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
    wu, wv = _dot(w, u), _dot(w, v)
    det = uu * vv - uv * uv
    s, t = (vv * wu - uv * wv) / det, (uu * wv - uv * wu) / det
    within = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
    best = a + s[:, None] * u + t[:, None] * v
    least = np.where(within, _dot(p - best, p - best), np.inf)
    for one, other in ((a, b), (b, c), (c, a)):
        e = other - one
        share = np.clip(_dot(p - one, e) / _dot(e, e), 0.0, 1.0)
        q = one + share[:, None] * e
        d = _dot(p - q, p - q)
        nearer = d < least
        best[nearer], least = q[nearer], np.minimum(d, least)
    return best


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


def _edge_widths(
    points: Array, edges: Array, gap: Array, others: list[Facets], far: float
) -> Array:
    """(l,) [m] the smallest gap along each link: a gap changes by no more than the way."""
    width = np.minimum(gap[edges[:, 0]], gap[edges[:, 1]])
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    ga, gb, owner = gap[edges[:, 0]], gap[edges[:, 1]], np.arange(len(edges))
    for k in range(ROUNDS):
        length = np.linalg.norm(b - a, axis=1)
        bound = 0.5 * (ga + gb - length)
        # worth a look: it may be narrower than is known, and than what is told apart, and it is
        # not closed anyway
        known = width[owner]
        ask = (bound < far) & (bound < known) & (known > CLOSED * far) & (length > CLOSED * far)
        if not ask.any():
            break
        a, b, ga, gb, owner = a[ask], b[ask], ga[ask], gb[ask], owner[ask]
        middle = 0.5 * (a + b)
        g = _gaps(middle, others, max(far, float(length[ask].max())))
        np.minimum.at(width, owner, g)
        bent = np.abs(g - 0.5 * (ga + gb)) > STRAIGHT * far if k >= SURE else np.full(len(g), True)
        a, b, ga, gb, owner = a[bent], b[bent], ga[bent], gb[bent], owner[bent]
        middle, g = middle[bent], g[bent]
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
        ga, gb = np.concatenate([ga, g]), np.concatenate([g, gb])
        owner = np.concatenate([owner, owner])
    return np.minimum(width, far)


def _widest(n: int, edges: Array, width: Array, a: int, b: int) -> tuple[float, int]:
    """The largest w such that links of at least w join a to b, and a link of that width."""
    levels = np.unique(width)
    low, high = 0, len(levels) - 1

    def joined(level: float) -> bool:
        use = edges[width >= level]
        graph = coo_matrix((np.ones(len(use)), (use[:, 0], use[:, 1])), shape=(n, n))
        _, label = connected_components(graph, directed=False)
        return bool(label[a] == label[b])

    while low < high:
        middle = (low + high + 1) // 2
        if joined(levels[middle]):
            low = middle
        else:
            high = middle - 1
    return float(levels[low]), int(np.flatnonzero(width == levels[low])[0])


def bulge_at(surface: Facets, place: Array) -> float:
    """[m] between a facet and the smooth surface that it stands for, at the point nearest to place.

    An edge whose ends have normals that differ by an angle bulges by angle times length over 8.
    """
    x, t = surface.points, np.asarray(surface.triangles)
    corners = x[t]
    foot = closest_on_triangles(
        np.repeat(place[None], len(t), axis=0), corners[:, 0], corners[:, 1], corners[:, 2]
    )
    f = int(np.linalg.norm(foot - place, axis=1).argmin())
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    smooth = unit @ unit[f] > np.cos(CREASE)
    at_corner = [normal[smooth & (t == v).any(axis=1)].sum(axis=0) for v in t[f]]
    at_corner = [n / np.linalg.norm(n) for n in at_corner]
    a, b, c = corners[f]
    solved = np.linalg.lstsq(np.array([b - a, c - a]).T, foot[f] - a, rcond=None)[0]
    share = np.array([1.0 - solved.sum(), *solved])
    total = 0.0
    for i, j in ((0, 1), (1, 2), (2, 0)):
        turn = float(np.arccos(np.clip(at_corner[i] @ at_corner[j], -1.0, 1.0)))
        length = float(np.linalg.norm(corners[f, i] - corners[f, j]))
        total += 4.0 * float(share[i] * share[j]) * turn * length / 8.0
    return total
