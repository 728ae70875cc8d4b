"""A point held on another: three rows u = 0 with any multiplier (C eq 20, 21).

C holds a node by the one row d . v with d = x - y, which says nothing once d is zero, and nothing
across d before. Three rows hold it every way, and need no direction.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.law import displacement_error

Array = np.ndarray

KIND = 4  # three rows; no data
REGULARISED = False


@njit(cache=True, error_model="numpy")
def solve_held(w: Array, u: Array, lam: Array, out: Array) -> None:
    """out (3,) = lam - w^-1 u, by Cramer's rule; w (3, 3) symmetric."""
    a, b, c = w[0, 0], w[0, 1], w[0, 2]
    d, e, f = w[1, 1], w[1, 2], w[2, 2]
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    c11, c12, c22 = a * f - c * c, b * c - a * e, a * d - b * b
    s = 1.0 / (a * c00 + b * c01 + c * c02)
    out[0] = lam[0] - s * (c00 * u[0] + c01 * u[1] + c02 * u[2])
    out[1] = lam[1] - s * (c01 * u[0] + c11 * u[1] + c12 * u[2])
    out[2] = lam[2] - s * (c02 * u[0] + c12 * u[1] + c22 * u[2])


@inner(error_model="numpy")
def natural_map(
    data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    """phi_i = u_i/w_ii, with its derivatives."""
    d_lam[:] = 0.0
    d_u[:] = 0.0
    for i in range(3):
        phi[i] = u[i] / w[i, i]
        d_u[i, i] = 1.0 / w[i, i]
    return True


@inner(error_model="numpy")
def solve_block(data: Array, h: float, w: Array, u: Array, lam: Array, out: Array) -> None:
    solve_held(w, u, lam, out)


@njit(cache=True, error_model="numpy")
def project(data: Array, lam: Array) -> None:
    """Any multiplier is admissible."""


@njit(cache=True, error_model="numpy")
def error(data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    return displacement_error(h, w, phi)
