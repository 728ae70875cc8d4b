"""Rows of H from geometry: three a contact or patch point, one a cavity (dV/dx); ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from limpet.contact.contacts import Contacts
from limpet.dynamics.body import Rows
from limpet.pressure_field.patch_set import FramePoints
from limpet.rigid.joints import Joints, joint_rows

Array = np.ndarray


@njit(cache=True, inline="always")
def tangent_pair(normal: Array, first: Array, second: Array) -> None:
    """Write two unit vectors (3,) that complete the normal to a right-handed frame."""
    x, y, z = normal[0], normal[1], normal[2]
    # Duff et al. 2017: no branch on direction but one, no loss of digits near an axis
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    first[0], first[1], first[2] = 1.0 + sign * x * x * a, sign * b, -sign * x
    second[0], second[1], second[2] = b, sign + y * y * a, -y


@njit(cache=True)
def tangents(normal: Array) -> tuple[Array, Array]:
    """As `tangent_pair`, of each normal (k, 3)."""
    first, second = np.empty_like(normal), np.empty_like(normal)
    for k in range(len(normal)):
        tangent_pair(normal[k], first[k], second[k])
    return first, second


@njit(cache=True)
def contact_rows(
    first_a: Array, vertices_a: Array, weights_a: Array,
    first_b: Array, vertices_b: Array, weights_b: Array,
    normal: Array, tangent: Array, other: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(start, vertex, vector) of 3 k rows over global surface vertices.

    A contact's velocity is that of its point on a less that of its point on b, along each axis.
    first_a, first_b (k,): where the two bodies' vertices begin.
    """
    k = len(normal)
    start = np.zeros(3 * k + 1, np.int32)
    vertex = np.empty(18 * k, np.int32)
    vector = np.empty((18 * k, 3))
    used = 0
    for c in range(k):
        for axis in range(3):
            d = normal[c] if axis == 0 else tangent[c] if axis == 1 else other[c]
            for j in range(3):
                if weights_a[c, j] != 0.0:
                    vertex[used] = first_a[c] + vertices_a[c, j]
                    for i in range(3):
                        vector[used, i] = weights_a[c, j] * d[i]
                    used += 1
            for j in range(3):
                if weights_b[c, j] != 0.0:
                    vertex[used] = first_b[c] + vertices_b[c, j]
                    for i in range(3):
                        vector[used, i] = -weights_b[c, j] * d[i]
                    used += 1
            start[3 * c + axis + 1] = used
    return start, vertex[:used].copy(), vector[:used].copy()


PatchRows = tuple[Array, Array, Array]  # start, vertex, vector


@njit(cache=True)
def _carried_rows(first_a, weights_a, first_b, weights_b, normal, tangent, other) -> PatchRows:
    m = len(normal)
    start = 8 * np.arange(3 * m + 1).astype(np.int32)
    vertex, vector = np.empty(24 * m, np.int32), np.empty((24 * m, 3))
    at = 0
    for p in range(m):
        for axis in range(3):
            d = normal[p] if axis == 0 else tangent[p] if axis == 1 else other[p]
            for j in range(4):
                vertex[at], vertex[at + 4] = first_a[p] + j, first_b[p] + j
                for i in range(3):
                    vector[at, i] = weights_a[p, j] * d[i]
                    vector[at + 4, i] = -weights_b[p, j] * d[i]
                at += 1
            at += 4
    return start, vertex, vector


def patch_rows(a: FramePoints, b: FramePoints, normal: Array) -> PatchRows:
    """3 m rows over global vertices: the velocity of points on a less that of the same on b."""
    first, second = tangents(normal)
    return _carried_rows(a.first, a.weights, b.first, b.weights, normal, first, second)


def contact_forces(normal: Array, multipliers: Array) -> Array:
    """(k, 3) [N] on the first body of each contact, whose three rows come first."""
    first, second = tangents(normal)
    lam = multipliers[: 3 * len(normal)].reshape(-1, 3)
    return lam[:, :1] * normal + lam[:, 1:2] * first + lam[:, 2:] * second


def stack_rows(
    offset: Array,
    contacts: Contacts,
    patches: PatchRows,
    cavities: Sequence[tuple[Array, Array]],
    joints: Joints,
    x: Array,
) -> tuple[Rows, Array]:
    """H over all surface vertices: contacts, patches, a row a cavity, ties; and gaps (r,) [m].

    offset (bodies + 1,): where each body's vertices begin. cavities: vertices and dV/dx there.
    """
    first, second = tangents(contacts.normal)
    start, vertex, vector = contact_rows(
        offset[contacts.body_a], contacts.vertices_a, contacts.weights_a,
        offset[contacts.body_b], contacts.vertices_b, contacts.weights_b,
        contacts.normal, first, second,
    )  # fmt: skip
    own_start, own_vertex, own_vector = patches
    starts, vertices, vectors = [start], [vertex, own_vertex], [vector, own_vector]
    starts.append(start[-1:] + own_start[1:])
    for support, gradient in cavities:
        starts.append(_last(starts) + len(support))
        vertices.append(support)
        vectors.append(gradient)
    gaps = [np.zeros(3 * len(contacts) + len(own_start) - 1 + len(cavities))]
    gaps[0][: 3 * len(contacts) : 3] = contacts.gap
    if len(joints):
        start, vertex, vector, gap = joint_rows(joints, x)
        starts.append(_last(starts) + start[1:])
        vertices.append(vertex)
        vectors.append(vector)
        gaps.append(gap)
    rows = Rows(
        np.concatenate(starts).astype(np.int32),
        np.concatenate(vertices).astype(np.int32),
        np.concatenate(vectors),
    )
    return rows, np.concatenate(gaps)


def _last(starts: list[Array]) -> Array:
    """(1,) where the next row begins."""
    return next(part[-1:] for part in reversed(starts) if len(part))
