"""Matrix-free projected Gauss-Seidel (C algorithm 1): impulses go straight into the velocities.

No W is formed: a row reads the velocities of its nodes and rigid bodies, its law answers, and the
change of its impulse is added to them at once. One kernel a kind of row, so that no row pays for
another's generality; what a row demands stands in its law in `constraints`. Rigid bodies among
themselves and all that touches nodes are swept in turn (staggered, C 3), in the order given: the
same input gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from limpet.constraints import contact, held, limited
from limpet.constraints.inextensible import length_rate
from limpet.constraints.pairs import Pairs, pair_compliance
from limpet.constraints.soft_rows import BendRows, DistanceRows

Array = np.ndarray


NOTHING = 1e-30  # [N s]
AT_REST = 1e-5  # [m/s] rows among rigid bodies that change no velocity by more are solved


class Moving(NamedTuple):
    """What impulses act on; the velocities are changed in place."""

    v: Array  # (n, 3) [m/s] of the nodes
    inverse_mass: Array  # (n,) [1/kg], zero where held
    rigid_v: Array  # (b, 6) [m/s, rad/s]
    rigid_inverse_mass: Array  # (b,)
    rigid_inverse_inertia: Array  # (b, 3, 3) world axes


class Points(NamedTuple):
    """Pairs of points ready for a step."""

    pairs: Pairs
    w: Array  # (k, 3, 3) compliance in the pair's frame
    wanted: Array  # (k, 3) [m/s]


class Rows(NamedTuple):
    """All rows of a step; each kind has its multipliers in `Impulses`."""

    rigid_held: Points
    rigid_contacts: Points
    distances: DistanceRows
    bends: BendRows
    held: Points
    contacts: Points


class Impulses(NamedTuple):
    """[N s], by the kinds of `Rows`; the guess when the sweeps begin."""

    rigid_held: Array  # (k, 3)
    rigid_contacts: Array  # (k, 3)
    distances: Array  # (k,)
    bends: Array  # (k,) [N s], or [N m s] of angles
    held: Array  # (k, 3)
    contacts: Array  # (k, 3)


@dataclass(frozen=True)
class Swept:
    """How the sweeps went."""

    sweeps: int
    change: Array  # (sweeps,) [m/s] largest change of any row's velocity in each sweep
    rms: Array  # (sweeps,) [N] root mean square of delta lambda, as C figure 1


# Inlined where they stand in a row's loop: handing over the many arrays of a tuple takes longer
# than what is done with them.


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def _push_nodes(
    v: Array, inverse_mass: Array, first: int, last: int, node: Array, weight: Array, turn: Array,
    frame: Array, c: int, turns: bool, p0: float, p1: float, p2: float,
) -> None:  # fmt: skip
    for e in range(first, last):
        i, s = node[e], weight[e]
        along = turn[e, 0] * p0 + turn[e, 1] * p1 + turn[e, 2] * p2 if turns else 0.0
        m = inverse_mass[i]
        v[i, 0] += m * (s * p0 + frame[c, 0, 0] * along)
        v[i, 1] += m * (s * p1 + frame[c, 0, 1] * along)
        v[i, 2] += m * (s * p2 + frame[c, 0, 2] * along)


@njit(cache=True, error_model="numpy")
def _give_points(pairs: Pairs, q: Array, on: Moving) -> None:
    """Add impulses q (k, 3), in the pairs' frames, on a and their opposites on b."""
    start, node, weight, turn, rigid, arm, frame, _, _ = pairs
    v, inverse_mass, rigid_v, rigid_mass, rigid_inertia = on
    for c in range(len(q)):
        q0, q1, q2 = q[c, 0], q[c, 1], q[c, 2]
        if q0 == 0.0 and q1 == 0.0 and q2 == 0.0:
            continue
        p0 = frame[c, 0, 0] * q0 + frame[c, 1, 0] * q1 + frame[c, 2, 0] * q2
        p1 = frame[c, 0, 1] * q0 + frame[c, 1, 1] * q1 + frame[c, 2, 1] * q2
        p2 = frame[c, 0, 2] * q0 + frame[c, 1, 2] * q1 + frame[c, 2, 2] * q2
        a, b = rigid[c, 0], rigid[c, 1]
        _push_nodes(
            v, inverse_mass, start[c], start[c + 1], node, weight, turn, frame, c,
            a < 0 and b < 0, p0, p1, p2,
        )  # fmt: skip
        if a >= 0 and rigid_mass[a] > 0.0:
            _push_rigid(rigid_v, rigid_mass, rigid_inertia, arm, a, c, 0, p0, p1, p2)
        if b >= 0 and rigid_mass[b] > 0.0:
            _push_rigid(rigid_v, rigid_mass, rigid_inertia, arm, b, c, 1, -p0, -p1, -p2)


