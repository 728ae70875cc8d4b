"""Vertices of many bodies against the closed forms of others: all pairs of bodies at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from limpet.contact.contacts import VERTEX_FACE
from limpet.contact.primitives import box_round, near_form
from limpet.contact.touches import Touches

Array = np.ndarray


class PrimitivePairs(NamedTuple):
    """p pairs of a body that is looked at by its vertices, and one with a form."""

    one: Array  # (p,) its number among the parts
    two: Array  # (p,)
    rigid: Array  # (p, 2) int32: numbers among the rigid bodies, -1: made of nodes
    shift: Array  # (p,) int32: its first node, 0 of a rigid one
    kind: Array  # (p,) of the form
    size: Array  # (p, 3)
    axis: Array  # (p, 3)
    thickness: Array  # (p,) [m] of what the vertices carry
    friction: Array  # (p,)
    number: Array  # (p,) that keys are made of


class BodyKinematics(NamedTuple):
    """Where all parts are, and how they move."""

    start: Array  # (parts + 1,): vertices of part i are start[i]:start[i+1]
    x: Array  # (n, 3) [m]
    v: Array  # (n, 3) [m/s]
    centre: Array  # (parts, 3) [m] of the rigid ones
    rotation: Array  # (parts, 3, 3)
    motion: Array  # (parts, 6) [m/s, rad/s]


@njit(cache=True, error_model="numpy")
def _touches(of: PrimitivePairs, at: BodyKinematics, margin: float, h: float) -> tuple[Array, ...]:
    """The fields of `Touches`."""
    parts = len(at.start) - 1
    middle, half, fast = np.empty((parts, 3)), np.empty((parts, 3)), np.empty(parts)
    for i in range(parts):
        fast[i] = box_round(at.x, at.v, at.start[i], at.start[i + 1], middle[i], half[i])
    room = 0
    for one in of.one:
        room += at.start[one + 1] - at.start[one]
    index, gap, normal = np.empty(room, np.int32), np.empty(room), np.empty((room, 3))
    end = np.zeros(len(of.one) + 1, np.int64)  # rows of pair p are end[p]:end[p+1]
    for p in range(len(of.one)):
        a, b = of.one[p], of.two[p]
        # threads draw their neighbours along: any node may come as far as the fastest does
        reach = h * fast[a] if of.rigid[p, 0] < 0 else 0.0
        end[p + 1] = near_form(
            at.x, at.v, at.start[a], at.start[a + 1], of.kind[p], of.size[p], of.axis[p],
            at.centre[b], at.rotation[b], at.motion[b], of.thickness[p], margin, h, reach,
            (middle[a], half[a], fast[a]), index, gap, normal, end[p],
        )  # fmt: skip
    k = end[-1]
    nodes, weights, rigid_a = np.empty((k, 3), np.int32), np.zeros((k, 3)), np.empty(k, np.int32)
    rigid_b, point, friction = np.empty(k, np.int32), np.empty((k, 3)), np.empty(k)
    key = np.empty(k, np.int64)
    for p in range(len(of.one)):
        soft = of.rigid[p, 0] < 0
        for c in range(end[p], end[p + 1]):
            node = of.shift[p] + index[c] - at.start[of.one[p]]
            for a in range(3):
                nodes[c, a], point[c, a] = node, at.x[index[c], a]
                if not soft:  # on the surface of a ball, whose vertex is its centre
                    point[c, a] -= of.thickness[p] * normal[c, a]
            if soft:
                weights[c, 0] = 1.0
            rigid_a[c], rigid_b[c], friction[c] = of.rigid[p, 0], of.rigid[p, 1], of.friction[p]
            key[c] = node * 1024 + of.number[p]
    kind = np.full(k, VERTEX_FACE, np.int8)
    none, nobody = np.zeros((k, 3)), np.zeros((k, 3), np.int32)
    return (
        nodes, weights, rigid_a, nobody, none, rigid_b, point, gap[:k].copy(), normal[:k].copy(),
        friction, key, kind,
    )  # fmt: skip


def touches_on_forms(pairs: PrimitivePairs, at: BodyKinematics, margin: float, h: float) -> Touches:
    """Vertices that come within `margin` [m] of a form within h, pair after pair."""
    return Touches(*_touches(pairs, at, margin, h))
