"""Bounding volume hierarchy over the cells of a rigid body, and near pairs of cells of two bodies.

A box also bounds the pressure in it: cells without a common pressure have no contact surface.
There are several sets of boxes, each around the parts of the cells with pressures up to a limit: in
a shallow contact, where pressures are low, only the outer parts of long cells count, and most pairs
of cells are skipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.bvh import DEPTH, median_splits
from limpet.geometry.cells import TET_EDGES
from limpet.pressure_field.packed import CONSTANT, CORNERS, FACES, SLOPE

Array = np.ndarray

LEVELS = 7  # sets of boxes; each limit is half of the one before, the first is infinite
PAD = 4e-12  # of the size of the body, added to every box, so that boxes in contact overlap
FEW = 4  # cells of a node that is not divided any more
EMPTY = -1e300  # half side of an empty box, which is separated from all others


class Boxes(NamedTuple):
    """Nodes in depth-first order: the first child of node i is node i + 1. A leaf has one cell."""

    boxes: Array  # (l, 2 m - 1, 8) centre, half sides [m], least and greatest pressure [Pa]
    links: Array  # (2 m - 1, 2) int32: second child, or -1 in a leaf; cell of a leaf, else size
    limits: Array  # (l,) [Pa] pressure limit of each set, decreasing
    steepest: float  # [Pa/m] largest pressure over depth; inf if rigid


def leaf_order(lower: Array, upper: Array) -> Array:
    """(m,) The cells with boxes lower, upper (m, 3) [m] in the order of the leaves of a tree."""
    return median_splits(0.5 * (lower + upper), 1)[3]


def tet_boxes(corners: Array, pressure: Array, steepest: float) -> Boxes:
    """Over tets with corners (m, 4, 3) [m] and pressures there (m, 4) [Pa]."""
    limits = pressure.max() * 0.5 ** np.arange(LEVELS, dtype=float)
    limits[0] = np.inf
    lower, upper = np.empty((LEVELS, len(corners), 3)), np.empty((LEVELS, len(corners), 3))
    one, two = np.array(TET_EDGES).T
    for level, limit in enumerate(limits):
        p, q = pressure[:, one], pressure[:, two]
        crossed = (p > limit) != (q > limit)
        w = np.where(crossed, (min(limit, 1e300) - p) / np.where(crossed, q - p, 1.0), 0.0)
        between = corners[:, one] + w[:, :, None] * (corners[:, two] - corners[:, one])
        within = np.concatenate([pressure <= limit, crossed], axis=1)[:, :, None]
        x = np.concatenate([corners, between], axis=1)
        lower[level] = np.where(within, x, np.inf).min(axis=1)
        upper[level] = np.where(within, x, -np.inf).max(axis=1)
    pad = PAD * np.ptp(corners.reshape(-1, 3), axis=0).sum()
    boxes, links = _build(lower - pad, upper + pad, pressure.min(axis=1), pressure.max(axis=1))
    return Boxes(boxes, links, limits, float(steepest))


def triangle_boxes(corners: Array) -> Boxes:
    """Over triangles (m, 3, 3) [m] of a rigid body, which has no pressure bounds."""
    pad = PAD * np.ptp(corners.reshape(-1, 3), axis=0).sum()
    lower, upper = corners.min(axis=1)[None] - pad, corners.max(axis=1)[None] + pad
    any_pressure = np.full(len(corners), np.inf)
    boxes, links = _build(lower, upper, -any_pressure, any_pressure)
    return Boxes(boxes, links, np.array([np.inf]), np.inf)


def _build(lower: Array, upper: Array, least: Array, greatest: Array) -> tuple[Array, Array]:
    """Boxes and links over cells with boxes lower, upper (l, m, 3) [m] and pressures (m,) [Pa]."""
    second, start, size, order = median_splits(0.5 * (lower[0] + upper[0]), 1)
    links = np.column_stack([second, np.where(second < 0, order[start], size)])
    return _fill(links, lower, upper, least, greatest), links


@njit(cache=True)
def _fill(links: Array, lower: Array, upper: Array, least: Array, greatest: Array) -> Array:
    """Boxes (l, n, 8) of a tree, from the leaves up."""
    levels, nodes = len(lower), len(links)
    boxes = np.empty((levels, nodes, 8))
    low, high = np.empty((nodes, 4)), np.empty((nodes, 4))  # of x, y, z and the pressure
    for level in range(levels):
        for i in range(nodes - 1, -1, -1):
            second, c = links[i, 0], links[i, 1]
            if second < 0:
                for k in range(3):
                    low[i, k], high[i, k] = lower[level, c, k], upper[level, c, k]
                low[i, 3], high[i, 3] = least[c], greatest[c]
            else:
                for k in range(4):
                    low[i, k] = min(low[i + 1, k], low[second, k])
                    high[i, k] = max(high[i + 1, k], high[second, k])
            for k in range(3):
                empty = low[i, k] > high[i, k]
                boxes[level, i, k] = 0.0 if empty else 0.5 * (low[i, k] + high[i, k])
                boxes[level, i, 3 + k] = EMPTY if empty else 0.5 * (high[i, k] - low[i, k])
            boxes[level, i, 6], boxes[level, i, 7] = low[i, 3], high[i, 3]
    return boxes


@inner(error_model="numpy")
def highest_pressure(host: Boxes, probe: Boxes, r: Array, t: Array, slack: float) -> float:
    """[Pa] Upper bound of the contact pressure of two bodies; negative if they are separated.

    They may come closer by `slack` [m].

    Along an axis on which the bodies' boxes overlap by w, a point in both is at most w - b inside
    the one and b inside the other, so p <= G (w - b) and p <= G' b with their steepest gradients,
    which are infinite if a body has pressure on its surface. The greatest pressure of either body
    is another bound.
    """
    width = np.inf  # without the slack
    for k in range(6):
        # axes of the host, then of the probe
        nx, ny, nz = (1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))
        if k >= 3:
            nx, ny, nz = r[0, k - 3], r[1, k - 3], r[2, k - 3]
        at, reach_h, reach_p = 0.0, 0.0, 0.0
        n = (nx, ny, nz)
        for i in range(3):
            turned = nx * r[0, i] + ny * r[1, i] + nz * r[2, i]
            at += n[i] * (t[i] - host.boxes[0, 0, i]) + turned * probe.boxes[0, 0, i]
            reach_h += abs(n[i]) * host.boxes[0, 0, 3 + i]
            reach_p += abs(turned) * probe.boxes[0, 0, 3 + i]
        width = min(width, reach_h + reach_p - abs(at))
    width += slack
    if width < 0.0:
        return -1.0
    give = 1.0 / host.steepest + 1.0 / probe.steepest
    highest = width / give if give > 0.0 else np.inf
    return min(highest, host.boxes[0, 0, 7], probe.boxes[0, 0, 7])


@inner(error_model="numpy")
def _level(limits: Array, pressure: float) -> int:
    """The last set of boxes with a limit above this pressure, with a margin for round-off."""
    level = 0
    while level + 1 < len(limits) and limits[level + 1] > 1.000001 * pressure:
        level += 1
    return level


@njit(cache=True, error_model="numpy")
def _moved(boxes: Array, r: Array, a: Array, t: Array, slack: float) -> Array:
    """Axis-aligned boxes in the frame of the host around the boxes (n, 8) of the probe, larger by
    `slack` [m] on all sides.
    """
    out = np.empty((len(boxes), 6))
    for j in range(len(boxes)):
        for k in range(3):
            out[j, k] = r[k, 0] * boxes[j, 0] + r[k, 1] * boxes[j, 1] + r[k, 2] * boxes[j, 2] + t[k]
            half = a[k, 0] * boxes[j, 3] + a[k, 1] * boxes[j, 4] + a[k, 2] * boxes[j, 5]
            out[j, 3 + k] = half + slack
    return out


@inner(error_model="numpy")
def _move_planes(cells: Array, j: int, r: Array, t: Array, out: Array) -> None:
    """Faces and pressure of a cell of the probe, in the frame of the host: row j of out."""
    for at in (SLOPE, FACES, FACES + 4, FACES + 8, FACES + 12):
        shift = 0.0
        for k in range(3):
            n = r[k, 0] * cells[j, at] + r[k, 1] * cells[j, at + 1] + r[k, 2] * cells[j, at + 2]
            out[j, at + k] = n
            shift += n * t[k]
        # n . x <= d for faces, but slope . x + constant for the pressure
        out[j, at + 3] = cells[j, at + 3] - shift if at == SLOPE else cells[j, at + 3] + shift


@inner(error_model="numpy")
def near_pairs(
    host: Boxes, cells_h: Array, probe: Boxes, cells_p: Array, r: Array, t: Array, slack: float
) -> Array:
    """Pairs (k, 2) int32 of a cell of the host and one of the probe that may share a pressure,
    now or after no point of the probe has moved further than `slack` [m].

    r (3, 3), t (3,) [m] transform from the frame of the probe to that of the host.
    """
    if len(cells_p) <= len(cells_h):
        return _search(host, cells_h, probe, cells_p, r, t, slack)
    # one body is transformed completely: the smaller one
    back = r.T.copy()
    pairs = _search(probe, cells_p, host, cells_h, back, -(back @ t), slack)
    for k in range(len(pairs)):
        pairs[k, 0], pairs[k, 1] = pairs[k, 1], pairs[k, 0]
    return pairs


@njit(cache=True, error_model="numpy", inline="always")
def _separated(
    cells: Array, c: int, x: float, y: float, z: float, hx: float, hy: float, hz: float,
    least: float, greatest: float, slack: float,
) -> bool:  # fmt: skip
    """Whether a cell and a box have no common pressure, or a face of the cell separates them; also
    after a motion by `slack` [m].

    The box has its centre at x, y, z, half sides hx, hy, hz, and these pressures [Pa].
    """
    gx, gy, gz = cells[c, SLOPE], cells[c, SLOPE + 1], cells[c, SLOPE + 2]
    p = gx * x + gy * y + gz * z + cells[c, CONSTANT]
    spread = abs(gx) * (hx + slack) + abs(gy) * (hy + slack) + abs(gz) * (hz + slack)
    parted = p - spread > greatest or p + spread < least
    if not parted:
        for f in range(FACES, CORNERS, 4):
            nx, ny, nz = cells[c, f], cells[c, f + 1], cells[c, f + 2]
            height = nx * x + ny * y + nz * z - cells[c, f + 3]
            parted |= height > abs(nx) * hx + abs(ny) * hy + abs(nz) * hz + slack
    return parted


@njit(cache=True, error_model="numpy")
def _search(
    host: Boxes, cells_h: Array, probe: Boxes, cells_p: Array, r: Array, t: Array, slack: float
) -> Array:
    """Both trees at once, from the roots down to nodes of FEW cells, which are compared each with
    each.

    Two nodes are separated by a face of their boxes. A cell and a larger node are also separated by
    a face of the cell, or by pressure: that of the cell, linear over the box of the node, may be
    entirely above or below that of the node. The code uses scalars: passing arrays to a function
    that is not inlined, or taking a row, costs more than the test.
    """
    highest = highest_pressure(host, probe, r, t, slack)
    pairs = np.empty((256, 2), np.int32)
    if highest < 0.0:
        return pairs[:0]
    bh, lh = host.boxes[_level(host.limits, highest)], host.links
    bp, lp = probe.boxes[_level(probe.limits, highest)], probe.links
    r00, r01, r02 = r[0, 0], r[0, 1], r[0, 2]
    r10, r11, r12 = r[1, 0], r[1, 1], r[1, 2]
    r20, r21, r22 = r[2, 0], r[2, 1], r[2, 2]
    a00, a01, a02 = abs(r00), abs(r01), abs(r02)
    a10, a11, a12 = abs(r10), abs(r11), abs(r12)
    a20, a21, a22 = abs(r20), abs(r21), abs(r22)
    moved = _moved(bp, r, np.abs(r), t, slack)
    planes, known = np.empty((len(cells_p), CORNERS)), np.zeros(len(cells_p), np.bool_)
    found = 0
    stack = np.empty((2 * DEPTH, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        i, j = stack[waiting, 0], stack[waiting, 1]
        # One branch for three axes, because the separating axis is unpredictable.
        mx, my, mz = moved[j, 0], moved[j, 1], moved[j, 2]
        cx, cy, cz = bh[i, 0], bh[i, 1], bh[i, 2]
        hx, hy, hz = bh[i, 3], bh[i, 4], bh[i, 5]
        x, y, z = mx - cx, my - cy, mz - cz
        ex, ey, ez = moved[j, 3], moved[j, 4], moved[j, 5]
        if (abs(x) > hx + ex) | (abs(y) > hy + ey) | (abs(z) > hz + ez):
            continue
        px, py, pz = bp[j, 3] + slack, bp[j, 4] + slack, bp[j, 5] + slack
        if (
            (abs(r00 * x + r10 * y + r20 * z) > px + a00 * hx + a10 * hy + a20 * hz)
            | (abs(r01 * x + r11 * y + r21 * z) > py + a01 * hx + a11 * hy + a21 * hz)
            | (abs(r02 * x + r12 * y + r22 * z) > pz + a02 * hx + a12 * hy + a22 * hz)
        ):
            continue
        second_h, second_p = lh[i, 0], lp[j, 0]
        size_h = 1 if second_h < 0 else lh[i, 1]
        size_p = 1 if second_p < 0 else lp[j, 1]
        if size_h <= FEW and size_p <= FEW:
            if found + size_h * size_p > len(pairs):
                more = np.empty((4 * len(pairs), 2), np.int32)
                for k in range(found):
                    more[k, 0], more[k, 1] = pairs[k, 0], pairs[k, 1]
                pairs = more
            for k in range(i, i + 2 * size_h - 1):
                if lh[k, 0] >= 0:
                    continue
                cx, cy, cz = bh[k, 0], bh[k, 1], bh[k, 2]
                hx, hy, hz = bh[k, 3], bh[k, 4], bh[k, 5]
                reach_x = a00 * hx + a10 * hy + a20 * hz + slack  # along the axes of the probe
                reach_y = a01 * hx + a11 * hy + a21 * hz + slack
                reach_z = a02 * hx + a12 * hy + a22 * hz + slack
                least, greatest = bh[k, 6], bh[k, 7]
                for m in range(j, j + 2 * size_p - 1):
                    if lp[m, 0] >= 0:
                        continue
                    x, y, z = moved[m, 0] - cx, moved[m, 1] - cy, moved[m, 2] - cz
                    apart = abs(x) > hx + moved[m, 3]
                    apart |= abs(y) > hy + moved[m, 4]
                    apart |= abs(z) > hz + moved[m, 5]
                    apart |= abs(r00 * x + r10 * y + r20 * z) > bp[m, 3] + reach_x
                    apart |= abs(r01 * x + r11 * y + r21 * z) > bp[m, 4] + reach_y
                    apart |= abs(r02 * x + r12 * y + r22 * z) > bp[m, 5] + reach_z
                    apart |= (bp[m, 6] > greatest) | (bp[m, 7] < least)
                    pairs[found, 0], pairs[found, 1] = lh[k, 1], lp[m, 1]
                    found += not apart
            continue
        # a cell of the probe against a box of the host, then the other way round
        if second_p < 0:
            cell = lp[j, 1]
            if not known[cell]:
                _move_planes(cells_p, cell, r, t, planes)
                known[cell] = True
            if _separated(planes, cell, cx, cy, cz, hx, hy, hz, bh[i, 6], bh[i, 7], slack):
                continue
        if second_h < 0 and _separated(
            cells_h, lh[i, 1], mx, my, mz, ex, ey, ez, bp[j, 6], bp[j, 7], slack
        ):
            continue
        if second_p < 0 or (second_h >= 0 and hx + hy + hz >= px + py + pz):
            stack[waiting, 0], stack[waiting, 1] = second_h, j
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i + 1, j
            waiting += 2
        else:
            stack[waiting, 0], stack[waiting, 1] = i, second_p
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i, j + 1
            waiting += 2
    return pairs[:found]


@inner(error_model="numpy")
def near_plane(body: Boxes, nx: float, ny: float, nz: float, d: float, across: bool) -> Array:
    """Cells (k,) int32 whose boxes reach below the plane (nx, ny, nz) . x = d, or `across` it."""
    boxes, links = body.boxes[0], body.links
    cells = np.empty(len(links), np.int32)
    found = 0
    stack = np.empty(2 * DEPTH, np.int32)
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        i = stack[waiting]
        height = nx * boxes[i, 0] + ny * boxes[i, 1] + nz * boxes[i, 2] - d
        reach = abs(nx) * boxes[i, 3] + abs(ny) * boxes[i, 4] + abs(nz) * boxes[i, 5]
        if height > reach or (across and height < -reach):
            continue
        if links[i, 0] < 0:
            cells[found] = links[i, 1]
            found += 1
        else:
            stack[waiting], stack[waiting + 1] = links[i, 0], i + 1
            waiting += 2
    return cells[:found]
