"""Every way in which a surface can be wrong gets its own line."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import MeshError
from limpet.meshing.check import check_surface

TRIANGLES = np.array(
    [
        (0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4),
        (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5),
    ],
    dtype=np.int32,
)  # fmt: skip
CORNERS = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)], dtype=float)


def test_a_good_surface_passes():
    surface = check_surface(0.1 * CORNERS, TRIANGLES, "block")
    assert surface.n_vertices == 8
    assert len(surface.edges) == 18


def not_finite():
    x = 0.1 * CORNERS
    x[3, 1] = np.nan
    return x, TRIANGLES


def soup():
    return 0.1 * CORNERS[TRIANGLES].reshape(-1, 3), np.arange(36).reshape(-1, 3)


def degenerate():
    # A vertex in the middle of an edge, and a triangle without area on that edge.
    x = np.vstack([0.1 * CORNERS, [[0.05, 0.0, 0.0]]])
    return x, np.vstack([TRIANGLES, [(0, 8, 1)]])


def one_flipped():
    t = TRIANGLES.copy()
    t[4] = t[4, ::-1]
    return 0.1 * CORNERS, t


def with_fin():
    x = np.vstack([0.1 * CORNERS, [[0.05, -0.1, -0.1]]])
    return x, np.vstack([TRIANGLES, [(0, 1, 8), (1, 0, 8)]])


def crossing():
    x = 0.1 * CORNERS
    both = np.concatenate([x, x + np.array([0.05, 0.03, 0.02])])
    return both, np.concatenate([TRIANGLES, TRIANGLES + 8])


@pytest.mark.parametrize(
    "surface, says",
    [
        ((np.empty((0, 3)), np.empty((0, 3), int)), "cup is empty"),
        ((0.1 * CORNERS, np.empty((0, 3), int)), "cup is empty"),
        ((0.1 * CORNERS, TRIANGLES[:, [0, 1, 2, 0]]), "split polygons"),
        (not_finite(), "cup vertex 3 .*finite"),
        (
            (0.1 * CORNERS[:7], TRIANGLES),
            "cup triangles have vertex index 7: expected 0 to 6; indices",
        ),
        ((0.1 * CORNERS, TRIANGLES - 1), "cup triangles have vertex index -1"),
        (degenerate(), "triangle 12 has zero area"),
        (soup(), "28 duplicate vertices.*merge the duplicate"),
        ((0.1 * CORNERS, TRIANGLES[:-1]), "cup is open"),
        (with_fin(), "cup is not manifold"),
        (one_flipped(), "cup triangles are not consistently oriented"),
        ((0.1 * CORNERS, TRIANGLES[:, ::-1]), "inside-out.*flip the triangles"),
        (crossing(), "cup intersects itself"),
        ((150.0 * CORNERS, TRIANGLES), r"cup is 150 m large.*multiply its points"),
    ],
)
def test_a_bad_surface_is_refused_in_one_line(surface, says):
    with pytest.raises(MeshError, match=says) as caught:
        check_surface(*surface, "cup")
    assert "\n" not in str(caught.value)
