"""A row whose multiplier has bounds: u = 0 as far as lambda- <= lambda <= lambda+ allows (C eq 14).

Inextensibility, bending and single directions of an anchor are rows of this law.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def solve_row(r: float, u: float, lam: float, lower: float, upper: float) -> float:
    """The new multiplier; r is the inverse of the row's own compliance (C algorithm 1)."""
    return min(max(lam - r * u, lower), upper)


@njit(cache=True, error_model="numpy")
def natural_map(
    r: float, u: float, lam: float, lower: float, upper: float
) -> tuple[float, float, float]:
    """phi = lambda - clamp(lambda - r u), d phi/d lambda, d phi/d u."""
    new = lam - r * u
    if new < lower:
        return lam - lower, 1.0, 0.0
    if new > upper:
        return lam - upper, 1.0, 0.0
    return r * u, 0.0, r
