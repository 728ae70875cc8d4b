"""Kernels of contact_surface: from pairs of cells to polygons, in phases.

One body, the host, stays in its frame; the other, the probe, is transformed to it. Every phase
processes all pairs: slice the tets of the probe by the planes of equal pressure (or take the
triangles of a rigid probe), clip to the tets of the host, compute the results in the world frame.
Kernels are not called for single polygons: passing arrays costs as much as the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.pressure_field.crossing_pairs import EQUAL, inward_normal
from limpet.pressure_field.packed import CONSTANT, CORNERS, FACES, PRESSURES, SCALE, SLOPE

Array = np.ndarray
Found = tuple[Array, Array, Array, Array]

# A polygon is skipped if its area is below this fraction of the sum of its squared edges: its force
# is below round-off, and its centroid is not defined numerically.
SLIVER = 1e-13
MAX_CORNERS = 8  # corners of a polygon: four of a slice, one more for each face that clips it

# Columns of a polygon's row: normal times area, centroid, pressure there, gradients of both.
AREA, CENTROID, PRESSURE, OF_PROBE, OF_HOST, ROW = 0, 3, 6, 7, 10, 13


class Batch(NamedTuple):
    """Intermediate polygons, in the frame of the host."""

    pairs: Array  # (k, 2) int32, cell of the host and of the probe
    corners: Array  # (k, MAX_CORNERS, 3) [m] in cyclic order, of either orientation
    sides: Array  # (k,) int32, number of corners; below 3: none
    normal: Array  # (k, 3) unit, from host to probe


@njit(cache=True, error_model="numpy", inline="always")
def _cut(h: Array, tet: Array, up: Array, down: Array, corners: Array, k: int) -> int:
    """Cut a tet (4, 3) where the linear function h (4,) is 0; fills corners[k], returns the count.

    A corner with h = 0 counts as above. up, down: (4,) int32, scratch.
    """
    above, below = 0, 0
    for c in range(4):
        if h[c] >= 0.0:
            up[above] = c
            above += 1
        else:
            down[below] = c
            below += 1
    n = 0
    if above > 0 and below > 0:
        n = 4 if above == 2 else 3
    for e in range(n):
        # around the slice: each corner shares a face with the next
        if above == 2:
            a, b = up[e >> 1], down[((e + 1) >> 1) & 1]
        else:
            a, b = (up[0], down[e]) if above == 1 else (up[e], down[0])
        w = h[a] / (h[a] - h[b])
        for axis in range(3):
            corners[k, e, axis] = tet[a, axis] + w * (tet[b, axis] - tet[a, axis])
    return n


@njit(cache=True, error_model="numpy")
def equal_pressure_slices(
    pairs: Array, cells_h: Array, cells_p: Array, tets: Array, x: Array, r: Array
) -> Batch:
    """The probe's tets, with vertices x (n, 3) in the host's frame, cut where pressures are equal.

    h is the pressure of the probe minus that of the host, which is linear (F X-B).
    """
    room = len(pairs)
    kept, corners = np.empty((room, 2), np.int32), np.empty((room, MAX_CORNERS, 3))
    sides, normal = np.empty(room, np.int32), np.empty((room, 3))
    h, tet = np.empty(4), np.empty((4, 3))
    up, down = np.empty(4, np.int32), np.empty(4, np.int32)
    k = 0
    for pair in range(room):
        i, j = pairs[pair, 0], pairs[pair, 1]
        sx, sy, sz = cells_h[i, SLOPE], cells_h[i, SLOPE + 1], cells_h[i, SLOPE + 2]
        equal = EQUAL * (cells_h[i, SCALE] + cells_p[j, SCALE])
        for c in range(4):
            v = tets[j, c]
            for axis in range(3):
                tet[c, axis] = x[v, axis]
            p = sx * tet[c, 0] + sy * tet[c, 1] + sz * tet[c, 2] + cells_h[i, CONSTANT]
            more = cells_p[j, PRESSURES + c] - p
            h[c] = more if abs(more) > equal else 0.0
        n = _cut(h, tet, up, down, corners, k)
        if n == 0:
            continue
        gx, gy, gz = cells_p[j, SLOPE], cells_p[j, SLOPE + 1], cells_p[j, SLOPE + 2]
        mx = r[0, 0] * gx + r[0, 1] * gy + r[0, 2] * gz - sx
        my = r[1, 0] * gx + r[1, 1] * gy + r[1, 2] * gz - sy
        mz = r[2, 0] * gx + r[2, 1] * gy + r[2, 2] * gz - sz
        size = np.sqrt(mx * mx + my * my + mz * mz)
        normal[k, 0], normal[k, 1], normal[k, 2] = mx / size, my / size, mz / size
        kept[k, 0], kept[k, 1], sides[k] = i, j, n
        k += 1
    return Batch(kept[:k], corners[:k], sides[:k], normal[:k])


@njit(cache=True, error_model="numpy")
def rigid_triangles(pairs: Array, triangles: Array, x: Array) -> Batch:
    """The triangles of a rigid probe, with vertices x (n, 3) in the host's frame."""
    k = len(pairs)
    corners, normal = np.empty((k, MAX_CORNERS, 3)), np.empty((k, 3))
    for pair in range(k):
        t = pairs[pair, 1]
        for c in range(3):
            for axis in range(3):
                corners[pair, c, axis] = x[triangles[t, c], axis]
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        normal[pair, 0], normal[pair, 1], normal[pair, 2] = inward_normal(x, a, b, c)
    return Batch(pairs, corners, np.full(k, 3, np.int32), normal)


