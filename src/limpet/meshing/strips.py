"""Triangle strips between two closed rings of vertices."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def strip(
    one: list[int], lower: Array, two: list[int], upper: Array, turn: float
) -> list[tuple[int, int, int]]:
    """Triangles between two rings, connected in the order of their angles.

    They are oriented outward if ring `one` is below ring `two` and both are counter-clockwise seen
    from above. `lower` and `upper` increase from 0 to less than `turn`, one revolution.
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
