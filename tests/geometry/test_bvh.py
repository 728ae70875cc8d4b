"""The tree against brute force over all triangles."""

import numpy as np
import pytest

from limpet.geometry.bvh import (
    LEAF,
    build_tree,
    closest_points,
    refit,
    self_intersections,
    triangle_pairs,
)
from limpet.geometry.distance import closest_on_triangle
from limpet.geometry.surface import triangle_normals


def soup(rng, m, size=0.3):
    """m unconnected random triangles in the unit cube."""
    x = np.repeat(rng.random((m, 3)), 3, axis=0) + size * (rng.random((3 * m, 3)) - 0.5)
    return x, np.arange(3 * m, dtype=np.int32).reshape(m, 3)


def grid_torus(n=24, m=12, big=1.0, small=0.4):
    """A closed, smooth surface."""
    a, b = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(m) * 2 * np.pi / m, indexing="ij")
    ring = big + small * np.cos(b)
    x = np.stack([ring * np.cos(a), ring * np.sin(a), small * np.sin(b)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    p, q = i * m + j, ((i + 1) % n) * m + j
    r, s = ((i + 1) % n) * m + (j + 1) % m, i * m + (j + 1) % m
    tri = np.concatenate([np.stack([p, q, r], -1), np.stack([p, r, s], -1)]).reshape(-1, 3)
    return x, tri.astype(np.int32)


def brute_closest(x, triangles, p):
    best = np.inf
    for t in triangles:
        u, v, w, _ = closest_on_triangle(tuple(p), *map(tuple, x[t]))
        best = min(best, np.linalg.norm(p - np.array([u, v, w]) @ x[t]))
    return best


@pytest.mark.parametrize("m", [1, 4, 5, 37, 500])
def test_tree_holds_every_triangle_once_in_boxes_that_fit(m):
    x, triangles = soup(np.random.default_rng(m), m)
    tree = build_tree(x, triangles)
    assert sorted(tree.order) == list(range(m))
    for node in range(len(tree.second)):
        mine = tree.order[tree.start[node] : tree.start[node] + tree.size[node]]
        corners = x[triangles[mine]].reshape(-1, 3)
        np.testing.assert_array_equal(tree.lower[node], corners.min(axis=0))
        np.testing.assert_array_equal(tree.upper[node], corners.max(axis=0))
        if tree.second[node] < 0:
            assert 0 < tree.size[node] <= LEAF
        else:
            assert tree.size[node + 1] + tree.size[tree.second[node]] == tree.size[node]


def test_closest_points_match_brute_force_after_the_surface_moved():
    rng = np.random.default_rng(1)
    x, triangles = soup(rng, 200)
    tree = build_tree(x, triangles)
    x = x * [0.5, 2.0, 1.0] + 0.2 * np.sin(7.0 * x[:, [1, 2, 0]])
    refit(tree, x, triangles)
    points = 3.0 * rng.random((100, 3)) - 1.0
    triangle, barycentric, distance = closest_points(tree, x, triangles, points, np.inf)
    assert triangle.dtype == np.int32
    found = np.einsum("ki,kij->kj", barycentric, x[triangles[triangle]])
    np.testing.assert_allclose(np.linalg.norm(points - found, axis=1), distance, atol=1e-14)
    expected = [brute_closest(x, triangles, p) for p in points]
    np.testing.assert_allclose(distance, expected, atol=1e-12)


def test_closest_points_beyond_the_limit_are_none():
    x, triangles = soup(np.random.default_rng(2), 50)
    tree = build_tree(x, triangles)
    points = 3.0 * np.random.default_rng(3).random((200, 3)) - 1.0
    _, _, everything = closest_points(tree, x, triangles, points, np.inf)
    triangle, barycentric, distance = closest_points(tree, x, triangles, points, 0.3)
    near = everything <= 0.3
    assert 10 < near.sum() < 190
    np.testing.assert_array_equal(triangle >= 0, near)
    np.testing.assert_array_equal(distance[near], everything[near])
    assert np.all(np.isinf(distance[~near]))
    assert np.all(barycentric[~near] == 0.0)


@pytest.mark.parametrize("height", [0.0, 1e-8])
def test_on_an_edge_the_triangle_with_the_lower_number_is_the_nearest(height):
    """Also just over it, where squares of distances are rounded by more than they are worth."""
    x, triangles = grid_torus()
    rng = np.random.default_rng(3)
    ends = triangles[:, :2]
    both = np.array([np.flatnonzero(np.isin(triangles, e).sum(axis=1) == 2) for e in ends])
    for _ in range(5):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]  # rounding differs from pose to pose
        y = x @ turn.T
        tree = build_tree(y, triangles)
        share = rng.uniform(0.1, 0.9, (len(ends), 1))
        over = share * y[ends[:, 0]] + (1.0 - share) * y[ends[:, 1]]
        n = triangle_normals(y, triangles) * np.linalg.det(turn)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        over += 0.5 * height * n[both].sum(axis=1)
        found, weights, far = closest_points(tree, y, triangles, over, 1.0)
        convex = (weights == 0.0).any(axis=1)  # over the others faces are nearer
        assert far.max() < height + 1e-15 and convex.sum() > 200
        np.testing.assert_array_equal(found[convex], both[convex].min(axis=1))


def test_margin_grows_the_boxes():
    x, triangles = soup(np.random.default_rng(4), 20)
    tree = build_tree(x, triangles)
    refit(tree, x, triangles, 0.1)
    np.testing.assert_allclose(tree.lower[0], x.min(axis=0) - 0.1)
    np.testing.assert_allclose(tree.upper[0], x.max(axis=0) + 0.1)


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_triangle_pairs_match_brute_force(margin):
    rng = np.random.default_rng(5)
    (x, s), (y, t) = soup(rng, 80), soup(rng, 130, 0.2)
    pairs = triangle_pairs(build_tree(x, s), x, s, build_tree(y, t), y, t, margin)
    a, b = x[s], y[t]
    apart = (a.min(1)[:, None] > b.max(1)[None] + margin) | (
        b.min(1)[None] > a.max(1)[:, None] + margin
    )
    expected = np.argwhere(~apart.any(axis=2))
    assert len(expected) > 100
    np.testing.assert_array_equal(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], expected)


