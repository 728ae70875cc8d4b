"""Rows of H from contacts: three for each point, along its normal and two tangents."""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit

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
def contact_frames(normal: Array) -> Array:
    """(k, 3, 3): each normal (k, 3) and the two tangents that go with it."""
    out = np.empty((len(normal), 3, 3))
    for k in range(len(normal)):
        for i in range(3):
            out[k, 0, i] = normal[k, i]
        tangent_pair(normal[k], out[k, 1], out[k, 2])
    return out


def contact_forces(frames: Array, multipliers: Array) -> Array:
    """(k, 3) [N] on the first side of each contact, from multipliers (3 k,) along its axes."""
    return np.einsum("ka,kai->ki", multipliers.reshape(-1, 3), frames)


@njit(cache=True)
def contact_rows(
    first_a: Array, vertices_a: Array, weights_a: Array,
    first_b: Array, vertices_b: Array, weights_b: Array, frames: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """3 k rows (start, point, vector): the velocity of a contact's point on a less that of its
    point on b, by axis.

    vertices and weights (k, m): the points that carry each side, counted from first (k,).
    """
    k, m = weights_a.shape
    start = np.zeros(3 * k + 1, np.int32)
    point = np.empty(6 * m * k, np.int32)
    vector = np.empty((6 * m * k, 3))
    used = 0
    for c in range(k):
        for axis in range(3):
            d = frames[c, axis]
            for j in range(m):
                if weights_a[c, j] != 0.0:
                    point[used] = first_a[c] + vertices_a[c, j]
                    for i in range(3):
                        vector[used, i] = weights_a[c, j] * d[i]
                    used += 1
            for j in range(m):
                if weights_b[c, j] != 0.0:
                    point[used] = first_b[c] + vertices_b[c, j]
                    for i in range(3):
                        vector[used, i] = -weights_b[c, j] * d[i]
                    used += 1
            start[3 * c + axis + 1] = used
    return start, point[:used].copy(), vector[:used].copy()


@njit(cache=True)
def opening_speeds(first_a, vertices_a, weights_a, first_b, vertices_b, weights_b, normal, v):
    """(k,) how fast each gap opens, for v (N, 3) of all points."""
    out = np.zeros(len(normal))
    for c in range(len(normal)):
        for j in range(3):
            a, b = v[first_a[c] + vertices_a[c, j]], v[first_b[c] + vertices_b[c, j]]
            for i in range(3):
                out[c] += normal[c, i] * (weights_a[c, j] * a[i] - weights_b[c, j] * b[i])
    return out
