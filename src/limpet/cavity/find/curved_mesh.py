"""Pieces of walls, and the pairs of edges at which walls meet, become a closed curved mesh.

Where two walls meet, one of them leads: the curved one, or of two curved ones the one that bears
the ring. The edge of the other follows: each point on the leader's edge has one under it, at the
nearest place of that wall, and bridging triangles lie between (P 4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from limpet.cavity.find.curve_edges import (
    STRAIGHT,
    Chains,
    curve_edges,
    find_edges,
    on_faces,
    rank,
)
from limpet.cavity.find.curve_pieces import curve_pieces
from limpet.cavity.mesh import (
    CavityMesh,
    JoinedSurface,
    areas,
    offsets_of,
    positions_of,
    with_support,
)
from limpet.compiled import njit
from limpet.geometry.face_patches import FacePatches

Array = np.ndarray
# (bodies (k,), points (k, 3)) -> nearest triangle (k,) of that body, or -1, and weights (k, 3)
Land = Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Copies:
    """Points on walls."""

    body: Array  # (v,) int32
    face: Array  # (v,) int32, a collision triangle that each lies on
    weights: Array  # (v, 3), barycentrics there


@dataclass(frozen=True)
class Seams:
    """Pairs of edges at which walls meet: a -> b on one, c -> d back on another."""

    ends: Array  # (s, 4) int32, copies a, b, c, d
    edge: Array  # (s, 2) int32, 3 * piece + corner, of a -> b and of c -> d
    bears: Array  # (s, 2) bool, whether the one or the other bears the ring
    twin: Array  # (v,) int32, the copy that stands for another one at a seam, or -1: itself
    root: Array  # (s, 2) int32, the first copy at the point of a and at that of b


@dataclass(frozen=True)
class Walls:
    """Flat pieces of walls, not yet closed where they meet."""

    corners: Array  # (t, 3) int32, copies
    face: Array  # (t,) int32, the collision triangle that each is a piece of, -1 for none
    copies: Copies
    seams: Seams
    under: Array  # (k, 2) int32, copies that lie under others


@dataclass(frozen=True)
class CurvedMesh:
    """What a CavityMesh is made of."""

    triangles: Array  # (t, 3)
    curved: Array  # (c, 6)
    quads: Array  # (q, 8)
    bridge: Array  # (t + c + q,) bool
    points: Array  # (v, 8) that carry each vertex
    weights: Array  # (v, 8)
    under: Array  # (k, 2) int32, vertices that lie under others


def carried(surface: JoinedSurface, copies: Copies) -> tuple[Array, Array]:
    """The points (v, 8) that carry copies, and their weights: of a face, or a flat triangle's."""
    patches = surface.patches
    assert patches is not None
    points = np.repeat(surface.triangles[copies.face][:, :1], 8, axis=1)
    points[:, :3] = surface.triangles[copies.face]
    weights = np.zeros((len(points), 8))
    weights[:, :3] = copies.weights
    curved = _curves(patches, copies.face)
    points[curved], weights[curved] = on_faces(patches, copies.face[curved], copies.weights[curved])
    return points, weights


