"""The kernels behind contact_surface, for each kind of pair: one row of numbers a polygon."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.pressure_field.clipping import ROOM, clip_to_plane, clip_to_tet, measure, slice_tet
from limpet.pressure_field.packed import CONSTANT, CORNERS, PRESSURES, SCALE, SLOPE
from limpet.pressure_field.tree import DEPTH, Boxes, near_pairs

Array = np.ndarray
Found = tuple[Array, Array, Array, Array]
Vec = tuple[float, float, float]

# Pressures that differ by less than this share of the terms they are summed from are equal. Equal
# over a volume, or on a face, the probe's counts as the higher: the tie is broken the same way
# everywhere, so that the surface stays closed and the energy is kept.
EQUAL = 1e-13
TOUCH = 1e-12  # distance from a plane over the host's size, below which a polygon lies in it

# Columns of a polygon's row: normal times area, centroid, pressure there, gradients of both.
AREA, CENTROID, PRESSURE, OF_PROBE, OF_HOST, ROW = 0, 3, 6, 7, 10, 13
CORNERS_MOST = 8  # of a polygon: four of a slice, one more for each face that clips it

STIFF = (0.0, 0.0, 0.0)  # stands for the gradient of a rigid body


@njit(cache=True)
def _size(boxes: Boxes) -> float:
    return boxes.boxes[0, 0, 3] + boxes.boxes[0, 0, 4] + boxes.boxes[0, 0, 5]


@njit(cache=True)
def relative(rh: Array, th: Array, rp: Array, tp: Array) -> tuple[Array, Array]:
    """Rotation and translation from the probe's frame to the host's."""
    r, t = np.empty((3, 3)), np.empty(3)
    dx, dy, dz = tp[0] - th[0], tp[1] - th[1], tp[2] - th[2]
    for i in range(3):
        for j in range(3):
            r[i, j] = rh[0, i] * rp[0, j] + rh[1, i] * rp[1, j] + rh[2, i] * rp[2, j]
        t[i] = rh[0, i] * dx + rh[1, i] * dy + rh[2, i] * dz
    return r, t


@njit(cache=True)
def moved(x: Array, r: Array, t: Array) -> Array:
    """Points x (n, 3) turned by r, then shifted by t."""
    out = np.empty_like(x)
    for i in range(len(x)):
        for k in range(3):
            out[i, k] = r[k, 0] * x[i, 0] + r[k, 1] * x[i, 1] + r[k, 2] * x[i, 2] + t[k]
    return out


@njit(cache=True)
def _turned(r: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@njit(cache=True)
def _room(most: int) -> Found:
    """For so many polygons. Pages that are never written to cost nothing."""
    rows, cells = np.empty((most, ROW)), np.empty((most, 2), np.int32)
    return rows, cells, np.empty(most + 1, np.int32), np.empty((CORNERS_MOST * most, 4))


@njit(cache=True)
def _write(
    buffer: Array, which: int, n: int, normal: Vec,
    p: tuple[float, float, float, float],
    found: Found, k: int, v: int, swapped: bool, centroid: Array,
) -> int:  # fmt: skip
    """Write a polygon of n corners, unit normal from host to probe, pressure p[:3] . x + p[3].

    Returns the number of corners there are then: still v if it is a sliver.
    """
    rows, _, start, corners = found
    mx, my, mz = normal
    area = measure(buffer, which, n, mx, my, mz, centroid)
    if area == 0.0:
        return v
    size = -abs(area) if swapped else abs(area)  # the normal goes from body b to body a
    rows[k, AREA], rows[k, AREA + 1], rows[k, AREA + 2] = size * mx, size * my, size * mz
    cx, cy, cz = centroid[0], centroid[1], centroid[2]
    rows[k, CENTROID], rows[k, CENTROID + 1], rows[k, CENTROID + 2] = cx, cy, cz
    rows[k, PRESSURE] = max(p[0] * cx + p[1] * cy + p[2] * cz + p[3], 0.0)
    clockwise = (area < 0.0) != swapped
    for i in range(n):
        at = v + (n - 1 - i if clockwise else i)
        px, py, pz = buffer[which, i, 0], buffer[which, i, 1], buffer[which, i, 2]
        corners[at, 0], corners[at, 1], corners[at, 2] = px, py, pz
        corners[at, 3] = max(p[0] * px + p[1] * py + p[2] * pz + p[3], 0.0)
    start[k] = v
    return v + n


@njit(cache=True)
def _label(
    found: Found, k: int, i: int, j: int, of_probe: Vec, of_host: Vec, swapped: bool
) -> None:
    """Gradients and cells (i of the host, j of the probe) of polygon k."""
    rows, cells, _, _ = found
    for c in range(3):
        rows[k, OF_PROBE + c], rows[k, OF_HOST + c] = of_probe[c], of_host[c]
    cells[k, 0], cells[k, 1] = (i, j) if swapped else (j, i)


@njit(cache=True)
def _to_world(found: Found, k: int, v: int, r: Array, t: Array) -> Found:
    """The k polygons with v corners, out of the host's frame."""
    rows, cells, start, corners = found
    start[k] = v
    for i in range(k):
        for at in (AREA, CENTROID, OF_PROBE, OF_HOST):
            x, y, z = _turned(r, rows[i, at], rows[i, at + 1], rows[i, at + 2])
            rows[i, at], rows[i, at + 1], rows[i, at + 2] = x, y, z
        for c in range(3):
            rows[i, CENTROID + c] += t[c]
    for i in range(v):
        x, y, z = _turned(r, corners[i, 0], corners[i, 1], corners[i, 2])
        corners[i, 0], corners[i, 1], corners[i, 2] = x + t[0], y + t[1], z + t[2]
    # copies: the room was for many more
    return rows[:k].copy(), cells[:k].copy(), start[: k + 1].copy(), corners[:v].copy()


