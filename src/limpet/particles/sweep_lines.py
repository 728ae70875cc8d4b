"""Sweeps over rows of two nodes (distances, grouped in chains) and of four (bending)."""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import Vec, dot, point
from limpet.particles.distances import length_rate
from limpet.particles.rows import BendRows, DistanceRows, bending_gradient
from limpet.rigid import limited

Array = np.ndarray

STEADY = 0.06  # h^2 T/(m L) of an edge up to which its tension needs no limit


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def distance_error(rows: DistanceRows, c: int, p: Array, h: float, v: Array) -> float:
    """What row c still asks for [m/s]."""
    i, j = rows.nodes[c, 0], rows.nodes[c, 1]
    u0, u1, u2 = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
    along = rows.direction[c, 0] * u0 + rows.direction[c, 1] * u1 + rows.direction[c, 2] * u2
    square = u0 * u0 + u1 * u1 + u2 * u2
    return length_rate(rows.length[c], along, square, h) + rows.bias[c] + rows.compliance[c] * p[c]


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _pull(rows: DistanceRows, c: int, d: float, v: Array, inverse_mass: Array) -> None:
    """Add the impulse d of row c."""
    i, j = rows.nodes[c, 0], rows.nodes[c, 1]
    n0, n1, n2 = rows.direction[c, 0], rows.direction[c, 1], rows.direction[c, 2]
    a, b = d * inverse_mass[i], d * inverse_mass[j]
    v[i, 0] -= a * n0
    v[i, 1] -= a * n1
    v[i, 2] -= a * n2
    v[j, 0] += b * n0
    v[j, 1] += b * n1
    v[j, 2] += b * n2


@inner(error_model="numpy", fastmath={"contract"})
def sweep_distances(
    rows: DistanceRows, p: Array, h: float, v: Array, inverse_mass: Array
) -> tuple[float, float]:
    """Chain by chain: its rows together (`factor_chains`) if that keeps to bounds, else in turn."""
    # all in one place: handing over the many arrays of a tuple takes longer than a short chain
    w, r, chain, pivot, factor = rows.w, rows.r, rows.chain, rows.pivot, rows.factor
    lower, upper = rows.lower, rows.upper
    largest, squares = 0.0, 0.0
    change = np.empty(len(p))
    for t in range(len(chain) - 1):
        s, e = chain[t], chain[t + 1]
        together = e - s > 1
        if together:
            last = 0.0
            for c in range(s, e):
                right = -distance_error(rows, c, p, h, v) if w[c] > 0.0 else 0.0
                last = right - factor[c - 1] * last if c > s else right
                change[c] = last
            last = 0.0
            for c in range(e - 1, s - 1, -1):
                last = change[c] * pivot[c] - factor[c] * last
                change[c] = last
                together = together and lower[c] <= p[c] + last <= upper[c]
        for c in range(s, e):
            if together:
                d = change[c]
            else:
                u = distance_error(rows, c, p, h, v)
                d = limited.solve_row(r[c], u, p[c], lower[c], upper[c]) - p[c]
            if d != 0.0:
                p[c] += d
                squares += d * d
                largest = max(largest, abs(d) * w[c])
                _pull(rows, c, d, v, inverse_mass)
    return largest, squares


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def sweep_ends(
    rows: DistanceRows, p: Array, h: float, v: Array, inverse_mass: Array
) -> tuple[float, float]:
    """Edge by edge, each along its direction at the end of the solve; in place on that as well.

    An edge alone is solved exactly: with D from i to j after h without its own impulse P, it ends
    up along D, at the length |D| + h w p. Along the directions at the start a flat sheet could not
    give way at all, and the tension would grow from sweep to sweep. |d| <= L at the end is a convex
    set that rest is in, so its projection gains no energy, however taut the sheet and long the
    solve. An error that there is may stay, for `SheetPositions`, but not grow.
    """
    largest, squares = 0.0, 0.0
    n, offset = rows.direction, rows.offset
    for c in range(len(p)):
        if rows.w[c] == 0.0:
            continue
        i, j = rows.nodes[c, 0], rows.nodes[c, 1]
        w, old = inverse_mass[i] + inverse_mass[j], p[c]
        d0 = offset[c, 0] + h * (v[j, 0] - v[i, 0] - w * old * n[c, 0])
        d1 = offset[c, 1] + h * (v[j, 1] - v[i, 1] - w * old * n[c, 1])
        d2 = offset[c, 2] + h * (v[j, 2] - v[i, 2] - w * old * n[c, 2])
        size = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if size == 0.0:
            continue
        aim = rows.length[c] - h * rows.bias[c]
        if rows.compliance[c] == 0.0:
            aim = min(max(size, min(aim, rows.rest[c])), max(aim, rows.rest[c]))
        new = min(max((aim - size) * rows.r[c] / h, rows.lower[c]), rows.upper[c])
        d0, d1, d2 = d0 / size, d1 / size, d2 / size
        e0, e1, e2 = new * d0 - old * n[c, 0], new * d1 - old * n[c, 1], new * d2 - old * n[c, 2]
        p[c], n[c, 0], n[c, 1], n[c, 2] = new, d0, d1, d2
        square = e0 * e0 + e1 * e1 + e2 * e2
        squares += square
        largest = max(largest, rows.w[c] * np.sqrt(square))
        a, b = inverse_mass[i], inverse_mass[j]
        v[i, 0], v[i, 1], v[i, 2] = v[i, 0] - a * e0, v[i, 1] - a * e1, v[i, 2] - a * e2
        v[j, 0], v[j, 1], v[j, 2] = v[j, 0] + b * e0, v[j, 1] + b * e1, v[j, 2] + b * e2
    return largest, squares


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def stretches(rows: DistanceRows, p: Array, h: float, v: Array, share: float) -> bool:
    """Whether an inextensible row within its bounds is off by more than this share after h."""
    least, most = max(1.0 - share, 0.0) ** 2, (1.0 + share) ** 2
    for c in range(len(p)):
        i, j = rows.nodes[c, 0], rows.nodes[c, 1]
        d0 = rows.offset[c, 0] + h * (v[j, 0] - v[i, 0])
        d1 = rows.offset[c, 1] + h * (v[j, 1] - v[i, 1])
        d2 = rows.offset[c, 2] + h * (v[j, 2] - v[i, 2])
        square, rest = d0 * d0 + d1 * d1 + d2 * d2, rows.rest[c] * rows.rest[c]
        if least * rest <= square <= most * rest or rows.w[c] == 0.0 or rows.compliance[c] > 0.0:
            continue
        if p[c] > rows.lower[c] if square > rest else p[c] < rows.upper[c]:
            return True
    return False


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def limit_tension(rows: DistanceRows, p: Array, h: float, v: Array, inverse_mass: Array) -> None:
    """Let the guessed tension act across chains as it will at the end of the step, in place.

    Directions are those at the start, and so a taut chain swings up when h^2 4T/(m L) exceeds 4.
    Taken along the directions at the end, T pulls back by h T/L times the velocity across as well:
    (m + h^2 K) v' = m v, K = T/L between neighbours, tridiagonal along a chain and stable for any
    T. It also damps, so only what exceeds STEADY is taken so; slack and slow chains keep
    their energy. Pairs of nodes get opposite impulses: momentum is kept.
    """
    nodes, length, chain = rows.nodes, rows.length, rows.chain
    n = len(v)
    node, hold, upper, right = np.empty(n, np.int32), np.empty(n + 1), np.empty(n), np.empty((n, 3))
    for t in range(len(chain) - 1):
        s, edges, taut = chain[t], chain[t + 1] - chain[t], False
        hold[0] = hold[edges + 1] = 0.0
        for k in range(edges):  # [kg] h T/L of edge k, over the step
            c = s + k
            i, j = nodes[c, 0], nodes[c, 1]
            node[k], node[k + 1], hold[k + 1] = i, j, 0.0
            w = max(inverse_mass[i], inverse_mass[j])
            if -h * p[c] * w > STEADY * length[c]:
                hold[k + 1] = -h * p[c] / length[c] - STEADY / w
                taut = True
        if not taut:
            continue
        last, r0, r1, r2 = 0.0, 0.0, 0.0, 0.0
        for k in range(edges + 1):  # node k stands between edges k - 1 and k
            i = node[k]
            w = inverse_mass[i]
            back = w * hold[k]
            pivot = 1.0 / (1.0 + back + w * hold[k + 1] - back * last)
            last = w * hold[k + 1] * pivot
            r0 = (v[i, 0] + back * r0) * pivot
            r1 = (v[i, 1] + back * r1) * pivot
            r2 = (v[i, 2] + back * r2) * pivot
            upper[k], right[k, 0], right[k, 1], right[k, 2] = last, r0, r1, r2
        r0 = r1 = r2 = 0.0
        for k in range(edges, -1, -1):
            i = node[k]
            r0 = right[k, 0] + upper[k] * r0
            r1 = right[k, 1] + upper[k] * r1
            r2 = right[k, 2] + upper[k] * r2
            v[i, 0], v[i, 1], v[i, 2] = r0, r1, r2


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _push(v: Array, i: int, s: float, g: Vec) -> None:
    v[i, 0] += s * g[0]
    v[i, 1] += s * g[1]
    v[i, 2] += s * g[2]


