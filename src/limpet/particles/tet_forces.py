"""Forces of linear tetrahedra, corotational and viscous, some cells side by side.

What is done to one cell is done to LANES of them at once: their matrices stand beside each other in
a small table, and a loop over its lanes is one instruction for many cells. Matrices are three
columns; of each, row i of lane l stands at (place + i) LANES + l.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import copy, inner, njit
from limpet.geometry.distance import Vec, add, cross, dot, point, scale, sub
from limpet.geometry.rotation import polar

Array = np.ndarray

LANES = 8
SOLVED = 1e-12  # square of the last change of a rotation: Newton's next is below 1e-12 itself
# places in the table: slopes of three nodes, volume, three edges, F, its rate, R, R's change
SLOPES, WEIGHT, EDGES, F, RATE, R, CHANGE, PLACES = 0, 9, 10, 19, 28, 37, 46, 47


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _get(table: Array, place: int, l: int) -> Vec:
    s = place * LANES + l
    return table[s], table[s + LANES], table[s + 2 * LANES]


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _put(table: Array, place: int, l: int, a: Vec) -> None:
    s = place * LANES + l
    table[s], table[s + LANES], table[s + 2 * LANES] = a[0], a[1], a[2]


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _combined(a: Vec, b: Vec, c: Vec, p: float, q: float, r: float) -> Vec:
    return (
        p * a[0] + q * b[0] + r * c[0],
        p * a[1] + q * b[1] + r * c[1],
        p * a[2] + q * b[2] + r * c[2],
    )


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _choose(first: bool, a: Vec, b: Vec) -> Vec:
    return a[0] if first else b[0], a[1] if first else b[1], a[2] if first else b[2]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _edges(table: Array, x: Array, cells: Array) -> None:
    """x_a - x_0 of nodes a = 1, 2, 3."""
    for l in range(LANES):
        o = point(x, cells[l, 0])
        _put(table, EDGES, l, sub(point(x, cells[l, 1]), o))
        _put(table, EDGES + 3, l, sub(point(x, cells[l, 2]), o))
        _put(table, EDGES + 6, l, sub(point(x, cells[l, 3]), o))


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _gradients(table: Array, to: int) -> None:
    """Columns of the sum of edge_a slope_a, the gradient of x over a cell."""
    for l in range(LANES):
        a, b, c = _get(table, EDGES, l), _get(table, EDGES + 3, l), _get(table, EDGES + 6, l)
        s, t, u = _get(table, SLOPES, l), _get(table, SLOPES + 3, l), _get(table, SLOPES + 6, l)
        _put(table, to, l, _combined(a, b, c, s[0], t[0], u[0]))
        _put(table, to + 3, l, _combined(a, b, c, s[1], t[1], u[1]))
        _put(table, to + 6, l, _combined(a, b, c, s[2], t[2], u[2]))


@inner(error_model="numpy", fastmath={"contract"})
def _rotations(table: Array) -> None:
    """R of F = R S by Newton, R <- (R + R^-T)/2; as `polar`, which takes those that lie flat."""
    for l in range(LANES):
        f0, f1, f2 = _get(table, F, l), _get(table, F + 3, l), _get(table, F + 6, l)
        det = dot(f0, cross(f1, f2))
        size = (dot(f0, f0) + dot(f1, f1) + dot(f2, f2)) / 3.0
        plain = det > 0.0 and det * det > 1e-8 * size * size * size
        _put(table, R, l, _choose(plain, f0, (1.0, 0.0, 0.0)))
        _put(table, R + 3, l, _choose(plain, f1, (0.0, 1.0, 0.0)))
        _put(table, R + 6, l, _choose(plain, f2, (0.0, 0.0, 1.0)))
        table[CHANGE * LANES + l] = 1.0 if plain else -1.0
    for _ in range(40):
        most = 0.0
        for l in range(LANES):
            r0, r1, r2 = _get(table, R, l), _get(table, R + 3, l), _get(table, R + 6, l)
            c0, c1, c2 = cross(r1, r2), cross(r2, r0), cross(r0, r1)  # R^-T is these over det
            s = 0.5 / dot(r0, c0)
            n0 = _combined(r0, c0, c0, 0.5, s, 0.0)
            n1 = _combined(r1, c1, c1, 0.5, s, 0.0)
            n2 = _combined(r2, c2, c2, 0.5, s, 0.0)
            d0, d1, d2 = sub(n0, r0), sub(n1, r1), sub(n2, r2)
            change = table[CHANGE * LANES + l]
            going = change >= SOLVED
            _put(table, R, l, _choose(going, n0, r0))
            _put(table, R + 3, l, _choose(going, n1, r1))
            _put(table, R + 6, l, _choose(going, n2, r2))
            table[CHANGE * LANES + l] = dot(d0, d0) + dot(d1, d1) + dot(d2, d2) if going else change
        for l in range(LANES):
            most = max(most, table[CHANGE * LANES + l])
        if most < SOLVED:
            break
    for l in range(LANES):
        if not (0.0 <= table[CHANGE * LANES + l] < SOLVED):
            _flat(table, l)


@inner(error_model="numpy", fastmath={"contract"})
def _flat(table: Array, l: int) -> None:
    f, r = np.empty((3, 3)), np.empty((3, 3))
    for j in range(3):
        f[0, j], f[1, j], f[2, j] = _get(table, F + 3 * j, l)
    polar(f, r)
    for j in range(3):
        _put(table, R + 3 * j, l, (r[0, j], r[1, j], r[2, j]))


@inner(error_model="numpy", fastmath={"contract"})
def _stresses(table: Array, mu: float, lam: float, damping: float) -> None:
    """P = 2 mu (F - R) + lambda tr(R^T F - I) R, and the viscous part, in the place of R.

    That is F S with S = b (2 mu E' + lambda tr E' I) and E' = sym(F^T F'): a turning body feels
    none, and F S F^T is symmetric, so it makes no moment either.
    """
    for l in range(LANES):
        f0, f1, f2 = _get(table, F, l), _get(table, F + 3, l), _get(table, F + 6, l)
        r0, r1, r2 = _get(table, R, l), _get(table, R + 3, l), _get(table, R + 6, l)
        g0, g1, g2 = _get(table, RATE, l), _get(table, RATE + 3, l), _get(table, RATE + 6, l)
        turn = lam * (dot(r0, f0) + dot(r1, f1) + dot(r2, f2) - 3.0) - 2.0 * mu
        m, s00, s11, s22 = damping * mu, dot(f0, g0), dot(f1, g1), dot(f2, g2)
        s01 = m * (dot(f0, g1) + dot(f1, g0))
        s02 = m * (dot(f0, g2) + dot(f2, g0))
        s12 = m * (dot(f1, g2) + dot(f2, g1))
        spread = damping * lam * (s00 + s11 + s22)
        s00, s11, s22 = 2.0 * m * s00 + spread, 2.0 * m * s11 + spread, 2.0 * m * s22 + spread
        p0 = add(scale(2.0 * mu, f0), scale(turn, r0))
        p1 = add(scale(2.0 * mu, f1), scale(turn, r1))
        p2 = add(scale(2.0 * mu, f2), scale(turn, r2))
        _put(table, R, l, add(p0, _combined(f0, f1, f2, s00, s01, s02)))
        _put(table, R + 3, l, add(p1, _combined(f0, f1, f2, s01, s11, s12)))
        _put(table, R + 6, l, add(p2, _combined(f0, f1, f2, s02, s12, s22)))


@inner(error_model="numpy", fastmath={"contract"})
def _pushes(table: Array) -> None:
    """w P slope_a of nodes a = 1, 2, 3, in the place of the edges."""
    for l in range(LANES):
        p0, p1, p2 = _get(table, R, l), _get(table, R + 3, l), _get(table, R + 6, l)
        s, t, u = _get(table, SLOPES, l), _get(table, SLOPES + 3, l), _get(table, SLOPES + 6, l)
        w = table[WEIGHT * LANES + l]
        _put(table, EDGES, l, _combined(p0, p1, p2, w * s[0], w * s[1], w * s[2]))
        _put(table, EDGES + 3, l, _combined(p0, p1, p2, w * t[0], w * t[1], w * t[2]))
        _put(table, EDGES + 6, l, _combined(p0, p1, p2, w * u[0], w * u[1], w * u[2]))


@inner(error_model="numpy", fastmath={"contract"})
def _push(table: Array, cells: Array, force: Array) -> None:
    """Take the pushes from the forces on nodes 1, 2, 3, and add them to that on node 0."""
    for l in range(LANES):
        if table[WEIGHT * LANES + l] == 0.0:
            continue
        o = cells[l, 0]
        q0, q1, q2 = force[o, 0], force[o, 1], force[o, 2]
        for a in range(3):
            i = cells[l, 1 + a]
            b0, b1, b2 = _get(table, EDGES + 3 * a, l)
            force[i, 0] -= b0
            force[i, 1] -= b1
            force[i, 2] -= b2
            q0, q1, q2 = q0 + b0, q1 + b1, q2 + b2
        force[o, 0], force[o, 1], force[o, 2] = q0, q1, q2


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def tet_forces(
    x: Array, v: Array, cells: Array, slopes: Array, mu: float, lam: float, damping: float
) -> Array:
    """(n, 3) [N] elastic forces, and viscous ones of `damping` [s] times the elastic moduli.

    cells (b, LANES, 4) and slopes (b, 10 LANES) as of `side_by_side`.
    """
    force, table = np.zeros_like(x), np.empty(PLACES * LANES)
    for b in range(len(cells)):
        copy(slopes[b], table)
        _edges(table, x, cells[b])
        _gradients(table, F)
        _edges(table, v, cells[b])
        _gradients(table, RATE)
        _rotations(table)
        _stresses(table, mu, lam, damping)
        _pushes(table)
        _push(table, cells[b], force)
    return force


def side_by_side(cells: Array, gradients: Array, weights: Array) -> tuple[Array, Array]:
    """Cells (m, 4) in blocks of LANES, and with each block its slopes (m, 4, 3) and weights (m,).

    The last block is filled up with its last cell, of weight zero: that pushes nothing.
    """
    m = len(cells)
    which = np.minimum(np.arange(-(-m // LANES) * LANES), m - 1)
    weight = np.where(np.arange(len(which)) < m, weights[which], 0.0)
    rows = np.column_stack([gradients[which, 1:].reshape(-1, 9), weight])
    blocks = rows.reshape(-1, LANES, 10).transpose(0, 2, 1).reshape(-1, 10 * LANES)
    return cells[which].reshape(-1, LANES, 4), np.ascontiguousarray(blocks)
