"""Vertices of one surface against another surface.

A surface holds a vertex where the two face each other; a wall's far side faces away, so that
nothing connects through a body. Distances up to `alarm` count, on either side of the surface.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.collider import Shape
from limpet.contact.contacts import FACE_VERTEX, VERTEX_FACE, Corners, doubled, store
from limpet.geometry.bvh import ANY_SIDE, ANYWHERE, DEPTH, OVER, box_distance2, nearest
from limpet.geometry.distance import (
    FACE,
    VERTEX,
    Adjacency,
    Vec,
    add,
    corner_angle,
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
from limpet.geometry.smooth import Patches, normal_curvature, patch, smooth_normal

Array = np.ndarray

# Below this share of the alarm distance the direction between two points says little: there the
# normal leans on the faces.
BLEND = 1e-3

AWAY = 1e-3  # a vertex normal whose product with the contact normal is not below minus this
LOOKS = (
    0.5  # a vertex looks at a surface when its normal or one of its faces does within 60 degrees
)


@njit(cache=True)
def corners_of(t: int, u: float, v: float, w: float, triangles: Array) -> tuple[Corners, Vec]:
    """Used vertices in rising order, then the first of them again, with their weights.

    A point on a shared edge or vertex reads the same from whichever triangle it was found.
    """
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    if (v == 0.0, j) < (u == 0.0, i):
        i, j, u, v = j, i, v, u
    if (w == 0.0, k) < (v == 0.0, j):
        j, k, v, w = k, j, w, v
    if (v == 0.0, j) < (u == 0.0, i):
        i, j, u, v = j, i, v, u
    return (i, j if v > 0.0 else i, k if w > 0.0 else i), (u, v, w)


@inner()
def looks(i: int, outward: Vec, n: Vec, x: Array, adjacent: Adjacency) -> bool:
    """Whether vertex i, with its normal `outward`, looks against the normal n of the other body.

    The far side of a wall does not, nor does flat ground look at an edge that slides over it.
    The blade of a knife that lies on a plate does, with one of its faces.
    """
    towards = -dot(outward, n)
    if towards <= AWAY:
        return False
    if towards >= LOOKS:
        return True
    triangles, _, start, around = adjacent
    for k in range(start[i], start[i + 1]):
        towards = max(towards, -dot(face_normal(around[k], x, triangles), n))
    return towards >= LOOKS


@inner()
def held_normal(
    t: int, u: float, v: float, w: float, feature: int, towards: Vec, x: Array, adjacent: Adjacency
) -> Vec:
    """Mean normal of those faces at an edge or vertex that oppose `towards`; zero if none does.

    At zero distance this is the normal of choice: on the rim of a box it is that of the side that
    the other body lies on, where a plain mean would tilt outward.
    """
    triangles, neighbours, start, around = adjacent
    total = (0.0, 0.0, 0.0)
    if feature == VERTEX:
        i = triangles[t, 0 if u > 0.0 else (1 if v > 0.0 else 2)]
        for k in range(start[i], start[i + 1]):
            n = face_normal(around[k], x, triangles)
            weight = max(0.0, -dot(n, towards)) * corner_angle(i, around[k], x, triangles)
            total = add(total, scale(weight, n))
    else:
        across = neighbours[t, 0 if u == 0.0 else (1 if v == 0.0 else 2)]
        n, m = face_normal(t, x, triangles), face_normal(across, x, triangles)
        total = add(
            scale(max(0.0, -dot(n, towards)), n),
            scale(max(0.0, -dot(m, towards)), m),
        )
    return unit(total)


@inner()
def on_patch(
    t: int, u: float, v: float, w: float, feature: int, adjacent: Adjacency, on: Patches
) -> bool:
    """Whether the point (u, v, w) of triangle t is on a curved patch, and on no ridge."""
    if not on.curved[t]:
        return False
    if feature == VERTEX:
        return on.round[adjacent.triangles[t, 0 if u > 0.0 else (1 if v > 0.0 else 2)]]
    return feature == FACE or on.smooth[t, 0 if u == 0.0 else (1 if v == 0.0 else 2)]


@inner()
def _vertex_on_surface(
    i: int, x: Array, adjacent_x: Adjacency, y: Array, shape_y: Shape, alarm: float, facing: bool,
    rim: float, stack: Array,
) -> tuple[int, float, float, float, int, Vec, float]:  # fmt: skip
    """Where vertex i of one surface, at x, is held by the other, at y.

    Returns triangle (-1 for nowhere), weights, feature, outward normal of the other, gap. Over a
    curved patch normal and gap are those of the patch, not those of the triangle.
    """
    nowhere = (-1, 0.0, 0.0, 0.0, FACE, (0.0, 0.0, 0.0), 0.0)
    tree, adjacent_y, on = shape_y.tree, shape_y.adjacent, shape_y.patches
    p, triangles, blend = point(x, i), adjacent_y.triangles, max(BLEND * alarm, rim)
    far = alarm + on.bulge
    t, u, v, w, feature, d = nearest(tree, y, triangles, p, far, ANY_SIDE, stack)
    if t < 0:
        return nowhere
    outward = vertex_normal(i, x, adjacent_x)
    a, b, c = point(y, triangles[t, 0]), point(y, triangles[t, 1]), point(y, triangles[t, 2])
    r = offset(p, a, b, c, u, v, w)
    if on_patch(t, u, v, w, feature, adjacent_y, on):
        n, h = patch(t, u, v, w, y, triangles, on)
        gap = dot(n, r) - h
        if abs(gap) > alarm:
            return nowhere
        if looks(i, outward, n, x, adjacent_x):
            return t, u, v, w, feature, n, gap
        other = _faced_side(i, x, adjacent_x, y, shape_y, outward, alarm, blend, gap > blend, stack)
        if gap <= blend or facing or other[0] >= 0:
            return other
        return t, u, v, w, feature, n, gap
    if d > alarm:
        return nowhere
    if feature == FACE:
        n = face_normal(t, y, triangles)
        side = 1.0 if dot(r, n) >= 0.0 else -1.0
    else:
        n = pseudo_normal(t, u, v, w, feature, y, adjacent_y)
        side = 1.0 if dot(r, n) >= 0.0 else -1.0
        held = held_normal(t, u, v, w, feature, outward, y, adjacent_y)
        # where none of the faces does, r alone is no direction: on an edge it is a rounding error
        held = held if dot(held, held) > 0.0 else n
        n = unit(add(scale(side, r), scale(blend, held)))
    if looks(i, outward, n, x, adjacent_x):
        return t, u, v, w, feature, n, dot(n, r)
    # The two do not face. Outside, the vertex is on the far side of a thin wall, or it stands
    # beside one, as in a groove: only what it faces counts. Inside or just on the rim, the vertex
    # came in through another side: the nearest that it faces.
    # Within one step it may yet turn over and arrive: then it counts, too, if asked for.
    outside = side * d > blend
    other = _faced_side(i, x, adjacent_x, y, shape_y, outward, alarm, blend, outside, stack)
    if not outside or facing or other[0] >= 0:
        return other
    return t, u, v, w, feature, n, dot(n, r)


@inner()
def _faced_side(
    i: int, x: Array, adjacent_x: Adjacency, y: Array, shape_y: Shape, outward: Vec, alarm: float,
    blend: float, outside: bool, stack: Array,
) -> tuple[int, float, float, float, int, Vec, float]:  # fmt: skip
    """As _vertex_on_surface, for the nearest face that vertex i looks at, from outside or inside.

    From outside it lies straight before the vertex: faces beside it are no nearer.
    """
    nowhere = (-1, 0.0, 0.0, 0.0, FACE, (0.0, 0.0, 0.0), 0.0)
    p, triangles, on = point(x, i), shape_y.adjacent.triangles, shape_y.patches
    far = alarm + on.bulge
    least = OVER if outside else ANYWHERE
    t, u, v, w, feature, d = nearest(shape_y.tree, y, triangles, p, far, outward, stack, least)
    if t < 0:
        return nowhere
    a, b, c = point(y, triangles[t, 0]), point(y, triangles[t, 1]), point(y, triangles[t, 2])
    r = offset(p, a, b, c, u, v, w)
    n, h = face_normal(t, y, triangles), 0.0
    if on_patch(t, u, v, w, feature, shape_y.adjacent, on):
        n, h = patch(t, u, v, w, y, triangles, on)
    elif d > alarm:
        return nowhere
    gap = dot(n, r) - h
    straight = outside or d <= blend + abs(h) or -gap >= LOOKS * d
    if abs(gap) > alarm or (gap > blend) != outside or not straight:
        return nowhere
    return (t, u, v, w, feature, n, gap) if looks(i, outward, n, x, adjacent_x) else nowhere


@inner()
def _curved_face(
    i: int, x: Array, shape_x: Shape, t: int, weights: Vec, y: Array, shape_y: Shape
) -> float:
    """[m] by which the soft triangle t recedes there if it is as curved as the surface at vertex i.

    At most as much as it does at rest.
    """
    start, around = shape_x.adjacent.vertex_start, shape_x.adjacent.vertex_triangles
    corners, total, most = shape_y.adjacent.triangles[t], 0.0, 0.0
    for p in range(3):
        q = (p + 1) % 3
        share = weights[p] * weights[q]
        if share > 0.0:
            along, bend = sub(point(y, corners[q]), point(y, corners[p])), 0.0
            for k in range(start[i], start[i + 1]):
                bend += normal_curvature(
                    around[k], along, x, shape_x.adjacent.triangles, shape_x.patches
                )
            total += 0.5 * share * dot(along, along) * bend / (start[i + 1] - start[i])
            most += 4.0 * share * shape_y.patches.relief
    return min(most, max(0.0, total))


@inner()
def vertex_rows(
    x: Array, shape_x: Shape, y: Array, shape_y: Shape, alarm: float, facing: bool, kind: int,
    rim: float = 0.0,
) -> tuple[Array, Array]:  # fmt: skip
    """Contacts of the vertices at x with the surface at y; rows as in Contacts.of_rows.

    Only of those that face it, unless `facing` is False.
    With kind FACE_VERTEX x is body b, and two vertices that meet are left out: the other call,
    with VERTEX_FACE, finds them. Nearer than `rim` [m] to an edge, or beside it, a vertex lies on
    the face that it looks at.
    """
    index = np.empty((32, 7), np.int32)
    value = np.empty((32, 10))
    stack = np.empty(DEPTH, np.int32)
    adjacent_x, triangles = shape_x.adjacent, shape_y.adjacent.triangles
    lower, upper, far = shape_y.tree.lower, shape_y.tree.upper, alarm + shape_y.patches.bulge
    one = (1.0, 0.0, 0.0)
    found = 0
    for i in range(len(x)):
        if shape_x.flat[i] or box_distance2(lower, upper, 0, point(x, i)) > far * far:
            continue
        t, u, v, w, feature, n, gap = _vertex_on_surface(
            i, x, adjacent_x, y, shape_y, alarm, facing, rim, stack
        )
        if t < 0 or (kind == FACE_VERTEX and feature == VERTEX):
            continue
        if shape_x.patches.round[i] and shape_y.patches.relief > 0.0:
            gap += _curved_face(i, x, shape_x, t, (u, v, w), y, shape_y)
            n = scale(-1.0, smooth_normal(i, x, shape_x.adjacent, shape_x.patches))
        if found == len(index):
            index, value = doubled(index), doubled(value)
        at, weights = corners_of(t, u, v, w, triangles)
        if kind == VERTEX_FACE:
            store(index, value, found, kind, (i, i, i), one, at, weights, n, gap)
        else:
            store(index, value, found, kind, at, weights, (i, i, i), one, scale(-1.0, n), gap)
        found += 1
    return index[:found], value[:found]
