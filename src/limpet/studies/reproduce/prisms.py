"""Plane figures as prisms: what the contact surfaces of pressure fields need of them."""

from __future__ import annotations

import numpy as np

from limpet.pressure_field.fields import RigidSurface, rigid_surface

Array = np.ndarray


def rigid_prism(outline: Array, low: float, high: float, name: str) -> RigidSurface:
    """From y = low to high: a convex outline (n, 2) [m], counter-clockwise in x and z."""
    n = len(outline)
    points = np.concatenate([np.insert(outline, 1, y, axis=1) for y in (low, high)])
    k, i = np.arange(n), np.arange(1, n - 1)
    after = np.roll(k, -1)
    front = np.stack([np.zeros(n - 2, int), i, i + 1], axis=1)
    triangles = np.concatenate(
        [
            np.stack([k, k + n, after], axis=1),
            np.stack([after, k + n, after + n], axis=1),
            front,
            front[:, ::-1] + n,
        ]
    )
    return rigid_surface(points, triangles, name)


def prism_tets(triangles: Array, n: int) -> Array:
    """(3 m, 4) tetrahedra of a prism over triangles (m, 3), its second layer being n further on.

    The corners of each triangle are sorted, so that neighbours cut their common side alike.
    """
    a, b, c = np.sort(triangles, axis=1).T
    tets = [(a, b, c, c + n), (a, b, b + n, c + n), (a, a + n, b + n, c + n)]
    return np.concatenate([np.stack(t, axis=1) for t in tets]).astype(np.int32)
