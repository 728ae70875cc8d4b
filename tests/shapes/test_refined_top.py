"""A soft box with a finer top: closed, in place, and bending with its cells."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.shapes.boxes import soft_box
from limpet.shapes.refined_top import with_fine_top

CELLS = (3, 2, 2)


@pytest.fixture(params=["hex8", "hex20"])
def box(request):
    return with_fine_top(soft_box(0.06, 0.04, 0.03, CELLS, request.param), CELLS, 3)


def test_it_is_the_surface_of_the_box(box) -> None:
    x = box.collision.positions(box.points)
    check_surface(x, box.collision.triangles)
    assert volume(x, box.collision.triangles) == pytest.approx(0.06 * 0.04 * 0.03, rel=1e-12)
    top = np.abs(x[:, 2]) < 1e-12
    assert top.sum() == (3 * 3 + 1) * (3 * 2 + 1)
    assert len(x) == top.sum() + 10 + 12  # a ring half-way down, a grid below


def test_its_vertices_follow_the_cells(box) -> None:
    """Quadratic cells bend a plane into any paraboloid, linear ones shear it."""
    quadratic = "hex20" in box.cells

    def bent(x):
        curve = 7.0 * x[:, 0] ** 2 - 3.0 * x[:, 0] * x[:, 1] + 5.0 * x[:, 1] ** 2
        return 2.0 * x[:, 0] - x[:, 1] + (curve if quadratic else 0.0)

    moved = box.points + np.outer(bent(box.points), [0.0, 0.0, 1.0])
    x = box.collision.positions(box.points)
    expected = x + np.outer(bent(x), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(box.collision.positions(moved), expected, atol=1e-15)


def test_tetrahedra_are_refused() -> None:
    with pytest.raises(LimpetError, match="fine top of a box of tet4: expected hexahedra"):
        with_fine_top(soft_box(1, 1, 1, CELLS, "tet4"), CELLS, 2)
    with pytest.raises(LimpetError, match="fine top = 0: expected a whole number from 1 up"):
        with_fine_top(soft_box(1, 1, 1, CELLS, "hex8"), CELLS, 0)
