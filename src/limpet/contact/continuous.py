"""When a moving point meets a moving triangle: continuous detection for what is fast."""

from __future__ import annotations

import numpy as np
from numba import njit

from limpet.geometry.distance import Vec, add, closest_on_triangle, cross, dot, offset, scale, sub

BISECTIONS = 40
SAMPLES = 8  # parts of a step that are searched for a change of sides
EDGE = 1e-6  # [m] beside the triangle still counts, for rounding


@njit(cache=True)
def _side(p: Vec, a: Vec, b: Vec, c: Vec, u: Vec, ua: Vec, ub: Vec, uc: Vec, t: float) -> float:
    """Volume spanned at time t: zero when the point is in the triangle's plane."""
    a = add(a, scale(t, ua))
    ab, ac = sub(add(b, scale(t, ub)), a), sub(add(c, scale(t, uc)), a)
    return dot(cross(ab, ac), sub(add(p, scale(t, u)), a))


@njit(cache=True)
def time_of_impact(
    p: Vec, a: Vec, b: Vec, c: Vec, u: Vec, ua: Vec, ub: Vec, uc: Vec, h: float
) -> tuple[float, float, float, float]:
    """First time in [0, h] that p, moving with u, meets the triangle abc; and where on it.

    -1 if it does not. The volume is a cubic of time (Provot): its changes of sign are found on
    a few pieces of the step and halved down.
    """
    last, before = 0.0, _side(p, a, b, c, u, ua, ub, uc, 0.0)
    for k in range(1, SAMPLES + 1):
        t = h * k / SAMPLES
        now = _side(p, a, b, c, u, ua, ub, uc, t)
        if (before > 0.0) != (now > 0.0):
            low, high = last, t
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                if (_side(p, a, b, c, u, ua, ub, uc, middle) > 0.0) == (before > 0.0):
                    low = middle
                else:
                    high = middle
            q = add(p, scale(high, u))
            at, bt, ct = add(a, scale(high, ua)), add(b, scale(high, ub)), add(c, scale(high, uc))
            e, f, g, _ = closest_on_triangle(q, at, bt, ct)
            r = offset(q, at, bt, ct, e, f, g)
            if np.sqrt(dot(r, r)) <= EDGE:
                return high, e, f, g
        last, before = t, now
    return -1.0, 0.0, 0.0, 0.0
