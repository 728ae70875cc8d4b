"""Linear tetrahedron: one point, constant strain. Fast; locks in bending and near nu = 0.5."""

from __future__ import annotations

import numpy as np

from limpet.elements.element import Array, Element
from limpet.geometry import cells

_GRADIENT = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def _shape(xi: Array) -> Array:
    return np.stack([1.0 - xi.sum(axis=-1), xi[..., 0], xi[..., 1], xi[..., 2]], axis=-1)


def _gradient(xi: Array) -> Array:
    return np.broadcast_to(_GRADIENT, (*xi.shape[:-1], 4, 3))


TET4 = Element(
    cell=cells.TET4,
    points=np.array([[0.25, 0.25, 0.25]]),
    weights=np.array([1.0 / 6.0]),
    mass_points=np.array([[0.25, 0.25, 0.25]]),
    mass_weights=np.array([1.0 / 6.0]),
    shape=_shape,
    gradient=_gradient,
)
