"""8-node hexahedron and 6-node wedge with a constant pressure a cell (B-bar, mean dilatation).

Of the two usual cures for hex8 this is B-bar, not incompatible modes: it has an energy, needs no
inner unknowns that live from step to step, and stays stable in compression, where incompatible
modes collapse into hourglasses. It cures locking near nu = 0.5 and leaves the stiffness in bending;
a wall that bends wants hex20.
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


_POINTS, _WEIGHTS = gauss_cube(2)
HEX8 = Element(
    name="hex8",
    cell=cells.HEX8,
    points=_POINTS,
    weights=_WEIGHTS,
    mass_points=_POINTS,
    mass_weights=_WEIGHTS,
    shape=cells.hex8_shape,
    gradient=_hex_gradient,
    pressure=CONSTANT,
)

_WEDGE_POINTS, _WEDGE_WEIGHTS = gauss_wedge(3, 2)
WEDGE6 = Element(
    name="wedge6",
    cell=cells.WEDGE6,
    points=_WEDGE_POINTS,
    weights=_WEDGE_WEIGHTS,
    mass_points=_WEDGE_POINTS,
    mass_weights=_WEDGE_WEIGHTS,
    shape=_wedge_shape,
    gradient=_wedge_gradient,
    pressure=CONSTANT,
)
