"""Sheets that would pass through themselves or each other within a step are stopped.

The sweeps solve contacts to a tolerance, and a sheet that has gone through another stays on the
wrong side: there is no outside to tell. So the way of the step is checked before it is taken.
Vertices that would pass a face, and edges an edge, get inelastic impulses (Bridson et al. 2002).
What passes even so moves as one rigid body for the step (Provot 1997: rigid impact zones). Both
conserve momentum; a zone conserves the angular momentum as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from limpet.compiled import njit
from limpet.contact.contacts import doubled
from limpet.contact.continuous import time_edges_meet, time_of_impact
from limpet.contact.sheets import Sheet, bounding, cover, near_triangles
from limpet.geometry.bvh import DEPTH
from limpet.geometry.distance import Vec, add, cross, dot, point, scale, sub, unit
from limpet.geometry.rotation import rotation_matrix

Array = np.ndarray

ROUNDS = 8  # of impulses, each after a new search
PASSES = 4  # over the impacts of a round
ZONES = 40  # rounds in which rigid zones may grow


class Impacts(NamedTuple):
    """k places where four points come together within the step."""

    nodes: Array  # (k, 4) int32
    weight: Array  # (k, 4) with sum 0: of what moves relative to the other
    normal: Array  # (k, 3) along which the weighted sum of their positions is positive before


@njit(cache=True)
def _add(
    nodes: Array, weight: Array, normal: Array, k: int, of: Any,
    share: tuple[float, ...], n: Vec, u: Array,
) -> bool:  # fmt: skip
    """Write impact k with its normal against the relative velocity; False if there is none."""
    along = 0.0
    for a in range(4):
        nodes[k, a], weight[k, a] = of[a], share[a]
        along += share[a] * dot(n, point(u, of[a]))
    n = unit(n if along < 0.0 else scale(-1.0, n))
    normal[k, 0], normal[k, 1], normal[k, 2] = n
    return along != 0.0 and dot(n, n) > 0.0


@njit(cache=True)
def find_impacts(x: Array, u: Array, sheet: Sheet, alone: Array, h: float) -> Impacts:
    """All of the sheet's points at x (n, 3), moving with u (n, 3) for h; its tree covers the way.

    alone (n,): points with the same number, unless it is -1, do not collide.
    """
    nodes, weight, normal = np.empty((64, 4), np.int32), np.empty((64, 4)), np.empty((64, 3))
    stack, near = np.empty(DEPTH, np.int32), np.empty(len(sheet.triangles), np.int32)
    triangles, found = sheet.triangles, 0
    for i in range(len(sheet.used)):
        if not sheet.used[i]:
            continue
        p, up = point(x, i), point(u, i)
        low, high = bounding(p, add(p, scale(h, up)), 0.0)
        for k in range(near_triangles(sheet.tree, low, high, stack, near)):
            a, b, c = triangles[near[k]]
            if i in (a, b, c) or (alone[i] >= 0 and alone[i] == alone[a]):
                continue
            t, e, f, g = time_of_impact(
                p, point(x, a), point(x, b), point(x, c),
                up, point(u, a), point(u, b), point(u, c), h,
            )  # fmt: skip
            if t < 0.0:
                continue
            at = add(point(x, a), scale(t, point(u, a)))
            n = cross(
                sub(add(point(x, b), scale(t, point(u, b))), at),
                sub(add(point(x, c), scale(t, point(u, c))), at),
            )
            if found + 1 >= len(nodes):
                nodes, weight, normal = doubled(nodes), doubled(weight), doubled(normal)
            if _add(nodes, weight, normal, found, (np.int32(i), a, b, c), (1.0, -e, -f, -g), n, u):
                found += 1
    for m in range(len(sheet.edges)):
        i, j = sheet.edges[m]
        p, q, up, uq = point(x, i), point(x, j), point(u, i), point(u, j)
        low, high = bounding(p, q, 0.0)
        low1, high1 = bounding(add(p, scale(h, up)), add(q, scale(h, uq)), 0.0)
        low = (min(low[0], low1[0]), min(low[1], low1[1]), min(low[2], low1[2]))
        high = (max(high[0], high1[0]), max(high[1], high1[1]), max(high[2], high1[2]))
        for k in range(near_triangles(sheet.tree, low, high, stack, near)):
            for l in range(sheet.start[near[k]], sheet.start[near[k] + 1]):
                f = sheet.owned[l]
                a, b = sheet.edges[f]
                if f <= m or i in (a, b) or j in (a, b):
                    continue
                if alone[i] >= 0 and alone[i] == alone[a]:
                    continue
                pa, pb, ua, ub = point(x, a), point(x, b), point(u, a), point(u, b)
                apart = False
                for d in range(3):
                    least = min(pa[d], pb[d], pa[d] + h * ua[d], pb[d] + h * ub[d])
                    most = max(pa[d], pb[d], pa[d] + h * ua[d], pb[d] + h * ub[d])
                    apart = apart or least > high[d] or most < low[d]
                if apart:
                    continue
                t, s, r = time_edges_meet(p, q, pa, pb, up, uq, ua, ub, h)
                if t < 0.0:
                    continue
                n = cross(
                    add(sub(q, p), scale(t, sub(uq, up))), add(sub(pb, pa), scale(t, sub(ub, ua)))
                )
                if found + 1 >= len(nodes):
                    nodes, weight, normal = doubled(nodes), doubled(weight), doubled(normal)
                share = (1.0 - s, s, r - 1.0, -r)
                if _add(nodes, weight, normal, found, (i, j, a, b), share, n, u):
                    found += 1
    return Impacts(nodes[:found], weight[:found], normal[:found])


@njit(cache=True)
def _push_apart(
    at: Impacts, x: Array, u: Array, inverse_mass: Array, clearance: float, h: float
) -> None:
    """Inelastic impulses, one after the other, until each ends up `clearance` [m] apart; on u."""
    for c in range(len(at.nodes)):
        gap, w, n = 0.0, 0.0, at.normal[c]
        for a in range(4):
            i, s = at.nodes[c, a], at.weight[c, a]
            w += s * s * inverse_mass[i]
            for d in range(3):
                gap += s * n[d] * (x[i, d] + h * u[i, d])
        if gap >= clearance or w == 0.0:
            continue
        push = (clearance - gap) / (h * w)
        for a in range(4):
            i = at.nodes[c, a]
            for d in range(3):
                u[i, d] += push * at.weight[c, a] * inverse_mass[i] * n[d]


@njit(cache=True)
def _top(zone: Array, i: int) -> int:
    while zone[i] != i:
        zone[i] = zone[zone[i]]
        i = zone[i]
    return i


@njit(cache=True)
def _join(at: Impacts, zone: Array) -> None:
    for c in range(len(at.nodes)):
        first = _top(zone, at.nodes[c, 0])
        for a in range(1, 4):
            other = _top(zone, at.nodes[c, a])
            first, other = min(first, other), max(first, other)
            zone[other] = first


def _rigid_motion(x: Array, u: Array, inverse_mass: Array, h: float) -> Array:
    """Velocities (k, 3) that move points x (k, 3) as one body for h, with the momenta of u.

    If some are held, all go with the first of these.
    """
    held = np.flatnonzero(inverse_mass == 0.0)
    if len(held):
        return np.tile(u[held[0]], (len(x), 1))
    mass = 1.0 / inverse_mass
    centre, mean = mass @ x / mass.sum(), mass @ u / mass.sum()
    r = x - centre
    spin = np.cross(r, mass[:, None] * (u - mean)).sum(axis=0)
    inertia = np.einsum("k,ki,ki", mass, r, r) * np.eye(3) - np.einsum("k,ki,kj->ij", mass, r, r)
    rate = np.linalg.lstsq(inertia, spin, rcond=1e-9)[0]
    angle = h * float(np.linalg.norm(rate))
    if angle == 0.0:
        return np.tile(mean, (len(x), 1))
    turned = r @ rotation_matrix(rate, angle).T
    return mean + (turned - r) / h


def stop_impacts(
    x: Array, u: Array, inverse_mass: Array, sheet: Sheet, alone: Array, clearance: float, h: float
) -> tuple[Array, int]:
    """Velocities (n, 3) with which nothing passes through within h, and how many impacts u had."""
    first, v = -1, u.copy()
    for _ in range(ROUNDS):
        cover(sheet.tree, x, x + h * v, sheet.triangles)
        at = find_impacts(x, v, sheet, alone, h)
        first = len(at.nodes) if first < 0 else first
        if len(at.nodes) == 0:
            return v, first
        for _ in range(PASSES):
            _push_apart(at, x, v, inverse_mass, clearance, h)
    zone, free = np.arange(len(x)), v.copy()
    for _ in range(ZONES):
        cover(sheet.tree, x, x + h * v, sheet.triangles)
        at = find_impacts(x, v, sheet, alone, h)
        if len(at.nodes) == 0:
            break
        _join(at, zone)
        top = np.array([_top(zone, i) for i in range(len(x))])
        size = np.bincount(top, minlength=len(x))
        v = free.copy()
        for z in np.flatnonzero(size > 1):
            own = np.flatnonzero(top == z)
            v[own] = _rigid_motion(x[own], free[own], inverse_mass[own], h)
    return v, first
