"""The one dispatch over laws: a line a law in each of four functions.

A law is a file with its KIND, its data and these four kernels over its own block of rows. It knows
no solver, and a solver calls them by kind and knows no law. (Kernels that close over other kernels
have no cache hits in numba, so a table of functions will not do.)
"""

from __future__ import annotations

import numpy as np

from limpet.cavity.gas import law as gas
from limpet.cavity.gas import regulated
from limpet.compiled import njit
from limpet.contact import law as contact
from limpet.particles import held
from limpet.rigid import bilateral, limited

Array = np.ndarray

LAWS = (contact, gas, regulated, limited, held, bilateral)  # by KIND
REGULARISED = np.array([law.REGULARISED for law in LAWS])  # see RowBlock, ConstraintSolver
ELIMINATED = bilateral.KIND  # rows that hold with equality whatever the others do


@njit(cache=True, error_model="numpy")
def solve_block(
    kind: int, data: Array, h: float, w: Array, u: Array, lam: Array, out: Array
) -> None:
    """The block's multipliers that satisfy its law if all others stay."""
    if kind == contact.KIND:
        contact.solve_block(data, h, w, u, lam, out)
    elif kind == gas.KIND:
        gas.solve_block(data, h, w, u, lam, out)
    elif kind == regulated.KIND:
        regulated.solve_block(data, h, w, u, lam, out)
    elif kind == limited.KIND:
        limited.solve_block(data, h, w, u, lam, out)
    elif kind == held.KIND:
        held.solve_block(data, h, w, u, lam, out)


@njit(cache=True, error_model="numpy")
def project(kind: int, data: Array, lam: Array) -> None:
    """Put multipliers that were moved too far back where their law admits them, in place."""
    if kind == contact.KIND:
        contact.project(data, lam)
    elif kind == gas.KIND:
        gas.project(data, lam)
    elif kind == regulated.KIND:
        regulated.project(data, lam)
    elif kind == limited.KIND:
        limited.project(data, lam)
    elif kind == held.KIND:
        held.project(data, lam)


@njit(cache=True, error_model="numpy")
def natural_map(
    kind: int, data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array,
    d_u: Array,
) -> bool:  # fmt: skip
    """The law as phi(lambda, u) = 0 with derivatives; False when u does not enter."""
    if kind == contact.KIND:
        return contact.natural_map(data, h, w, u, lam, phi, d_lam, d_u)
    if kind == gas.KIND:
        return gas.natural_map(data, h, w, u, lam, phi, d_lam, d_u)
    if kind == regulated.KIND:
        return regulated.natural_map(data, h, w, u, lam, phi, d_lam, d_u)
    if kind == limited.KIND:
        return limited.natural_map(data, h, w, u, lam, phi, d_lam, d_u)
    if kind == held.KIND:
        return held.natural_map(data, h, w, u, lam, phi, d_lam, d_u)
    return False


@njit(cache=True, error_model="numpy")
def error(kind: int, data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    """How far the law is from holding, without units."""
    if kind == contact.KIND:
        return contact.error(data, h, w, u, lam, phi)
    if kind == gas.KIND:
        return gas.error(data, h, w, u, lam, phi)
    if kind == regulated.KIND:
        return regulated.error(data, h, w, u, lam, phi)
    if kind == limited.KIND:
        return limited.error(data, h, w, u, lam, phi)
    if kind == held.KIND:
        return held.error(data, h, w, u, lam, phi)
    return np.inf  # no such law: never converges
