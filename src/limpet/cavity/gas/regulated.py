"""The pressure of a regulator, one row: lambda_p = P_set - P_atm, imposed (A III-A).

The row carries the pressure itself, and the step multiplies every row's force by h once: the same
vacuum gives the same force at any time step. The cavity's volume does not enter.
"""

from __future__ import annotations

import numpy as np
from numba import njit

Array = np.ndarray

KIND = 2  # one row; data: P_set, P_atm
REGULARISED = False


@njit(cache=True, error_model="numpy")
def solve_block(data: Array, h: float, w: Array, u: Array, lam: Array, out: Array) -> None:
    """p = P - P_atm of the cavity."""
    out[0] = data[0] - data[1]


@njit(cache=True, error_model="numpy")
def project(data: Array, lam: Array) -> None:
    """Any pressure is admissible."""


@njit(cache=True, error_model="numpy")
def natural_map(
    data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    """phi = p - (P_set - P_atm)."""
    phi[0], d_lam[0, 0], d_u[0, 0] = lam[0] - (data[0] - data[1]), 1.0, 0.0
    return False


@njit(cache=True, error_model="numpy")
def error(data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    """The miss as a share of the ambient pressure."""
    return abs(phi[0]) / data[1]
