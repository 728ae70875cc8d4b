"""Which panels of a factor can be computed at the same time: subtrees of the elimination tree.

No panel of one subtree needs any of another. What they do to the panels above all of them is added
up for each subtree by itself, so that the sums do not depend on which one is ready first.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

SMALL = 4e6  # multiplications: a factor that takes 0.2 ms is not divided
THREADS = (2, 4)  # for which the division is the best, on average


def independent_subtrees(parent: Array, width: Array, height: Array) -> list[Array]:
    """The panels of each subtree, ascending, int32; none if it does not pay to divide them.

    parent (s,): the panel above each, -1 if there is none; panels are post-ordered. width, height
    (s,): columns and rows of each.
    """
    own = _costs(width, height)
    whole, lowest = own.copy(), np.arange(len(own))  # of the subtree below each panel
    for s, p in enumerate(parent):
        if p >= 0:
            whole[p] += whole[s]
            lowest[p] = min(lowest[p], lowest[s])
    if own.sum() < SMALL:
        return []
    roots, best = np.flatnonzero(parent < 0).tolist(), list[int]()
    shortest = _length([], own.sum())
    while roots:
        last = max(roots, key=lambda s: whole[s])
        roots.remove(last)
        roots += np.flatnonzero(parent == last).tolist()
        length = _length([whole[s] for s in roots], own.sum())
        if length < shortest:
            shortest, best = length, sorted(roots)
    return [np.arange(lowest[s], s + 1, dtype=np.int32) for s in best]


def _costs(width: Array, height: Array) -> Array:
    """(s,) multiplications that each panel takes."""
    w, h = width.astype(float), height.astype(float)
    return w * h * h - w * w * h + w**3 / 3.0


def _length(parts: list[float], total: float) -> float:
    """How long it takes with all subtrees at once, then the panels above them."""
    at_once = [max(max(parts, default=0.0), sum(parts) / n) for n in THREADS]
    return total - sum(parts) + sum(at_once) / len(THREADS)
