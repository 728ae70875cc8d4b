"""Sweeps over pairs of points: contacts and held points, on nodes and on rigid bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import copy_rows, inner, njit
from limpet.contact.law import solve_contact
from limpet.particles import held
from limpet.particles.point_pairs import PointPairs

Array = np.ndarray


AT_REST = 1e-6  # [m/s] rows among rigid bodies that change no velocity by more are solved


class Velocities(NamedTuple):
    """What impulses act on; the velocities are changed in place."""

    v: Array  # (n, 3) [m/s] of the nodes
    inverse_mass: Array  # (n,) [1/kg], zero where held
    rigid_v: Array  # (b, 6) [m/s, rad/s]
    rigid_inverse_mass: Array  # (b,)
    rigid_inverse_inertia: Array  # (b, 3, 3) world axes


class PointConstraints(NamedTuple):
    """Pairs of points ready for a step."""

    pairs: PointPairs
    w: Array  # (k, 3, 3) compliance in the pair's frame
    bias: Array  # (k, 3) [m/s]


# Inlined where they stand in a row's loop: handing over the many arrays of a tuple takes longer
# than what is done with them.


@inner(error_model="numpy", fastmath={"contract"})
def _push_rigid(
    v: Array, inverse_mass: Array, inverse_inertia: Array, arm: Array, body: int, c: int, side: int,
    p0: float, p1: float, p2: float,
) -> None:  # fmt: skip
    r0, r1, r2 = arm[c, side, 0], arm[c, side, 1], arm[c, side, 2]
    m = inverse_mass[body]
    v[body, 0] += m * p0
    v[body, 1] += m * p1
    v[body, 2] += m * p2
    t0, t1, t2 = r1 * p2 - r2 * p1, r2 * p0 - r0 * p2, r0 * p1 - r1 * p0
    for i in range(3):
        v[body, 3 + i] += (
            inverse_inertia[body, i, 0] * t0
            + inverse_inertia[body, i, 1] * t1
            + inverse_inertia[body, i, 2] * t2
        )


@inner(error_model="numpy", fastmath={"contract"})
def _push_nodes(
    v: Array, inverse_mass: Array, first: int, last: int, node: Array, weight: Array, tilt: Array,
    frame: Array, c: int, tilts: bool, p0: float, p1: float, p2: float,
) -> None:  # fmt: skip
    for e in range(first, last):
        i, s = node[e], weight[e]
        along = tilt[e, 0] * p0 + tilt[e, 1] * p1 + tilt[e, 2] * p2 if tilts else 0.0
        m = inverse_mass[i]
        v[i, 0] += m * (s * p0 + frame[c, 0, 0] * along)
        v[i, 1] += m * (s * p1 + frame[c, 0, 1] * along)
        v[i, 2] += m * (s * p2 + frame[c, 0, 2] * along)


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _push(
    start: Array, node: Array, weight: Array, tilt: Array, rigid: Array, arm: Array, frame: Array,
    v: Array, inverse_mass: Array, rigid_v: Array, rigid_mass: Array, rigid_inertia: Array,
    c: int, q0: float, q1: float, q2: float,
) -> None:  # fmt: skip
    """Add the impulse q, in the frame of pair c, on a and its opposite on b."""
    p0 = frame[c, 0, 0] * q0 + frame[c, 1, 0] * q1 + frame[c, 2, 0] * q2
    p1 = frame[c, 0, 1] * q0 + frame[c, 1, 1] * q1 + frame[c, 2, 1] * q2
    p2 = frame[c, 0, 2] * q0 + frame[c, 1, 2] * q1 + frame[c, 2, 2] * q2
    a, b = rigid[c, 0], rigid[c, 1]
    _push_nodes(
        v, inverse_mass, start[c], start[c + 1], node, weight, tilt, frame, c, a < 0 and b < 0,
        p0, p1, p2,
    )  # fmt: skip
    if a >= 0 and rigid_mass[a] > 0.0:
        _push_rigid(rigid_v, rigid_mass, rigid_inertia, arm, a, c, 0, p0, p1, p2)
    if b >= 0 and rigid_mass[b] > 0.0:
        _push_rigid(rigid_v, rigid_mass, rigid_inertia, arm, b, c, 1, -p0, -p1, -p2)


@inner(error_model="numpy", fastmath={"contract"})
def apply_point_impulses(pairs: PointPairs, q: Array, on: Velocities) -> None:
    """Add impulses q (k, 3), in the pairs' frames, on a and their opposites on b."""
    start, node, weight, tilt, rigid, arm, frame, _, _ = pairs
    v, inverse_mass, rigid_v, rigid_mass, rigid_inertia = on
    for c in range(len(q)):
        if q[c, 0] != 0.0 or q[c, 1] != 0.0 or q[c, 2] != 0.0:
            _push(
                start, node, weight, tilt, rigid, arm, frame,
                v, inverse_mass, rigid_v, rigid_mass, rigid_inertia,
                c, q[c, 0], q[c, 1], q[c, 2],
            )  # fmt: skip


