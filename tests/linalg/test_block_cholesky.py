"""Sparse block Cholesky against dense NumPy, on any pattern."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.linalg.block_cholesky import NotPositiveError, factorise, solve, solve_many
from limpet.linalg.symbolic import (
    WIDEST,
    analyse,
    block_pattern,
    elimination_order,
    pattern_slots,
)

from .kit import compliance_of


def on_nodes(factor, nodes, extra):
    """Compliance of unit forces on nodes."""
    t = len(nodes)
    return compliance_of(factor, np.arange(t + 1), nodes, np.ones(t), extra)


def test_points_share_their_force_among_nodes():
    rng = np.random.default_rng(3)
    n = 12
    pattern = block_pattern(n, np.arange(n - 1), np.arange(1, n))
    values = 0.1 * rng.normal(size=(len(pattern.rows), 3, 3))
    values[pattern.start[:-1]] = np.eye(3) * rng.uniform(1.0, 2.0, size=(n, 1, 1))
    factor = factorise(analyse(pattern, n), values)
    weights = rng.normal(size=(4, 3))
    carriers = np.array([[0, 4, 5], [2, 3, 7], [3, 8, 9], [9, 10, 11]])
    points = compliance_of(
        factor, np.arange(0, 13, 3), carriers.ravel(), weights.ravel(), np.zeros((0, n, 3))
    )
    unit = on_nodes(factor, np.arange(n), np.zeros((0, n, 3))).reshape(n, 3, n, 3)
    share = np.zeros((4, n))
    np.add.at(share, (np.arange(4)[:, None], carriers), weights)
    expected = np.einsum("ia,adbe,jb->idje", share, unit, share).reshape(12, 12)
    np.testing.assert_allclose(points, expected, rtol=1e-12, atol=1e-14)


def random_graph(n, density, rng):
    """Edges (i, j) of n nodes; at low density the graph falls apart."""
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    return i[keep], j[keep]


def random_matrix(n, i, j, rng):
    """A dense symmetric positive matrix with a 3x3 block for each edge."""
    a = np.zeros((3 * n, 3 * n))
    for p, q in zip(i, j):
        at = np.concatenate([3 * p + np.arange(3), 3 * q + np.arange(3)])
        g = rng.normal(size=(6, 6))
        a[np.ix_(at, at)] += g @ g.T
    return a + 0.1 * np.diag(1.0 + rng.random(3 * n))


def blocks_of(pattern, a):
    column = np.repeat(np.arange(pattern.n), np.diff(pattern.start))
    return np.array([a[3 * r : 3 * r + 3, 3 * c : 3 * c + 3] for r, c in zip(pattern.rows, column)])


def grid_graph(side):
    node = np.arange(side * side).reshape(side, side)
    i = np.concatenate([node[1:].ravel(), node[:, 1:].ravel()])
    j = np.concatenate([node[:-1].ravel(), node[:, :-1].ravel()])
    return i, j


@st.composite
def systems(draw, smallest=1):
    """(pattern, dense matrix, number of leading free nodes, generator)."""
    n = draw(st.integers(smallest, 30))
    free = draw(st.integers(smallest, n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    i, j = random_graph(n, draw(st.sampled_from([0.0, 0.05, 0.2, 0.6, 1.0])), rng)
    return block_pattern(n, i, j), random_matrix(n, i, j, rng), free, rng


any_system = systems()


@given(any_system)
@settings(max_examples=40, deadline=None)
def test_solve_is_the_dense_solve_of_the_leading_nodes(system):
    pattern, a, free, rng = system
    factor = factorise(analyse(pattern, free), blocks_of(pattern, a))
    b = rng.normal(size=(free, 3))
    kept = b.copy()
    x = solve(factor, b)
    dense = np.linalg.solve(a[: 3 * free, : 3 * free], b.ravel()).reshape(-1, 3)
    scale = np.linalg.cond(a) * np.abs(dense).max()
    np.testing.assert_allclose(x, dense, rtol=0, atol=1e-14 * scale)
    np.testing.assert_array_equal(b, kept)
    many = np.stack([b.ravel(), np.zeros(b.size), np.eye(b.size)[-1]], axis=1)  # from the end, too
    np.testing.assert_allclose(
        solve_many(factor, many), np.linalg.solve(a[: 3 * free, : 3 * free], many),
        rtol=1e-8, atol=1e-9,
    )  # fmt: skip
    late = many[:, 2:]
    np.testing.assert_allclose(
        solve_many(factor, late)[:, 0], solve(factor, late[:, 0]), atol=1e-12
    )


@given(any_system, st.integers(0, 3), st.floats(0.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_compliance_is_the_dense_product(system, n_extra, share):
    pattern, a, free, rng = system
    factor = factorise(analyse(pattern, free), blocks_of(pattern, a))
    nodes = np.flatnonzero(rng.random(free) < share)
    extra = rng.normal(size=(n_extra, free, 3)) * (rng.random((n_extra, free, 1)) < 0.5)
    unit = np.eye(3 * free).reshape(free, 3, 3 * free)[nodes].reshape(-1, 3 * free)
    rows = np.concatenate([unit, extra.reshape(n_extra, 3 * free)])
    dense = rows @ np.linalg.solve(a[: 3 * free, : 3 * free], rows.T)
    w = on_nodes(factor, nodes, extra)
    assert w.shape == (len(rows), len(rows))
    np.testing.assert_array_equal(w, w.T)
    scale = np.linalg.cond(a) * np.abs(dense).max(initial=0.0)
    np.testing.assert_allclose(w, dense, rtol=0, atol=1e-14 * scale)


@pytest.mark.parametrize("n_extra", [0, 1, 4])
@pytest.mark.parametrize("nodes", [[], [0], [24], list(range(25))], ids=len)
def test_compliance_of_few_and_of_all_nodes(n_extra, nodes):
    rng = np.random.default_rng(1)
    i, j = grid_graph(5)
    pattern, a = block_pattern(25, i, j), random_matrix(25, i, j, rng)
    factor = factorise(analyse(pattern, 25), blocks_of(pattern, a))
    extra = rng.normal(size=(n_extra, 25, 3))
    rows = np.concatenate(
        [np.eye(75).reshape(25, 3, 75)[np.array(nodes, int)].reshape(-1, 75), extra.reshape(-1, 75)]
    )
    w = on_nodes(factor, np.array(nodes, int), extra)
    np.testing.assert_allclose(w, rows @ np.linalg.solve(a, rows.T), rtol=1e-9, atol=1e-10)


@given(systems(smallest=2), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_a_pivot_that_fails_is_named(system, pick):
    pattern, a, free, _ = system
    node = pick % free
    a = a.copy()
    a[3 * node + pick % 3, 3 * node + pick % 3] = -1e-3  # the nodes before it keep their pivots
    with pytest.raises(NotPositiveError, match=f"pivot of node {node} is not positive") as caught:
        factorise(analyse(pattern, free), blocks_of(pattern, a))
    assert caught.value.node == node


@pytest.mark.parametrize("bad", [0.0, np.nan])
def test_zero_and_nan_pivots_fail(bad):
    pattern = block_pattern(3, np.array([0, 1]), np.array([1, 2]))
    a = np.eye(9)
    a[3, 3] = bad
    with pytest.raises(NotPositiveError) as caught:
        factorise(analyse(pattern, 3), blocks_of(pattern, a))
    assert caught.value.node == 1


def test_prescribed_nodes_do_not_enter_the_factor():
    rng = np.random.default_rng(2)
    i, j = grid_graph(4)
    pattern, a = block_pattern(16, i, j), random_matrix(16, i, j, rng)
    spoiled = a.copy()
    spoiled[3 * 12 :] = spoiled[:, 3 * 12 :] = np.nan
    b = rng.normal(size=(12, 3))
    x = solve(factorise(analyse(pattern, 12), blocks_of(pattern, a)), b)
    y = solve(factorise(analyse(pattern, 12), blocks_of(pattern, spoiled)), b)
    np.testing.assert_array_equal(x, y)


def test_wide_supernodes_are_split():
    n = 40
    rng = np.random.default_rng(3)
    i, j = np.triu_indices(n, 1)
    pattern, a = block_pattern(n, i, j), random_matrix(n, i, j, rng)
    symbolic = analyse(pattern, n)
    width = np.diff(symbolic.first)
    assert width.max() == 3 * WIDEST  # counted in unknowns
    assert width.sum() == 3 * n
    factor = factorise(symbolic, blocks_of(pattern, a))
    b = rng.normal(size=(n, 3))
    np.testing.assert_allclose(
        solve(factor, b).ravel(), np.linalg.solve(a, b.ravel()), rtol=1e-9, atol=1e-12
    )
    w = on_nodes(factor, np.arange(n), np.zeros((0, n, 3)))
    np.testing.assert_allclose(w, np.linalg.inv(a), rtol=1e-8, atol=1e-11)


@given(
    st.integers(1, 40),
    st.sampled_from([0.0, 0.05, 0.2, 1.0]),
    st.sampled_from([None, 0.0, 0.3, 1.0]),
    st.integers(0, 10**6),
)
@settings(max_examples=40, deadline=None)
def test_the_order_is_a_permutation_and_changes_no_solution(n, density, late, seed):
    rng = np.random.default_rng(seed)
    i, j = random_graph(n, density, rng)
    last = None if late is None else np.flatnonzero(rng.random(n) < late)
    order = elimination_order(n, i, j, last)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    new = np.argsort(order)
    a = random_matrix(n, i, j, rng)
    at = (3 * order[:, None] + np.arange(3)).ravel()
    b = rng.normal(size=(n, 3))
    plain, turned = block_pattern(n, i, j), block_pattern(n, new[i], new[j])
    x = solve(factorise(analyse(plain, n), blocks_of(plain, a)), b)
    y = solve(factorise(analyse(turned, n), blocks_of(turned, a[np.ix_(at, at)])), b[order])
    np.testing.assert_allclose(
        y, x[order], rtol=0, atol=1e-14 * np.linalg.cond(a) * np.abs(x).max()
    )


def test_nodes_named_last_come_last_and_make_their_compliance_cheap():
    side = 10
    i, j = grid_graph(side)
    n = side * side
    last = np.arange(0, side)  # one edge of the grid
    order = elimination_order(n, i, j, last)
    assert set(order[-side:]) == set(last)
    rng = np.random.default_rng(4)
    new = np.argsort(order)
    a = random_matrix(n, i, j, rng)
    at = (3 * order[:, None] + np.arange(3)).ravel()
    pattern = block_pattern(n, new[i], new[j])
    factor = factorise(analyse(pattern, n), blocks_of(pattern, a[np.ix_(at, at)]))
    w = on_nodes(factor, np.sort(new[last]), np.zeros((0, n, 3)))
    rows = (3 * order[-side:, None] + np.arange(3)).ravel()
    np.testing.assert_allclose(w, np.linalg.inv(a)[np.ix_(rows, rows)], rtol=1e-8, atol=1e-10)


def test_the_order_saves_fill_on_a_grid():
    side = 12
    i, j = grid_graph(side)
    order = elimination_order(side * side, i, j)
    new = np.argsort(order)
    size = [
        analyse(block_pattern(side * side, p, q), side * side).panel_start[-1]
        for p, q in ((i, j), (new[i], new[j]))
    ]
    assert size[1] < 0.75 * size[0]


@given(any_system)
@settings(max_examples=15, deadline=None)
def test_pattern_holds_the_diagonal_first_and_slots_find_every_block(system):
    pattern, _, _, rng = system
    n = pattern.n
    column = np.repeat(np.arange(n), np.diff(pattern.start))
    np.testing.assert_array_equal(pattern.rows[pattern.start[:-1]], np.arange(n))
    swap = rng.random(len(column)) < 0.5  # the order of a pair does not matter
    i, j = np.where(swap, column, pattern.rows), np.where(swap, pattern.rows, column)
    np.testing.assert_array_equal(pattern_slots(pattern, i, j), np.arange(len(column)))
