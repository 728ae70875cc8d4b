"""A sheet against a closed surface: its vertices on the surface, corners on it, edges on ridges.

The sheet stays outside. Which side a point is on follows from the nearest feature of the whole
surface and its angle-weighted pseudonormal (Baerentzen and Aanaes, 2005). A single triangle cannot
tell: all that lies beside a plate is behind the plane of one of its faces.

Bounds: a vertex is pushed out from as deep as the search looks, DEEP at least. A corner or a ridge
has gone through the sheet only where the sheet is inside the surface, and by SHALLOW at most.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.collider import Shape
from limpet.contact.contacts import doubled
from limpet.contact.edges import CROSSING, is_ridge
from limpet.contact.sheets import (
    COINCIDENT,
    INSIDE,
    Sheet,
    bounding,
    near_triangles,
    vertex_side,
)
from limpet.geometry.bvh import ANY_SIDE, DEPTH, nearest
from limpet.geometry.distance import (
    Vec,
    add,
    closest_on_segments,
    closest_on_triangle,
    cross,
    dot,
    face_normal,
    offset,
    point,
    pseudo_normal,
    scale,
    sub,
    unit,
    vertex_normal,
)

Array = np.ndarray

DEEP = 0.02  # [m] that the search looks at least into the surface
SHALLOW = 5e-3  # [m] that a corner or a ridge may stand out through the sheet
FURTHER = 0.2  # of the distance between corner and sheet
LOOKS = 0.5  # cosine between the line to the sheet and the normal of a corner or ridge
NEAREST = 0.99  # share of its distance from a ridge that an edge has from the surface as a whole


@inner()
def signed_nearest(
    p: Vec, y: Array, shape: Shape, within: float, stack: Array
) -> tuple[int, float, float, float, Vec, float]:
    """Triangle of the closed surface at y nearest to p, weights, outward normal, signed distance.

    Triangle -1: none within that distance. The normal is the line between the two points, and the
    pseudonormal where they coincide.
    """
    triangles = shape.adjacent.triangles
    t, e, f, g, feature, d = nearest(shape.tree, y, triangles, p, within, ANY_SIDE, stack)
    if t < 0:
        return -1, 0.0, 0.0, 0.0, (0.0, 0.0, 0.0), np.inf
    a, b, c = point(y, triangles[t, 0]), point(y, triangles[t, 1]), point(y, triangles[t, 2])
    r = offset(p, a, b, c, e, f, g)
    out = pseudo_normal(t, e, f, g, feature, y, shape.adjacent)
    side = 1.0 if dot(r, out) >= 0.0 else -1.0
    return t, e, f, g, (scale(side / d, r) if d > COINCIDENT else out), side * d


@njit(cache=True)
def vertices_on_closed(
    x: Array, used: Array, y: Array, shape: Shape, thickness: float, within: float
) -> tuple[Array, Array]:
    """Vertices of the sheet at x whose gap to the closed surface at y is `within` [m].

    Index (k, 5) vertex, face, its corners; value (k, 7) weights, gap, normal from face to vertex.
    """
    index, value = np.empty((64, 5), np.int32), np.empty((64, 7))
    stack, found, radius = np.empty(DEPTH, np.int32), 0, max(thickness + within, DEEP)
    for i in range(len(x)):
        if not used[i]:
            continue
        t, e, f, g, n, d = signed_nearest(point(x, i), y, shape, radius, stack)
        if t < 0 or d - thickness > within:
            continue
        if found == len(index):
            index, value = doubled(index), doubled(value)
        index[found, 0], index[found, 1] = i, t
        for k in range(3):
            index[found, 2 + k] = shape.adjacent.triangles[t, k]
        line = value[found]
        line[0], line[1], line[2], line[3] = e, f, g, d - thickness
        line[4], line[5], line[6] = n
        found += 1
    return index[:found], value[:found]


@inner()
def _outside(
    n: Vec, d: float, p: Vec, up: Vec, out: Vec, y: Array, shape: Shape, stack: Array
) -> float:
    """1 where p of the sheet is outside of a corner or ridge with pseudonormal `out`, -1 inside.

    n: the unit line from the corner to p, d long; up: the sheet's unit normal. 0 where neither of
    them looks at the other, and where the sheet is cut by a ridge that stands across it.
    """
    side = 1.0 if dot(n, out) >= 0.0 else -1.0
    if side * dot(n, out) < LOOKS:
        return 0.0
    if side < 0.0 and (d > SHALLOW or abs(dot(n, up)) < LOOKS):
        return 0.0
    if side < 0.0:  # a sheet on the far side of a thin wall lies behind its corners as well
        # straight under a corner it lies in a face that meets there: look a little further inside
        p = sub(p, scale(FURTHER * d, out))
        t, _, _, _, _, depth = signed_nearest(p, y, shape, 2.0 * d, stack)
        return -1.0 if t >= 0 and depth < 0.0 else 0.0
    return 1.0


@njit(cache=True)
def corners_on_sheet(
    y: Array, shape: Shape, x: Array, sheet: Sheet, thickness: float, within: float
) -> tuple[Array, Array]:
    """Vertices of the closed surface at y on faces of the sheet at x, as `vertices_on_closed`.

    The normal goes from the sheet to the vertex, into the body.
    """
    index, value = np.empty((64, 5), np.int32), np.empty((64, 7))
    stack, near = np.empty(DEPTH, np.int32), np.empty(len(sheet.triangles), np.int32)
    triangles, found, reach = sheet.triangles, 0, max(thickness + within, SHALLOW)
    for i in range(len(y)):
        if shape.flat[i]:
            continue
        p = point(y, i)
        low, high = bounding(p, p, reach)
        count = near_triangles(sheet.tree, low, high, stack, near)
        best, face, weights, line = reach, -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(count):
            t = near[k]
            a, b, c = (
                point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
            )  # fmt: skip
            e, f, g, _ = closest_on_triangle(p, a, b, c)
            r = offset(p, a, b, c, e, f, g)
            d = np.sqrt(dot(r, r))
            if d < best:
                best, face, weights, line = d, t, (e, f, g), r
        if face < 0:
            continue
        out = vertex_normal(i, y, shape.adjacent)
        if best > COINCIDENT:
            n = scale(-1.0 / best, line)  # to the sheet
        else:
            n = face_normal(face, x, triangles)
            n = n if dot(n, out) >= 0.0 else scale(-1.0, n)
        up = face_normal(face, x, triangles)
        side = _outside(n, best, sub(p, line), up, out, y, shape, stack)
        if side == 0.0 or side * best - thickness > within:
            continue
        if found == len(index):
            index, value = doubled(index), doubled(value)
        index[found, 0], index[found, 1] = i, face
        for k in range(3):
            index[found, 2 + k] = triangles[face, k]
        row = value[found]
        row[0], row[1], row[2] = weights
        row[3] = side * best - thickness
        row[4], row[5], row[6] = scale(-side, n)
        found += 1
    return index[:found], value[:found]


@inner()
def _parallel(u: Vec, v: Vec) -> bool:
    """Whether the line between two edges along u and v has no direction; vertices touch then."""
    n = cross(u, v)
    return dot(n, n) < CROSSING * CROSSING * dot(u, u) * dot(v, v)


@njit(cache=True)
def edges_on_ridges(
    x: Array, sheet: Sheet, y: Array, shape: Shape, thickness: float, within: float
) -> tuple[Array, Array]:
    """Edges of the sheet at x on ridges of the closed surface at y.

    Index (k, 4) ends, value (k, 6) s, t, gap, normal from ridge to edge.
    """
    index, value = np.empty((64, 4), np.int32), np.empty((64, 6))
    triangles, ridges = shape.adjacent.triangles, shape.edges
    stack, near = np.empty(DEPTH, np.int32), np.empty(len(triangles), np.int32)
    other, found, reach = np.empty(DEPTH, np.int32), 0, max(thickness + within, SHALLOW)
    for e in range(len(sheet.edges)):
        i, j = sheet.edges[e, 0], sheet.edges[e, 1]
        p, q = point(x, i), point(x, j)
        low, high = bounding(p, q, reach)
        count = near_triangles(shape.tree, low, high, stack, near)
        for m in range(count):
            for l in range(ridges.owned_start[near[m]], ridges.owned_start[near[m] + 1]):
                f = ridges.owned[l]
                a, b = ridges.edges[f, 0], ridges.edges[f, 1]
                pa, pb = point(y, a), point(y, b)
                if _parallel(sub(q, p), sub(pb, pa)):
                    continue
                s, t = closest_on_segments(p, q, pa, pb)
                if min(s, t, 1.0 - s, 1.0 - t) < INSIDE:
                    continue  # a vertex is nearer
                on = add(p, scale(s, sub(q, p)))
                r = sub(sub(on, pa), scale(t, sub(pb, pa)))
                d = np.sqrt(dot(r, r))
                if d > reach or d <= COINCIDENT or not is_ridge(f, y, ridges, triangles):
                    continue
                out = unit(
                    add(
                        face_normal(ridges.triangles[f, 0], y, triangles),
                        face_normal(ridges.triangles[f, 1], y, triangles),
                    )
                )
                up = unit(add(vertex_side(i, x, sheet), vertex_side(j, x, sheet)))
                side = _outside(scale(1.0 / d, r), d, on, up, out, y, shape, other)
                if side == 0.0 or side * d - thickness > within:
                    continue
                if side > 0.0 and signed_nearest(on, y, shape, NEAREST * d, other)[0] >= 0:
                    continue  # something else of the surface is nearer
                if found == len(index):
                    index, value = doubled(index), doubled(value)
                index[found, 0], index[found, 1] = i, j
                index[found, 2], index[found, 3] = a, b
                value[found, 0], value[found, 1], value[found, 2] = s, t, side * d - thickness
                value[found, 3], value[found, 4], value[found, 5] = scale(side / d, r)
                found += 1
    return index[:found], value[:found]
