"""Quadratic tetrahedra in Bernstein-Bezier form (M eq 20): `tet10`, and the mixed `iicr21`.

The basis spans the same functions as the usual one with nodes on the midsides, but is nowhere
negative: all lumped masses are equal, and a force on the surface never pulls back a node. The price
is that a midside carries a control point, which lies on the edge only while the edge is straight.

`iicr21` has its pressures at the corners (Taylor-Hood): no locking up to nu = 0.5.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.fem.elements.element import (
    BARYCENTRIC_SLOPE,
    CORNERS,
    Array,
    Element,
    barycentric,
    tetrahedron_rule,
)
from limpet.geometry import cells
from limpet.geometry.cells import TET_EDGES


def _shape(xi: Array) -> Array:
    a = barycentric(xi)
    edges = np.stack([2.0 * a[..., i] * a[..., j] for i, j in TET_EDGES], axis=-1)
    return np.concatenate([a * a, edges], axis=-1)


def _gradient(xi: Array) -> Array:
    a = barycentric(xi)[..., None]
    corners = 2.0 * a * BARYCENTRIC_SLOPE
    edges = np.stack(
        [
            2.0 * (a[..., i, :] * BARYCENTRIC_SLOPE[j] + a[..., j, :] * BARYCENTRIC_SLOPE[i])
            for i, j in TET_EDGES
        ],
        axis=-2,
    )
    return np.concatenate([corners, edges], axis=-2)


# Strains of a straight cell are linear: four points integrate its stiffness exactly.
_POINTS, _WEIGHTS = tetrahedron_rule(2)
_MASS_POINTS, _MASS_WEIGHTS = tetrahedron_rule(5)

TET10 = Element(
    name="tet10",
    cell=cells.TET10,
    points=_POINTS,
    weights=_WEIGHTS,
    mass_points=_MASS_POINTS,
    mass_weights=_MASS_WEIGHTS,
    shape=_shape,
    gradient=_gradient,
)
IICR21 = replace(TET10, name="iicr21", pressure=CORNERS)
