"""The pressure of a regulator, one row: lambda_p = P_set - P_atm, imposed (A III-A).

The row carries the pressure itself, and the step multiplies every row's force by h once: the same
vacuum gives the same force at any time step. What the cavity's volume does does not enter.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, error_model="numpy")
def solve_row(target: float, p_atm: float) -> float:
    """p = P - P_atm of the cavity."""
    return target - p_atm


@njit(cache=True, error_model="numpy")
def natural_map(lam: float, target: float, p_atm: float) -> tuple[float, float, float]:
    """phi = p - (P_set - P_atm), d phi/d p, d phi/d u."""
    return lam - solve_row(target, p_atm), 1.0, 0.0


@njit(cache=True, error_model="numpy")
def error(p_atm: float, phi: float) -> float:
    """The miss as a share of the atmosphere."""
    return abs(phi) / p_atm