def crossings(x, triangles):
    return {tuple(p) for p in self_intersections(build_tree(x, triangles), x, triangles).tolist()}


def test_a_sound_surface_has_no_self_intersections():
    x, triangles = grid_torus()
    assert crossings(x, triangles) == set()
    assert crossings(1e-3 * x + 10.0, triangles) == set()


def test_a_torus_that_swallows_itself_is_found():
    x, triangles = grid_torus(big=0.3, small=0.4)
    assert len(crossings(x, triangles)) > 10


def test_crossing_triangles_match_brute_force():
    """A pair is reported if and only if some edge of one crosses the other."""
    rng = np.random.default_rng(6)
    x, triangles = soup(rng, 60, 0.6)
    expected = set()
    for i in range(60):
        for j in range(i + 1, 60):
            for one, two in ((i, j), (j, i)):
                a, b, c = x[triangles[two]]
                for k in range(3):
                    p, q = x[triangles[one, k]], x[triangles[one, (k + 1) % 3]]
                    u, v, s = np.linalg.solve(np.stack([b - a, c - a, p - q], axis=1), p - a)
                    if min(u, v, 1.0 - u - v, s, 1.0 - s) >= 0.0:
                        expected.add((i, j))
    assert len(expected) > 20
    assert crossings(x, triangles) == expected


def test_faces_that_lie_on_each_other_are_found():
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    shift = np.array([[0.0, 0.0, 0.0], [0.2, 0.2, 0.0], [0.2, 0.2, 1e-3]])
    x = (shift[:, None] + flat[None]).reshape(9, 3)
    assert crossings(x, np.arange(9, dtype=np.int32).reshape(3, 3)) == {(0, 1)}


def test_neighbours_count_only_when_they_pass_each_other():
    x = np.array([[0, 0, 0], [2, 1, 0], [2, -1, 0], [1, 0, 1], [1, 0, -1], [1, 1, 1]], dtype=float)
    through = np.array([[0, 1, 2], [0, 3, 4]], dtype=np.int32)
    assert crossings(x, through) == {(0, 1)}
    beside = np.array([[0, 1, 2], [0, 3, 5]], dtype=np.int32)
    assert crossings(x, beside) == set()
    hinge = np.array([[0, 1, 2], [0, 1, 3]], dtype=np.int32)
    assert crossings(x, hinge) == set()
