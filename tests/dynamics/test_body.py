"""What every body promises: one kit, parametrised over all kinds; and the sparse rows."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import GRAVITY, compliance, random_rows, stir, times, transpose_times

H = 0.006


@pytest.mark.parametrize(("sparse", "dense"), [(25, 0), (12, 1), (5, 2), (0, 1), (1, 0), (0, 0)])
def test_compliance_is_what_unit_multipliers_do(body, sparse, dense):
    rng = np.random.default_rng(0)
    stir(body, rng, H)
    body.compute_free_velocity(H, GRAVITY, 3 * H)
    free = body.velocities()
    rows = random_rows(rng, body.n_points, sparse, dense)
    w = compliance(body, rows)
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
    w = compliance(body, random_rows(rng, body.n_points, 20, 1))
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
