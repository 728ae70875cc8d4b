"""A box whose top alone is finely divided."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.surface import volume
from limpet.shapes.boxes import box, tiled_box


@pytest.mark.parametrize("tiles", [1, 2, 7])
def test_a_closed_box_with_tiles_on_top(tiles):
    shape = tiled_box(0.04, 0.06, 0.03, tiles)
    assert len(shape.points) == (tiles + 1) ** 2 + 4
    assert volume(shape.points, shape.triangles) == pytest.approx(0.04 * 0.06 * 0.03)
    plain = box(0.04, 0.06, 0.03).points
    np.testing.assert_allclose(shape.points.min(axis=0), plain.min(axis=0))
    np.testing.assert_allclose(shape.points.max(axis=0), plain.max(axis=0))
    directed = shape.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = {(int(a), int(b)) for a, b in directed}
    assert len(edges) == len(directed)
    assert edges == {(b, a) for a, b in edges}  # every edge once each way: closed, one-sided
    corners = shape.points[shape.triangles]
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    assert areas.min() > 0.0
    top = (np.abs(corners[..., 2]) < 1e-12).all(axis=1)
    assert top.sum() == 2 * tiles**2
    assert (~top).sum() == 4 * (tiles + 1) + 2


def test_it_needs_a_tile():
    with pytest.raises(LimpetError, match="tiles"):
        tiled_box(0.04, 0.04, 0.03, 0)
