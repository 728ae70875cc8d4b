"""The gas law of a sealed cavity, one row: P (V + h V') = (n + dn) R T (P eq 8-14).

The row carries p = P - P_atm, so that no pressure need be applied outside (P 3.7); u is the rate of
volume V'. P never exceeds P_max: there air leaves instead (P eq 14).
"""

from __future__ import annotations

import numpy as np
from numba import njit

Array = np.ndarray


@njit(cache=True, error_model="numpy")
def root(a: float, b: float, nrt: float) -> float:
    """The one positive root of a P^2 + b P - n R T = 0 (P eq 11, 12), without cancellation.

    With the shift by P_atm b is negative in most sealed steps; a > 0 and n R T >= 0 still leave
    exactly one root that is not negative.
    """
    if a <= 0.0:  # a cavity between bodies that cannot move: Boyle's law for the given volume
        return nrt / b if b > 0.0 else np.inf
    d = np.sqrt(b * b + 4.0 * a * nrt)
    return 2.0 * nrt / (b + d) if b > 0.0 else (d - b) / (2.0 * a)


@njit(cache=True, error_model="numpy")
def solve_row(
    w: float, u: float, lam: float, volume: float, nrt: float, p_max: float, p_atm: float, h: float
) -> float:
    """New p of one cavity: the root for u without its own share, clamped at P_max."""
    b = volume + h * (u - w * (lam + p_atm))
    return min(root(h * w, b, nrt), p_max) - p_atm


@njit(cache=True, error_model="numpy")
def natural_map(
    w: float, u: float, lam: float, volume: float, nrt: float, p_max: float, p_atm: float, h: float
) -> tuple[float, float, float]:
    """phi = P - root (or P - P_max when venting), d phi/d p, d phi/d u.

    The root is that of the block update, so phi keeps the scale of a pressure: with b the volume
    less the row's own share, d root/d b = -P/sqrt(d).
    """
    b = volume + h * (u - w * (lam + p_atm))
    p = root(h * w, b, nrt)
    if p >= p_max:
        return lam + p_atm - p_max, 1.0, 0.0
    slope = -p / np.sqrt(b * b + 4.0 * h * w * nrt)
    return lam + p_atm - p, 1.0 + slope * h * w, -slope * h


@njit(cache=True, error_model="numpy")
def error(
    u: float,
    lam: float,
    volume: float,
    nrt: float,
    p_max: float,
    p_atm: float,
    h: float,
    phi: float,
) -> float:
    """|P V - n R T| / (n R T) at the end of the step; when venting |P - P_max| / P_max."""
    p = lam + p_atm
    miss = abs(phi) / max(abs(p), 1e-6 * p_atm)
    if p < p_max * (1.0 - 1e-9) and nrt > 0.0:
        return max(miss, abs(p * (volume + h * u) - nrt) / nrt)
    return miss