@inner(error_model="numpy", fastmath={"contract"})
def apply_reactions(pairs: PointPairs, q: Array, out: Array) -> None:
    """Add to out (b, 6) [N s, N m s] what impulses q (k, 3) amount to on the rigid bodies."""
    frame = pairs.frame
    for c in range(len(q)):
        p0 = frame[c, 0, 0] * q[c, 0] + frame[c, 1, 0] * q[c, 1] + frame[c, 2, 0] * q[c, 2]
        p1 = frame[c, 0, 1] * q[c, 0] + frame[c, 1, 1] * q[c, 1] + frame[c, 2, 1] * q[c, 2]
        p2 = frame[c, 0, 2] * q[c, 0] + frame[c, 1, 2] * q[c, 1] + frame[c, 2, 2] * q[c, 2]
        for side in range(2):
            body, sign = pairs.rigid[c, side], 1.0 - 2.0 * side
            if body >= 0:
                r0, r1, r2 = pairs.arm[c, side, 0], pairs.arm[c, side, 1], pairs.arm[c, side, 2]
                out[body, 0] += sign * p0
                out[body, 1] += sign * p1
                out[body, 2] += sign * p2
                out[body, 3] += sign * (r1 * p2 - r2 * p1)
                out[body, 4] += sign * (r2 * p0 - r0 * p2)
                out[body, 5] += sign * (r0 * p1 - r1 * p0)


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def _relative(pairs: PointPairs, c: int, on: Velocities) -> tuple[float, float, float]:
    """Velocity of a's point seen from b's, world axes."""
    tilts = pairs.rigid[c, 0] < 0 and pairs.rigid[c, 1] < 0  # nodes on both sides
    u0, u1, u2 = 0.0, 0.0, 0.0
    for e in range(pairs.start[c], pairs.start[c + 1]):
        i, s = pairs.node[e], pairs.weight[e]
        v0, v1, v2 = on.v[i, 0], on.v[i, 1], on.v[i, 2]
        u0 += s * v0
        u1 += s * v1
        u2 += s * v2
        if tilts:
            n, g = pairs.frame[c, 0], pairs.tilt[e]
            along = n[0] * v0 + n[1] * v1 + n[2] * v2
            u0 += g[0] * along
            u1 += g[1] * along
            u2 += g[2] * along
    if tilts:
        return u0, u1, u2
    sign = 1.0
    for side in range(2):
        body = pairs.rigid[c, side]
        if body >= 0:
            v = on.rigid_v
            w0, w1, w2 = v[body, 3], v[body, 4], v[body, 5]
            r0, r1, r2 = pairs.arm[c, side, 0], pairs.arm[c, side, 1], pairs.arm[c, side, 2]
            u0 += sign * (v[body, 0] + w1 * r2 - w2 * r1)
            u1 += sign * (v[body, 1] + w2 * r0 - w0 * r2)
            u2 += sign * (v[body, 2] + w0 * r1 - w1 * r0)
        sign = -1.0
    return u0, u1, u2


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def relative_velocities(pairs: PointPairs, on: Velocities) -> Array:
    """(k, 3) of a's points seen from b's, world axes."""
    out = np.empty((len(pairs.gap), 3))
    for c in range(len(out)):
        out[c, 0], out[c, 1], out[c, 2] = _relative(pairs, c, on)
    return out


@inner(error_model="numpy", fastmath={"contract"})
def sweep_points(
    points: PointConstraints, p: Array, contact: bool, on: Velocities, backward: bool
) -> tuple[float, float]:
    """One sweep over contacts (`contact`) or held points; largest change [m/s], sum of squares."""
    pairs, w, bias = points.pairs, points.w, points.bias
    start, node, weight, tilt, rigid, arm, frame, _, friction = pairs
    v, inverse_mass, rigid_v, rigid_mass, rigid_inertia = on
    u, new = np.empty(3), np.empty(3)
    largest, squares = 0.0, 0.0
    for place in range(len(p)):
        c = len(p) - 1 - place if backward else place
        if w[c, 0, 0] <= 0.0:
            continue  # nothing of it can move
        v0, v1, v2 = _relative(pairs, c, on)
        f = frame[c]
        for i in range(3):
            u[i] = f[i, 0] * v0 + f[i, 1] * v1 + f[i, 2] * v2 + bias[c, i]
        if contact and u[0] >= 0.0 and p[c, 0] == 0.0 and p[c, 1] == 0.0 and p[c, 2] == 0.0:
            continue  # open, and stays so
        if contact:
            solve_contact(w[c], u, p[c], friction[c], new)
        else:
            held.solve_held(w[c], u, p[c], new)
        d0, d1, d2 = new[0] - p[c, 0], new[1] - p[c, 1], new[2] - p[c, 2]
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            continue
        p[c, 0], p[c, 1], p[c, 2] = new[0], new[1], new[2]
        square = d0 * d0 + d1 * d1 + d2 * d2
        squares += square
        largest = max(largest, w[c, 0, 0] * np.sqrt(square))
        _push(
            start, node, weight, tilt, rigid, arm, frame,
            v, inverse_mass, rigid_v, rigid_mass, rigid_inertia,
            c, d0, d1, d2,
        )  # fmt: skip
    return largest, squares


