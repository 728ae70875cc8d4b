"""When four moving points come into one plane: continuous collision detection.

A vertex meets a face, or an edge another, when the volume that their four points span is zero.
With constant velocities that volume is a cubic of time (Provot 1997). Between the extrema of a
cubic lies one root at most, so none is missed, however short the passage.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import (
    Vec,
    add,
    closest_on_segments,
    closest_on_triangle,
    cross,
    dot,
    offset,
    scale,
    sub,
)

Array = np.ndarray

BISECTIONS = 40
EDGE = 1e-6  # [m] beside the triangle still counts, for rounding


@njit(cache=True)
def _volume(c: tuple[float, float, float, float], t: float) -> float:
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0]


@inner()
def _cubic(a: Vec, b: Vec, c: Vec, u: Vec, v: Vec, w: Vec) -> tuple[float, float, float, float]:
    """Coefficients over t of (a + t u) . ((b + t v) x (c + t w))."""
    bc, vw = cross(b, c), cross(v, w)
    mixed = add(cross(v, c), cross(b, w))
    return dot(a, bc), dot(u, bc) + dot(a, mixed), dot(a, vw) + dot(u, mixed), dot(u, vw)


@inner()
def _extrema(c: tuple[float, float, float, float], h: float) -> tuple[float, float]:
    """Where the cubic turns in (0, h), in order; h where it does not."""
    p, q, r = 3.0 * c[3], 2.0 * c[2], c[1]
    first = second = h
    root = q * q - 4.0 * p * r
    if root > 0.0:
        s = -0.5 * (q + (np.sqrt(root) if q >= 0.0 else -np.sqrt(root)))
        one = s / p if p != 0.0 else h
        two = r / s if s != 0.0 else h
        one = one if 0.0 < one < h else h
        two = two if 0.0 < two < h else h
        first, second = min(one, two), max(one, two)
    return first, second


@njit(cache=True)
def _root(c: tuple[float, float, float, float], low: float, high: float) -> float:
    """The zero between low and high, where the cubic is monotone; -1 if there is none."""
    before = _volume(c, low) > 0.0
    if high <= low or (_volume(c, high) > 0.0) == before:
        return -1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if (_volume(c, middle) > 0.0) == before:
            low = middle
        else:
            high = middle
    return high


@njit(cache=True)
def time_of_impact(
    p: Vec, a: Vec, b: Vec, c: Vec, u: Vec, ua: Vec, ub: Vec, uc: Vec, h: float
) -> tuple[float, float, float, float]:
    """First time in [0, h] that p, moving with u, meets the triangle abc; and where on it.

    -1 if it does not.
    """
    f = _cubic(sub(p, a), sub(b, a), sub(c, a), sub(u, ua), sub(ub, ua), sub(uc, ua))
    first, second = _extrema(f, h)
    for low, high in ((0.0, first), (first, second), (second, h)):
        t = _root(f, low, high)
        if t < 0.0:
            continue
        q = add(p, scale(t, u))
        at, bt, ct = add(a, scale(t, ua)), add(b, scale(t, ub)), add(c, scale(t, uc))
        e, g, k, _ = closest_on_triangle(q, at, bt, ct)
        r = offset(q, at, bt, ct, e, g, k)
        if dot(r, r) <= EDGE * EDGE:
            return t, e, g, k
    return -1.0, 0.0, 0.0, 0.0


@njit(cache=True)
def time_edges_meet(
    p: Vec, q: Vec, a: Vec, b: Vec, up: Vec, uq: Vec, ua: Vec, ub: Vec, h: float
) -> tuple[float, float, float]:
    """First time in [0, h] that the edges pq and ab meet, and where on each; -1 if they do not."""
    f = _cubic(sub(p, a), sub(q, p), sub(b, a), sub(up, ua), sub(uq, up), sub(ub, ua))
    first, second = _extrema(f, h)
    for low, high in ((0.0, first), (first, second), (second, h)):
        t = _root(f, low, high)
        if t < 0.0:
            continue
        pt, qt = add(p, scale(t, up)), add(q, scale(t, uq))
        at, bt = add(a, scale(t, ua)), add(b, scale(t, ub))
        s, k = closest_on_segments(pt, qt, at, bt)
        r = sub(add(pt, scale(s, sub(qt, pt))), add(at, scale(k, sub(bt, at))))
        if dot(r, r) <= EDGE * EDGE:
            return t, s, k
    return -1.0, 0.0, 0.0
