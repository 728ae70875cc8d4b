"""What is remembered of a step, and how it is recalled in the next."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.contact.rows import contact_frames
from limpet.dynamics.warm_start import SolverMemory, WarmStart


def frames(rng, k):
    n = rng.normal(size=(k, 3))
    return contact_frames(n / np.linalg.norm(n, axis=1, keepdims=True))


def forces(rng, k):
    lam = rng.normal(size=(k, 3))
    lam[:, 0] = np.abs(lam[:, 0])
    return lam


@given(st.integers(0, 20), st.integers(0, 3), st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_what_was_stored_is_recalled_in_any_order(k, cavities, seed):
    rng = np.random.default_rng(seed)
    keys, axes, lam = rng.permutation(100)[:k].astype(np.int64), frames(rng, k), forces(rng, k)
    known, order = WarmStart.of(keys, lam, axes), rng.permutation(k)
    np.testing.assert_allclose(known.recall(keys, axes), lam, atol=1e-12)
    np.testing.assert_allclose(known.recall(keys[order], axes[order]), lam[order], atol=1e-12)
    ids = rng.permutation(10)[:cavities].astype(np.int64)
    pressures, order = 1e4 * rng.normal(size=(cavities, 1)), rng.permutation(cavities)
    scalars = WarmStart.of(ids, pressures, None)
    np.testing.assert_array_equal(scalars.recall(ids[order], None), pressures[order])


def test_the_unknown_is_recalled_as_zero():
    rng = np.random.default_rng(0)
    known = WarmStart.of(np.array([3, 7, 9]), forces(rng, 3), frames(rng, 3))
    found = known.recall(np.array([8, 7, 2, 100]), frames(rng, 4))
    np.testing.assert_array_equal(found[[0, 2, 3]], 0.0)
    assert found[1].any()
    scalars = WarmStart.of(np.array([5]), np.array([[-700.0]]), None)
    np.testing.assert_array_equal(scalars.recall(np.array([4, 5]), None), [[0.0], [-700.0]])


def test_an_empty_warm_start_recalls_zeros():
    rng = np.random.default_rng(1)
    none, keys = WarmStart.none(), np.array([1, 2])
    np.testing.assert_array_equal(none.recall(keys, frames(rng, 2)), np.zeros((2, 3)))
    np.testing.assert_array_equal(none.recall(keys, None), np.zeros((2, 1)))


def test_forces_keep_their_direction_when_the_normal_rotates_and_never_pull():
    rng = np.random.default_rng(2)
    keys, up = np.array([4]), np.array([[0.0, 0.0, 1.0]])
    known = WarmStart.of(keys, np.array([[2.0, 0.3, -0.4]]), contact_frames(up))
    tilted = up + 0.2 * rng.normal(size=(1, 3))
    axes = contact_frames(tilted / np.linalg.norm(tilted))
    back = WarmStart.of(keys, known.recall(keys, axes), axes)
    np.testing.assert_allclose(back.values, known.values, atol=1e-14)
    assert known.recall(keys, contact_frames(-up))[0, 0] == 0.0


def test_what_changed_steadily_is_guessed_to_go_on():
    rng = np.random.default_rng(8)
    keys, axes = np.array([11, 4, 9]), frames(rng, 3)
    start, rate = np.abs(rng.normal(size=(3, 3))) + 4.0, 0.1 * rng.normal(size=(3, 3))
    known = WarmStart.none()
    for step in range(3):
        known = WarmStart.of(keys, start + step * rate, axes).after(known)
    np.testing.assert_allclose(known.recall(keys, axes), start + 3 * rate, atol=1e-12)


def test_what_is_new_or_was_hard_to_find_is_guessed_to_stay():
    rng = np.random.default_rng(9)
    axes, lam = frames(rng, 2), np.array([[3.0, 0.1, 0.2], [5.0, 0.3, 0.4]])
    first = WarmStart.of(np.array([4]), lam[1:], axes[:1])
    found = WarmStart.of(np.array([4, 8]), lam, axes)
    grown = found.after(first).recall(np.array([4, 8]), axes)
    np.testing.assert_allclose(grown[1], lam[1], atol=1e-12)  # contact 8 is new
    assert np.abs(grown[0] - lam[0]).max() > 1.0  # contact 4 is not
    led = SolverMemory({"contacts": found}, level=1).after(SolverMemory({"contacts": first}))
    assert led.sets["contacts"] is found
