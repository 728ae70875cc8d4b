"""Vertices of many bodies against the primitives of others: all pairs of bodies at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import njit
from limpet.contact.contacts import VERTEX_FACE, Contacts
from limpet.contact.primitives import bounding_box, near_primitive

Array = np.ndarray


class PrimitivePairs(NamedTuple):
    """p pairs of a body that takes part by its vertices, and one with a primitive."""

    one: Array  # (p,) number of the first surface
    two: Array  # (p,) and of the second
    soft: Array  # (p,) bool: the first is made of nodes
    shift: Array  # (p,) int32: its first node, 0 of a rigid one
    kind: Array  # (p,) of the primitive
    size: Array  # (p, 3)
    axis: Array  # (p, 3)
    thickness: Array  # (p,) [m] round the vertices
    number: Array  # (p,) that keys are made of


class Kinematics(NamedTuple):
    """Positions and velocities of s collision surfaces."""

    start: Array  # (s + 1,): vertices of surface i are start[i]:start[i+1]
    x: Array  # (n, 3) [m]; of a ball its centre
    v: Array  # (n, 3) [m/s]
    centre: Array  # (s, 3) [m] of the rigid ones
    rotation: Array  # (s, 3, 3)
    motion: Array  # (s, 6) [m/s, rad/s]


@njit(cache=True, error_model="numpy")
def _contacts(of: PrimitivePairs, at: Kinematics, margin: float, h: float) -> tuple[Array, ...]:
    """The fields of `Contacts`."""
    count = len(at.start) - 1
    middle, half, fast = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
    for i in range(count):
        fast[i] = bounding_box(at.x, at.v, at.start[i], at.start[i + 1], middle[i], half[i])
    room = 0
    for one in of.one:
        room += at.start[one + 1] - at.start[one]
    index, gap, normal = np.empty(room, np.int32), np.empty(room), np.empty((room, 3))
    end = np.zeros(len(of.one) + 1, np.int64)  # contacts of pair p are end[p]:end[p+1]
    for p in range(len(of.one)):
        a, b = of.one[p], of.two[p]
        # chains pull their neighbours along: any node may come as far as the fastest does
        reach = h * fast[a] if of.soft[p] else 0.0
        end[p + 1] = near_primitive(
            at.x, at.v, at.start[a], at.start[a + 1], of.kind[p], of.size[p], of.axis[p],
            at.centre[b], at.rotation[b], at.motion[b], of.thickness[p], margin, h, reach,
            (middle[a], half[a], fast[a]), index, gap, normal, end[p],
        )  # fmt: skip
    k = end[-1]
    surface_a, surface_b, key = np.empty(k, np.int32), np.empty(k, np.int32), np.empty(k, np.int64)
    vertices, weights = np.empty((k, 3), np.int32), np.zeros((k, 3))
    for p in range(len(of.one)):
        for c in range(end[p], end[p + 1]):
            vertex = index[c] - at.start[of.one[p]]
            surface_a[c], surface_b[c], vertices[c], weights[c, 0] = of.one[p], of.two[p], vertex, 1
            key[c] = (of.shift[p] + vertex) * 1024 + of.number[p]
    kind = np.full(k, VERTEX_FACE, np.int8)
    return (
        surface_a, surface_b, vertices, weights, np.zeros((k, 3), np.int32), np.zeros((k, 3)),
        gap[:k].copy(), normal[:k].copy(), kind, key,
    )  # fmt: skip


def primitive_contacts(pairs: PrimitivePairs, at: Kinematics, margin: float, h: float) -> Contacts:
    """Vertices that come within `margin` [m] of a primitive within h, pair after pair.

    A primitive has no vertices: the weights of side b are zero.
    """
    return Contacts(*_contacts(pairs, at, margin, h))
