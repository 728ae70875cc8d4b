"""Sheets against themselves and each other: vertices on faces, edges on edges.

A sheet has two sides and a thickness all round its triangles; what comes near from a side stays on
that side. Boxes cover the way of a step, so that fast vertices are found before they arrive; with
`continuous` what would pass within the step, by time of impact, makes a contact as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import copy, inner, njit
from limpet.contact.contacts import doubled
from limpet.contact.continuous import time_of_impact
from limpet.geometry.bvh import DEPTH, Tree, build_tree
from limpet.geometry.distance import (
    Vec,
    add,
    closest_on_segments,
    closest_on_triangle,
    cross,
    dot,
    offset,
    point,
    scale,
    sub,
    unit,
)

Array = np.ndarray

COINCIDENT = 1e-9  # [m] below that the line between two points has no direction
STILL = (0.0, 0.0, 0.0)
INSIDE = 1e-3  # of an edge's length from its ends: nearer, its vertices make the contact


class Sheet(NamedTuple):
    """A triangle mesh, open or closed, made ready; its tree's boxes follow the last step."""

    triangles: Array  # (m, 3) int32
    edges: Array  # (e, 2) int32
    start: Array  # (m + 1,) int32: edges owned by triangle t are owned[start[t]:start[t+1]]
    owned: Array  # (e,) int32
    corner_start: Array  # (n + 1,) int32: triangles of vertex i
    corner: Array  # (3 m,) int32
    used: Array  # (n,) bool: vertices of some triangle
    tree: Tree


