"""20-node serendipity hexahedron with 2x2x2 points: bends without locking, our default for cups."""

from __future__ import annotations

import numpy as np

from limpet.elements.element import Array, Element, gauss_cube
from limpet.geometry import cells

NODES = cells.HEX20.nodes


def _shape(xi: Array) -> Array:
    s = xi[..., None, :] * NODES  # (..., 20, 3): xi_i times the node's own coordinate
    corner = 0.125 * (1.0 + s[..., :8, :]).prod(axis=-1) * (s[..., :8, :].sum(axis=-1) - 2.0)
    # On a midside node one coordinate is zero: that factor becomes 1 - xi^2.
    factor = np.where(NODES[8:] == 0.0, 1.0 - xi[..., None, :] ** 2, 1.0 + s[..., 8:, :])
    return np.concatenate([corner, 0.25 * factor.prod(axis=-1)], axis=-1)


def _gradient(xi: Array) -> Array:
    s = xi[..., None, :] * NODES
    out = np.empty((*xi.shape[:-1], 20, 3))
    one = 1.0 + s[..., :8, :]
    total = s[..., :8, :].sum(axis=-1) - 2.0
    zero = NODES[8:] == 0.0
    factor = np.where(zero, 1.0 - xi[..., None, :] ** 2, 1.0 + s[..., 8:, :])
    slope = np.where(zero, -2.0 * xi[..., None, :], NODES[8:])
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        others = one[..., j] * one[..., k]
        out[..., :8, i] = 0.125 * NODES[:8, i] * others * (total + one[..., i])
        out[..., 8:, i] = 0.25 * slope[..., i] * factor[..., j] * factor[..., k]
    return out


_POINTS, _WEIGHTS = gauss_cube(2)
_MASS_POINTS, _MASS_WEIGHTS = gauss_cube(3)

HEX20 = Element(
    cell=cells.HEX20,
    points=_POINTS,
    weights=_WEIGHTS,
    mass_points=_MASS_POINTS,
    mass_weights=_MASS_WEIGHTS,
    shape=_shape,
    gradient=_gradient,
)
