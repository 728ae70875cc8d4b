"""Contacts as C 4.3 and 4.4 have them: dummy nodes, masses split, impulses averaged.

Each contact is solved by itself on dummy nodes that share the mass of their body, and on a copy of
the rigid body with its share of the mass; friction is bounded by the weight over the contact (C eq
32), not by its normal force. What the dummies gain in velocity goes to the corners of their faces,
and to the rigid bodies, as a mean. It needs no sweep over coupled rows. It does not keep momentum:
a face that moves at the mean of its contacts does not carry the mass that they were solved with.
Kept to be compared with the exact way, which is the default.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.particles.point_pairs import PointPairs
from limpet.particles.sweep_points import Velocities
from limpet.rigid.limited import solve_row

Array = np.ndarray


@inner(error_model="numpy")
def _counts(pairs: PointPairs, body: Array, bodies: int, rigids: int) -> tuple[Array, Array, Array]:
    """Contacts of each soft body and of each rigid one, and faces' contacts at each node."""
    soft, rigid, node = np.zeros(bodies), np.zeros(rigids), np.zeros(len(body))
    for c in range(len(pairs.gap)):
        last = -1
        for e in range(pairs.start[c], pairs.start[c + 1]):
            i = pairs.node[e]
            node[i] += 1.0
            if body[i] != last or pairs.weight[e] * pairs.weight[max(e - 1, 0)] < 0.0:
                soft[body[i]] += 1.0
                last = body[i]
        for side in range(2):
            if pairs.rigid[c, side] >= 0:
                rigid[pairs.rigid[c, side]] += 1.0
    return soft, rigid, node


@inner(error_model="numpy")
def _split_mass(
    pairs: PointPairs, c: int, body: Array, mass: Array, soft: Array, rigid_mass: Array,
    rigid: Array,
) -> tuple[float, float, float, float]:  # fmt: skip
    """(1/m of a's dummy, of b's, of the rigid shares of a and of b); zero for what cannot move."""
    a, b = 0.0, 0.0
    for e in range(pairs.start[c], pairs.start[c + 1]):
        own = soft[body[pairs.node[e]]] / mass[body[pairs.node[e]]]
        if pairs.weight[e] > 0.0:
            a = own
        else:
            b = own
    ra = rb = 0.0
    if pairs.rigid[c, 0] >= 0 and rigid_mass[pairs.rigid[c, 0]] > 0.0:
        ra = rigid[pairs.rigid[c, 0]] / rigid_mass[pairs.rigid[c, 0]]
    if pairs.rigid[c, 1] >= 0 and rigid_mass[pairs.rigid[c, 1]] > 0.0:
        rb = rigid[pairs.rigid[c, 1]] / rigid_mass[pairs.rigid[c, 1]]
    return a, b, ra, rb


@njit(cache=True, error_model="numpy")
def split_mass_contacts(
    pairs: PointPairs, bias: Array, p: Array, on: Velocities, body: Array, mass: Array,
    rigid_mass: Array, gravity: Array, h: float, sweeps: int,
) -> None:  # fmt: skip
    """Solve all contacts apart and hand out the means, in place on p (k, 3) [N s] and velocities.

    body (n,): the soft body of each node; mass (bodies,), rigid_mass (b,) [kg], zero if fixed.
    """
    k, n, rigids = len(pairs.gap), len(on.v), len(rigid_mass)
    soft, rigid, at_node = _counts(pairs, body, len(mass), rigids)
    gained, turned = np.zeros((n, 3)), np.zeros((rigids, 6))
    u, w, limit = np.empty(3), np.empty(3), np.empty(3)
    for c in range(k):
        f = pairs.frame[c]
        a, b, ra, rb = _split_mass(pairs, c, body, mass, soft, rigid_mass, rigid)
        v = np.zeros(3)
        for e in range(pairs.start[c], pairs.start[c + 1]):
            v += pairs.weight[e] * on.v[pairs.node[e]]
        for side in range(2):
            r = pairs.rigid[c, side]
            if r >= 0:
                sign = 1.0 if side == 0 else -1.0
                v += sign * (on.rigid_v[r, :3] + np.cross(on.rigid_v[r, 3:], pairs.arm[c, side]))
        for i in range(3):
            u[i] = f[i] @ v + bias[c, i]
            w[i] = a + b + ra + rb
            for side in range(2):
                r = pairs.rigid[c, side]
                if r >= 0:
                    lever = np.cross(pairs.arm[c, side], f[i])
                    w[i] += rigid[r] * (lever @ (on.rigid_inverse_inertia[r] @ lever))
        weight = 0.0
        for share in (a, b, ra, rb):
            if share > 0.0:
                weight += 1.0 / share
        weight *= abs(gravity @ f[0])  # C eq 32
        limit[0], limit[1] = np.inf, h * pairs.friction[c] * weight
        limit[2] = limit[1]
        if w[0] == 0.0:
            continue
        for _ in range(sweeps):
            for i in range(3):
                lower = 0.0 if i == 0 else -limit[i]
                new = solve_row(1.0 / w[i], u[i], p[c, i], lower, limit[i])
                u[i] += w[i] * (new - p[c, i])
                p[c, i] = new
        push = f.T @ p[c]
        for e in range(pairs.start[c], pairs.start[c + 1]):
            i = pairs.node[e]
            gained[i] += (a if pairs.weight[e] > 0.0 else -b) * push / at_node[i]
        for side in range(2):
            r = pairs.rigid[c, side]
            if r >= 0 and rigid_mass[r] > 0.0:
                sign = 1.0 if side == 0 else -1.0
                turned[r, :3] += sign * push / rigid_mass[r]
                turned[r, 3:] += sign * (
                    on.rigid_inverse_inertia[r] @ np.cross(pairs.arm[c, side], push)
                )
    for i in range(n):
        if on.inverse_mass[i] > 0.0:
            on.v[i] += gained[i]
    on.rigid_v[:] += turned
