"""Cut faces as fans: closed, of the same area, and the same in every pose."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.fans import fanned
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.union import UnionMesh, union

Array = np.ndarray
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)


def area(x: Array, triangles: Array) -> Array:
    a, b, c = (x[triangles[:, i]] for i in range(3))
    return 0.5 * np.cross(b - a, c - a).sum(axis=0)


@pytest.mark.parametrize("cut", ([[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]))
def test_a_square_is_the_same_fan_however_it_is_cut(cut: list[list[int]]) -> None:
    x, triangles, origin = fanned(SQUARE, np.array(cut), np.zeros(2))
    assert len(x) == 5 and len(triangles) == 4
    np.testing.assert_allclose(x[4], [0.5, 0.5, 0.0])
    edges = {(min(t[:2]), max(t[:2])) for t in triangles.tolist()}
    assert edges == {(0, 1), (1, 2), (2, 3), (0, 3)}
    np.testing.assert_allclose(area(x, triangles), [0.0, 0.0, 1.0])
    assert set(origin.tolist()) == {0, 1}


def test_single_triangles_and_pieces_apart_stay_what_they_are() -> None:
    x = np.vstack([SQUARE[:3], SQUARE[:3] + np.array([5.0, 0.0, 0.0])])
    triangles = np.array([[0, 1, 2], [3, 4, 5]])
    same = fanned(x, triangles, np.zeros(2))
    assert len(same[0]) == 6 and np.array_equal(same[1], triangles)


@pytest.mark.parametrize("other_diagonals", [False, True])
def test_a_sickle_is_the_same_fan_however_it_is_cut(other_diagonals: bool) -> None:
    """Its centroid lies outside: triangles that are turned over take away what others add."""
    turn = np.linspace(0.0, 1.5 * np.pi, 8)
    ring = np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    x, n = np.vstack([ring, 0.8 * ring]), len(turn)
    if other_diagonals:
        one = [[i, i + 1, n + i + 1] for i in range(n - 1)]
        two = [[i, n + i + 1, n + i] for i in range(n - 1)]
    else:
        one = [[i, i + 1, n + i] for i in range(n - 1)]
        two = [[i + 1, n + i + 1, n + i] for i in range(n - 1)]
    triangles = np.array(one + two)
    points, fan, _ = fanned(x, triangles, np.zeros(len(triangles)))
    assert len(points) == len(x) + 1
    rim = [(i, i + 1) for i in range(n - 1)] + [(n + i + 1, n + i) for i in range(n - 1)]
    assert {tuple(t) for t in fan.tolist()} == {
        (*e, len(x)) for e in [*rim, (n - 1, 2 * n - 1), (n, 0)]
    }
    np.testing.assert_allclose(area(points, fan), area(x, triangles), rtol=1e-12)
    middle = x[triangles].mean(axis=1)
    size = np.linalg.norm(
        np.cross(*(x[triangles[:, k]] - x[triangles[:, 0]] for k in (1, 2))), axis=1
    )
    np.testing.assert_allclose(points[-1], size @ middle / size.sum(), atol=1e-12)


def cut(turn: Array) -> UnionMesh:
    """A box in a corner of another one: faces that it takes a corner of, and its own."""
    tilt = rotation_matrix(np.array([1.0, 2.0, 0.5]), 0.3)
    box, corner = lp.shapes.box(0.1, 0.1, 0.1), np.array([0.05, 0.05, 0.1])
    small = 0.3 * box.points @ tilt.T + corner
    return union([(box.points @ turn.T, box.triangles), (small @ turn.T, box.triangles)])


def test_a_union_has_the_same_triangles_in_every_pose() -> None:
    rng = np.random.default_rng(1)
    straight = cut(np.eye(3))
    middles = straight.points[straight.triangles].mean(axis=1)
    order = np.lexsort(middles.round(9).T)
    for _ in range(5):
        turn = rotation_matrix(rng.normal(size=3), float(rng.uniform(0.3, 3.0)))
        turned = cut(turn)
        back = (turned.points @ turn)[turned.triangles].mean(axis=1)
        np.testing.assert_allclose(back[np.lexsort(back.round(9).T)], middles[order], atol=1e-12)
        assert turned.shell_volume.sum() == pytest.approx(straight.shell_volume.sum(), rel=1e-12)


def test_a_fan_leaves_the_union_closed() -> None:
    mesh = cut(np.eye(3))
    net = np.zeros((len(mesh.points),) * 2, int)
    for i in range(3):
        np.add.at(net, (mesh.triangles[:, i], mesh.triangles[:, (i + 1) % 3]), 1)
    assert np.array_equal(net, net.T)
    assert np.abs(area(mesh.points, mesh.triangles)).max() < 1e-15
