"""Closest points against brute force, and the side of a surface against analytic shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.geometry.distance import (
    EDGE,
    FACE,
    VERTEX,
    adjacency,
    closest_on_segments,
    closest_on_triangle,
    pseudo_normal,
    segment_crosses_triangle,
    vertex_normal,
)
from limpet.geometry.surface import surface_topology

BOX = np.array(
    [
        [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
        [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
    ]
)  # fmt: skip
CORNERS = np.array([[i, j, k] for k in (0.0, 1.0) for j in (0.0, 1.0) for i in (0.0, 1.0)])
A, B, C = (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 1.0, 0.0)

coordinate = st.floats(-2.0, 2.0).map(lambda v: round(v, 3))
points = st.tuples(coordinate, coordinate, coordinate)


def to_segment(p, a, b):
    """Distance of p from the segment ab."""
    d = b - a
    t = np.clip(np.dot(p - a, d) / max(np.dot(d, d), 1e-300), 0.0, 1.0)
    return np.linalg.norm(p - a - t * d)


def to_triangle(p, a, b, c):
    """Distance of p from the triangle abc: the plane if the foot is inside, else the edges."""
    n = np.cross(b - a, c - a)
    best = min(to_segment(p, a, b), to_segment(p, b, c), to_segment(p, c, a))
    if np.dot(n, n) > 1e-20:
        weights = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), p - a, rcond=None)[0]
        if min(*weights, 1.0 - weights.sum()) >= 0.0:
            best = min(best, abs(np.dot(n, p - a)) / np.linalg.norm(n))
    return best


@settings(max_examples=300, deadline=None)
@given(points, points, points, points)
def test_point_triangle_matches_brute_force(p, a, b, c):
    u, v, w, feature = closest_on_triangle(p, a, b, c)
    p, a, b, c = map(np.array, (p, a, b, c))
    assert min(u, v, w) >= 0.0
    assert u + v + w == pytest.approx(1.0)
    assert feature == [u, v, w].count(0.0)
    distance = np.linalg.norm(p - (u * a + v * b + w * c))
    assert distance == pytest.approx(to_triangle(p, a, b, c), abs=1e-7)


@pytest.mark.parametrize(
    ("p", "weights", "feature"),
    [
        ((0.5, 0.25, 1.0), (0.5, 0.25, 0.25), FACE),
        ((1.0, -1.0, 0.3), (0.5, 0.5, 0.0), EDGE),
        ((1.0, 0.0, 0.3), (0.5, 0.5, 0.0), EDGE),  # straight above an edge is the edge
        ((1.0, 1e-12, 0.3), (0.5, 0.5, 0.0), EDGE),  # and round-off does not change it
        ((-1.0, 0.25, 0.0), (0.75, 0.0, 0.25), EDGE),
        ((2.0, 3.0, 0.0), (0.0, 0.4, 0.6), EDGE),
        ((-1.0, -1.0, 2.0), (1.0, 0.0, 0.0), VERTEX),
        ((9.0, 0.0, 2.0), (0.0, 1.0, 0.0), VERTEX),
        ((0.0, 9.0, 2.0), (0.0, 0.0, 1.0), VERTEX),
    ],
)
def test_features_of_a_triangle(p, weights, feature):
    *found, which = closest_on_triangle(p, A, B, C)
    assert which == feature
    np.testing.assert_allclose(found, weights, atol=1e-11)


def test_triangles_without_area_still_answer():
    for p in [(0.5, 1.0, 0.0), (-1.0, 0.0, 0.0), (3.0, 0.0, 1.0)]:
        for triangle in [(A, A, A), (A, A, B), (A, B, A), (B, A, A), (A, (1.0, 0.0, 0.0), B)]:
            u, v, w, _ = closest_on_triangle(p, *triangle)
            a, b, c = map(np.array, triangle)
            distance = np.linalg.norm(p - (u * a + v * b + w * c))
            assert distance == pytest.approx(to_triangle(np.array(p), a, b, c), abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(points, points, points, points)
def test_segments_match_brute_force(p0, p1, q0, q1):
    s, t = closest_on_segments(p0, p1, q0, q1)
    p0, p1, q0, q1 = map(np.array, (p0, p1, q0, q1))
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    distance = np.linalg.norm(p0 + s * (p1 - p0) - q0 - t * (q1 - q0))
    # The minimum is at an end of one of them, or inside both where the lines' own minimum is.
    brute = min(
        to_segment(p0, q0, q1),
        to_segment(p1, q0, q1),
        to_segment(q0, p0, p1),
        to_segment(q1, p0, p1),
    )
    d, e = p1 - p0, q1 - q0
    n = np.cross(d, e)
    if np.dot(n, n) > 1e-12:
        at = np.linalg.lstsq(np.stack([d, -e], axis=1), q0 - p0, rcond=None)[0]
        if at.min() >= 0.0 and at.max() <= 1.0:
            brute = min(brute, abs(np.dot(n, q0 - p0)) / np.linalg.norm(n))
    assert distance == pytest.approx(brute, abs=1e-6)


def test_parallel_and_pointlike_segments():
    zero, x, far = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 3.0, 0.0)
    s, t = closest_on_segments(zero, x, far, (1.5, 3.0, 0.0))
    assert s - t == pytest.approx(0.5)  # any point of the overlap, opposite each other
    assert closest_on_segments(zero, zero, far, far) == (0.0, 0.0)
    assert closest_on_segments(far, far, zero, x) == (0.0, 0.5)
    assert closest_on_segments(zero, x, far, far) == (0.5, 0.0)


def test_segment_crossing():
    assert segment_crosses_triangle((0.5, 0.25, 1.0), (0.5, 0.25, -1.0), A, B, C)
    assert not segment_crosses_triangle((0.5, 0.25, 1.0), (0.5, 0.25, 0.5), A, B, C)
    assert not segment_crosses_triangle((0.5, 0.25, 1.0), (0.5, 0.25, 0.0), A, B, C)
    assert not segment_crosses_triangle((1.5, 0.9, 1.0), (1.5, 0.9, -1.0), A, B, C)


def test_adjacency_of_a_box():
    adjacent = adjacency(surface_topology(BOX, 8))
    for t, triangle in enumerate(BOX):
        for k in range(3):
            across = set(BOX[adjacent.neighbours[t, k]])
            assert set(triangle) - {triangle[k]} < across
    for i in range(8):
        around = adjacent.vertex_triangles[adjacent.vertex_start[i] : adjacent.vertex_start[i + 1]]
        assert sorted(around) == list(np.flatnonzero(np.equal(BOX, i).any(axis=1)))


def test_vertex_normals_ignore_how_faces_are_cut():
    """By angle the corner of a cube is the diagonal, be a face there one triangle or two."""
    adjacent = adjacency(surface_topology(BOX, 8))
    for i in range(8):
        expected = (CORNERS[i] - 0.5) / np.linalg.norm(CORNERS[i] - 0.5)
        np.testing.assert_allclose(vertex_normal(i, CORNERS, adjacent), expected, atol=1e-14)


@settings(max_examples=200, deadline=None)
@given(points)
def test_pseudo_normal_tells_inside_from_outside(p):
    adjacent = adjacency(surface_topology(BOX, 8))
    p = np.array(p)
    margin = np.min(np.minimum(p, 1.0 - p))  # of a unit cube; negative outside
    if abs(margin) < 1e-6:
        return
    hits = [(t, *closest_on_triangle(tuple(p), *map(tuple, CORNERS[BOX[t]]))) for t in range(12)]
    offsets = [p - np.array([u, v, w]) @ CORNERS[BOX[t]] for t, u, v, w, _ in hits]
    lengths = np.linalg.norm(offsets, axis=1)
    for hit, r, length in zip(hits, offsets, lengths, strict=True):
        if length < lengths.min() + 1e-12:  # each triangle of a shared feature gives one answer
            inside = np.dot(r, pseudo_normal(*hit, CORNERS, adjacent)) < 0.0
            assert inside == (margin > 0.0)