@inner(error_model="numpy", fastmath={"contract"})
def deepest_penetration(points: PointConstraints, on: Velocities, h: float) -> float:
    """[m] How much deeper than they ought the contacts among nodes will be after h, at most."""
    worst = 0.0
    for c in range(len(points.bias)):
        if points.pairs.rigid[c, 0] < 0 and points.pairs.rigid[c, 1] < 0:
            u0, u1, u2 = _relative(points.pairs, c, on)
            n = points.pairs.frame[c, 0]
            worst = max(worst, -h * (n[0] * u0 + n[1] * u1 + n[2] * u2 + points.bias[c, 0]))
    return worst


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _size(w: Array, change: Array) -> float:
    """[J] of a change (k, 3) of impulses, in the metric of each row's own compliance."""
    total = 0.0
    for c in range(len(change)):
        for i in range(3):
            total += w[c, i, i] * change[c, i] ** 2
    return total


@inner(error_model="numpy", fastmath={"contract"})
def _go_on(points: PointConstraints, p: Array, along: Array, on: Velocities) -> None:
    """Add `along` to the impulses p."""
    apply_point_impulses(points.pairs, along, on)
    p += along


@inner(error_model="numpy", fastmath={"contract"})
def sweep_rigid(
    held: PointConstraints, p_held: Array, contacts: PointConstraints, p_contacts: Array,
    on: Velocities, count: int, still: float = AT_REST,
) -> tuple[float, float]:  # fmt: skip
    """At most `count` sweeps to and fro, as nonsmooth nonlinear conjugate gradients.

    Silcowitz-Hansen et al. 2010: the change d of the impulses by a sweep to and one fro stands for
    minus the gradient. From there p goes on along the last direction, by |d|^2/|last d|^2 of it
    (Fletcher and Reeves), or starts anew where d has grown. A tower of n boxes sways like a beam:
    sweeps alone need some n^4 to hold it, these n^2. They end after a sweep, so each row has its
    law, and when nothing moves faster than `still` [m/s].
    """
    largest, squares = 0.0, 0.0
    if len(p_held) + len(p_contacts) == 0:
        return largest, squares
    old_held, old_contacts = p_held.copy(), p_contacts.copy()
    along_held, along_contacts = np.zeros_like(p_held), np.zeros_like(p_contacts)
    last = 0.0
    for k in range(count):
        back = k % 2 == 1
        m0, s0 = sweep_points(held, p_held, False, on, back)
        m1, s1 = sweep_points(contacts, p_contacts, True, on, back)
        largest, squares = max(m0, m1, largest if back else 0.0), s0 + s1  # of both ways
        if k + 1 == count or (largest <= still and (back or k == 0)):
            break
        if back:
            d_held, d_contacts = p_held - old_held, p_contacts - old_contacts
            size = _size(held.w, d_held) + _size(contacts.w, d_contacts)
            if size < last:
                along_held *= size / last
                along_contacts *= size / last
                _go_on(held, p_held, along_held, on)
                _go_on(contacts, p_contacts, along_contacts, on)
                along_held += d_held
                along_contacts += d_contacts
            else:
                along_held, along_contacts = d_held, d_contacts
            last = size
            copy_rows(p_held, old_held, 0)
            copy_rows(p_contacts, old_contacts, 0)
    return largest, squares


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def update_bias(points: PointConstraints, h: float, baumgarte: float, contact: bool) -> None:
    """Write the velocity that u must cancel.

    A contact may close the gap it has within the step and no more (decided on gap/h + H v, not
    on the velocity alone); of what overlaps or is torn from its place a share is taken back.
    """
    for c in range(len(points.bias)):
        for i in range(3):
            gap = points.pairs.gap[c, i]
            points.bias[c, i] = gap / h if contact and gap > 0.0 else baumgarte * gap / h


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def follow(points: PointConstraints, on: Velocities, h: float) -> None:
    """The gaps of contacts after h with the velocities `on`, in place."""
    for c in range(len(points.bias)):
        u0, u1, u2 = _relative(points.pairs, c, on)
        n = points.pairs.frame[c, 0]
        points.pairs.gap[c, 0] += h * (n[0] * u0 + n[1] * u1 + n[2] * u2)
