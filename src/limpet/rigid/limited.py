"""A row whose multiplier has bounds: u = 0 as far as lambda- <= lambda <= lambda+ allows (C eq 14).

A drive with a force limit is a row of this law, and so are inextensibility, bending and single
directions of an anchor of particles.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.law import displacement_error

Array = np.ndarray

KIND = 3  # one row; data: lambda-, lambda+
REGULARISED = False


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def solve_row(r: float, u: float, lam: float, lower: float, upper: float) -> float:
    """The new multiplier; r is the inverse of the row's own compliance (C algorithm 1)."""
    return min(max(lam - r * u, lower), upper)


@njit(cache=True, error_model="numpy")
def row_map(
    r: float, u: float, lam: float, lower: float, upper: float
) -> tuple[float, float, float]:
    """phi = lambda - clamp(lambda - r u), d phi/d lambda, d phi/d u."""
    new = lam - r * u
    if new <= lower:  # also where both bounds are the same: then u does not enter
        return lam - lower, 1.0, 0.0
    if new >= upper:
        return lam - upper, 1.0, 0.0
    return r * u, 0.0, r


@inner(error_model="numpy")
def solve_block(data: Array, h: float, w: Array, u: Array, lam: Array, out: Array) -> None:
    out[0] = solve_row(1.0 / w[0, 0], u[0], lam[0], data[0], data[1])


@njit(cache=True, error_model="numpy")
def project(data: Array, lam: Array) -> None:
    lam[0] = min(max(lam[0], data[0]), data[1])


@inner(error_model="numpy")
def natural_map(
    data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    phi[0], d_lam[0, 0], d_u[0, 0] = row_map(1.0 / w[0, 0], u[0], lam[0], data[0], data[1])
    return d_u[0, 0] != 0.0


@njit(cache=True, error_model="numpy")
def error(data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    return displacement_error(h, w[:1, :1], phi)
