"""M's mixed pressure-displacement form with pressures shared between cells (IICR11, IICR21; M 3.4).

Unknowns are the velocities v and the change dp of the pressures over the step. With B the
derivative of the volume constraint phi_A = integral of N_A tr e, and C = 1/K times the pressure
mass (M eq 13), M eq 31, corrected (docs/elements.md), reads

    [ A    h B^T ] [ v  ]   [ M v + h (f + external) ]
    [ h B  -C    ] [ dp ] = [ C p - phi              ],

where f are the elastic forces with the pressures at the start of the step. A is positive definite
and C positive semidefinite: the matrix is quasi-definite, and any elimination order is stable.
With the polar rotation the derivative of tr e is exactly R: B = integral of N_A R grad_a.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.fem.elements.block import CellBlock
from limpet.fem.elements.corotational import (
    POLAR,
    deform,
    geometric_stiffness_rows,
    gram,
    load,
    scatter,
)

Array = np.ndarray


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _assemble_mixed(
    x: Array, p: Array, cells: Array, pressure_cells: Array, gradients: Array, weights: Array,
    laplace: Array, shape: Array, compliance: Array, pivot: Array, slots: Array, rotation: int,
    mu: float, implicit: bool, factor: float, coupling: float, pivot_factor: float,
    force: Array, excess: Array, values: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    c = shape.shape[1]
    mu_tangent = mu if implicit else 0.0
    f, r = np.empty((q, 3, 3)), np.empty((q, 3, 3))
    trace, pressure = np.empty(q), np.empty(q)
    turned = np.empty((q, 3 * k))
    work = np.empty((2, 3, 3))
    rows = np.empty((3 * q, 3 * k))
    outer, more = np.empty((3 * k, 3 * k)), np.empty((3 * k, 3 * k))
    for e in range(m):
        own = pressure_cells[e]
        deform(x, cells[e], gradients[e], rotation, f, r, trace)
        for g in range(q):
            pressure[g] = -2.0 / 3.0 * mu * trace[g]
            for i in range(c):
                pressure[g] += shape[g, i] * p[own[i]]
                excess[own[i]] += weights[e, g] * shape[g, i] * trace[g]
        load(cells[e], gradients[e], weights[e], rotation, f, r, pressure, mu, force, turned, work)
        for i in range(c):
            for j in range(c):
                excess[own[i]] -= compliance[e, i, j] * p[own[j]]
        if len(values) == 0:
            continue
        used = 0
        if rotation == POLAR and implicit:
            used = geometric_stiffness_rows(f, r, pressure, mu, turned, rows, work)
        gram(turned, q, outer)
        gram(rows, used, more)
        scatter(
            slots[e], outer, more, laplace[e], mu_tangent, -2.0 / 3.0 * mu_tangent, factor, values
        )
        for i in range(c):
            for a in range(k):
                slot = slots[e, k + i, a]
                for d in range(3):
                    b = 0.0
                    for g in range(q):
                        b += np.sqrt(weights[e, g]) * shape[g, i] * turned[g, 3 * a + d]
                    if slot >= 0:  # the pressure is ordered after the node: its row
                        values[slot, 0, d] += coupling * b
                    else:
                        values[-1 - slot, d, 0] += coupling * b
            for j in range(i + 1):
                slot = slots[e, k + i, k + j]
                at = slot if slot >= 0 else -1 - slot
                values[at, 0, 0] -= pivot_factor * pivot[e, i, j]


def assemble_mixed(
    block: CellBlock, x: Array, p: Array, pressure_cells: Array, slots: Array, mu: float,
    compliance: Array, pivot: Array, force: Array, excess: Array, values: Array, *,
    factor: float = 1.0, coupling: float = 1.0, pivot_factor: float = 1.0, rotation: int = POLAR,
    implicit: bool = True,
) -> None:  # fmt: skip
    """Add forces (n, 3) [N], excess volumes phi - C p (n_p,) [m^3] and the saddle point's blocks.

    pressure_cells (m, c): each cell's pressures in p. slots (m, k + c, k + c) as in `assemble`,
    nodes first. compliance (m, c, c) [m^3/Pa]: C. The blocks are factor * stiffness, coupling * B
    and -pivot_factor * pivot, where pivot is C or more. Empty `values`: no blocks are computed.
    """
    _assemble_mixed(
        x, p, block.cells, pressure_cells, block.gradients, block.weights, block.laplace,
        block.pressure_shape, compliance, pivot, slots, rotation, mu, implicit, factor, coupling,
        pivot_factor, force, excess, values,
    )  # fmt: skip


def pressure_compliance(block: CellBlock, mu: float, bulk: float, stabilisation: float) -> Array:
    """C of each cell (m, c, c) [m^3/Pa]: 1/K times the pressure mass (M eq 13), stabilised.

    Linear displacements with linear pressures (IICR11) fail the inf-sup condition: towards nu = 0.5
    the pressures oscillate, and the body still locks. The stabilisation of Dohrmann and Bochev adds
    the compliance stabilisation/mu to the deviation of the pressure from its mean in each cell. Its
    effect vanishes under refinement. 0 is M's original form.
    """
    mass = block.pressure_mass
    c = mass / bulk
    space = block.element.pressure
    if space is not None and space.as_rich and stabilisation > 0.0:
        mean = mass.sum(axis=2)
        volume = mean.sum(axis=1)[:, None, None]
        c = c + stabilisation / mu * (mass - mean[:, :, None] * mean[:, None, :] / volume)
    return np.ascontiguousarray(c)