@inner(error_model="numpy")
def plane_slices(pairs: Array, cells_h: Array, nx: float, ny: float, nz: float, d: float) -> Batch:
    """The host's tets cut by the surface (nx, ny, nz) . x = d of a rigid half space."""
    room = len(pairs)
    kept, corners = np.empty((room, 2), np.int32), np.empty((room, MAX_CORNERS, 3))
    sides, normal = np.empty(room, np.int32), np.empty((room, 3))
    h, tet = np.empty(4), np.empty((4, 3))
    up, down = np.empty(4, np.int32), np.empty(4, np.int32)
    k = 0
    for pair in range(room):
        i = pairs[pair, 0]
        for c in range(4):
            for axis in range(3):
                tet[c, axis] = cells_h[i, CORNERS + 3 * c + axis]
            h[c] = d - (nx * tet[c, 0] + ny * tet[c, 1] + nz * tet[c, 2])
        n = _cut(h, tet, up, down, corners, k)
        if n == 0:
            continue
        normal[k, 0], normal[k, 1], normal[k, 2] = -nx, -ny, -nz
        kept[k, 0], kept[k, 1], sides[k] = i, pairs[pair, 1], n
        k += 1
    return Batch(kept[:k], corners[:k], sides[:k], normal[:k])


@njit(cache=True, error_model="numpy")
def clip_to_host(batch: Batch, cells_h: Array, touch: float) -> None:
    """Clip each polygon to its host's tet (Sutherland and Hodgman), in place.

    A polygon within `touch` [m] of the plane of a face could be found in both tets that share it,
    or in none, because of round-off. It is assigned to the tet on the side that the normal comes
    from, so it is counted once.
    """
    pairs, corners, sides, normal = batch
    s = np.empty(2 * MAX_CORNERS)
    spare = np.empty((2 * MAX_CORNERS, 3))
    for k in range(len(sides)):
        i, n = pairs[k, 0], sides[k]
        for f in range(FACES, FACES + 16, 4):
            nx, ny, nz, d = cells_h[i, f], cells_h[i, f + 1], cells_h[i, f + 2], cells_h[i, f + 3]
            highest, lowest = -np.inf, np.inf
            for c in range(n):
                s[c] = nx * corners[k, c, 0] + ny * corners[k, c, 1] + nz * corners[k, c, 2] - d
                highest, lowest = max(highest, s[c]), min(lowest, s[c])
            if lowest > -touch:
                along = nx * normal[k, 0] + ny * normal[k, 1] + nz * normal[k, 2]
                if highest >= touch or along <= 0.0:
                    n = 0
                    break
            elif highest > 0.0:
                m, before = 0, n - 1
                for c in range(n):
                    if (s[before] > 0.0) != (s[c] > 0.0):
                        w = s[before] / (s[before] - s[c])
                        for axis in range(3):
                            start = corners[k, before, axis]
                            spare[m, axis] = start + w * (corners[k, c, axis] - start)
                        m += 1
                    if s[c] <= 0.0:
                        for axis in range(3):
                            spare[m, axis] = corners[k, c, axis]
                        m += 1
                    before = c
                n = min(m, MAX_CORNERS)  # the largest number for a convex polygon
                for c in range(n):
                    for axis in range(3):
                        corners[k, c, axis] = spare[c, axis]
        sides[k] = n


@inner(error_model="numpy")
def empty_batch(room: int) -> Batch:
    """Without polygons, with room for some."""
    pairs, corners = np.empty((room, 2), np.int32), np.empty((room, MAX_CORNERS, 3))
    return Batch(pairs, corners, np.empty(room, np.int32), np.empty((room, 3)))


