"""Polar factors, eigenvectors, quaternions: against SciPy, NumPy and each other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from limpet.geometry.rotation import (
    polar,
    quaternion_matrix,
    quaternion_product,
    rotation_matrix,
    rotation_vector_quaternion,
    symmetric_eigen,
)

seeds = st.integers(0, 10**9)


def rotation_of(f):
    r = np.empty((3, 3))
    polar(np.ascontiguousarray(f), r)
    return r


def turn(rng):
    return Rotation.random(random_state=rng.integers(2**31)).as_matrix()


def with_stretches(rng, stretches):
    """(R, F): F = R S with the given principal stretches along random axes."""
    r, axes = turn(rng), turn(rng)
    return r, r @ axes @ np.diag(stretches) @ axes.T


def assert_rotation(r, atol=1e-12):
    np.testing.assert_allclose(r @ r.T, np.eye(3), atol=atol)
    assert np.linalg.det(r) == pytest.approx(1.0, abs=atol)


@given(seeds, st.floats(-3.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_polar_is_scipys(seed, size):
    """Stretches from 0.05 to 3, at any scale."""
    rng = np.random.default_rng(seed)
    r, f = with_stretches(rng, rng.uniform(0.05, 3.0, size=3))
    found = rotation_of(10.0**size * f)
    expected, _ = scipy.linalg.polar(f)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    np.testing.assert_allclose(found, r, atol=1e-11)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_polar_of_a_rotation_is_that_rotation_to_round_off(seed):
    r = turn(np.random.default_rng(seed))
    np.testing.assert_allclose(rotation_of(r), r, atol=4e-16)


@given(seeds, st.floats(0.3, 1.0))
@settings(max_examples=30, deadline=None)
def test_polar_of_an_inverted_cell_is_a_proper_rotation_that_turns_the_weakest_axis(seed, weak):
    """The nearest rotation: |F - R| is as small as the singular values allow."""
    rng = np.random.default_rng(seed)
    stretches = np.array([1.5, 1.2, -weak])
    _, f = with_stretches(rng, stretches)
    r = rotation_of(f)
    assert_rotation(r)
    assert np.linalg.norm(f - r) == pytest.approx(np.linalg.norm(stretches - 1.0), rel=1e-12)
    for _ in range(20):
        assert np.linalg.norm(f - turn(rng)) >= np.linalg.norm(f - r) - 1e-12


@pytest.mark.parametrize(
    "stretches",
    [(1, 1, 0), (1, 0, 0), (0, 0, 0), (1, 1, -1), (-1, -1, -1), (1, 1, 1e-9), (1e-3, 1, 50)],
    ids=str,
)
def test_polar_of_flattened_cells_is_a_proper_rotation(stretches):
    rng = np.random.default_rng(1)
    for _ in range(5):
        _, f = with_stretches(rng, np.array(stretches, float))
        assert_rotation(rotation_of(f))


def test_polar_does_not_jump_where_the_method_changes():
    """The iteration hands nearly flat cells to the SVD; both give the same rotation there."""
    rng = np.random.default_rng(2)
    for weak in np.geomspace(1e-6, 1e-2, 30):
        r, f = with_stretches(rng, np.array([1.0, 1.0, weak]))
        np.testing.assert_allclose(rotation_of(f), r, atol=1e-14 / weak + 1e-12)


def check_eigen(a):
    work, axes = a.copy(), np.empty((3, 3))
    symmetric_eigen(work, axes)
    scale = np.abs(a).max()
    values = np.diag(work)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(a), atol=1e-13 * scale)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(axes @ np.diag(values) @ axes.T, a, atol=1e-11 * scale)


@given(seeds, st.floats(-6.0, 6.0))
@settings(max_examples=60, deadline=None)
def test_eigenvalues_are_numpys(seed, size):
    g = np.random.default_rng(seed).normal(size=(3, 3))
    check_eigen(10.0**size * (g + g.T))


@pytest.mark.parametrize(
    "values",
    [(1, 1, 1), (2, 2, 1), (1, 2, 2), (1, 1 + 1e-9, 1 - 1e-9), (0, 0, 1), (0, 0, 0), (3, -3, 0),
     (1, 1e-8, 1e8)],
    ids=str,
)  # fmt: skip
def test_repeated_small_and_diagonal_eigenvalues(values):
    d = np.diag(np.array(values, float))
    check_eigen(d)
    rng = np.random.default_rng(3)
    for _ in range(10):
        axes = turn(rng)
        a = axes @ d @ axes.T
        check_eigen(0.5 * (a + a.T))


def test_eigen_of_one_coupled_pair():
    check_eigen(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 5.0]]))
    check_eigen(np.array([[2.0, 0.0, 1e-200], [0.0, 2.0, 0.0], [1e-200, 0.0, 5.0]]))


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_quaternions_are_scipys(seed):
    rng = np.random.default_rng(seed)
    vector = rng.normal(size=3) * 10.0 ** rng.uniform(-12, 0.5)
    q = rotation_vector_quaternion(vector)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    expected = Rotation.from_rotvec(vector)
    np.testing.assert_allclose(quaternion_matrix(q), expected.as_matrix(), atol=1e-14)
    w, x, y, z = q
    np.testing.assert_allclose(
        Rotation.from_quat([x, y, z, w]).as_matrix(), expected.as_matrix(), atol=1e-14
    )
    other = rotation_vector_quaternion(rng.normal(size=3))
    np.testing.assert_allclose(
        quaternion_matrix(quaternion_product(q, other)),
        quaternion_matrix(q) @ quaternion_matrix(other),
        atol=1e-14,
    )


def test_no_rotation_is_the_unit_quaternion():
    np.testing.assert_array_equal(rotation_vector_quaternion(np.zeros(3)), [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(quaternion_matrix(np.array([1.0, 0, 0, 0])), np.eye(3))


def test_rotation_matrix_turns_right_handed_about_an_axis_of_any_length():
    r = rotation_matrix(np.array([0.0, 0.0, 5.0]), np.pi / 2)
    np.testing.assert_allclose(r @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(rotation_matrix(np.array([1.0, 2.0, 3.0]), 0.0), np.eye(3))
