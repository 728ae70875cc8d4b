"""What is remembered of a step, and how it is recalled in the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from limpet.solver.warm_start import WarmStart

from limpet.contact.contacts import (
    EDGE_EDGE,
    FACE_VERTEX,
    VERTEX_FACE,
    Contacts,
    contact_keys,
)


def unit(rng, k):
    n = rng.normal(size=(k, 3))
    return n / np.linalg.norm(n, axis=1, keepdims=True)


def multipliers(rng, k, cavities):
    lam = rng.normal(size=(k, 3))
    lam[:, 0] = np.abs(lam[:, 0])
    return np.concatenate([lam.ravel(), 1e4 * rng.normal(size=cavities)])


@given(st.integers(0, 20), st.integers(0, 3), st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_what_was_stored_is_recalled_in_any_order(k, cavities, seed):
    rng = np.random.default_rng(seed)
    keys, normal = rng.permutation(100)[:k].astype(np.int64), unit(rng, k)
    ids = rng.permutation(10)[:cavities].astype(np.int64)
    lam = multipliers(rng, k, cavities)
    memory = WarmStart.of(keys, normal, ids, lam)
    np.testing.assert_allclose(memory.recall(keys, normal, ids), lam, atol=1e-9)
    order, turn = rng.permutation(k), rng.permutation(cavities)
    expected = np.concatenate([lam[: 3 * k].reshape(k, 3)[order].ravel(), lam[3 * k :][turn]])
    found = memory.recall(keys[order], normal[order], ids[turn])
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_unknown_is_recalled_as_zero():
    rng = np.random.default_rng(0)
    keys, normal = np.array([3, 7, 9]), unit(rng, 3)
    lam = multipliers(rng, 3, 1)
    memory = WarmStart.of(keys, normal, np.array([5]), lam)
    found = memory.recall(np.array([8, 7, 2, 100]), unit(rng, 4)[:, :], np.array([4, 5]))
    np.testing.assert_array_equal(found[[0, 1, 2, 6, 7, 8, 9, 10, 11]], 0.0)
    assert found[12] == 0.0
    assert found[13] == lam[9]


def test_an_empty_memory_recalls_zeros():
    rng = np.random.default_rng(1)
    found = WarmStart.empty().recall(np.array([1, 2]), unit(rng, 2), np.array([0, 1, 2]))
    np.testing.assert_array_equal(found, np.zeros(9))
    assert WarmStart.empty().recall(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0)).shape == (
        0,
    )


def test_forces_keep_their_direction_when_the_normal_turns_and_never_pull():
    rng = np.random.default_rng(2)
    keys, up = np.array([4]), np.array([[0.0, 0.0, 1.0]])
    memory = WarmStart.of(keys, up, np.zeros(0, np.int64), np.array([2.0, 0.3, -0.4]))
    force = memory.forces[0]
    tilted = up + 0.2 * rng.normal(size=(1, 3))
    tilted /= np.linalg.norm(tilted)
    turned = memory.recall(keys, tilted, np.zeros(0, np.int64))
    back = WarmStart.of(keys, tilted, np.zeros(0, np.int64), turned)
    np.testing.assert_allclose(back.forces[0], force, atol=1e-14)
    assert memory.recall(keys, -up, np.zeros(0, np.int64))[0] == 0.0


def test_edges_are_known_by_their_ends_whichever_comes_first():
    pair = Contacts(
        surface_a=np.zeros(3, np.int32),
        surface_b=np.ones(3, np.int32),
        vertices_a=np.array([[1, 2, 1], [2, 1, 2], [1, 3, 1]], np.int32),
        weights_a=np.zeros((3, 3)),
        vertices_b=np.array([[4, 5, 4], [5, 4, 5], [4, 5, 4]], np.int32),
        weights_b=np.zeros((3, 3)),
        gap=np.zeros(3),
        normal=unit(np.random.default_rng(3), 3),
        kind=np.full(3, EDGE_EDGE, np.int8),
    )
    keys = contact_keys(pair, np.array([0, 10, 40000]))
    assert keys[0] == keys[1] != keys[2]
    assert np.all(keys < 0)


def test_keys_name_the_vertex_and_the_other_body():
    k = 4
    kinds = np.array([VERTEX_FACE, VERTEX_FACE, FACE_VERTEX, EDGE_EDGE], np.int8)
    plain = Contacts(
        surface_a=np.array([0, 0, 0, 0], np.int32),
        surface_b=np.array([1, 2, 1, 1], np.int32),
        vertices_a=np.array([[5, 5, 5], [5, 5, 5], [1, 2, 3], [1, 2, 2]], np.int32),
        weights_a=np.zeros((k, 3)),
        vertices_b=np.array([[1, 2, 3], [1, 2, 3], [5, 5, 5], [4, 5, 5]], np.int32),
        weights_b=np.zeros((k, 3)),
        gap=np.zeros(k),
        normal=unit(np.random.default_rng(4), k),
        kind=kinds,
    )
    offset = np.array([0, 10, 20, 30])
    keys = contact_keys(plain, offset)
    assert keys[3] < 0  # edges: told from vertices by their sign
    assert len(set(keys)) == 4  # one vertex against two bodies; vertex 5 of a and vertex 5 of b
    # the face on the other side may change from step to step
    slid = replace(plain, vertices_b=plain.vertices_b + (kinds == VERTEX_FACE)[:, None].astype(int))
    np.testing.assert_array_equal(contact_keys(slid, offset), keys)


def test_what_changed_steadily_is_guessed_to_go_on():
    rng = np.random.default_rng(8)
    keys, normal, ids = np.array([11, 4, 9]), unit(rng, 3), np.array([2, 6])
    start, rate = np.abs(rng.normal(size=11)) + 4.0, 0.1 * rng.normal(size=11)
    memory = WarmStart.empty()
    for step in range(3):
        memory = WarmStart.of(keys, normal, ids, start + step * rate).after(memory)
    np.testing.assert_allclose(memory.recall(keys, normal, ids), start + 3 * rate, atol=1e-12)


def test_what_is_new_or_was_hard_to_find_is_guessed_to_stay():
    rng = np.random.default_rng(9)
    normal, lam = unit(rng, 2), np.array([3.0, 0.1, 0.2, 5.0, 0.3, 0.4, -700.0])
    first = WarmStart.of(np.array([4]), normal[:1], np.zeros(0, np.int64), lam[3:6])
    found = (np.array([4, 8]), normal, np.array([1]))
    grown = WarmStart.of(*found, lam).after(first).recall(*found)
    np.testing.assert_allclose(grown[3:], lam[3:], atol=1e-12)  # contact 8 and the cavity are new
    assert np.abs(grown[:3] - lam[:3]).max() > 1.0  # contact 4 is not
    led = WarmStart.of(*found, lam, level=1).after(first).recall(*found)
    np.testing.assert_allclose(led, lam, atol=1e-12)
