"""Work in parts: the same as in one, with any number of threads."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from limpet.linalg import half_solve as half
from limpet.linalg import subtrees
from limpet.linalg.block_cholesky import NotPositiveError, factorise, solve
from limpet.linalg.symbolic import analyse, block_pattern, elimination_order
from limpet.linalg.threads import Threads

from .kit import compliance_of
from .test_block_cholesky import blocks_of, grid_graph, random_matrix

SIDE = 9


@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_come_in_the_order_of_the_tasks(count):
    threads = Threads(count)
    for tasks in range(7):
        assert threads.run([partial(pow, i, 2) for i in range(tasks)]) == [
            i * i for i in range(tasks)
        ]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_what_a_task_raises_is_raised(count):
    threads = Threads(count)
    for wrong in range(5):
        with pytest.raises(ZeroDivisionError):
            threads.run([partial(divmod, 1, int(i != wrong)) for i in range(5)])
    assert threads.run([lambda: 1, lambda: 2]) == [1, 2]  # still at work


def test_a_copy_has_as_many_threads_but_not_the_same():
    threads = Threads(3)
    threads.run([int, int])
    copy = pickle.loads(pickle.dumps(threads))
    assert copy.count == 3
    assert copy.run([int, int]) == [0, 0]


@pytest.fixture
def grid():
    """A grid in an order that divides it: pattern, dense matrix."""
    i, j = grid_graph(SIDE)
    order = elimination_order(SIDE * SIDE, i, j)
    new = np.argsort(order)
    a = random_matrix(SIDE * SIDE, new[i], new[j], np.random.default_rng(2))
    return block_pattern(SIDE * SIDE, new[i], new[j]), a


def test_subtrees_do_not_depend_on_each_other(grid, monkeypatch):
    monkeypatch.setattr(subtrees, "SMALL", 0.0)
    s = analyse(grid[0], SIDE * SIDE)
    assert len(s.subtrees) >= 2
    covered = np.concatenate([*s.subtrees, s.top])
    np.testing.assert_array_equal(np.sort(covered), np.arange(len(s.first) - 1))
    home = np.full(s.size, -1)  # the subtree of each unknown
    for number, inside in enumerate(s.subtrees):
        home[s.first[inside[0]] : s.first[inside[-1] + 1]] = number
    for number, inside in enumerate(s.subtrees):
        rows = np.concatenate([s.rows[s.row_start[p] : s.row_start[p + 1]] for p in inside])
        assert set(home[rows]) <= {number, -1}


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_factor_by_subtrees_solves_as_the_dense_matrix(grid, monkeypatch, count):
    monkeypatch.setattr(subtrees, "SMALL", 0.0)
    pattern, a = grid
    s, values = analyse(pattern, SIDE * SIDE), blocks_of(pattern, a)
    factor = factorise(s, values, None, Threads(count))
    alone = factorise(s, values)
    used = s.panel_start[len(s.first) - 1]
    np.testing.assert_array_equal(factor.panels[:used], alone.panels[:used])
    factor = factorise(s, values, factor, Threads(count))  # written over
    np.testing.assert_array_equal(factor.panels[:used], alone.panels[:used])
    b = np.random.default_rng(3).normal(size=(SIDE * SIDE, 3))
    expected = np.linalg.solve(a, b.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(solve(factor, b), expected, atol=1e-11 * np.abs(expected).max())


def test_the_first_node_with_a_wrong_pivot_is_named(grid, monkeypatch):
    monkeypatch.setattr(subtrees, "SMALL", 0.0)
    pattern, a = grid
    s, values = analyse(pattern, SIDE * SIDE), blocks_of(pattern, a)
    first, second, *_ = sorted(int(inside[0]) for inside in s.subtrees)
    for panel in (int(s.top[-1]), second, first):
        node = int(s.first[panel]) // 3
        values[pattern.start[node]] -= 1e3 * np.eye(3)
        with pytest.raises(NotPositiveError) as failed:
            factorise(s, values, None, Threads(2))
        assert failed.value.node == node


@pytest.mark.parametrize("count", [1, 2])
def test_compliance_in_pieces_is_the_dense_product(grid, monkeypatch, count):
    monkeypatch.setattr(half, "COLUMNS", 40)
    monkeypatch.setattr(half, "BLOCK", 60)
    pattern, a = grid
    factor = factorise(analyse(pattern, SIDE * SIDE), blocks_of(pattern, a))
    nodes = np.arange(0, SIDE * SIDE, 2)
    start, ones = np.arange(len(nodes) + 1), np.ones(len(nodes))
    rows = (
        np.eye(3 * SIDE * SIDE).reshape(-1, 3, 3 * SIDE * SIDE)[nodes].reshape(3 * len(nodes), -1)
    )
    dense = rows @ np.linalg.solve(a, rows.T)
    w = compliance_of(factor, start, nodes, ones, np.zeros((0, SIDE * SIDE, 3)))
    np.testing.assert_allclose(w, dense, atol=1e-11 * np.abs(dense).max())
    shared = half.half_solve(factor, start, nodes, ones, Threads(count))
    np.testing.assert_array_equal(shared.gram, w)


@pytest.mark.parametrize("count", [8, 96, 104, 184, 1000])
def test_pieces_are_whole_vectors_and_cover_all(count):
    pieces = half._pieces(count, 96)
    assert pieces[0][0] == 0 and pieces[-1][1] == count
    assert all(a[1] == b[0] for a, b in pairwise(pieces))
    assert all(left % half.LANES == 0 and left < right for left, right in pieces)
