"""All laws of one step as blocks over rows: what the solvers see.

A block has a kind, its rows, and numbers of its own. `solve_block` and `natural_map` hand it to its
law; a solver calls them and knows no law. A new law is a kind here and a file beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.cavity.gas import law as gas
from limpet.cavity.gas import regulated
from limpet.contact import law as contact
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.particles import held, limited

Array = np.ndarray

CONTACT = 0  # three rows: normal, two tangents; data: mu
GAS = 1  # one row; data: V, K = a n^k (n R T at k = 1), P_max, P_atm, k
REGULATED = 2  # one row; data: P_set, P_atm
LIMITED = 3  # one row; data: lambda-, lambda+
HELD = 4  # three rows; no data
DATA = 5  # numbers of a block, at most


@dataclass(frozen=True)
class FactoredDelassus:
    """W = B S B^T + diag(own) of many rows over few coordinates."""

    b_s_b: ReducedCompliance
    own: Array  # (r,) compliance of each row by itself

    def dense(self) -> Array:
        w = self.b_s_b.dense()
        w.reshape(-1)[:: len(w) + 1] += self.own
        return w


@dataclass(frozen=True)
class Problem:
    """Find lambda so that every law holds for u = free + (W + diag(give)) lambda."""

    w: Array | FactoredDelassus  # (r, r) compliance, h H A^-1 H^T
    regularisation: (
        Array  # (r,) compliance of each row by itself, so that redundant rows share their load
    )
    free: Array  # (r,) u without any multiplier
    kind: Array  # (b,) int32
    start: Array  # (b + 1,) int32, rows of block b: start[b]:start[b+1]
    data: Array  # (b, DATA)
    h: float  # [s]


@njit(cache=True, error_model="numpy")
def solve_block(
    kind: int, data: Array, h: float, w: Array, u: Array, lam: Array, out: Array
) -> None:
    """The block's multipliers that satisfy its law if all others stay."""
    if kind == CONTACT:
        contact.solve_block(w, u, lam, data[0], out)
    elif kind == REGULATED:
        out[0] = regulated.solve_row(data[0], data[1])
    elif kind == LIMITED:
        out[0] = limited.solve_row(1.0 / w[0, 0], u[0], lam[0], data[0], data[1])
    elif kind == HELD:
        held.solve_block(w, u, lam, out)
    else:
        out[0] = gas.solve_row(
            w[0, 0], u[0], lam[0], data[0], data[1], data[2], data[3], h, data[4]
        )


@njit(cache=True, error_model="numpy")
def project(kind: int, data: Array, lam: Array) -> None:
    """Put multipliers that were moved too far back where their law lets them be, in place."""
    if kind == CONTACT:
        contact.project(lam, data[0])
    elif kind == GAS:
        lam[0] = min(max(lam[0], -data[3]), data[2] - data[3])  # 0 <= P <= P_max
    elif kind == LIMITED:
        lam[0] = min(max(lam[0], data[0]), data[1])


@njit(cache=True, error_model="numpy")
def natural_map(
    kind: int,
    data: Array,
    h: float,
    w: Array,
    u: Array,
    lam: Array,
    phi: Array,
    d_lam: Array,
    d_u: Array,
) -> bool:
    """The law as phi(lambda, u) = 0 with derivatives; False when u does not enter."""
    if kind == CONTACT:
        return contact.natural_map(w, u, lam, data[0], phi, d_lam, d_u)
    if kind == REGULATED:
        phi[0], d_lam[0, 0], d_u[0, 0] = regulated.natural_map(lam[0], data[0], data[1])
        return False
    if kind == LIMITED:
        phi[0], d_lam[0, 0], d_u[0, 0] = limited.natural_map(
            1.0 / w[0, 0], u[0], lam[0], data[0], data[1]
        )
        return d_u[0, 0] != 0.0
    if kind == HELD:
        held.natural_map(w, u, phi, d_lam, d_u)
        return True
    phi[0], d_lam[0, 0], d_u[0, 0] = gas.natural_map(
        w[0, 0], u[0], lam[0], data[0], data[1], data[2], data[3], h, data[4]
    )
    return True


@njit(cache=True, error_model="numpy")
def error(kind: int, data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    """How far the law is from holding, without units.

    Contact, limited and held rows: phi as a displacement, over 1 mm. Gas: |P V^k - K| / K, or
    |P / P_max - 1|. Regulated: |P - P_set| / P_atm.
    """
    if kind in (CONTACT, HELD, LIMITED):
        largest = 0.0
        for i in range(len(u)):
            size = abs(phi[i]) * w[i, i]
            if not size <= largest:  # and not max(), which would pass over a NaN
                largest = size
        return largest * h / 1e-3
    if kind == REGULATED:
        return regulated.error(data[1], phi[0])
    return gas.error(u[0], lam[0], data[0], data[1], data[2], data[3], h, phi[0], data[4])
