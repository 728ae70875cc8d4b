"""Friction and dissipation on a contact surface as convex functions of the velocities (F eq 2, 3).

Both take the forces f of the points as the step begins. With u the velocity of a relative to b,

    D = sum of mu f (sqrt(u_t^2 + s^2) - s) + f (d u_n^2 / 2, linear beyond u_n = 1/d),

which resists sliding by mu f, approach by f d u_n, and takes no more than f as bodies part. D is
convex and least at rest, so it never adds energy.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit

Array = np.ndarray

SLIP_SPEED = 1e-6  # [m/s] s: friction of mu f / sqrt(2)


@njit(cache=True, error_model="numpy", inline="always")
def point_friction(
    u: Array, n: Array, load: float, mu: float, d: float, with_rate: bool, force: Array, rate: Array
) -> None:
    """Force (3,) [N] at a point that moves with u (3,), and its rate -df/du (3, 3) [N s/m].

    u is left with its part along the surface. d [s/m].
    """
    un = u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
    slip2 = SLIP_SPEED * SLIP_SPEED
    for c in range(3):
        u[c] -= un * n[c]
        slip2 += u[c] * u[c]
    drag = mu * load / np.sqrt(slip2)
    opening = d * un < 1.0
    normal = load * d * un if opening else load
    for c in range(3):
        force[c] = -drag * u[c] - normal * n[c]
    if not with_rate:
        return
    for c in range(3):
        for e in range(3):
            same = 1.0 if c == e else 0.0
            rate[c, e] = drag * (same - n[c] * n[e] - u[c] * u[e] / slip2)
            if opening:
                rate[c, e] += load * d * n[c] * n[e]


@njit(cache=True, error_model="numpy")
def friction_terms(
    points: Array, centre: Array, twist: Array, mu: float, damping: float, with_rate: bool = True
) -> tuple[Array, Array]:
    """Wrench (6,) on body a about its centre, and its rate (6, 6) [N s/m, ...].

    points (m, 8): see friction_points. twist (6,): velocity of a relative to b at the centre of a,
    and relative spin. damping [s/Pa].
    """
    wrench, rate, force = np.zeros(6), np.zeros((6, 6)), np.zeros(3)
    u, x, c3 = np.empty(3), np.empty(3), np.empty((3, 3))
    xc = np.empty((3, 3))
    for k in range(len(points)):
        row = points[k]
        n, load, d = row[3:6], row[6], damping * row[7]
        for c in range(3):
            x[c] = row[c] - centre[c]
        for c in range(3):
            e, f = (c + 1) % 3, (c + 2) % 3
            u[c] = twist[c] + twist[3 + e] * x[f] - twist[3 + f] * x[e]
        point_friction(u, n, load, mu, d, with_rate, force, c3)
        for c in range(3):
            e, f = (c + 1) % 3, (c + 2) % 3
            wrench[c] += force[c]
            wrench[3 + c] += x[e] * force[f] - x[f] * force[e]
        if not with_rate:
            continue
        for c in range(3):
            e, f = (c + 1) % 3, (c + 2) % 3
            for b in range(3):
                xc[c, b] = x[e] * c3[f, b] - x[f] * c3[e, b]  # x cross each column of C
        for c in range(3):
            for b in range(3):
                e, f = (b + 1) % 3, (b + 2) % 3
                rate[c, b] += c3[c, b]
                rate[3 + c, b] += xc[c, b]
                rate[b, 3 + c] += xc[c, b]
                rate[3 + c, 3 + b] += x[e] * xc[c, f] - x[f] * xc[c, e]
    return wrench, rate
