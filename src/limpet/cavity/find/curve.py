"""Flat pieces of walls become six-node triangles on the curved element faces under them.

A piece is a triangle between copies (points on walls); it is a part of one collision triangle. It
is done edge by edge, so that what is left and right of an edge closes:

1. An edge is straight in barycentrics of its collision triangle. It is cut where it passes from one
   element face to the next; a part of it has its middle on the face (`curve_edges`).
2. A piece is cut along the borders of element faces, and each part into triangles whose middles lie
   on the face (`curve_pieces`). Where pieces cover a face it is taken whole instead. A piece that
   has no collision triangle of its own, but an edge that is curved (the floor at the edge of a
   cavity), is filled with straight lines.

Points are numbered: first the copies, then cuts and middles. A `Chain` per edge lists what lies
between its ends: middle, cut, middle, ..., middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.geometry.face_patches import (
    BEZIER,
    QUAD,
    FacePatches,
    border_value,
    face_weights,
    on_face,
    patch_of,
    reference,
)

Array = np.ndarray

STRAIGHT = -1  # the middle of a straight part
SAME = 1e-9  # parameters along an edge that are one cut
ROUNDING = 1e-12  # of weights
ON_BORDER = 1e-8  # in reference coordinates
MOST = 64  # points in a piece; one with MOST_PATCHES has less


@dataclass(frozen=True)
class Edges:
    """The edges between copies, each in the sense of its first piece."""

    of_piece: Array  # (t, 3) int32, the edge from corner i to the next
    ends: Array  # (e, 2) int32
    pieces: Array  # (e, 2) int32, the second is -1 on the boundary of a wall


@dataclass(frozen=True)
class Chains:
    """What lies on each edge between its ends: middle, cut, middle, ..., middle."""

    start: Array  # (e + 1,) int32
    point: Array  # int32, STRAIGHT for a middle half-way
    along: Array  # parameter from 0 to 1


def find_edges(corners: Array, n: int) -> Edges:
    """The edges of pieces (t, 3) over n copies."""
    return Edges(*_find_edges(corners, n))


def on_faces(patches: FacePatches, triangle: Array, bary: Array) -> tuple[Array, Array]:
    """Nodes (k, 8) and weights (k, 8) of points at barycentrics (k, 3) of triangles that curve."""
    return _on_faces(triangle, bary, *_packed(patches))


def curve_edges(
    patches: FacePatches, edges: Edges, face: Array, straight: Array, wall_triangles: Array,
    vertices: Array, weights: Array, first: int,
) -> tuple[Chains, Array, Array]:  # fmt: skip
    """Chains of the edges, and (k,) triangle, (k, 3) barycentrics of new points, from `first` on.

    face (t,): the collision triangle of each piece; straight (e,) bool: not to be curved;
    vertices, weights (v, 3): of the copies.
    """
    *chains, triangle, bary = _curve_edges(
        edges.ends, edges.pieces, face, straight, wall_triangles, vertices, weights, first,
        *_packed(patches)[:4],
    )  # fmt: skip
    return Chains(*chains), triangle, bary


def curve_pieces(
    patches: FacePatches, corners: Array, face: Array, edges: Edges, chains: Chains, free: Array,
    wall_triangles: Array, vertices: Array, weights: Array, first: int,
) -> tuple[Array, Array, Array, tuple[Array, Array]]:  # fmt: skip
    """Flat triangles (f, 3), curved ones (c, 6), whole quadrilaterals (q, 8), and points (k, 8),
    weights (k, 8) of new vertices, from `first` on.

    free (e,) bool: the chain does not lie in the collision triangles of its pieces.
    """
    flat, curved, triangle, bary, on, area = _curve_pieces(
        corners, face, edges.of_piece, edges.ends, chains.start, chains.point, chains.along, free,
        wall_triangles, vertices, weights, first, *_packed(patches)[:4],
    )  # fmt: skip
    points, shares = on_faces(patches, triangle, bary)
    covered = np.bincount(on[on >= 0], area[on >= 0], len(patches.nodes))
    size = np.where(patches.kind == QUAD, 4.0, 0.5)
    whole = np.abs(np.abs(covered) - size) < 1e-6
    faces = np.flatnonzero(whole)
    more, quads, more_points, more_shares = _whole_faces(
        patches.kind[faces], patches.nodes[faces], covered[faces] > 0.0, first + len(points)
    )
    rest = ~whole[on] | (on < 0)
    return (
        flat,
        np.concatenate([curved[rest], more]),
        quads,
        (np.concatenate([points, more_points]), np.concatenate([shares, more_shares])),
    )


@njit(cache=True)
def _whole_faces(
    kind: Array, nodes: Array, forward: Array, first: int
) -> tuple[Array, Array, Array, Array]:
    """Triangles (c, 6), quadrilaterals (q, 8), and the points (v, 8) and weights (v, 8) of both.

    forward: in the sense of the face's own nodes.
    """
    curved = np.empty((len(kind), 6), dtype=np.int32)
    quads = np.empty((len(kind), 8), dtype=np.int32)
    points = np.empty((8 * len(kind), 8), dtype=np.int32)
    weights = np.zeros((8 * len(kind), 8))
    n, c, q = 0, 0, 0
    for f in range(len(kind)):
        corners = 4 if kind[f] == QUAD else 3
        for i in range(2 * corners):
            j = i  # the same the other way round: 0, 3, 2, 1 and the sides 7, 6, 5, 4
            if not forward[f]:
                j = (corners - i) % corners if i < corners else 3 * corners - 1 - i
            if kind[f] == QUAD:
                quads[q, i] = first + n + j
            else:
                curved[c, i] = first + n + j
            points[n + i] = nodes[f, i]
            weights[n + i, 0] = 1.0
            if kind[f] == BEZIER and i >= 3:  # middles lie off the control points
                points[n + i] = nodes[f]
                face_weights(BEZIER, 0.5 if i < 5 else 0.0, 0.5 if i > 3 else 0.0, weights[n + i])
        n += 2 * corners
        q += corners == 4
        c += corners == 3
    return curved[:c].copy(), quads[:q].copy(), points[:n].copy(), weights[:n].copy()


def _packed(patches: FacePatches) -> tuple[Array, ...]:
    return patches.start, patches.face, patches.corners, patches.kind, patches.nodes


@njit(cache=True)
def _find_edges(corners: Array, n: int) -> tuple[Array, Array, Array]:
    t = len(corners)
    key = np.empty(3 * t, dtype=np.int64)
    for i in range(t):
        for k in range(3):
            a, b = np.int64(corners[i, k]), np.int64(corners[i, (k + 1) % 3])
            key[3 * i + k] = min(a, b) * n + max(a, b)
    order = np.argsort(key, kind="mergesort")
    of_piece = np.empty((t, 3), dtype=np.int32)
    ends = np.empty((3 * t, 2), dtype=np.int32)
    pieces = np.full((3 * t, 2), -1, dtype=np.int32)
    count = 0
    for j in range(3 * t):
        h = order[j]
        i, k = h // 3, h % 3
        if j == 0 or key[h] != key[order[j - 1]]:
            ends[count, 0], ends[count, 1] = corners[i, k], corners[i, (k + 1) % 3]
            pieces[count, 0] = i
            count += 1
        else:
            pieces[count - 1, 1] = i
        of_piece[i, k] = count - 1
    return of_piece, ends[:count].copy(), pieces[:count].copy()


@njit(cache=True)
def _on_faces(
    triangle: Array, bary: Array, start: Array, face: Array, corners: Array, kind: Array,
    nodes: Array,
) -> tuple[Array, Array]:  # fmt: skip
    carriers = np.empty((len(triangle), 8), dtype=np.int32)
    weights = np.empty((len(triangle), 8))
    for i in range(len(triangle)):
        on_face(triangle[i], bary[i], start, face, corners, kind, nodes, carriers[i], weights[i])
        for k in range(8):  # on a side the other nodes have no part but rounding
            near = np.rint(weights[i, k])
            if abs(weights[i, k] - near) < ROUNDING:
                weights[i, k] = near
    return carriers, weights


@njit(cache=True)
def _within(triangle: Array, vertices: Array, weights: Array, out: Array) -> bool:
    """Whether a copy lies on a triangle (3,), and its barycentrics there."""
    out[:] = 0.0
    for i in range(3):
        if weights[i] > 0.0:
            found = False
            for k in range(3):
                if triangle[k] == vertices[i]:
                    out[k] += weights[i]
                    found = True
            if not found:
                return False
    return True


@njit(cache=True)
def _cuts(
    triangle: int, one: Array, two: Array, start: Array, face: Array, corners: Array, kind: Array,
    out: Array, n: int,
) -> int:  # fmt: skip
    """Parameters at which the line from one to two crosses borders of faces, added to out[:n]."""
    for p in range(start[triangle], start[triangle + 1]):
        k = kind[face[p]]
        for side in range(4 if k == QUAD else 3):
            f0, f1 = 0.0, 0.0
            for i in range(3):
                f = border_value(k, side, corners[p, i, 0], corners[p, i, 1])
                f0 += one[i] * f
                f1 += two[i] * f
            if f0 * f1 < 0.0 and min(abs(f0), abs(f1)) > ON_BORDER:
                t = f0 / (f0 - f1)
                known = t < SAME or t > 1.0 - SAME
                for j in range(n):
                    known |= abs(out[j] - t) < SAME
                if not known and n < len(out):
                    out[n] = t
                    n += 1
    return n


@njit(cache=True)
def _curve_edges(
    ends: Array, pieces: Array, piece_face: Array, straight: Array, wall_triangles: Array,
    vertices: Array, weights: Array, first: int,
    start: Array, face: Array, corners: Array, kind: Array,
) -> tuple[Array, Array, Array, Array, Array]:  # fmt: skip
    n_edges = len(ends)
    chain_start = np.zeros(n_edges + 1, dtype=np.int32)
    room = 4 * n_edges + 2 * MOST
    chain_point, chain_along = np.empty(room, dtype=np.int32), np.empty(room)
    triangle, bary = np.empty(room, dtype=np.int32), np.empty((room, 3))
    one, two, t = np.empty(3), np.empty(3), np.empty(MOST // 4)
    from_, to = np.empty(3), np.empty(3)
    size, n = 0, 0
    for e in range(n_edges):
        carrier, cuts = -1, 0
        if size + MOST > len(chain_point):
            chain_point, chain_along = _grown(chain_point), _grown(chain_along)
            triangle, bary = _grown(triangle), _grown_rows(bary)
        if not straight[e]:
            for i in range(2):  # the other way round: the first piece's barycentrics stay
                p = pieces[e, 1 - i]
                if p < 0:
                    continue
                f = piece_face[p]
                if f < 0 or start[f + 1] == start[f]:
                    continue
                a, b = ends[e]
                if _within(wall_triangles[f], vertices[a], weights[a], from_) and _within(
                    wall_triangles[f], vertices[b], weights[b], to
                ):
                    carrier = f
                    one[:], two[:] = from_, to
                    cuts = _cuts(f, one, two, start, face, corners, kind, t, cuts)
        if carrier < 0:
            chain_point[size], chain_along[size] = STRAIGHT, 0.5
            size += 1
        else:
            t[:cuts].sort()
            for i in range(2 * cuts + 1):
                low = t[i // 2 - 1] if i >= 2 else 0.0
                high = t[i // 2] if i // 2 < cuts else 1.0
                s = t[i // 2] if i % 2 else 0.5 * (low + high)
                chain_point[size], chain_along[size] = first + n, s
                triangle[n] = carrier
                for k in range(3):
                    bary[n, k] = one[k] + s * (two[k] - one[k])
                n += 1
                size += 1
        chain_start[e + 1] = size
    return (
        chain_start, chain_point[:size].copy(), chain_along[:size].copy(),
        triangle[:n].copy(), bary[:n].copy(),
    )  # fmt: skip


@njit(cache=True)
def _grown(a: Array) -> Array:
    more = np.empty(2 * len(a), dtype=a.dtype)
    more[: len(a)] = a
    return more


@njit(cache=True)
def _grown_rows(a: Array) -> Array:
    more = np.empty((2 * len(a), a.shape[1]), dtype=a.dtype)
    more[: len(a)] = a
    return more


@njit(cache=True)
def _curve_pieces(
    corners: Array, piece_face: Array, of_piece: Array, ends: Array, chain_start: Array,
    chain_point: Array, chain_along: Array, free: Array, wall_triangles: Array, vertices: Array,
    weights: Array, first: int,
    start: Array, face: Array, patch_corners: Array, kind: Array,
) -> tuple[Array, Array, Array, Array, Array, Array]:  # fmt: skip
    n_pieces = len(corners)
    flat = np.empty((n_pieces, 3), dtype=np.int32)
    curved = np.empty((4 * n_pieces + 4 * MOST, 6), dtype=np.int32)
    triangle = np.empty(4 * n_pieces + 8 * MOST, dtype=np.int32)
    bary = np.empty((4 * n_pieces + 8 * MOST, 3))
    on, size = np.full(len(curved), -1, dtype=np.int32), np.zeros(len(curved))
    n_flat, n_curved, n = 0, 0, 0
    # of one piece: its points, the parts of edges between them, and the polygons it is cut into
    point, place = np.empty(MOST, dtype=np.int32), np.empty((MOST, 3))
    known = np.empty((4 * MOST, 3), dtype=np.int32)  # two points and the middle between
    polygons, sizes = np.empty((MOST, MOST), dtype=np.int32), np.empty(MOST, dtype=np.int32)
    at = np.empty((3, 3))
    for t in range(n_pieces):
        if n_curved + 2 * MOST > len(curved):
            curved, on, size = _grown_rows(curved), _grown(on), _grown(size)
        if n + 4 * MOST > len(triangle):
            triangle, bary = _grown(triangle), _grown_rows(bary)
        f = piece_face[t]
        regular = f >= 0 and start[f + 1] > start[f]
        for i in range(3):
            c = corners[t, i]
            regular = (
                regular
                and not free[of_piece[t, i]]
                and _within(wall_triangles[f], vertices[c], weights[c], at[i])
            )
        n_points, n_known, root, longest = 0, 0, 0, 0
        for i in range(3):
            e, begin = of_piece[t, i], n_points
            point[n_points] = corners[t, i]
            place[n_points] = at[i]
            n_points += 1
            low, high = chain_start[e], chain_start[e + 1]
            forward = ends[e, 0] == corners[t, i]
            for j in range(high - low):
                k = low + j if forward else high - 1 - j
                s = chain_along[k] if forward else 1.0 - chain_along[k]
                if j % 2:
                    point[n_points] = chain_point[k]
                    place[n_points] = at[i] + s * (at[(i + 1) % 3] - at[i])
                    n_points += 1
                else:
                    known[n_known, 2] = chain_point[k]
                    known[n_known, 0], known[n_known, 1] = n_points - 1, n_points
                    n_known += 1
            if n_points - begin > longest:  # the corner opposite to the edge with most cuts
                longest, root = n_points - begin, i
        known[n_known - 1, 1] = 0
        if not regular:
            if n_known == 3 and known[0, 2] < 0 and known[1, 2] < 0 and known[2, 2] < 0:
                flat[n_flat] = corners[t]
                n_flat += 1
                continue
            opposite = 0
            while point[opposite] != corners[t, (root + 2) % 3]:
                opposite += 1
            n_polygons = 1
            sizes[0] = n_points
            for i in range(n_points):
                polygons[0, i] = (opposite + i) % n_points
        else:
            n_polygons = 1
            sizes[0] = n_points
            for i in range(n_points):
                polygons[0, i] = i
            n_before = n_points
            for p in range(start[f], start[f + 1]):
                k = kind[face[p]]
                for side in range(4 if k == QUAD else 3):
                    n_polygons, n_points = _split(
                        k, side, patch_corners[p], point, place, n_points, polygons, sizes,
                        n_polygons,
                    )  # fmt: skip
            for i in range(n_before, n_points):
                point[i] = first + n
                triangle[n] = f
                bary[n] = place[i]
                n += 1
        for q in range(n_polygons):
            for i in range(1, sizes[q] - 1):
                trio = (polygons[q, 0], polygons[q, i], polygons[q, i + 1])
                for j in range(3):
                    a, b = trio[j], trio[(j + 1) % 3]
                    middle = -2
                    for m in range(n_known):
                        if (known[m, 0] == a and known[m, 1] == b) or (
                            known[m, 0] == b and known[m, 1] == a
                        ):
                            middle = known[m, 2]
                            break
                    if middle == -2:
                        middle = STRAIGHT
                        if regular:
                            middle = first + n
                            triangle[n] = f
                            bary[n] = 0.5 * (place[a] + place[b])
                            n += 1
                        known[n_known, 0], known[n_known, 1], known[n_known, 2] = a, b, middle
                        n_known += 1
                    curved[n_curved, j] = point[a]
                    curved[n_curved, 3 + j] = middle
                on[n_curved] = -1
                if regular:
                    p = patch_of(
                        f, (place[trio[0]] + place[trio[1]] + place[trio[2]]) / 3.0, start, face,
                        patch_corners, kind,
                    )  # fmt: skip
                    s0, t0 = reference(patch_corners[p], place[trio[0]])
                    s1, t1 = reference(patch_corners[p], place[trio[1]])
                    s2, t2 = reference(patch_corners[p], place[trio[2]])
                    on[n_curved] = face[p]
                    size[n_curved] = 0.5 * ((s1 - s0) * (t2 - t0) - (s2 - s0) * (t1 - t0))
                n_curved += 1
    return (
        flat[:n_flat].copy(), curved[:n_curved].copy(), triangle[:n].copy(), bary[:n].copy(),
        on[:n_curved].copy(), size[:n_curved].copy(),
    )  # fmt: skip


@njit(cache=True)
def _split(
    kind: int, side: int, corners: Array, point: Array, place: Array, n_points: int,
    polygons: Array, sizes: Array, n_polygons: int,
) -> tuple[int, int]:  # fmt: skip
    """Cut all polygons along one border (in place); how many polygons and points there are then."""
    value, other = np.empty(MOST), np.empty(MOST, dtype=np.int32)
    ends = np.empty(3)
    for i in range(3):
        ends[i] = border_value(kind, side, corners[i, 0], corners[i, 1])
    if ends.min() > -ON_BORDER or ends.max() < ON_BORDER:
        return n_polygons, n_points
    for i in range(n_points):
        v = place[i, 0] * ends[0] + place[i, 1] * ends[1] + place[i, 2] * ends[2]
        value[i] = 0.0 if abs(v) <= ON_BORDER else v
    for q in range(n_polygons):
        above, below = False, False
        for i in range(sizes[q]):
            above |= value[polygons[q, i]] > 0.0
            below |= value[polygons[q, i]] < 0.0
        if not (above and below):
            continue
        kept, size = 0, 0
        mine = polygons[q, : sizes[q]].copy()
        for i in range(len(mine)):
            a, b = mine[i], mine[(i + 1) % len(mine)]
            if value[a] >= 0.0:
                polygons[q, kept] = a
                kept += 1
            if value[a] <= 0.0:
                other[size] = a
                size += 1
            if value[a] * value[b] < 0.0:
                s = value[a] / (value[a] - value[b])
                here = place[a] + s * (place[b] - place[a])
                cut = -1
                for j in range(n_points):
                    if np.abs(place[j] - here).max() < SAME:
                        cut = j
                if cut < 0:
                    cut = n_points
                    place[cut] = here
                    value[cut] = 0.0
                    n_points += 1
                polygons[q, kept] = cut
                kept += 1
                other[size] = cut
                size += 1
        sizes[q] = kept
        polygons[n_polygons, :size] = other[:size]
        sizes[n_polygons] = size
        n_polygons += 1
    return n_polygons, n_points
