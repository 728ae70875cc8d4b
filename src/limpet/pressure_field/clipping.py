"""Convex polygons in space: the slice of a tetrahedron, clipping, area and centroid.

A polygon stands in a buffer (2, ROOM, 3): one half is read, the other written, in turn.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.pressure_field.packed import FACES

Array = np.ndarray

ROOM = 16  # corners: four of a slice and one more for each plane that clips, with some to spare
# A polygon is left out when its area is below this share of the sum of its squared edges. Its
# force is below round-off, and its centroid would be a division of noise by noise.
SLIVER = 1e-13


@njit(cache=True)
def slice_tet(x: Array, h: Array, buffer: Array) -> int:
    """The polygon h = 0 of a linear function with values h (4,) at the corners x (4, 3).

    A corner with h = 0 counts as above. Writes the corners in cyclic order to the first half of the
    buffer, returns their number.
    """
    above = 0
    for k in range(4):
        if h[k] >= 0.0:
            above += 1
    if above == 0 or above == 4:
        return 0
    if above == 2:
        i, j, k, l = -1, -1, -1, -1  # i, j above; k, l below
        for c in range(4):
            if h[c] >= 0.0:
                i, j = (c, j) if i < 0 else (i, c)
            else:
                k, l = (c, l) if k < 0 else (k, c)
        _cross(x, h, i, k, buffer, 0)
        _cross(x, h, i, l, buffer, 1)
        _cross(x, h, j, l, buffer, 2)
        _cross(x, h, j, k, buffer, 3)
        return 4
    alone = 0  # the corner on its side of the plane by itself
    for c in range(4):
        if (h[c] >= 0.0) == (above == 1):
            alone = c
    n = 0
    for c in range(4):
        if c != alone:
            _cross(x, h, alone, c, buffer, n)
            n += 1
    return 3


@njit(cache=True)
def _cross(x: Array, h: Array, i: int, j: int, buffer: Array, n: int) -> None:
    """The point of edge i, j where h = 0; the sum of the weights is exactly 1."""
    w = h[i] / (h[i] - h[j])
    for k in range(3):
        buffer[0, n, k] = x[i, k] + w * (x[j, k] - x[i, k])


@njit(cache=True)
def clip(buffer: Array, which: int, n: int, distance: Array) -> tuple[int, int]:
    """Keep what has a distance (ROOM,) [m] of at most 0 from some plane.

    Returns the half of the buffer where the polygon now is, and its number of corners.
    """
    other = 1 - which
    count = 0
    before = n - 1
    for i in range(n):
        a, b = distance[before], distance[i]
        if (a > 0.0) != (b > 0.0):
            w = a / (a - b)
            for k in range(3):
                p = buffer[which, before, k]
                buffer[other, count, k] = p + w * (buffer[which, i, k] - p)
            count += 1
        if b <= 0.0:
            for k in range(3):
                buffer[other, count, k] = buffer[which, i, k]
            count += 1
        before = i
    return other, count


@njit(cache=True)
def clip_to_plane(
    buffer: Array, which: int, n: int, nx: float, ny: float, nz: float, d: float, distance: Array
) -> tuple[int, int]:
    """As clip, but measures the distances and does nothing where nothing is to be done."""
    highest, lowest = -np.inf, np.inf
    for i in range(n):
        s = nx * buffer[which, i, 0] + ny * buffer[which, i, 1] + nz * buffer[which, i, 2] - d
        distance[i] = s
        highest, lowest = max(highest, s), min(lowest, s)
    if lowest >= 0.0:
        return which, 0
    if highest <= 0.0:
        return which, n
    return clip(buffer, which, n, distance)


@njit(cache=True)
def clip_to_tet(
    buffer: Array,
    n: int,
    cells: Array,
    tet: int,
    mx: float,
    my: float,
    mz: float,
    touch: float,
    distance: Array,
) -> tuple[int, int]:
    """Clip a polygon with normal (mx, my, mz) to a tet of packed cells.

    A polygon within `touch` [m] of the plane of a face would be found in both tets that share it,
    or in none, as round-off will have it. It is given to the tet on the side that the normal comes
    from: once wherever the surface passes a face, as if it stood a little before it.
    """
    which = 0
    for f in range(4):
        at = FACES + 4 * f
        nx, ny, nz, d = cells[tet, at], cells[tet, at + 1], cells[tet, at + 2], cells[tet, at + 3]
        highest, lowest = -np.inf, np.inf
        for i in range(n):
            s = nx * buffer[which, i, 0] + ny * buffer[which, i, 1] + nz * buffer[which, i, 2] - d
            distance[i] = s
            highest, lowest = max(highest, s), min(lowest, s)
        if lowest > -touch:
            if highest >= touch or nx * mx + ny * my + nz * mz <= 0.0:
                return which, 0
        elif highest > 0.0:
            which, n = clip(buffer, which, n, distance)
    return which, n


@njit(cache=True)
def measure(
    buffer: Array, which: int, n: int, mx: float, my: float, mz: float, centroid: Array
) -> float:
    """Area along the unit normal (mx, my, mz), negative if clockwise; 0 for a sliver.

    Writes the centroid. All differences are from the first corner.
    """
    area, cx, cy, cz, squares = 0.0, 0.0, 0.0, 0.0, 0.0
    x0, y0, z0 = buffer[which, 0, 0], buffer[which, 0, 1], buffer[which, 0, 2]
    bx, by, bz = buffer[which, 1, 0] - x0, buffer[which, 1, 1] - y0, buffer[which, 1, 2] - z0
    squares += bx * bx + by * by + bz * bz
    for i in range(2, n):
        ax, ay, az = bx, by, bz
        bx, by, bz = buffer[which, i, 0] - x0, buffer[which, i, 1] - y0, buffer[which, i, 2] - z0
        squares += (bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2
        twice = mx * (ay * bz - az * by) + my * (az * bx - ax * bz) + mz * (ax * by - ay * bx)
        area += twice
        cx += twice * (ax + bx)
        cy += twice * (ay + by)
        cz += twice * (az + bz)
    squares += bx * bx + by * by + bz * bz
    if abs(area) <= 2.0 * SLIVER * squares:
        return 0.0
    centroid[0] = x0 + cx / (3.0 * area)
    centroid[1] = y0 + cy / (3.0 * area)
    centroid[2] = z0 + cz / (3.0 * area)
    return 0.5 * area
