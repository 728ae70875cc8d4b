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

from limpet.compiled import inner, njit
from limpet.geometry.face_patches import (
    QUAD,
    FacePatches,
    border_value,
    on_face,
)
from limpet.geometry.surface import edge_keys

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
    key = edge_keys(corners, n)
    return Edges(*_find_edges(corners, key, np.argsort(key, kind="stable")))


def on_faces(patches: FacePatches, triangle: Array, bary: Array) -> tuple[Array, Array]:
    """Nodes (k, 8) and weights (k, 8) of points at barycentrics (k, 3) of triangles that curve."""
    return _on_faces(triangle.astype(np.int32), bary, *packed(patches))


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
        *packed(patches)[:4],
    )  # fmt: skip
    return Chains(*chains), triangle, bary


def rank(vertices: Array, weights: Array) -> Array:
    """(v,) by which copies are put in order: by the vertices (v, 3) that carry them, in any pose.

    Roots, as the numbers themselves are often alike on both diagonals of a structured mesh.
    """
    return np.einsum("vi,vi->v", weights, np.sqrt(vertices + 1.0))


def packed(patches: FacePatches) -> tuple[Array, ...]:
    return patches.start, patches.face, patches.corners, patches.kind, patches.nodes


@njit(cache=True)
def _find_edges(corners: Array, key: Array, order: Array) -> tuple[Array, Array, Array]:
    """`order` sorts the keys of the edges."""
    t = len(corners)
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
def within(triangle: Array, vertices: Array, weights: Array, out: Array) -> bool:
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


@inner()
def _meet(one: Array, two: Array) -> bool:
    """Whether two places are one, as where two copies were moved to the same vertex.

    What lies between them is there, too. On another face under the same edge of the collision
    surface it need not be, so that such an edge would reach out and come back.
    """
    off = 0.0
    for k in range(3):
        off = max(off, abs(one[k] - two[k]))
    return off < SAME


@inner()
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
            chain_point, chain_along = grown(chain_point), grown(chain_along)
            triangle, bary = grown(triangle), grown_rows(bary)
        if not straight[e]:
            for i in range(2):  # the other way round: the first piece's barycentrics stay
                p = pieces[e, 1 - i]
                if p < 0:
                    continue
                f = piece_face[p]
                if f < 0 or start[f + 1] == start[f]:
                    continue
                a, b = ends[e]
                if within(wall_triangles[f], vertices[a], weights[a], from_) and within(
                    wall_triangles[f], vertices[b], weights[b], to
                ):
                    if _meet(from_, to):
                        continue
                    carrier = f
                    for k in range(3):
                        one[k], two[k] = from_[k], to[k]
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


@inner()
def grown(a: Array) -> Array:
    more = np.empty(2 * len(a), dtype=a.dtype)
    for i in range(len(a)):
        more[i] = a[i]
    return more


@inner()
def grown_rows(a: Array) -> Array:
    more = np.empty((2 * len(a), a.shape[1]), dtype=a.dtype)
    for i in range(len(a)):
        for k in range(a.shape[1]):
            more[i, k] = a[i, k]
    return more
