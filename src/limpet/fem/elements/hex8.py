"""8-node hexahedron and 6-node wedge with one pressure per cell (B-bar, mean dilatation).

B-bar is used instead of incompatible modes, because it has an energy, needs no internal unknowns
that persist between steps, and is stable in compression, where incompatible modes develop
hourglassing. It removes volumetric locking near nu = 0.5, but not shear locking: use hex20 for
walls in bending.
"""

from __future__ import annotations

import numpy as np

from limpet.fem.elements.element import CONSTANT, Array, Element, gauss_cube, gauss_wedge
from limpet.geometry import cells

_SIGNS = cells.HEX8.nodes
_SLOPE = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])


def _hex_gradient(xi: Array) -> Array:
    one = 1.0 + xi[..., None, :] * _SIGNS
    others = np.stack([one[..., (i + 1) % 3] * one[..., (i + 2) % 3] for i in range(3)], axis=-1)
    return 0.125 * _SIGNS * others


def _wedge_shape(xi: Array) -> Array:
    b = np.stack([1.0 - xi[..., 0] - xi[..., 1], xi[..., 0], xi[..., 1]], axis=-1)
    z = xi[..., 2:]
    return np.concatenate([0.5 * b * (1.0 - z), 0.5 * b * (1.0 + z)], axis=-1)


def _wedge_gradient(xi: Array) -> Array:
    b = np.stack([1.0 - xi[..., 0] - xi[..., 1], xi[..., 0], xi[..., 1]], axis=-1)
    out = np.empty((*xi.shape[:-1], 6, 3))
    for side, sign in ((0, -1.0), (3, 1.0)):
        out[..., side : side + 3, :2] = 0.5 * (1.0 + sign * xi[..., 2, None, None]) * _SLOPE
        out[..., side : side + 3, 2] = 0.5 * sign * b
    return out


_RULE, _WEDGE_RULE = gauss_cube(2), gauss_wedge(3, 2)
HEX8 = Element(
    "hex8", cells.HEX8, *_RULE, *_RULE, cells.hex8_shape, _hex_gradient, CONSTANT
)  # fmt: skip
WEDGE6 = Element(
    "wedge6", cells.WEDGE6, *_WEDGE_RULE, *_WEDGE_RULE, _wedge_shape, _wedge_gradient, CONSTANT
)  # fmt: skip
