"""Flat pieces of walls, cut along the borders of element faces, with middles on these.

The second step of what `curve_edges.py` describes.
"""

from __future__ import annotations

import numpy as np

from limpet.cavity.find.curve_edges import (
    MOST,
    ON_BORDER,
    SAME,
    STRAIGHT,
    Chains,
    Edges,
    grown,
    grown_rows,
    on_faces,
    packed,
    rank,
    within,
)
from limpet.compiled import copy, inner, njit
from limpet.geometry.face_patches import (
    BEZIER,
    QUAD,
    FacePatches,
    border_value,
    face_weights,
    patch_of,
    reference,
)

Array = np.ndarray


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
        wall_triangles, vertices, weights, rank(vertices, weights), first, *packed(patches)[:4],
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
                copy(nodes[f], points[n + i])
                face_weights(BEZIER, 0.5 if i < 5 else 0.0, 0.5 if i > 3 else 0.0, weights[n + i])
        n += 2 * corners
        q += corners == 4
        c += corners == 3
    return curved[:c].copy(), quads[:q].copy(), points[:n].copy(), weights[:n].copy()


@njit(cache=True)
def _curve_pieces(
    corners: Array, piece_face: Array, of_piece: Array, ends: Array, chain_start: Array,
    chain_point: Array, chain_along: Array, free: Array, wall_triangles: Array, vertices: Array,
    weights: Array, copy_rank: Array, first: int,
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
    at, centre = np.empty((3, 3)), np.empty(3)
    for t in range(n_pieces):
        if n_curved + 2 * MOST > len(curved):
            curved, on, size = grown_rows(curved), grown(on), grown(size)
        if n + 4 * MOST > len(triangle):
            triangle, bary = grown(triangle), grown_rows(bary)
        f = piece_face[t]
        regular = f >= 0 and start[f + 1] > start[f]
        for i in range(3):
            c = corners[t, i]
            regular = (
                regular
                and not free[of_piece[t, i]]
                and within(wall_triangles[f], vertices[c], weights[c], at[i])
            )
        n_points, n_known, root, longest = 0, 0, 0, 0
        for i in range(3):
            e, begin = of_piece[t, i], n_points
            point[n_points] = corners[t, i]
            copy(at[i], place[n_points])
            n_points += 1
            low, high = chain_start[e], chain_start[e + 1]
            forward = ends[e, 0] == corners[t, i]
            for j in range(high - low):
                k = low + j if forward else high - 1 - j
                s = chain_along[k] if forward else 1.0 - chain_along[k]
                if j % 2:
                    point[n_points] = chain_point[k]
                    _interpolate(at[i], at[(i + 1) % 3], s, place[n_points])
                    n_points += 1
                else:
                    known[n_known, 2] = chain_point[k]
                    known[n_known, 0], known[n_known, 1] = n_points - 1, n_points
                    n_known += 1
            # the corner opposite to the edge with most cuts, the first by rank of equal ones
            ahead = copy_rank[corners[t, (i + 2) % 3]] < copy_rank[corners[t, (root + 2) % 3]]
            if n_points - begin > longest or (n_points - begin == longest and ahead):
                longest, root = n_points - begin, i
        known[n_known - 1, 1] = 0
        if not regular:
            if n_known == 3 and known[0, 2] < 0 and known[1, 2] < 0 and known[2, 2] < 0:
                copy(corners[t], flat[n_flat])
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
                copy(place[i], bary[n])
                n += 1
        for q in range(n_polygons):
            hub = _first_by_rank(polygons[q], sizes[q], place, wall_triangles[f]) if regular else 0
            for i in range(1, sizes[q] - 1):
                b, c = (hub + i) % sizes[q], (hub + i + 1) % sizes[q]
                trio = (polygons[q, hub], polygons[q, b], polygons[q, c])
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
                            for k in range(3):
                                bary[n, k] = 0.5 * (place[a, k] + place[b, k])
                            n += 1
                        known[n_known, 0], known[n_known, 1], known[n_known, 2] = a, b, middle
                        n_known += 1
                    curved[n_curved, j] = point[a]
                    curved[n_curved, 3 + j] = middle
                on[n_curved] = -1
                if regular:
                    a, b, c = trio
                    for k in range(3):
                        centre[k] = (place[a, k] + place[b, k] + place[c, k]) / 3.0
                    p = patch_of(f, centre, start, face, patch_corners, kind)
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


@inner()
def _first_by_rank(polygon: Array, size: int, place: Array, triangle: Array) -> int:
    """Where the point of a polygon stands that is first by `rank`: its fan begins there.

    Six-node triangles follow the face to their own order only, so which fan it is matters.
    """
    best, least = 0, np.inf
    for i in range(size):
        value = 0.0
        for k in range(3):
            value += place[polygon[i], k] * np.sqrt(triangle[k] + 1.0)
        if value < least:
            best, least = i, value
    return best


@njit(cache=True)
def _split(
    kind: int, side: int, corners: Array, point: Array, place: Array, n_points: int,
    polygons: Array, sizes: Array, n_polygons: int,
) -> tuple[int, int]:  # fmt: skip
    """Cut all polygons along one border (in place); how many polygons and points there are then."""
    value, other = np.empty(MOST), np.empty(MOST, dtype=np.int32)
    ends, here = np.empty(3), np.empty(3)
    for i in range(3):
        ends[i] = border_value(kind, side, corners[i, 0], corners[i, 1])
    lowest, highest = min(ends[0], ends[1], ends[2]), max(ends[0], ends[1], ends[2])
    if lowest > -ON_BORDER or highest < ON_BORDER:
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
                _interpolate(place[a], place[b], s, here)
                cut = -1
                for j in range(n_points):
                    off = 0.0
                    for k in range(3):
                        off = max(off, abs(place[j, k] - here[k]))
                    if off < SAME:
                        cut = j
                if cut < 0:
                    cut = n_points
                    copy(here, place[cut])
                    value[cut] = 0.0
                    n_points += 1
                polygons[q, kept] = cut
                kept += 1
                other[size] = cut
                size += 1
        sizes[q] = kept
        copy(other[:size], polygons[n_polygons])
        sizes[n_polygons] = size
        n_polygons += 1
    return n_polygons, n_points


@inner()
def _interpolate(a: Array, b: Array, s: float, out: Array) -> None:
    for k in range(3):
        out[k] = a[k] + s * (b[k] - a[k])
