"""Contact frames and contact rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.contact.rows import contact_frames, contact_rows
from limpet.linalg.rows import Rows

AXES = np.vstack([np.eye(3), -np.eye(3)])


def check_frames(normal):
    frame = contact_frames(normal)
    first, second = frame[:, 1], frame[:, 2]
    np.testing.assert_array_equal(frame[:, 0], normal)
    gram = np.einsum("kia,kja->kij", frame, frame)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(3), gram.shape), atol=1e-14)
    np.testing.assert_allclose(np.cross(normal, first), second, atol=1e-14)


@given(st.integers(0, 10**9), st.sampled_from([0.0, 1e-3, 1e-8, 1e-15, 1.0]))
@settings(max_examples=30, deadline=None)
def test_frames_are_orthonormal_and_right_handed(seed, size):
    """All directions, with as many as you like close to an axis."""
    rng = np.random.default_rng(seed)
    normal = AXES[rng.integers(0, 6, size=50)] + size * rng.normal(size=(50, 3))
    check_frames(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def test_frames_of_the_axes_and_of_minus_zero():
    check_frames(AXES.copy())
    check_frames(np.array([[1.0, 0.0, -0.0], [0.0, -1.0, -0.0], [0.6, 0.8, -1e-300]]))


def test_no_contacts_have_no_frames():
    assert contact_frames(np.zeros((0, 3))).shape == (0, 3, 3)


@given(st.integers(0, 20), st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_contact_rows_give_the_difference_of_the_points_velocities(k, seed):
    rng = np.random.default_rng(seed)
    n_a, n_b = 12, 9
    v = rng.normal(size=(n_a + n_b, 3))
    normal = rng.normal(size=(k, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    frame = contact_frames(normal)
    vertices_a = rng.integers(0, n_a, size=(k, 3)).astype(np.int32)
    vertices_b = rng.integers(0, n_b, size=(k, 3)).astype(np.int32)
    weights_a, weights_b = rng.dirichlet(np.ones(3), size=(2, k))
    weights_a[rng.random(k) < 0.5] = [1.0, 0.0, 0.0]  # a vertex, as most contacts have
    rows = Rows(*contact_rows(
        np.zeros(k, np.int32), vertices_a, weights_a,
        np.full(k, n_a, np.int32), vertices_b, weights_b, frame,
    ))  # fmt: skip
    point_a = np.einsum("kj,kji->ki", weights_a, v[:n_a][vertices_a])
    point_b = np.einsum("kj,kji->ki", weights_b, v[n_a:][vertices_b])
    expected = np.einsum("kai,ki->ka", frame, point_a - point_b)
    np.testing.assert_allclose(rows.times(v).reshape(k, 3), expected, atol=1e-13)
    assert len(rows) == 3 * k
    # a push on a is the opposite push on b: the rows do not see a common motion
    np.testing.assert_allclose(rows.times(np.ones((n_a + n_b, 3))), 0.0, atol=1e-14)