@njit(cache=True, error_model="numpy", inline="always")
def _relative(pairs: Pairs, c: int, on: Moving) -> tuple[float, float, float]:
    """Velocity of a's point seen from b's, world axes."""
    turns = pairs.rigid[c, 0] < 0 and pairs.rigid[c, 1] < 0  # nodes on both sides
    u0, u1, u2 = 0.0, 0.0, 0.0
    for e in range(pairs.start[c], pairs.start[c + 1]):
        i, s = pairs.node[e], pairs.weight[e]
        v0, v1, v2 = on.v[i, 0], on.v[i, 1], on.v[i, 2]
        u0 += s * v0
        u1 += s * v1
        u2 += s * v2
        if turns:
            n, g = pairs.frame[c, 0], pairs.turn[e]
            along = n[0] * v0 + n[1] * v1 + n[2] * v2
            u0 += g[0] * along
            u1 += g[1] * along
            u2 += g[2] * along
    if turns:
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


@njit(cache=True, error_model="numpy")
def relative_velocities(pairs: Pairs, on: Moving) -> Array:
    """(k, 3) of a's points seen from b's, world axes."""
    out = np.empty((len(pairs.gap), 3))
    for c in range(len(out)):
        out[c, 0], out[c, 1], out[c, 2] = _relative(pairs, c, on)
    return out


@njit(cache=True, error_model="numpy")
def _sweep_points(
    points: Points, p: Array, touch: bool, on: Moving, backward: bool
) -> tuple[float, float]:
    """One sweep over contacts (touch) or held points; largest change [m/s], sum of squares."""
    pairs, w, wanted = points.pairs, points.w, points.wanted
    start, node, weight, turn, rigid, arm, frame, _, _ = pairs
    v, inverse_mass, rigid_v, rigid_mass, rigid_inertia = on
    u, new = np.empty(3), np.empty(3)
    largest, squares = 0.0, 0.0
    for place in range(len(p)):
        c = len(p) - 1 - place if backward else place
        if w[c, 0, 0] <= 0.0:
            continue  # nothing of it can move
        v0, v1, v2 = _relative(pairs, c, on)
        if touch and p[c, 0] == 0.0 and p[c, 1] == 0.0 and p[c, 2] == 0.0:
            f0, f1, f2 = pairs.frame[c, 0, 0], pairs.frame[c, 0, 1], pairs.frame[c, 0, 2]
            if f0 * v0 + f1 * v1 + f2 * v2 + wanted[c, 0] >= 0.0:
                continue  # open, and stays so
        f = pairs.frame[c]
        for i in range(3):
            u[i] = f[i, 0] * v0 + f[i, 1] * v1 + f[i, 2] * v2 + wanted[c, i]
        if touch:
            contact.solve_block(w[c], u, p[c], pairs.friction[c], new)
        else:
            held.solve_block(w[c], u, p[c], new)
        d0, d1, d2 = new[0] - p[c, 0], new[1] - p[c, 1], new[2] - p[c, 2]
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            continue
        p[c, 0], p[c, 1], p[c, 2] = new[0], new[1], new[2]
        square = d0 * d0 + d1 * d1 + d2 * d2
        squares += square
        largest = max(largest, w[c, 0, 0] * np.sqrt(square))
        p0 = f[0, 0] * d0 + f[1, 0] * d1 + f[2, 0] * d2
        p1 = f[0, 1] * d0 + f[1, 1] * d1 + f[2, 1] * d2
        p2 = f[0, 2] * d0 + f[1, 2] * d1 + f[2, 2] * d2
        a, b = rigid[c, 0], rigid[c, 1]
        _push_nodes(
            v, inverse_mass, start[c], start[c + 1], node, weight, turn, frame, c,
            a < 0 and b < 0, p0, p1, p2,
        )  # fmt: skip
        if a >= 0 and rigid_mass[a] > 0.0:
            _push_rigid(rigid_v, rigid_mass, rigid_inertia, arm, a, c, 0, p0, p1, p2)
        if b >= 0 and rigid_mass[b] > 0.0:
            _push_rigid(rigid_v, rigid_mass, rigid_inertia, arm, b, c, 1, -p0, -p1, -p2)
    return largest, squares


