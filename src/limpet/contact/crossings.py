"""How many edges go through triangles: whether sheets are tangled, by an exhaustive test."""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.contact.sheets import Sheet, bounding, near_triangles, sheet_of
from limpet.geometry.bvh import DEPTH, refit
from limpet.geometry.distance import point, segment_crosses_triangle

Array = np.ndarray


@njit(cache=True)
def crossings_of(x: Array, sheet: Sheet, alone: Array) -> int:
    """As `count_crossings`, of a sheet whose tree is fitted to x.

    alone (n,): edges and triangles with the same number, unless it is -1, do not count.
    """
    stack, near = np.empty(DEPTH, np.int32), np.empty(len(sheet.triangles), np.int32)
    found = 0
    for e in range(len(sheet.edges)):
        i, j = sheet.edges[e, 0], sheet.edges[e, 1]
        p, q = point(x, i), point(x, j)
        low, high = bounding(p, q, 0.0)
        for k in range(near_triangles(sheet.tree, low, high, stack, near)):
            a, b, c = sheet.triangles[near[k]]
            if i in (a, b, c) or j in (a, b, c) or (alone[i] >= 0 and alone[i] == alone[a]):
                continue
            if segment_crosses_triangle(p, q, point(x, a), point(x, b), point(x, c)):
                found += 1
    return found


def count_crossings(x: Array, triangles: Array) -> int:
    """Pairs of an edge and a triangle of these (m, 3) that cross at x (n, 3) [m].

    Neighbours, which share a vertex, do not count. Several surfaces may be joined to one: then the
    crossings between them count as well. 0: nothing is tangled.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    sheet = sheet_of(triangles, x)
    refit(sheet.tree, x, sheet.triangles)
    return int(crossings_of(x, sheet, np.full(len(x), -1, np.int32)))
