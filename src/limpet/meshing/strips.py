"""Bands of triangles between two closed rings of vertices."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def strip(
    one: list[int], lower: Array, two: list[int], upper: Array, turn: float
) -> list[tuple[int, int, int]]:
    """Triangles between two rings, zipped by where their vertices stand on one turn.

    Outward when ring `one` lies below ring `two` and both run counter-clockwise seen from above;
    `lower` and `upper` rise from 0 to less than `turn`.
    """
    out: list[tuple[int, int, int]] = []
    n, m = len(one), len(two)
    next_one = np.append(lower[1:], lower[0] + turn)
    next_two = np.append(upper[1:], upper[0] + turn)
    a = b = 0
    while a < n or b < m:
        if a < n and b < m and next_one[a] == next_two[b]:
            forward = a % 2 == 0  # alternate the diagonals
        else:
            forward = b == m or (a < n and next_one[a] < next_two[b])
        if forward:
            out.append((one[a], one[(a + 1) % n], two[b % m]))
            a += 1
        else:
            out.append((one[a % n], two[(b + 1) % m], two[b]))
            b += 1
    return out