@njit(cache=True, error_model="numpy", inline="always")
def _distance_error(rows: DistanceRows, c: int, p: Array, h: float, v: Array) -> float:
    """What row c still asks for [m/s]."""
    i, j = rows.nodes[c, 0], rows.nodes[c, 1]
    u0, u1, u2 = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
    along = rows.direction[c, 0] * u0 + rows.direction[c, 1] * u1 + rows.direction[c, 2] * u2
    square = u0 * u0 + u1 * u1 + u2 * u2
    return length_rate(rows.length[c], along, square, h) + rows.wanted[c] + rows.give[c] * p[c]


@njit(cache=True, error_model="numpy", inline="always")
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


@njit(cache=True, error_model="numpy")
def _solve_thread(
    rows: DistanceRows, s: int, e: int, p: Array, h: float, v: Array, inverse_mass: Array,
    upper: Array, change: Array,
) -> bool:  # fmt: skip
    """Changes of impulse that solve rows s..e-1 together (Thomas); False if out of bounds.

    Neighbours couple by -(n . n')/m of the node between them.
    """
    before, last = 0.0, 0.0  # of the row before: coupling over pivot, and change
    for c in range(s, e):
        pivot, right, back = 1.0, 0.0, 0.0
        if rows.w[c] > 0.0:
            pivot, right = rows.w[c], -_distance_error(rows, c, p, h, v)
            if c > s and rows.w[c - 1] > 0.0:
                back = -inverse_mass[rows.nodes[c, 0]] * (
                    rows.direction[c, 0] * rows.direction[c - 1, 0]
                    + rows.direction[c, 1] * rows.direction[c - 1, 1]
                    + rows.direction[c, 2] * rows.direction[c - 1, 2]
                )
        if c > s:
            upper[c - 1] = back * before
            pivot -= back * upper[c - 1]
            right -= back * last
        before = 1.0 / pivot
        last = right * before
        change[c] = last
    for c in range(e - 2, s - 1, -1):
        change[c] -= upper[c] * change[c + 1]
    for c in range(s, e):
        new = p[c] + change[c]
        if new < rows.lower[c] or new > rows.upper[c]:
            return False
    return True


@njit(cache=True, error_model="numpy")
def _sweep_distances(
    rows: DistanceRows, p: Array, h: float, v: Array, inverse_mass: Array
) -> tuple[float, float]:
    largest, squares = 0.0, 0.0
    upper, change = np.empty(len(p)), np.empty(len(p))
    for t in range(len(rows.thread) - 1):
        s, e = rows.thread[t], rows.thread[t + 1]
        together = e - s > 1 and _solve_thread(rows, s, e, p, h, v, inverse_mass, upper, change)
        for c in range(s, e):
            if together:
                d = change[c]
            else:
                u = _distance_error(rows, c, p, h, v)
                d = limited.solve_row(rows.r[c], u, p[c], rows.lower[c], rows.upper[c]) - p[c]
            if d != 0.0:
                p[c] += d
                squares += d * d
                largest = max(largest, abs(d) * rows.w[c])
                _pull(rows, c, d, v, inverse_mass)
    return largest, squares


@njit(cache=True, error_model="numpy")
def _sweep_bends(rows: BendRows, p: Array, v: Array, inverse_mass: Array) -> tuple[float, float]:
    largest, squares = 0.0, 0.0
    g = rows.gradient
    for c in range(len(p)):
        u = rows.wanted[c] + rows.give[c] * p[c]
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


@njit(cache=True, error_model="numpy")
def _give_distances(rows: DistanceRows, q: Array, v: Array, inverse_mass: Array) -> None:
    for c in range(len(q)):
        _pull(rows, c, q[c], v, inverse_mass)


@njit(cache=True, error_model="numpy")
def _give_bends(rows: BendRows, q: Array, v: Array, inverse_mass: Array) -> None:
    g = rows.gradient
    for c in range(len(q)):
        for a in range(4):
            i = rows.nodes[c, a]
            s = q[c] * inverse_mass[i]
            v[i, 0] += s * g[c, a, 0]
            v[i, 1] += s * g[c, a, 1]
            v[i, 2] += s * g[c, a, 2]


@njit(cache=True)
def fade(q: Array, share: float) -> None:
    """Leave a share of the impulses (k,), in place; what is all but gone becomes zero.

    Numbers that fade for ever end up denormal, and a processor takes a hundred times as long.
    """
    for c in range(len(q)):
        q[c] = share * q[c] if abs(q[c]) > NOTHING else 0.0


