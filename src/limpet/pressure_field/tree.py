"""A tree of boxes over the cells of a body that only moves as a whole, and pairs of cells near
each other in two bodies.

A box also bounds the pressure in it: cells whose pressures have nothing in common never meet on an
equal-pressure surface. And there are several sets of boxes, each about the parts of the cells with
pressures up to a limit: in a shallow contact, where pressures are low, only the outermost parts of
long cells count, and most pairs of cells are never looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from limpet.geometry.cells import TET_EDGES

Array = np.ndarray

DEPTH = 64  # of a tree: splits halve
LEVELS = 7  # sets of boxes; each limit is half the one before, the first is none
PAD = 4e-12  # of the body's size, on every box: what lies in a plane of another touches it
NOWHERE = -1e300  # half side of a box about nothing: apart from every other


class Boxes(NamedTuple):
    """Depth first: the first child of node i is node i + 1. Leaves hold one cell."""

    boxes: Array  # (l, 2 m - 1, 8) centre, half sides [m], least and greatest pressure [Pa]
    links: Array  # (2 m - 1, 2) int32: second child, or -1 in a leaf; cell of a leaf, else size
    limits: Array  # (l,) [Pa] up to which pressure set l counts, falling
    steepest: float  # [Pa/m] the pressure is at most this times the depth; inf if rigid


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
    """Over triangles (m, 3, 3) [m] of a rigid body, whose pressure may be any."""
    pad = PAD * np.ptp(corners.reshape(-1, 3), axis=0).sum()
    lower, upper = corners.min(axis=1)[None] - pad, corners.max(axis=1)[None] + pad
    any_pressure = np.full(len(corners), np.inf)
    boxes, links = _build(lower, upper, -any_pressure, any_pressure)
    return Boxes(boxes, links, np.array([np.inf]), np.inf)


@njit(cache=True)
def _build(lower: Array, upper: Array, least: Array, greatest: Array) -> tuple[Array, Array]:
    """Median splits along the longest side of the centres' box; lower, upper are (l, m, 3)."""
    levels, m = lower.shape[0], lower.shape[1]
    centre = 0.5 * (lower[0] + upper[0])
    order = np.arange(m)
    boxes = np.empty((levels, 2 * m - 1, 8))
    links = np.empty((2 * m - 1, 2), np.int32)
    todo = np.empty((DEPTH, 3), np.int64)  # first cell, number of them, parent if second child
    todo[0, 0], todo[0, 1], todo[0, 2] = 0, m, -1
    waiting, n = 1, 0
    while waiting > 0:
        waiting -= 1
        first, many, parent = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        part = order[first : first + many].copy()
        if parent >= 0:
            links[parent, 0] = n
        for level in range(levels):
            for k in range(3):
                low, high = np.inf, -np.inf
                for c in part:
                    low, high = min(low, lower[level, c, k]), max(high, upper[level, c, k])
                empty = low > high
                boxes[level, n, k] = 0.0 if empty else 0.5 * (low + high)
                boxes[level, n, 3 + k] = NOWHERE if empty else 0.5 * (high - low)
            boxes[level, n, 6], boxes[level, n, 7] = least[part].min(), greatest[part].max()
        links[n, 0], links[n, 1] = -1, part[0]
        if many > 1:
            axis, longest = 0, -1.0
            for k in range(3):
                extent = centre[part, k].max() - centre[part, k].min()
                if extent > longest:
                    axis, longest = k, extent
            order[first : first + many] = part[np.argsort(centre[part, axis], kind="mergesort")]
            half = many // 2
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = first + half, many - half, n
            last = waiting + 1  # the first child comes next
            todo[last, 0], todo[last, 1], todo[last, 2] = first, half, -1
            links[n, 1] = many
            waiting += 2
        n += 1
    return boxes, links


@njit(cache=True)
def highest_pressure(host: Boxes, probe: Boxes, r: Array, t: Array) -> float:
    """[Pa] No contact of the two bodies has a higher pressure; negative if they are apart.

    Along an axis on which the bodies' boxes overlap by w, a point in both is at most w - b inside
    the one and b inside the other, so p <= G (w - b) and p <= G' b with their steepest gradients,
    which are taken as infinite where a body has pressure on its surface.
    """
    width = np.inf
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
    if width < 0.0:
        return -1.0
    give = 1.0 / host.steepest + 1.0 / probe.steepest
    return width / give if give > 0.0 else np.inf