@inner(error_model="numpy", fastmath={"contract"})
def sweep_bends(rows: BendRows, p: Array, v: Array, inverse_mass: Array) -> tuple[float, float]:
    largest, squares = 0.0, 0.0
    for c in range(len(p)):
        i, j, m, n = rows.nodes[c, 0], rows.nodes[c, 1], rows.nodes[c, 2], rows.nodes[c, 3]
        gi, gj, gm, gn = bending_gradient(rows.tip, c)
        u = (dot(gi, point(v, i)) + dot(gj, point(v, j))) + (
            dot(gm, point(v, m)) + dot(gn, point(v, n))
        )
        u += rows.bias[c] + rows.compliance[c] * p[c]
        new = limited.solve_row(rows.r[c], u, p[c], rows.lower[c], rows.upper[c])
        d = new - p[c]
        if d == 0.0:
            continue
        p[c] = new
        squares += d * d
        largest = max(largest, abs(d) * rows.reach[c])
        _push(v, i, d * inverse_mass[i], gi)
        _push(v, j, d * inverse_mass[j], gj)
        _push(v, m, d * inverse_mass[m], gm)
        _push(v, n, d * inverse_mass[n], gn)
    return largest, squares


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def apply_distance_impulses(rows: DistanceRows, q: Array, v: Array, inverse_mass: Array) -> None:
    for c in range(len(q)):
        _pull(rows, c, q[c], v, inverse_mass)


@inner(error_model="numpy", fastmath={"contract"})
def apply_bending_impulses(rows: BendRows, q: Array, v: Array, inverse_mass: Array) -> None:
    for c in range(len(q)):
        i, j, m, n = rows.nodes[c, 0], rows.nodes[c, 1], rows.nodes[c, 2], rows.nodes[c, 3]
        gi, gj, gm, gn = bending_gradient(rows.tip, c)
        _push(v, i, q[c] * inverse_mass[i], gi)
        _push(v, j, q[c] * inverse_mass[j], gj)
        _push(v, m, q[c] * inverse_mass[m], gm)
        _push(v, n, q[c] * inverse_mass[n], gn)