def warm_start(rows: Rows, p: Impulses, on: Moving) -> None:
    """Give the velocities what the guess p amounts to (C eq 36, 37)."""
    for points, q in (
        (rows.rigid_held, p.rigid_held),
        (rows.rigid_contacts, p.rigid_contacts),
        (rows.held, p.held),
        (rows.contacts, p.contacts),
    ):
        if len(q):
            _give_points(points.pairs, q, on)
    if len(p.distances):
        _give_distances(rows.distances, p.distances, on.v, on.inverse_mass)
    if len(p.bends):
        _give_bends(rows.bends, p.bends, on.v, on.inverse_mass)


def ready(pairs: Pairs, on: Moving, h: float, share: float, touch: bool) -> Points:
    """Pairs of points with their compliance, and the velocity that u must cancel."""
    w = pair_compliance(pairs, on.inverse_mass, on.rigid_inverse_mass, on.rigid_inverse_inertia)
    points = Points(pairs, w, np.empty_like(pairs.gap))
    ask(points, h, share, touch)
    return points


@njit(cache=True, error_model="numpy")
def ask(points: Points, h: float, share: float, touch: bool) -> None:
    """Write the velocity that u must cancel.

    What touches may close the gap it has within the step and no more (decided on gap/h + H v, not
    on the velocity alone); of what overlaps or is torn from its place a share is taken back.
    """
    for c in range(len(points.wanted)):
        for i in range(3):
            gap = points.pairs.gap[c, i]
            points.wanted[c, i] = gap / h if touch and gap > 0.0 else share * gap / h


@njit(cache=True, error_model="numpy")
def follow(points: Points, on: Moving, h: float) -> None:
    """The gaps of touching points after h with the velocities `on`, in place."""
    for c in range(len(points.wanted)):
        u0, u1, u2 = _relative(points.pairs, c, on)
        n = points.pairs.frame[c, 0]
        points.pairs.gap[c, 0] += h * (n[0] * u0 + n[1] * u1 + n[2] * u2)


def reactions(rows: Rows, p: Impulses, nodes: int, bodies: int) -> tuple[Array, Array]:
    """J^T p: impulses on the nodes (n, 3) [N s] and on the rigid bodies (b, 6) [N s, N m s]."""
    unit = Moving(
        np.zeros((nodes, 3)), np.ones(nodes), np.zeros((bodies, 6)), np.ones(bodies),
        np.repeat(np.eye(3)[None], bodies, axis=0),
    )  # fmt: skip
    warm_start(rows, p, unit)
    return unit.v, unit.rigid_v


def sweep(
    rows: Rows,
    p: Impulses,
    on: Moving,
    h: float,
    count: int,
    rigid: int = 1,
    tolerance: float = 0.0,
) -> Swept:
    """Up to `count` sweeps, in place on p and on the velocities, which hold p's share already.

    Each is up to `rigid` sweeps over the rows among rigid bodies, which are few and must hold a
    tower up, and one over all others. They end when no row changes a velocity by more than
    `tolerance` [m/s].
    """
    change, rms = [], []
    rows_in_all = max(1, sum(q.size for q in p))
    for _ in range(count):
        parts = []
        if len(p.rigid_held) + len(p.rigid_contacts):
            held, touching = (
                (rows.rigid_held, p.rigid_held),
                (rows.rigid_contacts, p.rigid_contacts),
            )
            parts.append(_sweep_rigid(*held, *touching, on, rigid))
        if len(p.distances):
            parts.append(_sweep_distances(rows.distances, p.distances, h, on.v, on.inverse_mass))
        if len(p.bends):
            parts.append(_sweep_bends(rows.bends, p.bends, on.v, on.inverse_mass))
        if len(p.held):
            parts.append(_sweep_points(rows.held, p.held, False, on, False))
        if len(p.contacts):
            parts.append(_sweep_points(rows.contacts, p.contacts, True, on, False))
        change.append(max((m for m, _ in parts), default=0.0))
        rms.append(np.sqrt(sum(s for _, s in parts) / rows_in_all) / h)
        if change[-1] <= tolerance:
            break
    return Swept(len(change), np.array(change), np.array(rms))


@njit(cache=True, error_model="numpy")
def _sweep_rigid(
    held: Points, p_held: Array, touching: Points, p_touching: Array, on: Moving, count: int
) -> tuple[float, float]:
    """To and fro, as a tower is as long one way as the other, until nothing moves."""
    largest, squares = 0.0, 0.0
    for turn in range(count):
        back = turn % 2 == 1
        m0, s0 = _sweep_points(held, p_held, False, on, back)
        m1, s1 = _sweep_points(touching, p_touching, True, on, back)
        largest, squares = max(m0, m1), s0 + s1
        if largest <= AT_REST:
            break
    return largest, squares
