"""The negative part of the geometric stiffness: what compression takes from the stiffness.

`corotational.assemble` omits it, which keeps the matrix positive definite. Without it Newton's
method converges slowly where cells are compressed and slender: its steps are too short there.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.fem.elements.block import CellBlock
from limpet.fem.elements.corotational import POLAR, deform, gram, own_pressure, scatter
from limpet.geometry.rotation import symmetric_eigen

Array = np.ndarray


@inner(error_model="numpy", fastmath={"contract"})
def _compressed_rows(
    f: Array, r: Array, pressure: float, mu: float, weight: float, gradients: Array, rows: Array
) -> int:
    """Rows whose outer products sum to the stiffness that a point loses; returns their number."""
    stretch, axes, used = f @ r.T, np.empty((3, 3)), 0
    symmetric_eigen(stretch, axes)
    turned = gradients @ r.T
    for n in range(3):
        both = stretch[(n + 1) % 3, (n + 1) % 3] + stretch[(n + 2) % 3, (n + 2) % 3]
        tension = mu * (both - 2.0) + pressure  # half of sigma_i + sigma_j
        if tension >= 0.0 or both <= 0.0:
            continue
        e, root = axes[:, n], np.sqrt(-weight * tension / both)
        for a in range(len(turned)):
            t = turned[a]
            rows[used, 3 * a] = root * (e[1] * t[2] - e[2] * t[1])
            rows[used, 3 * a + 1] = root * (e[2] * t[0] - e[0] * t[2])
            rows[used, 3 * a + 2] = root * (e[0] * t[1] - e[1] * t[0])
        used += 1
    return used


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _subtract(
    x: Array, cells: Array, gradients: Array, weights: Array, shape: Array, roots: Array,
    slots: Array, mu: float, lam: float, factor: float, values: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    f, r = np.empty((q, 3, 3)), np.empty((q, 3, 3))
    trace, pressure = np.empty(q), np.empty(q)
    rows, lost = np.empty((3 * q, 3 * k)), np.empty((3 * k, 3 * k))
    none, laplace = np.zeros((3 * k, 3 * k)), np.zeros((k, k))
    for e in range(m):
        deform(x, cells[e], gradients[e], POLAR, f, r, trace)
        if shape.shape[1] == 0:
            for g in range(q):
                pressure[g] = lam * trace[g]
        else:
            bulk = lam + 2.0 / 3.0 * mu
            own_pressure(weights[e], shape, roots[e], trace, bulk, mu, pressure)
        used = 0
        for g in range(q):
            used += _compressed_rows(
                f[g], r[g], pressure[g], mu, weights[e, g], gradients[e, g], rows[used:]
            )
        if used > 0:
            gram(rows, used, lost)
            scatter(slots[e], none, lost, laplace, 0.0, 0.0, -factor, values)


def subtract_compression(
    block: CellBlock, x: Array, slots: Array, mu: float, lam: float, values: Array, factor: float
) -> None:
    """Make the stiffness in `values`, as of `corotational.assemble`, the exact derivative."""
    _subtract(
        x, block.cells, block.gradients, block.weights, block.pressure_shape, block.pressure_root,
        slots, mu, lam, factor, values,
    )  # fmt: skip
