"""Contact frames, contact rows, and blocks handed to their law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.cavity.gas import law as gas
from limpet.contact.rows import contact_rows, tangents
from limpet.dynamics.body import rows_times
from limpet.solver import problem

AXES = np.vstack([np.eye(3), -np.eye(3)])


def check_frames(normal):
    first, second = tangents(normal)
    frame = np.stack([normal, first, second], axis=1)
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
    first, second = tangents(np.zeros((0, 3)))
    assert first.shape == second.shape == (0, 3)


@given(st.integers(0, 20), st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_contact_rows_give_the_difference_of_the_points_velocities(k, seed):
    rng = np.random.default_rng(seed)
    n_a, n_b = 12, 9
    v = rng.normal(size=(n_a + n_b, 3))
    normal = rng.normal(size=(k, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    first, second = tangents(normal)
    vertices_a = rng.integers(0, n_a, size=(k, 3)).astype(np.int32)
    vertices_b = rng.integers(0, n_b, size=(k, 3)).astype(np.int32)
    weights_a, weights_b = rng.dirichlet(np.ones(3), size=(2, k))
    weights_a[rng.random(k) < 0.5] = [1.0, 0.0, 0.0]  # a vertex, as most contacts have
    rows = contact_rows(
        np.zeros(k, np.int32), vertices_a, weights_a,
        np.full(k, n_a, np.int32), vertices_b, weights_b, normal, first, second,
    )  # fmt: skip
    point_a = np.einsum("kj,kji->ki", weights_a, v[:n_a][vertices_a])
    point_b = np.einsum("kj,kji->ki", weights_b, v[n_a:][vertices_b])
    frame = np.stack([normal, first, second], axis=1)
    expected = np.einsum("kai,ki->ka", frame, point_a - point_b)
    np.testing.assert_allclose(rows_times(*rows, v).reshape(k, 3), expected, atol=1e-13)
    assert len(rows[0]) == 3 * k + 1
    # a push on a is the opposite push on b: the rows do not see a common motion
    np.testing.assert_allclose(rows_times(*rows, np.ones((n_a + n_b, 3))), 0.0, atol=1e-14)


def block(seed, kind):
    """(data, w, u, lam) of one random block of the kind."""
    rng = np.random.default_rng(seed)
    if kind == problem.CONTACT:
        w = np.diag(rng.uniform(0.5, 2.0, size=3))
        return np.array([rng.uniform(0, 1), 0, 0, 0, 0]), w, rng.normal(size=3), rng.normal(size=3)
    data = np.array([1e-6, 0.05, 101335.0, 101325.0, 1.0])
    return data, np.array([[1e-9]]), rng.normal(size=1) * 1e-5, rng.normal(size=1) * 1e4


@pytest.mark.parametrize("kind", [problem.CONTACT, problem.GAS])
@pytest.mark.parametrize("seed", range(5))
def test_every_law_is_solved_by_its_own_update_and_then_has_no_error(kind, seed):
    """One kit for all laws: the update's fixed point is the zero of phi and of the error."""
    data, w, start, lam = block(seed, kind)
    free, h, n = start, 0.01, len(start)
    for _ in range(500):
        out = np.zeros(3)
        problem.solve_block(kind, data, h, w, free + w @ lam, lam, out)
        lam = out[:n].copy()
    u = free + w @ lam
    phi, d_lam, d_u = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    problem.natural_map(kind, data, h, w, u, lam, phi, d_lam, d_u)
    assert problem.error(kind, data, h, w, u, lam, phi) < 1e-10
    wrong = lam + 0.1 * (np.abs(lam) + 1.0)
    u = free + w @ wrong
    problem.natural_map(kind, data, h, w, u, wrong, phi, d_lam, d_u)
    assert problem.error(kind, data, h, w, u, wrong, phi) > 1e-6


def test_the_error_of_a_contact_is_a_displacement_over_a_millimetre():
    w, h = np.diag([2.0, 2.0, 2.0]), 0.01
    phi, d_lam, d_u = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    data, lam = np.array([0.5, 0, 0, 0, 0]), np.array([10.0, 0.0, 0.0])
    u = np.array([0.02, 0.0, 0.0])  # 0.2 mm a step too far apart for a contact that carries force
    problem.natural_map(problem.CONTACT, data, h, w, u, lam, phi, d_lam, d_u)
    assert problem.error(problem.CONTACT, data, h, w, u, lam, phi) == pytest.approx(0.2)


def test_gas_blocks_go_to_the_gas_law():
    data, w, u, lam = block(1, problem.GAS)
    out = np.zeros(3)
    problem.solve_block(problem.GAS, data, 0.01, w, u, lam, out)
    assert out[0] == gas.solve_row(w[0, 0], u[0], lam[0], *data[:4], 0.01)
    data[1], data[4] = 0.05 * 1e-6**0.4, 1.4
    problem.solve_block(problem.GAS, data, 0.01, w, u, lam, out)
    assert out[0] == gas.solve_row(w[0, 0], u[0], lam[0], *data[:4], 0.01, 1.4)