@njit(cache=True)
def field_field(
    cells_h: Array, boxes_h: Boxes, points: Array, tets: Array, cells_p: Array, boxes_p: Boxes,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """Tets of the host against tets of the probe."""
    r, t = relative(rh, th, rp, tp)
    pairs = near_pairs(boxes_h, boxes_p, r, t, False)
    found, k, v = field_field_polygons(
        pairs, cells_h, boxes_h, points, tets, cells_p, r, t, swapped
    )
    return _to_world(found, k, v, rh, th)


@njit(cache=True)
def field_field_polygons(
    pairs: Array, cells_h: Array, boxes_h: Boxes, points: Array, tets: Array, cells_p: Array,
    r: Array, t: Array, swapped: bool,
) -> tuple[Found, int, int]:  # fmt: skip
    """The polygons of the pairs (k, 2), in the host's frame; their number and that of corners."""
    touch = TOUCH * _size(boxes_h)
    moved_points = moved(points, r, t)
    found = _room(len(pairs))
    buffer, distance, centroid = np.empty((2, ROOM, 3)), np.empty(ROOM), np.empty(3)
    x, h = np.empty((4, 3)), np.empty(4)
    k, v = 0, 0
    for pair in range(len(pairs)):
        i, j = pairs[pair, 0], pairs[pair, 1]
        sx, sy, sz, s0 = (
            cells_h[i, SLOPE],
            cells_h[i, SLOPE + 1],
            cells_h[i, SLOPE + 2],
            cells_h[i, CONSTANT],
        )
        equal = EQUAL * (cells_h[i, SCALE] + cells_p[j, SCALE])
        above = 0
        for c in range(4):
            at = tets[j, c]
            px, py, pz = moved_points[at, 0], moved_points[at, 1], moved_points[at, 2]
            x[c, 0], x[c, 1], x[c, 2] = px, py, pz
            more = cells_p[j, PRESSURES + c] - (sx * px + sy * py + sz * pz + s0)
            h[c] = 0.0 if abs(more) <= equal else more
            above += h[c] >= 0.0
        if above == 0 or above == 4:
            continue
        n = slice_tet(x, h, buffer)
        gx, gy, gz = _turned(r, cells_p[j, SLOPE], cells_p[j, SLOPE + 1], cells_p[j, SLOPE + 2])
        mx, my, mz = gx - sx, gy - sy, gz - sz
        size = np.sqrt(mx * mx + my * my + mz * mz)
        mx, my, mz = mx / size, my / size, mz / size
        which, n = clip_to_tet(buffer, n, cells_h, i, mx, my, mz, touch, distance)
        if n < 3:
            continue
        end = _write(
            buffer, which, n, (mx, my, mz), (sx, sy, sz, s0), found, k, v, swapped, centroid
        )
        if end == v:
            continue
        _label(found, k, i, j, (gx, gy, gz), (sx, sy, sz), swapped)
        k, v = k + 1, end
    return found, k, v


@njit(cache=True)
def field_rigid(
    cells_h: Array, boxes_h: Boxes, points: Array, triangles: Array, boxes_p: Boxes,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """Tets of the host against triangles of a rigid probe."""
    r, t = relative(rh, th, rp, tp)
    pairs = near_pairs(boxes_h, boxes_p, r, t, False)
    touch = TOUCH * _size(boxes_h)
    moved_points = moved(points, r, t)
    found = _room(len(pairs))
    buffer, distance, centroid = np.empty((2, ROOM, 3)), np.empty(ROOM), np.empty(3)
    k, v = 0, 0
    for pair in range(len(pairs)):
        i, j = pairs[pair, 0], pairs[pair, 1]
        for c in range(3):
            for axis in range(3):
                buffer[0, c, axis] = moved_points[triangles[j, c], axis]
        mx, my, mz = _inward(buffer)
        which, n = clip_to_tet(buffer, 3, cells_h, i, mx, my, mz, touch, distance)
        if n < 3:
            continue
        sx, sy, sz, s0 = (
            cells_h[i, SLOPE],
            cells_h[i, SLOPE + 1],
            cells_h[i, SLOPE + 2],
            cells_h[i, CONSTANT],
        )
        end = _write(
            buffer, which, n, (mx, my, mz), (sx, sy, sz, s0), found, k, v, swapped, centroid
        )
        if end == v:
            continue
        _label(found, k, i, j, STIFF, (sx, sy, sz), swapped)
        k, v = k + 1, end
    return _to_world(found, k, v, rh, th)


@njit(cache=True)
def _inward(buffer: Array) -> tuple[float, float, float]:
    """Unit normal of the triangle in the first half, into the body it bounds."""
    ax, ay, az = (
        buffer[0, 1, 0] - buffer[0, 0, 0],
        buffer[0, 1, 1] - buffer[0, 0, 1],
        buffer[0, 1, 2] - buffer[0, 0, 2],
    )
    bx, by, bz = (
        buffer[0, 2, 0] - buffer[0, 0, 0],
        buffer[0, 2, 1] - buffer[0, 0, 1],
        buffer[0, 2, 2] - buffer[0, 0, 2],
    )
    nx, ny, nz = az * by - ay * bz, ax * bz - az * bx, ay * bx - ax * by
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    return nx / size, ny / size, nz / size


@njit(cache=True)
def field_half_space(
    cells_h: Array, boxes_h: Boxes, normal: Array, offset: float, stiffness: float,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """Tets of the host against a half space, rigid if its stiffness is infinite."""
    r, t = relative(rh, th, rp, tp)
    nx, ny, nz = _turned(r, normal[0], normal[1], normal[2])
    d = offset + nx * t[0] + ny * t[1] + nz * t[2]
    rigid = np.isinf(stiffness)
    boxes, links = boxes_h.boxes[0], boxes_h.links
    found = _room(len(cells_h))
    buffer, distance, centroid = np.empty((2, ROOM, 3)), np.empty(ROOM), np.empty(3)
    x, h = np.empty((4, 3)), np.empty(4)
    stack = np.empty(2 * DEPTH, np.int32)
    stack[0] = 0
    waiting, k, v = 1, 0, 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        height = nx * boxes[node, 0] + ny * boxes[node, 1] + nz * boxes[node, 2] - d
        reach = abs(nx) * boxes[node, 3] + abs(ny) * boxes[node, 4] + abs(nz) * boxes[node, 5]
        if height > reach or (rigid and height < -reach):
            continue
        if links[node, 0] >= 0:
            stack[waiting], stack[waiting + 1] = links[node, 0], node + 1
            waiting += 2
            continue
        i = links[node, 1]
        sx, sy, sz, s0 = (
            cells_h[i, SLOPE],
            cells_h[i, SLOPE + 1],
            cells_h[i, SLOPE + 2],
            cells_h[i, CONSTANT],
        )
        equal = EQUAL * (cells_h[i, SCALE] + stiffness * (abs(d) + reach))
        for c in range(4):
            for axis in range(3):
                x[c, axis] = cells_h[i, CORNERS + 3 * c + axis]
            depth = d - (nx * x[c, 0] + ny * x[c, 1] + nz * x[c, 2])
            more = depth if rigid else stiffness * depth - cells_h[i, PRESSURES + c]
            h[c] = 0.0 if not rigid and abs(more) <= equal else more
        n = slice_tet(x, h, buffer)
        if n == 0:
            continue
        mx, my, mz, which = -nx, -ny, -nz, 0
        if not rigid:
            mx, my, mz = -stiffness * nx - sx, -stiffness * ny - sy, -stiffness * nz - sz
            size = np.sqrt(mx * mx + my * my + mz * mz)
            mx, my, mz = mx / size, my / size, mz / size
            which, n = clip_to_plane(buffer, 0, n, nx, ny, nz, d, distance)
        if n < 3:
            continue
        end = _write(
            buffer, which, n, (mx, my, mz), (sx, sy, sz, s0), found, k, v, swapped, centroid
        )
        if end == v:
            continue
        g = STIFF if rigid else (-stiffness * nx, -stiffness * ny, -stiffness * nz)
        _label(found, k, i, -1, g, (sx, sy, sz), swapped)
        k, v = k + 1, end
    return _to_world(found, k, v, rh, th)


@njit(cache=True)
def half_space_rigid(
    normal: Array, offset: float, stiffness: float, points: Array, triangles: Array,
    rh: Array, th: Array, rp: Array, tp: Array, swapped: bool,
) -> Found:  # fmt: skip
    """A compliant half space, the host, against the triangles of a rigid probe."""
    r, t = relative(rh, th, rp, tp)
    x = moved(points, r, t)
    nx, ny, nz = normal[0], normal[1], normal[2]
    found = _room(len(triangles))
    buffer, distance, centroid = np.empty((2, ROOM, 3)), np.empty(ROOM), np.empty(3)
    k, v = 0, 0
    sx, sy, sz, s0 = -stiffness * nx, -stiffness * ny, -stiffness * nz, stiffness * offset
    for j in range(len(triangles)):
        for c in range(3):
            for axis in range(3):
                buffer[0, c, axis] = x[triangles[j, c], axis]
        which, n = clip_to_plane(buffer, 0, 3, nx, ny, nz, offset, distance)
        if n < 3:
            continue
        m = _inward(buffer)
        end = _write(buffer, which, n, m, (sx, sy, sz, s0), found, k, v, swapped, centroid)
        if end == v:
            continue
        _label(found, k, -1, j, STIFF, (sx, sy, sz), swapped)
        k, v = k + 1, end
    return _to_world(found, k, v, rh, th)