@njit(cache=True)
def _level(limits: Array, pressure: float) -> int:
    """The last set of boxes that counts all pressures up to this one, with room for round-off."""
    level = 0
    while level + 1 < len(limits) and limits[level + 1] > 1.000001 * pressure:
        level += 1
    return level


@njit(cache=True)
def near_pairs(host: Boxes, probe: Boxes, r: Array, t: Array, any_pressure: bool) -> Array:
    """Pairs (k, 2) int32 of a cell of the host and one of the probe whose boxes overlap.

    r (3, 3), t (3,) [m] take the probe's frame to the host's. With `any_pressure` all pairs that
    may overlap count, else those that may share a pressure in this pose. The faces of both boxes
    are tried as separating planes, not the nine along two edges, which rarely separate more.
    """
    highest = np.inf if any_pressure else highest_pressure(host, probe, r, t)
    if highest < 0.0:
        return np.empty((0, 2), np.int32)
    bh, lh = host.boxes[_level(host.limits, highest)], host.links
    bp, lp = probe.boxes[_level(probe.limits, highest)], probe.links
    r00, r01, r02 = r[0, 0], r[0, 1], r[0, 2]
    r10, r11, r12 = r[1, 0], r[1, 1], r[1, 2]
    r20, r21, r22 = r[2, 0], r[2, 1], r[2, 2]
    a00, a01, a02 = abs(r00), abs(r01), abs(r02)
    a10, a11, a12 = abs(r10), abs(r11), abs(r12)
    a20, a21, a22 = abs(r20), abs(r21), abs(r22)
    tx, ty, tz = t[0], t[1], t[2]
    pairs = np.empty((256, 2), np.int32)
    found = 0
    stack = np.empty((2 * DEPTH, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        i, j = stack[waiting, 0], stack[waiting, 1]
        if not any_pressure and (bh[i, 6] > bp[j, 7] or bp[j, 6] > bh[i, 7]):
            continue
        # Scalars, not rows: a view of a row costs more than the test.
        hx, hy, hz = bh[i, 3], bh[i, 4], bh[i, 5]
        px, py, pz = bp[j, 3], bp[j, 4], bp[j, 5]
        cx, cy, cz = bp[j, 0], bp[j, 1], bp[j, 2]
        # the probe's centre from the host's, along the host's axes
        x = r00 * cx + r01 * cy + r02 * cz + tx - bh[i, 0]
        if abs(x) > hx + a00 * px + a01 * py + a02 * pz:
            continue
        y = r10 * cx + r11 * cy + r12 * cz + ty - bh[i, 1]
        if abs(y) > hy + a10 * px + a11 * py + a12 * pz:
            continue
        z = r20 * cx + r21 * cy + r22 * cz + tz - bh[i, 2]
        if abs(z) > hz + a20 * px + a21 * py + a22 * pz:
            continue
        # and along the probe's
        if abs(r00 * x + r10 * y + r20 * z) > px + a00 * hx + a10 * hy + a20 * hz:
            continue
        if abs(r01 * x + r11 * y + r21 * z) > py + a01 * hx + a11 * hy + a21 * hz:
            continue
        if abs(r02 * x + r12 * y + r22 * z) > pz + a02 * hx + a12 * hy + a22 * hz:
            continue
        second_h, second_p = lh[i, 0], lp[j, 0]
        if second_h < 0 and second_p < 0:
            if found == len(pairs):
                pairs = np.concatenate((pairs, np.empty_like(pairs)))
            pairs[found, 0], pairs[found, 1] = lh[i, 1], lp[j, 1]
            found += 1
        elif second_p < 0 or (second_h >= 0 and hx + hy + hz >= px + py + pz):
            stack[waiting, 0], stack[waiting, 1] = second_h, j
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i + 1, j
            waiting += 2
        else:
            stack[waiting, 0], stack[waiting, 1] = i, second_p
            stack[waiting + 1, 0], stack[waiting + 1, 1] = i, j + 1
            waiting += 2
    return pairs[:found]