@inner(error_model="numpy")
def append_to(out: Batch, used: int, batch: Batch) -> int:
    """Copy what is left of clipped polygons to the end of others; returns the new number."""
    for k in range(len(batch.sides)):
        n = batch.sides[k]
        if n < 3:
            continue
        out.pairs[used, 0], out.pairs[used, 1] = batch.pairs[k, 0], batch.pairs[k, 1]
        out.sides[used] = n
        for axis in range(3):
            out.normal[used, axis] = batch.normal[k, axis]
            for c in range(n):
                out.corners[used, c, axis] = batch.corners[k, c, axis]
        used += 1
    return used


@njit(cache=True, error_model="numpy")
def measured(
    batch: Batch, cells_h: Array, cells_p: Array, rp: Array, rh: Array, th: Array, swapped: bool
) -> Found:
    """Area, centroid, pressure and gradients of the clipped polygons, in the world frame.

    rh, th is the pose of the host, rp the rotation of the probe; a rigid probe has no cells.
    `swapped`: the host is body a, so the normal, from b to a, is from probe to host.
    """
    pairs, corners, sides, normal = batch
    polygons, vertices = 0, 0
    for k in range(len(sides)):
        if sides[k] >= 3:
            polygons, vertices = polygons + 1, vertices + sides[k]
    rows, ids = np.empty((polygons, ROW)), np.empty((polygons, 2), np.int32)
    start, out = np.empty(polygons + 1, np.int32), np.empty((vertices, 4))
    soft = len(cells_p) > 0
    k, v = 0, 0
    for b in range(len(sides)):
        n = sides[b]
        if n < 3:
            continue
        # a fan from the first corner; differences are relative to it
        mx, my, mz = normal[b, 0], normal[b, 1], normal[b, 2]
        x0, y0, z0 = corners[b, 0, 0], corners[b, 0, 1], corners[b, 0, 2]
        area, cx, cy, cz = 0.0, 0.0, 0.0, 0.0
        ux, uy, uz = corners[b, 1, 0] - x0, corners[b, 1, 1] - y0, corners[b, 1, 2] - z0
        squares = ux * ux + uy * uy + uz * uz
        for c in range(2, n):
            vx, vy, vz = corners[b, c, 0] - x0, corners[b, c, 1] - y0, corners[b, c, 2] - z0
            squares += (vx - ux) ** 2 + (vy - uy) ** 2 + (vz - uz) ** 2
            twice = mx * (uy * vz - uz * vy) + my * (uz * vx - ux * vz) + mz * (ux * vy - uy * vx)
            area += twice
            cx, cy, cz = cx + twice * (ux + vx), cy + twice * (uy + vy), cz + twice * (uz + vz)
            ux, uy, uz = vx, vy, vz
        squares += ux * ux + uy * uy + uz * uz
        if abs(area) <= 2.0 * SLIVER * squares:
            continue
        cx, cy, cz = x0 + cx / (3.0 * area), y0 + cy / (3.0 * area), z0 + cz / (3.0 * area)
        i, j = pairs[b, 0], pairs[b, 1]
        sx, sy, sz = cells_h[i, SLOPE], cells_h[i, SLOPE + 1], cells_h[i, SLOPE + 2]
        s0 = cells_h[i, CONSTANT]
        rows[k, PRESSURE] = max(sx * cx + sy * cy + sz * cz + s0, 0.0)
        size = -0.5 * abs(area) if swapped else 0.5 * abs(area)
        for axis in range(3):
            ax, ay, az = rh[axis, 0], rh[axis, 1], rh[axis, 2]
            rows[k, AREA + axis] = size * (ax * mx + ay * my + az * mz)
            rows[k, CENTROID + axis] = ax * cx + ay * cy + az * cz + th[axis]
            rows[k, OF_HOST + axis] = ax * sx + ay * sy + az * sz
            rows[k, OF_PROBE + axis] = 0.0
            if soft:
                for other in range(3):
                    rows[k, OF_PROBE + axis] += rp[axis, other] * cells_p[j, SLOPE + other]
        clockwise = (area < 0.0) != swapped
        for c in range(n):
            at = v + (n - 1 - c if clockwise else c)
            px, py, pz = corners[b, c, 0], corners[b, c, 1], corners[b, c, 2]
            out[at, 3] = max(sx * px + sy * py + sz * pz + s0, 0.0)
            for axis in range(3):
                out[at, axis] = rh[axis, 0] * px + rh[axis, 1] * py + rh[axis, 2] * pz + th[axis]
        ids[k, 0], ids[k, 1] = (i, j) if swapped else (j, i)
        start[k] = v
        k, v = k + 1, v + n
    start[k] = v
    return rows[:k], ids[:k], start[: k + 1], out[:v]
