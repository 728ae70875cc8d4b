"""Sweeps over rows of two nodes (distances, grouped in chains) and of four (bending)."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.particles import limited
from limpet.particles.distances import length_rate
from limpet.particles.rows import BendRows, DistanceRows

Array = np.ndarray

REDUNDANT = 0.5  # over n^2: share of its own compliance that a row of a chain of n is softened by
STEADY = 0.06  # h^2 T/(m L) of an edge up to which its tension needs no limit


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _distance_error(rows: DistanceRows, c: int, p: Array, h: float, v: Array) -> float:
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


@njit(cache=True, error_model="numpy", inline="always")
def softening(n: int) -> float:
    """What the own compliances of a chain of n rows are multiplied by when it is solved together.

    The rows of a straight chain between two held nodes are redundant, those of a shallow one nearly
    so: their matrix is singular and would ask for any tension. It is softened by a tenth of the
    least eigenvalue of a loose chain, w (pi/n)^2/2. The errors are taken anew in each sweep, so the
    solution stays the same.
    """
    return 1.0 + REDUNDANT / (n * n)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def sweep_distances(
    rows: DistanceRows, p: Array, h: float, v: Array, inverse_mass: Array
) -> tuple[float, float]:
    """Chain by chain: its rows together (Thomas) if that keeps to all bounds, else in turn.

    Neighbours couple by -(n . n')/m of the node between them.
    """
    # all in one place: handing over the many arrays of a tuple takes longer than a short chain
    nodes, n, w, r, chain = rows.nodes, rows.direction, rows.w, rows.r, rows.chain
    lower, upper = rows.lower, rows.upper
    largest, squares = 0.0, 0.0
    factor, change = np.empty(len(p)), np.empty(len(p))
    for t in range(len(chain) - 1):
        s, e = chain[t], chain[t + 1]
        together = e - s > 1
        soft = softening(e - s)
        before, last = 0.0, 0.0  # of the row before: inverse of its pivot, and change
        for c in range(s, e if together else s):
            pivot, right, back = 1.0, 0.0, 0.0
            if w[c] > 0.0:
                pivot, right = soft * w[c], -_distance_error(rows, c, p, h, v)
                if c > s and w[c - 1] > 0.0:
                    back = -inverse_mass[nodes[c, 0]] * (
                        n[c, 0] * n[c - 1, 0] + n[c, 1] * n[c - 1, 1] + n[c, 2] * n[c - 1, 2]
                    )
            if c > s:
                factor[c - 1] = back * before
                pivot -= back * factor[c - 1]
                right -= back * last
            before = 1.0 / pivot
            last = right * before
            change[c] = last
        for c in range(e - 2, s - 1, -1):
            change[c] -= factor[c] * change[c + 1]
        for c in range(s, e):
            new = p[c] + change[c]
            together = together and lower[c] <= new <= upper[c]
        for c in range(s, e):
            if together:
                d = change[c]
            else:
                u = _distance_error(rows, c, p, h, v)
                d = limited.solve_row(r[c], u, p[c], lower[c], upper[c]) - p[c]
            if d != 0.0:
                p[c] += d
                squares += d * d
                largest = max(largest, abs(d) * w[c])
                _pull(rows, c, d, v, inverse_mass)
    return largest, squares


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def largest_stretch(rows: DistanceRows, p: Array, h: float, v: Array) -> float:
    """By what share of its length the worst inextensible row within its bounds is off after h."""
    worst = 0.0
    for c in range(len(p)):
        if rows.w[c] == 0.0 or rows.compliance[c] > 0.0:
            continue
        i, j, s = rows.nodes[c, 0], rows.nodes[c, 1], rows.length[c]
        d0 = s * rows.direction[c, 0] + h * (v[j, 0] - v[i, 0])
        d1 = s * rows.direction[c, 1] + h * (v[j, 1] - v[i, 1])
        d2 = s * rows.direction[c, 2] + h * (v[j, 2] - v[i, 2])
        off = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2) / rows.rest[c] - 1.0
        if (off > 0.0 and p[c] > rows.lower[c]) or (off < 0.0 and p[c] < rows.upper[c]):
            worst = max(worst, abs(off))
    return worst


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


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def sweep_bends(rows: BendRows, p: Array, v: Array, inverse_mass: Array) -> tuple[float, float]:
    largest, squares = 0.0, 0.0
    g = rows.gradient
    for c in range(len(p)):
        u = rows.bias[c] + rows.compliance[c] * p[c]
        for a in range(4):
            i = rows.nodes[c, a]
            u += g[c, a, 0] * v[i, 0] + g[c, a, 1] * v[i, 1] + g[c, a, 2] * v[i, 2]
        new = limited.solve_row(rows.r[c], u, p[c], rows.lower[c], rows.upper[c])
        d = new - p[c]
        if d == 0.0:
            continue
        p[c] = new
        squares += d * d
        most = 0.0
        for a in range(4):
            i = rows.nodes[c, a]
            s = d * inverse_mass[i]
            g0, g1, g2 = g[c, a, 0], g[c, a, 1], g[c, a, 2]
            v[i, 0] += s * g0
            v[i, 1] += s * g1
            v[i, 2] += s * g2
            most = max(most, abs(s) * (abs(g0) + abs(g1) + abs(g2)))
        largest = max(largest, most)
    return largest, squares


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def apply_distance_impulses(rows: DistanceRows, q: Array, v: Array, inverse_mass: Array) -> None:
    for c in range(len(q)):
        _pull(rows, c, q[c], v, inverse_mass)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def apply_bending_impulses(rows: BendRows, q: Array, v: Array, inverse_mass: Array) -> None:
    g = rows.gradient
    for c in range(len(q)):
        for a in range(4):
            i = rows.nodes[c, a]
            s = q[c] * inverse_mass[i]
            v[i, 0] += s * g[c, a, 0]
            v[i, 1] += s * g[c, a, 1]
            v[i, 2] += s * g[c, a, 2]
