"""Linear tetrahedra: `tet4`, and paper M's mixed ones on the same cell.

`tet4` (M's CR) is fast, and locks in bending and near nu = 0.5. `iicr10` has a constant pressure a
cell, eliminated there: on a linear tetrahedron it is tet4 in other words, and locks like it.
`iicr11` has its pressures at the nodes: free of volumetric locking, still stiff in bending.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.fem.elements.element import (
    BARYCENTRIC_SLOPE,
    CONSTANT,
    CORNERS,
    Array,
    Element,
    barycentric,
    tetrahedron_rule,
)
from limpet.geometry import cells


def _gradient(xi: Array) -> Array:
    return np.broadcast_to(BARYCENTRIC_SLOPE, (*xi.shape[:-1], 4, 3))


_POINTS, _WEIGHTS = tetrahedron_rule(1)
_MASS_POINTS, _MASS_WEIGHTS = tetrahedron_rule(2)

TET4 = Element(
    name="tet4",
    cell=cells.TET4,
    points=_POINTS,
    weights=_WEIGHTS,
    mass_points=_MASS_POINTS,
    mass_weights=_MASS_WEIGHTS,
    shape=barycentric,
    gradient=_gradient,
)
IICR10 = replace(TET4, name="iicr10", pressure=CONSTANT)
IICR11 = replace(TET4, name="iicr11", pressure=replace(CORNERS, as_rich=True))