def curved_mesh(surface: JoinedSurface, x: Array, walls: Walls, land: Land) -> CurvedMesh:
    """The pieces on their element faces, closed at the seams, at surface positions x (N, 3) [m]."""
    patches = surface.patches
    assert patches is not None
    corners, face, copies, seams = walls.corners, walls.face, walls.copies, walls.seams
    vertices = surface.triangles[copies.face]
    edges = find_edges(corners, len(copies.face))
    edge = edges.of_piece.ravel()[seams.edge]
    leader = _leaders(patches, face[seams.edge // 3], seams)
    straight = np.zeros(len(edges.ends), bool)
    straight[edge[leader != 0, 0]] = straight[edge[leader != 1, 1]] = True
    n = len(copies.face)
    chains, triangle, bary = curve_edges(
        patches, edges, face, straight, surface.triangles, vertices, copies.weights, n
    )
    tables = [carried(surface, copies), on_faces(patches, triangle, bary)]
    n += len(triangle)
    # the other side of a seam follows the leader's edge
    which = np.flatnonzero(leader >= 0)
    lead_edge = edge[which, leader[which]]
    which = which[chains.point[chains.start[lead_edge]] != STRAIGHT]
    lead_edge = edge[which, leader[which]]
    count = np.diff(chains.start)[lead_edge]
    inner = [np.arange(chains.start[e], chains.start[e + 1]) for e in lead_edge]
    own = chains.point[np.concatenate([*inner, np.zeros(0, np.int64)])] - len(copies.face)
    at = positions_of(tables[1][0][own], tables[1][1][own], x)
    follower = seams.ends[which, 2 - 2 * leader[which]]
    landed, landed_weights = land(np.repeat(copies.body[follower], count), at)
    lost = landed < 0
    stand_in = np.repeat(follower, count)[lost]
    landed[lost], landed_weights[lost] = copies.face[stand_in], copies.weights[stand_in]
    tables.append(carried(surface, Copies(copies.body[:0], landed, landed_weights)))
    # by seam, in the sense of a -> b: the points between on either side
    length = np.ones(len(leader), np.int64)
    length[which] = count
    start = np.concatenate([[0], np.cumsum(length)])
    sides = np.full((start[-1], 2), STRAIGHT, np.int32)
    first = n
    for s, e, k in zip(which.tolist(), lead_edge.tolist(), count.tolist()):
        backward = -1 if leader[s] else 1
        there = slice(start[s], start[s + 1])
        sides[there, leader[s]] = chains.point[chains.start[e] : chains.start[e + 1]][::backward]
        sides[there, 1 - leader[s]] = np.arange(first, first + k)[::backward]
        first += k
    followers = np.column_stack([np.arange(n, n + len(landed)), own + len(copies.face)])
    n += len(landed)
    # a follower without a twin takes its part of the seam as its own edge
    side = 1 - leader[which]
    ends = seams.ends[which]
    plain = (seams.twin[np.take_along_axis(ends, 2 * side[:, None], 1)[:, 0]] < 0) & (
        seams.twin[np.take_along_axis(ends, 2 * side[:, None] + 1, 1)[:, 0]] < 0
    )
    chains = _with_followers(
        chains, edge[which, side][plain], which[plain], side[plain], start, sides
    )
    free = straight.copy()
    flat, curved, quads, table = curve_pieces(
        patches, corners, face, edges, chains, free, surface.triangles, vertices, copies.weights, n
    )
    tables.append(table)
    extra, extra_bridge, extra_curved, curved_bridge = bridges(
        seams, diagonals(surface, copies, seams.ends), start, sides
    )
    none = [np.zeros(len(kind), bool) for kind in (flat, curved, quads)]
    bridge = [none[0], extra_bridge, none[1], curved_bridge, none[2]]
    return _compact(
        CurvedMesh(
            np.concatenate([flat, extra]),
            np.concatenate([curved, extra_curved]),
            quads,
            np.concatenate(bridge),
            np.concatenate([points for points, _ in tables]),
            np.concatenate([weights for _, weights in tables]),
            np.concatenate([walls.under, followers]).astype(np.int32),
        )
    )


def _compact(mesh: CurvedMesh) -> CurvedMesh:
    """Without the vertices that nothing uses, and each node of a face as one vertex."""
    number = np.full(len(mesh.points) + 1, -1, np.int32)  # the last one: a straight middle
    for used in (mesh.triangles, mesh.curved, mesh.quads, mesh.under):
        number[used] = 0
    number[-1] = -1
    kept = np.flatnonzero(number == 0)
    at_node = np.flatnonzero(mesh.weights[kept].max(axis=1) == 1.0)
    node = np.take_along_axis(
        mesh.points[kept[at_node]], mesh.weights[kept[at_node]].argmax(axis=1)[:, None], 1
    )
    same = np.arange(len(kept))
    _, first, back = np.unique(node.ravel(), return_index=True, return_inverse=True)
    same[at_node] = at_node[first][back]
    stays = np.flatnonzero(same == np.arange(len(kept)))
    place = np.zeros(len(kept), np.int32)
    place[stays] = np.arange(len(stays))
    number[kept] = place[same]
    return CurvedMesh(
        number[mesh.triangles],
        number[mesh.curved],
        number[mesh.quads],
        mesh.bridge,
        mesh.points[kept[stays]],
        mesh.weights[kept[stays]],
        number[mesh.under],
    )


def landed_again(mesh: CavityMesh, surface: JoinedSurface, x: Array, land: Land) -> CavityMesh:
    """The mesh with the edges of its walls moved under those of others again.

    A lip slides. Without this the bridging triangles would grow, and they share their area between
    both walls. They count as before for the next search (`needs_remesh`).
    """
    follower, leader = mesh.under.T
    above = positions_of(mesh.vertices[leader], mesh.weights[leader], x)
    face, weights = land(mesh.body[follower], above)
    found = face >= 0
    copies = Copies(mesh.body[follower[found]], face[found], weights[found])
    points, all_weights = mesh.vertices.copy(), mesh.weights.copy()
    points[follower[found]], all_weights[follower[found]] = carried(surface, copies)
    points, support, slot = with_support(points, all_weights)
    moved = replace(mesh, vertices=points, weights=all_weights, support=support, slot=slot)
    return replace(
        moved,
        bridged=mesh.bridged + areas(moved, x)[1] - areas(mesh, x)[1],
        offset=offsets_of(moved, x),
    )


def flat_mesh(surface: JoinedSurface, walls: Walls) -> tuple[Array, Array]:
    """Flat pieces (t, 3) with what closes them at the seams, and which of all these bridge."""
    corners, seams, n = walls.corners, walls.seams, len(walls.seams.ends)
    first = diagonals(surface, walls.copies, seams.ends)
    straight = np.full((n, 2), STRAIGHT, np.int32)
    extra, bridge, _, _ = bridges(seams, first, np.arange(n + 1), straight)
    return np.concatenate([corners, extra]), np.concatenate([np.zeros(len(corners), bool), bridge])


def diagonals(surface: JoinedSurface, copies: Copies, ends: Array) -> Array:
    """(s,) bool: whether what closes a seam is cut from a to c, or else from b to d.

    By the numbers of bodies and vertices: a mirror image, whose seams run the other way, is cut
    alike.
    """
    number = rank(surface.triangles[copies.face], copies.weights)
    a, b, c, d = ends.T
    begins = number[a] + number[d] < number[b] + number[c]
    return begins == (copies.body[a] < copies.body[d])


def bridges(
    seams: Seams, first: Array, start: Array, sides: Array
) -> tuple[Array, Array, Array, Array]:
    """What goes between the two sides of seams: flat (t, 3) and curved (c, 6) triangles, and which
    of them bridge. Strips between a copy and its twin do not. first (s,) as of `diagonals`.

    sides (k, 2): for seam s at start[s]:start[s + 1], in the sense of a -> b, what lies between the
    ends on either side: middle, cut, middle, ..., middle.
    """
    flat, flat_bridge, curved, curved_bridge = _bridges(
        seams.ends, first, seams.twin, np.ascontiguousarray(seams.root), start, sides
    )
    return flat, flat_bridge, curved, curved_bridge


def _curves(patches: FacePatches, face: Array) -> Array:
    """Whether collision triangles, -1 for none, lie on curved faces."""
    some = np.maximum(face, 0)
    return (face >= 0) & (patches.start[some + 1] > patches.start[some])


def _leaders(patches: FacePatches, face: Array, seams: Seams) -> Array:
    """The side (s,) of each seam that leads, 0 or 1; -1: both are straight. face (s, 2)."""
    twins = seams.twin[seams.ends].reshape(-1, 2, 2) >= 0
    able = _curves(patches, face) & ~twins.any(axis=2)
    second = able[:, 1] & (~able[:, 0] | (seams.bears[:, 1] & ~seams.bears[:, 0]))
    return np.where(able.any(axis=1), second.astype(np.int64), -1)


def _with_followers(
    chains: Chains, edges: Array, seam: Array, side: Array, start: Array, sides: Array
) -> Chains:
    """Chains with those of some edges replaced by what their seams say."""
    return Chains(
        *_replaced(chains.start, chains.point, chains.along, edges, seam, side, start, sides)
    )


@njit(cache=True)
def _replaced(
    chain_start: Array, chain_point: Array, chain_along: Array, edges: Array, seam: Array,
    side: Array, start: Array, sides: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    n = len(chain_start) - 1
    by = np.full(n, -1, dtype=np.int64)
    new_start = np.zeros(n + 1, dtype=np.int32)
    for i in range(len(edges)):
        by[edges[i]] = i
    for e in range(n):
        k = chain_start[e + 1] - chain_start[e]
        if by[e] >= 0:
            k = start[seam[by[e]] + 1] - start[seam[by[e]]]
        new_start[e + 1] = new_start[e] + k
    point, along = np.empty(new_start[n], dtype=np.int32), np.empty(new_start[n])
    for e in range(n):
        low, k = new_start[e], new_start[e + 1] - new_start[e]
        for j in range(k):
            if by[e] < 0:
                point[low + j] = chain_point[chain_start[e] + j]
                along[low + j] = chain_along[chain_start[e] + j]
            else:
                i = by[e]
                at = start[seam[i]] + (j if side[i] == 0 else k - 1 - j)
                point[low + j] = sides[at, side[i]]
                along[low + j] = (j + 1.0) / (k + 1.0)
    return new_start, point, along


@njit(cache=True)
def _bridges(
    ends: Array, first: Array, twin: Array, root: Array, start: Array, sides: Array
) -> tuple[Array, Array, Array, Array]:
    room = 4 * len(sides) + 8 * len(ends)
    flat, flat_bridge = np.empty((room, 3), dtype=np.int32), np.zeros(room, dtype=np.bool_)
    curved, curved_bridge = np.empty((room, 6), dtype=np.int32), np.zeros(room, dtype=np.bool_)
    n, m = 0, 0
    for s in range(len(ends)):
        a, b, c, d = ends[s]
        a2, b2 = a if twin[a] < 0 else twin[a], b if twin[b] < 0 else twin[b]
        c2, d2 = c if twin[c] < 0 else twin[c], d if twin[d] < 0 else twin[d]
        count = start[s + 1] - start[s]
        for side in range(2):
            tail, head, tail2, head2 = (a, b, a2, b2) if side == 0 else (c, d, c2, d2)
            if tail2 == tail and head2 == head:
                continue
            # a fan over the twins' side, from the end that has a twin on its own side
            hub = head if head2 != head else tail
            if tail2 != tail and head2 != head:
                hub = tail if first[s] == (side == 0) else head
                flat[n, 0], flat[n, 1], flat[n, 2] = head, tail, head2 if hub == tail else tail2
                n += 1
            here = tail2
            for j in range(0, count, 2):
                at = start[s] + (j if side == 0 else count - 1 - j)
                beyond = start[s] + (j + 1 if side == 0 else count - 2 - j)
                there = sides[beyond, side] if j + 1 < count else head2
                if sides[at, side] < 0:
                    flat[n, 0], flat[n, 1], flat[n, 2] = there, hub, here
                    n += 1
                else:
                    curved[m, 0], curved[m, 1], curved[m, 2] = hub, here, there
                    curved[m, 3], curved[m, 4], curved[m, 5] = STRAIGHT, sides[at, side], STRAIGHT
                    m += 1
                here = there
        p, q = a2, d2
        for j in range(0, count, 2):
            at = start[s] + j
            p2 = sides[at + 1, 0] if j + 1 < count else b2
            q2 = sides[at + 1, 1] if j + 1 < count else c2
            if sides[at, 0] < 0 and sides[at, 1] < 0:
                flat[n, 0], flat[n, 1], flat[n, 2] = p, q, q2 if first[s] else p2
                flat[n + 1, 0], flat[n + 1, 1], flat[n + 1, 2] = p2, p if first[s] else q, q2
                flat_bridge[n] = flat_bridge[n + 1] = True
                n += 2
            else:
                # the diagonal runs along one side: a straight one would fold what has no width
                one, two = sides[at, 0], sides[at, 1]
                if first[s]:
                    curved[m, 0], curved[m, 1], curved[m, 2] = p, q, q2
                    curved[m, 3], curved[m, 4], curved[m, 5] = STRAIGHT, two, one
                    curved[m + 1, 0], curved[m + 1, 1], curved[m + 1, 2] = p, q2, p2
                    curved[m + 1, 3], curved[m + 1, 4], curved[m + 1, 5] = one, STRAIGHT, one
                else:
                    curved[m, 0], curved[m, 1], curved[m, 2] = p2, p, q
                    curved[m, 3], curved[m, 4], curved[m, 5] = one, STRAIGHT, one
                    curved[m + 1, 0], curved[m + 1, 1], curved[m + 1, 2] = p2, q, q2
                    curved[m + 1, 3], curved[m + 1, 4], curved[m + 1, 5] = one, two, STRAIGHT
                curved_bridge[m] = curved_bridge[m + 1] = True
                m += 2
            p, q = p2, q2
        # Each end has now a step from copy to copy. Where three or more bodies meet these steps
        # make a loop; a fan from the first copy fills it.
        for i in range(2):
            from_, to, from2, to2 = (a, d, a2, d2) if i == 0 else (c, b, c2, b2)
            if from_ != root[s, i] and to != root[s, i]:
                centre = root[s, i] if twin[root[s, i]] < 0 else twin[root[s, i]]
                flat[n, 0], flat[n, 1], flat[n, 2] = to2, from2, centre
                flat_bridge[n] = True
                n += 1
    return (
        flat[:n].copy(), flat_bridge[:n].copy(), curved[:m].copy(), curved_bridge[:m].copy()
    )  # fmt: skip
