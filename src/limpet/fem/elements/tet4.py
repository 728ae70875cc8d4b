"""Linear tetrahedra: `tet4`, and M's mixed elements on the same cell.

`tet4` (M's CR) is fast, and locks in bending and near nu = 0.5. `iicr10` has a condensed
constant pressure per cell: on a linear tetrahedron it is equivalent to tet4, and locks like it.
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


_RULES = (*tetrahedron_rule(1), *tetrahedron_rule(2))
TET4 = Element("tet4", cells.TET4, *_RULES, barycentric, _gradient)
IICR10 = replace(TET4, name="iicr10", pressure=CONSTANT)
IICR11 = replace(TET4, name="iicr11", pressure=replace(CORNERS, as_rich=True))
