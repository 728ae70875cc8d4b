"""15-node wedge, for the axis of a revolved mesh of hexahedra. 3 x 3 points.

`wedge15p` has a condensed linear pressure, as hex20p.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.fem.elements.element import LINEAR, Array, Element, gauss_wedge
from limpet.geometry import cells

_SLOPE = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])  # of the barycentrics in (xi, eta)


def _barycentric(xi: Array) -> Array:
    return np.stack([1.0 - xi[..., 0] - xi[..., 1], xi[..., 0], xi[..., 1]], axis=-1)


def _shape(xi: Array) -> Array:
    b, z = _barycentric(xi), xi[..., 2]
    out = np.empty((*xi.shape[:-1], 15))
    for side, sign in ((0, -1.0), (3, 1.0)):
        up = 1.0 + sign * z
        for i in range(3):
            j = (i + 1) % 3
            out[..., side + i] = 0.5 * b[..., i] * up * (2.0 * b[..., i] - 2.0 + sign * z)
            out[..., 6 + side + i] = 2.0 * b[..., i] * b[..., j] * up
    for i in range(3):
        out[..., 12 + i] = b[..., i] * (1.0 - z * z)
    return out


def _gradient(xi: Array) -> Array:
    b, z = _barycentric(xi), xi[..., 2]
    out = np.empty((*xi.shape[:-1], 15, 3))
    for side, sign in ((0, -1.0), (3, 1.0)):
        up = 1.0 + sign * z
        for i in range(3):
            j = (i + 1) % 3
            bi, bj = b[..., i], b[..., j]
            by_b = 0.5 * up * (4.0 * bi - 2.0 + sign * z)
            out[..., side + i, :2] = by_b[..., None] * _SLOPE[i]
            out[..., side + i, 2] = 0.5 * bi * sign * (2.0 * bi - 2.0 + sign * z + up)
            out[..., 6 + side + i, :2] = (
                2.0 * up[..., None] * (bj[..., None] * _SLOPE[i] + bi[..., None] * _SLOPE[j])
            )
            out[..., 6 + side + i, 2] = 2.0 * bi * bj * sign
    for i in range(3):
        out[..., 12 + i, :2] = (1.0 - z * z)[..., None] * _SLOPE[i]
        out[..., 12 + i, 2] = -2.0 * z * b[..., i]
    return out


_RULES = (*gauss_wedge(3, 3), *gauss_wedge(6, 3))
WEDGE15 = Element("wedge15", cells.WEDGE15, *_RULES, _shape, _gradient)
WEDGE15P = replace(WEDGE15, name="wedge15p", pressure=LINEAR)