def sheet_of(triangles: Array, x: Array) -> Sheet:
    """Ready for positions near x (n, 3)."""
    tri = np.ascontiguousarray(triangles, dtype=np.int32)
    pairs = np.sort(np.concatenate([tri[:, [0, 1]], tri[:, [1, 2]], tri[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(tri)), 3)
    edges, first = np.unique(pairs, axis=0, return_index=True)
    first_owner = owner[first]
    start = np.zeros(len(tri) + 1, np.int32)
    np.cumsum(np.bincount(first_owner, minlength=len(tri)), out=start[1:])
    corners = tri.ravel()
    corner_start = np.zeros(len(x) + 1, np.int32)
    np.cumsum(np.bincount(corners, minlength=len(x)), out=corner_start[1:])
    return Sheet(
        tri, edges.astype(np.int32), start, np.argsort(first_owner, kind="stable").astype(np.int32),
        corner_start, (np.argsort(corners, kind="stable") // 3).astype(np.int32),
        np.diff(corner_start) > 0, build_tree(np.ascontiguousarray(x, float), tri),
    )  # fmt: skip


@njit(cache=True)
def cover(tree: Tree, x: Array, y: Array, triangles: Array) -> None:
    """Fit the boxes to triangles on their way from x to y (n, 3)."""
    for node in range(len(tree.second) - 1, -1, -1):
        second = tree.second[node]
        for k in range(3):
            if second >= 0:
                tree.lower[node, k] = min(tree.lower[node + 1, k], tree.lower[second, k])
                tree.upper[node, k] = max(tree.upper[node + 1, k], tree.upper[second, k])
                continue
            low, high = np.inf, -np.inf
            for j in range(tree.start[node], tree.start[node] + tree.size[node]):
                for corner in range(3):
                    i = triangles[tree.order[j], corner]
                    low, high = min(low, x[i, k], y[i, k]), max(high, x[i, k], y[i, k])
            tree.lower[node, k], tree.upper[node, k] = low, high


@inner()
def near_triangles(tree: Tree, low: Vec, high: Vec, stack: Array, out: Array) -> int:
    """Triangles of the leaves whose boxes meet a box: how many, and which in out (m,)."""
    lower, upper, second, found = tree.lower, tree.upper, tree.second, 0
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if (
            lower[node, 0] > high[0] or upper[node, 0] < low[0]
            or lower[node, 1] > high[1] or upper[node, 1] < low[1]
            or lower[node, 2] > high[2] or upper[node, 2] < low[2]
        ):  # fmt: skip
            continue
        if second[node] >= 0:
            stack[waiting], stack[waiting + 1] = second[node], node + 1
            waiting += 2
            continue
        for j in range(tree.start[node], tree.start[node] + tree.size[node]):
            out[found] = tree.order[j]
            found += 1
    return found


@inner()
def bounding(p: Vec, q: Vec, reach: float) -> tuple[Vec, Vec]:
    """Corners of a box that is `reach` [m] larger than pq all round."""
    low = (min(p[0], q[0]) - reach, min(p[1], q[1]) - reach, min(p[2], q[2]) - reach)
    return low, (max(p[0], q[0]) + reach, max(p[1], q[1]) + reach, max(p[2], q[2]) + reach)


@inner()
def vertex_side(i: int, x: Array, sheet: Sheet) -> Vec:
    """Sum of the area vectors round vertex i: which way its sheet faces there."""
    n = (0.0, 0.0, 0.0)
    for k in range(sheet.corner_start[i], sheet.corner_start[i + 1]):
        t = sheet.corner[k]
        a = point(x, sheet.triangles[t, 0])
        b, c = point(x, sheet.triangles[t, 1]), point(x, sheet.triangles[t, 2])
        n = add(n, cross(sub(b, a), sub(c, a)))
    return n


@inner()
def _closing(v: Vec, w: Vec, n: Vec, h: float) -> float:
    """[m] how much nearer the first point may come to the second along n within h.

    Either may be stopped on the way by something else: a sheet that falls folded is stopped by the
    ground from below, and its upper half goes on.
    """
    a, b = dot(n, v), -dot(n, w)
    return h * min(a + b, a, b, 0.0)


@inner()
def _blend(v: Array, i: int, j: int, k: int, a: float, b: float, c: float) -> Vec:
    return (
        a * v[i, 0] + b * v[j, 0] + c * v[k, 0],
        a * v[i, 1] + b * v[j, 1] + c * v[k, 1],
        a * v[i, 2] + b * v[j, 2] + c * v[k, 2],
    )


@njit(cache=True)
def vertices_on_faces(
    x: Array, v: Array, one: Sheet, y: Array, w: Array, two: Sheet, itself: bool,
    thickness: float, margin: float, h: float, continuous: bool,
) -> tuple[Array, Array]:  # fmt: skip
    """Vertices of `one` at x, moving with v, on faces of `two` at y, moving with w.

    At most one contact on each side of the vertex's own sheet. Index (k, 5) vertex, face, its
    corners; value (k, 7) weights, gap, normal from face to vertex. `two`'s tree covers the step.
    """
    index, value = np.empty((64, 5), np.int32), np.empty((64, 7))
    stack, near = np.empty(DEPTH, np.int32), np.empty(len(two.triangles), np.int32)
    triangles, found = two.triangles, 0
    best, gaps = np.empty((2, 8)), np.empty(2)
    faces = np.empty(2, np.int32)
    for i in range(len(x)):
        if not one.used[i]:
            continue
        p, own = point(x, i), point(v, i)
        low, high = bounding(p, add(p, scale(h, own)), thickness + margin)
        count = near_triangles(two.tree, low, high, stack, near)
        if count == 0:
            continue
        faces[0] = faces[1] = -1
        gaps[0] = gaps[1] = np.inf
        facing = vertex_side(i, x, one)
        for k in range(count):
            t = near[k]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            if itself and (a == i or b == i or c == i):
                continue
            pa, pb, pc = point(y, a), point(y, b), point(y, c)
            e, f, g, _ = closest_on_triangle(p, pa, pb, pc)
            r = offset(p, pa, pb, pc, e, f, g)
            distance = np.sqrt(dot(r, r))
            side = cross(sub(pb, pa), sub(pc, pa))
            n = scale(1.0 / distance, r) if distance > COINCIDENT else unit(side)
            gap = distance - thickness
            come = _closing(own, _blend(w, a, b, c, e, f, g), n, h)
            if gap + come > margin:
                continue
            if gap > thickness + margin:  # it arrives only by moving: does it meet this face?
                if not continuous:
                    continue
                wa, wb, wc = point(w, a), point(w, b), point(w, c)
                when, e, f, g = time_of_impact(p, pa, pb, pc, own, wa, wb, wc, h)
                if when < 0.0:  # or if the face is stopped, or the vertex
                    when, e, f, g = time_of_impact(p, pa, pb, pc, own, STILL, STILL, STILL, h)
                if when < 0.0:
                    when, e, f, g = time_of_impact(p, pa, pb, pc, STILL, wa, wb, wc, h)
                if when < 0.0:
                    continue
                n = unit(side)
                if dot(n, r) < 0.0:
                    n = scale(-1.0, n)
                gap = dot(n, offset(p, pa, pb, pc, e, f, g)) - thickness
            slot = 1 if dot(n, facing) < 0.0 else 0
            if gap < gaps[slot]:
                gaps[slot], faces[slot] = gap, t
                line = best[slot]
                line[0], line[1], line[2], line[3] = e, f, g, gap
                line[4], line[5], line[6] = n
        for slot in range(2):
            if faces[slot] < 0:
                continue
            if found == len(index):
                index, value = doubled(index), doubled(value)
            index[found, 0], index[found, 1] = i, faces[slot]
            for k in range(3):
                index[found, 2 + k] = triangles[faces[slot], k]
            copy(best[slot, :7], value[found])
            found += 1
    return index[:found], value[:found]


@njit(cache=True)
def edges_on_edges(
    x: Array, v: Array, one: Sheet, y: Array, w: Array, two: Sheet, itself: bool,
    thickness: float, margin: float, h: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Edges of both: index (k, 4) ends, value (k, 6) s, t, gap, normal from `two` to `one`."""
    index, value = np.empty((64, 4), np.int32), np.empty((64, 6))
    stack, near = np.empty(DEPTH, np.int32), np.empty(len(two.triangles), np.int32)
    reach, found = thickness + margin, 0
    for e in range(len(one.edges)):
        i, j = one.edges[e, 0], one.edges[e, 1]
        p, q = point(x, i), point(x, j)
        low, high = bounding(p, q, reach)
        low1, high1 = bounding(add(p, scale(h, point(v, i))), add(q, scale(h, point(v, j))), reach)
        low = (min(low[0], low1[0]), min(low[1], low1[1]), min(low[2], low1[2]))
        high = (max(high[0], high1[0]), max(high[1], high1[1]), max(high[2], high1[2]))
        count = near_triangles(two.tree, low, high, stack, near)
        for m in range(count):
            for l in range(two.start[near[m]], two.start[near[m] + 1]):
                f = two.owned[l]
                a, b = two.edges[f, 0], two.edges[f, 1]
                if itself and (f <= e or a in (i, j) or b in (i, j)):
                    continue
                pa, pb = point(y, a), point(y, b)
                apart = False
                for d in range(3):  # boxes of the two edges at the start
                    apart = apart or min(pa[d], pb[d]) > high[d] or max(pa[d], pb[d]) < low[d]
                if apart:
                    continue
                s, t = closest_on_segments(p, q, pa, pb)
                if min(s, t, 1.0 - s, 1.0 - t) < INSIDE:
                    continue  # a vertex is nearer
                r = sub(add(sub(p, pa), scale(s, sub(q, p))), scale(t, sub(pb, pa)))
                distance = np.sqrt(dot(r, r))
                if distance <= COINCIDENT:
                    continue
                n = scale(1.0 / distance, r)
                gap = distance - thickness
                come = _closing(
                    _blend(v, i, j, j, 1.0 - s, s, 0.0), _blend(w, a, b, b, 1.0 - t, t, 0.0), n, h
                )
                if gap + come > margin:
                    continue
                if found == len(index):
                    index, value = doubled(index), doubled(value)
                index[found, 0], index[found, 1] = i, j
                index[found, 2], index[found, 3] = a, b
                value[found, 0], value[found, 1], value[found, 2] = s, t, gap
                value[found, 3], value[found, 4], value[found, 5] = n
                found += 1
    return index[:found], value[:found]
