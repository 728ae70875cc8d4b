"""Sparse rows against their dense matrix: products, selection, stacking, compliance."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dynamics.conftest import random_rows

from limpet.linalg.reduced_compliance import ReducedCompliance, half_product, join, sparse_rows
from limpet.linalg.rows import Rows


def dense_of(rows, n):
    out = np.zeros((len(rows), n, 3))
    for r in range(len(rows)):
        for k in range(rows.start[r], rows.start[r + 1]):
            out[r, rows.point[k]] += rows.vector[k]
    return out


def numbered(n, lo, hi):
    """(n,) points lo to hi counted from 0, the others left out."""
    local = np.full(n, -1, np.int32)
    local[lo:hi] = np.arange(max(min(hi, n) - lo, 0))
    return local


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
        rows.times(v),
        np.einsum("rni,ni->r", h, v), atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(
        rows.transpose_times(multiplier, n),
        np.einsum("rni,r->ni", h, multiplier), atol=1e-13,
    )  # fmt: skip


@given(row_sets, st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=20, deadline=None)
def test_selected_rows_are_those_that_touch_the_range(case, lo, hi):
    n, count, seed = case
    rows = random_rows(np.random.default_rng(seed), n, count)
    index, own = rows.select(numbered(max(n, hi), lo, hi))
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
        index, own = rows.select(numbered(10, lo, hi))
        none = np.full(len(own), -1, np.int32)
        b = sparse_rows(own.start, own.point, own.vector, np.arange(hi - lo), none)
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


def test_stacked_rows_act_one_after_the_other():
    rng = np.random.default_rng(7)
    parts = [random_rows(rng, 9, count) for count in (3, 0, 5)]
    v = rng.normal(size=(9, 3))
    expected = np.concatenate([rows.times(v) for rows in parts])
    np.testing.assert_array_equal(Rows.stack(parts).times(v), expected)
