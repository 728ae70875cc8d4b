"""The patch test: what a homogeneous deformation of the boundary does to a distorted mesh."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.fem.elements import ELEMENTS

from .kit import LAWS, RUBBER, Patch, turn, with_laws
from .meshes import SIZE, distorted_box, on_boundary
from .plain import homogeneous

DIVISIONS = (2, 2, 3)


def deformation(law, large, rng):
    """F: a small strain, or a turn with a large stretch that leaves every law in tension."""
    if not large:
        return np.eye(3) + 1e-4 * rng.uniform(-1, 1, size=(3, 3))
    axes = turn(rng)
    stretch = axes @ np.diag([1.4, 1.1, 1.0] if law not in RUBBER else [1.3, 0.95, 0.9]) @ axes.T
    return stretch if law == "none" else turn(rng) @ stretch


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@with_laws(LAWS)
def test_the_inner_nodes_follow_a_homogeneous_deformation_of_the_boundary(name, law, large):
    rng = np.random.default_rng(6)
    element = ELEMENTS[name]
    points, cells = distorted_box(element, DIVISIONS, rng)
    patch = Patch(element, points, cells, law, poisson=0.45)
    f = deformation(law, large, rng)
    exact, outer = points @ f.T, on_boundary(points)
    assert np.sum(~outer) >= 2
    start = exact.copy()
    size = np.abs(exact - points).max() if not large else SIZE
    # Gram-Schmidt's forces have no true derivative to step by: it only has to stay where it is
    moved = 0.0 if large and law == "gram-schmidt" else 0.02
    start[~outer] += moved * size * rng.uniform(-1, 1, size=start[~outer].shape)
    x, p = patch.solve(start, ~outer, steps=5 if large else 3)
    np.testing.assert_allclose(x, exact, rtol=0, atol=1e-10 * size)

    first, pressure = homogeneous(law, f, patch.mu, patch.lam)
    np.testing.assert_allclose(p, pressure, rtol=0, atol=1e-9 * np.abs(first).max())
    top = np.abs(points[:, 2] - points[:, 2].max()) < 1e-9 * SIZE
    pull = -patch.force(x, p)[top].sum(axis=0)
    area = DIVISIONS[0] * DIVISIONS[1] * SIZE**2
    np.testing.assert_allclose(pull, first[:, 2] * area, atol=1e-9 * np.abs(first).max() * area)
