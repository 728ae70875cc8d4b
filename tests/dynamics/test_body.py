"""What every body promises: one kit, parametrised over all kinds; and the sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.dynamics.body import Rows, rows_times, rows_transpose_times, select_rows
from limpet.linalg.reduced_compliance import ReducedCompliance, half_product, join, sparse_rows

from .conftest import GRAVITY, random_rows, stir, times, transpose_times

H = 0.006


@pytest.mark.parametrize(("sparse", "dense"), [(25, 0), (12, 1), (5, 2), (0, 1), (1, 0), (0, 0)])
def test_compliance_is_what_unit_multipliers_do(body, sparse, dense):
    rng = np.random.default_rng(0)
    stir(body, rng, H)
    body.compute_free_velocity(H, GRAVITY, 3 * H)
    free = body.velocities()
    rows = random_rows(rng, body.n_points, sparse, dense)
    w = body.compliance(rows).dense()
    assert w.shape == (len(rows), len(rows))
    for r in range(len(rows)):
        unit = np.eye(len(rows))[r]
        body.apply_impulse(transpose_times(rows, unit, body.n_points))
        answer = times(rows, body.velocities() - free)
        scale = np.sqrt(w[r, r] * np.diag(w))
        assert np.all(np.abs(w[r] - answer) <= 1e-9 * scale)


def test_compliance_is_symmetric_and_never_negative(body):
    rng = np.random.default_rng(1)
    stir(body, rng, H)
    body.compute_free_velocity(H, GRAVITY, 3 * H)
    w = body.compliance(random_rows(rng, body.n_points, 20, 1)).dense()
    np.testing.assert_allclose(w, w.T, rtol=0, atol=1e-14 * np.abs(w).max())
    values = np.linalg.eigvalsh(w)
    assert values[0] >= -1e-12 * values[-1]


def test_apply_starts_from_the_free_velocity_each_time(body):
    rng = np.random.default_rng(2)
    stir(body, rng, H)
    body.compute_free_velocity(H, GRAVITY, 3 * H)
    free = body.velocities()
    one, two = 1e-3 * rng.normal(size=(2, body.n_points, 3))
    body.apply_impulse(one)
    after_one = body.velocities()
    body.apply_impulse(two)
    after_two = body.velocities()
    body.apply_impulse(one + two)
    np.testing.assert_allclose(
        body.velocities() - free, after_one + after_two - 2.0 * free, atol=1e-12
    )
    body.apply_impulse(np.zeros((body.n_points, 3)))
    np.testing.assert_array_equal(body.velocities(), free)


def test_momentum_balances_in_every_step(body):
    """Change of momentum = weight + impulses + the drive's share (less the drag on momentum)."""
    rng = np.random.default_rng(3)
    for step in range(5):
        before = body.momentum()
        impulse = 1e-3 * rng.normal(size=(body.n_points, 3))
        body.compute_free_velocity(H, GRAVITY, step * H)
        body.apply_impulse(impulse)
        drive = body.reaction(H)
        body.advance(H)
        push = H * (body.mass * GRAVITY + drive[:3]) + impulse.sum(axis=0)
        after = (1.0 + H * body.mass_damping) * body.momentum()
        np.testing.assert_allclose(after - before, push, rtol=0, atol=1e-12)


def test_save_restore_continue_is_bit_identical(body):
    rng = np.random.default_rng(4)
    stir(body, rng, H)
    impulses = 1e-4 * rng.normal(size=(4, body.n_points, 3))

    def go_on():
        for step, impulse in enumerate(impulses):
            body.compute_free_velocity(H, GRAVITY, step * H)
            body.apply_impulse(impulse)
            body.advance(H)
        return body.positions(), body.velocities(), body.reaction(H)

    state = body.get_state()
    first = go_on()
    body.set_state(state)
    for a, b in zip(first, go_on()):
        np.testing.assert_array_equal(a, b)


def test_a_saved_state_is_a_copy(body):
    rng = np.random.default_rng(5)
    stir(body, rng, H)
    state = body.get_state()
    kept = {k: v.copy() for k, v in state.items()}
    stir(body, rng, H)
    body.set_state(state)
    stir(body, rng, H)
    for key, value in kept.items():
        np.testing.assert_array_equal(state[key], value)


def dense_of(rows, n):
    out = np.zeros((len(rows), n, 3))
    for r in range(len(rows)):
        for k in range(rows.start[r], rows.start[r + 1]):
            out[r, rows.vertex[k]] += rows.vector[k]
    return out


row_sets = st.tuples(st.integers(1, 40), st.integers(0, 12), st.integers(0, 10**6))


@given(row_sets)
@settings(max_examples=20, deadline=None)
def test_rows_act_like_their_dense_matrix(case):
    n, count, seed = case
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n, count)
    h = dense_of(rows, n)
    v, multiplier = rng.normal(size=(n, 3)), rng.normal(size=len(rows))
    multiplier[rng.random(len(rows)) < 0.3] = 0.0
    np.testing.assert_allclose(
        rows_times(rows.start, rows.vertex, rows.vector, v),
        np.einsum("rni,ni->r", h, v), atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(
        rows_transpose_times(rows.start, rows.vertex, rows.vector, multiplier, n),
        np.einsum("rni,r->ni", h, multiplier), atol=1e-13,
    )  # fmt: skip


@given(row_sets, st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=20, deadline=None)
def test_selected_rows_are_those_that_touch_the_range(case, lo, hi):
    n, count, seed = case
    rows = random_rows(np.random.default_rng(seed), n, count)
    index, own = select_rows(rows, lo, hi)
    h = dense_of(rows, max(n, hi))[:, lo:hi]
    touched = [r for r in range(len(rows)) if np.any(h[r] != 0.0)]
    np.testing.assert_array_equal(index, touched)
    np.testing.assert_array_equal(dense_of(own, max(hi - lo, 0)), h[touched])


def test_rows_of_two_bodies_add_up_to_the_whole_compliance():
    """Split by body and joined, as the step does, against one dense product."""
    rng = np.random.default_rng(6)
    rows = random_rows(rng, 10, 8)
    g = rng.normal(size=(18, 18))
    mobility = [g @ g.T, np.eye(12)]
    parts = []
    for m, lo, hi in ((mobility[0], 0, 6), (mobility[1], 6, 10)):
        index, own = select_rows(rows, lo, hi)
        none = np.full(len(own), -1, np.int32)
        b = sparse_rows(own.start, own.vertex, own.vector, np.arange(hi - lo), none)
        parts.append((index, ReducedCompliance(*b, m)))
    joined = join(parts, 8, 0.5)
    w = joined.dense()
    whole = dense_of(rows, 10).reshape(8, -1)
    both = np.block([[mobility[0], np.zeros((18, 12))], [np.zeros((12, 18)), mobility[1]]])
    np.testing.assert_allclose(w, 0.5 * whole @ both @ whole.T, atol=1e-12)
    np.testing.assert_allclose(joined.diagonal(), w.diagonal(), atol=1e-12)
    half = half_product(joined.start, joined.column, joined.value, joined.s)
    np.testing.assert_allclose(half, 0.5 * whole @ both, atol=1e-12)


def test_without_rows_there_is_nothing_to_join():
    assert join([], 0, 1.0).dense().shape == (0, 0)


def test_no_rows_have_length_zero():
    assert len(Rows(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)))) == 0
