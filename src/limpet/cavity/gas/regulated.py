"""The pressure of a regulator, one row: lambda_p = P_set - P_atm, imposed (A III-A).

The row carries the pressure itself, and the step multiplies every row's force by h once: the same
vacuum gives the same force at any time step. The volume V + h V' enters where it would fall below
V_min: the walls have met, there is no air left to take, and P rises to what keeps them there, up to
P_max.
"""

from __future__ import annotations

import numpy as np

from limpet.cavity.gas.law import closing_pressure
from limpet.compiled import njit

Array = np.ndarray

KIND = 2  # one row; data: P_set, P_atm, V, V_min, P_max
REGULARISED = False


@njit(cache=True, error_model="numpy")
def _closing(data: Array, h: float, w: Array, u: Array, lam: Array) -> float:
    """P [Pa] at which the walls just meet."""
    b = data[2] + h * (u[0] - w[0, 0] * (lam[0] + data[1]))
    return closing_pressure(h * w[0, 0], b, data[3])


@njit(cache=True, error_model="numpy")
def solve_block(data: Array, h: float, w: Array, u: Array, lam: Array, out: Array) -> None:
    """p = P - P_atm of the cavity."""
    out[0] = max(data[0], min(_closing(data, h, w, u, lam), data[4])) - data[1]


@njit(cache=True, error_model="numpy")
def project(data: Array, lam: Array) -> None:
    """P_set, or more where the walls meet, up to P_max."""
    lam[0] = max(data[0], min(lam[0] + data[1], data[4])) - data[1]


@njit(cache=True, error_model="numpy")
def natural_map(
    data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    """phi = p - (P_set - P_atm), or (V + h V' - V_min)/(h w) where the walls meet."""
    closing = _closing(data, h, w, u, lam)
    if data[0] < closing < data[4]:
        phi[0], d_lam[0, 0] = (data[2] + h * u[0] - data[3]) / (h * w[0, 0]), 0.0
        d_u[0, 0] = 1.0 / w[0, 0]
        return True
    imposed = max(data[0], min(closing, data[4]))
    phi[0], d_lam[0, 0], d_u[0, 0] = lam[0] - (imposed - data[1]), 1.0, 0.0
    return False


@njit(cache=True, error_model="numpy")
def error(data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    """The miss as a share of the ambient pressure."""
    return abs(phi[0]) / data[1]
