"""20-node serendipity hexahedron: no locking in bending, the default for cups.

`hex20` has 14 integration points, `hex20r` the reduced 2x2x2. `hex20p` is hex20 with a linear
pressure per cell (four values, condensed): it is accurate up to nu = 0.4999, where hex20 is some
per cent too stiff, at nearly the same cost. It is the default.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.fem.elements.element import LINEAR, Array, Element, gauss_cube
from limpet.geometry import cells

NODES = cells.HEX20.nodes


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


# Irons' 14 points, exact to degree 5: no zero-energy modes. The 2x2x2 rule has one in each cell of
# a one-layer wall or a single stack. The peak force of a cup then falls with the time step (45.9,
# 44.4, 43.7 N at 10, 3, 1 ms; with 14 points 47.1, 46.9, 46.9), because small wrinkles grow.
# It saves 0.7 ms per step for a cup of 439 nodes.
_A, _B = 0.795822425754222, 0.758786910639328
_POINTS = np.array(
    [(_A, 0, 0), (-_A, 0, 0), (0, _A, 0), (0, -_A, 0), (0, 0, _A), (0, 0, -_A)]
    + [(x, y, z) for x in (-_B, _B) for y in (-_B, _B) for z in (-_B, _B)],
    dtype=float,
)
_WEIGHTS = np.array([0.886426592797784] * 6 + [0.335180055401662] * 8)
_REDUCED_POINTS, _REDUCED_WEIGHTS = gauss_cube(2)
HEX20 = Element(
    "hex20", cells.HEX20, _POINTS, _WEIGHTS, *gauss_cube(3), cells.hex20_shape, _gradient
)  # fmt: skip

HEX20R = replace(HEX20, name="hex20r", points=_REDUCED_POINTS, weights=_REDUCED_WEIGHTS)
HEX20P = replace(HEX20, name="hex20p", pressure=LINEAR)
