"""Quadratic tetrahedra in Bernstein-Bezier form (M eq 20): `tet10`, and the mixed `iicr21`.

The basis spans the same space as the Lagrange basis, but is nonnegative: all lumped masses are
equal, and the nodal forces of a surface load have the direction of the load. In exchange a midside
node is a control point, which lies on the edge only while the edge is straight.

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
_RULES = (*tetrahedron_rule(2), *tetrahedron_rule(5))
TET10 = Element("tet10", cells.TET10, *_RULES, _shape, _gradient)
IICR21 = replace(TET10, name="iicr21", pressure=CORNERS)
