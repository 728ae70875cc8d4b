"""The signed factor L S L^T, of nodes with one to three unknowns, against dense NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.linalg.block_cholesky import NotPositiveError, factorise, solve
from limpet.linalg.symbolic import BlockPattern, analyse, block_pattern, elimination_order

from .kit import compliance_of


@dataclass
class System:
    """A quasi-definite matrix: positive in some nodes, negative in others, coupled at will."""

    pattern: BlockPattern
    size: np.ndarray  # (n,) unknowns of each node
    negative: np.ndarray  # (n,) bool
    dense: np.ndarray
    rng: np.random.Generator

    @property
    def offset(self):
        return np.concatenate([[0], np.cumsum(self.size)])

    def at(self, node):
        return np.arange(self.offset[node], self.offset[node + 1])

    def blocks(self):
        """The pattern's blocks in their upper left corners; the rest is never to be read."""
        p = self.pattern
        out = np.full((len(p.rows), 3, 3), np.nan)
        column = np.repeat(np.arange(p.n), np.diff(p.start))
        for s, (i, j) in enumerate(zip(p.rows, column)):
            out[s, : self.size[i], : self.size[j]] = self.dense[np.ix_(self.at(i), self.at(j))]
        return out

    def factorise(self, free):
        symbolic = analyse(self.pattern, free, self.size[:free], self.negative[:free])
        assert symbolic.size == self.offset[free]
        return factorise(symbolic, self.blocks())

    def leading(self, free):
        m = self.offset[free]
        return self.dense[:m, :m]


def random_system(n, density, share, rng, sizes=(3, 1)):
    """`share` of the nodes are pressures, of the second size."""
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    return system_of(n, i[keep], j[keep], rng.random(n) < share, rng, sizes)


def system_of(n, i, j, negative, rng, sizes=(3, 1)):
    """Any matrix with a block for each edge (i, j)."""
    size = np.where(negative, sizes[1], sizes[0])
    offset = np.concatenate([[0], np.cumsum(size)])
    a = np.diag(np.repeat(np.where(negative, -1.0, 1.0), size) * (0.1 + rng.random(offset[-1])))
    for p, q in zip(i, j):
        both = [np.arange(offset[k], offset[k + 1]) for k in (p, q)]
        if negative[p] == negative[q]:
            at = np.concatenate(both)
            g = rng.normal(size=(len(at), len(at)))
            a[np.ix_(at, at)] += (-1.0 if negative[p] else 1.0) * g @ g.T
        else:
            g = rng.normal(size=(len(both[0]), len(both[1])))
            a[np.ix_(*both)] += g
            a[np.ix_(both[1], both[0])] += g.T
    return System(block_pattern(n, i, j), size, negative, a, rng)


@st.composite
def systems(draw, sizes=((3, 1), (3, 2), (2, 1), (1, 3))):
    """(system, number of leading free nodes)."""
    n = draw(st.integers(1, 30))
    density = draw(st.sampled_from([0.0, 0.05, 0.2, 0.6, 1.0]))
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    system = random_system(n, density, share, rng, draw(st.sampled_from(sizes)))
    return system, draw(st.integers(1, n))


any_system = systems()
three_unknowns_and_pressures = systems(sizes=((3, 1),))


@given(any_system)
@settings(max_examples=60, deadline=None)
def test_solve_is_the_dense_solve_of_the_leading_nodes(case):
    system, free = case
    a = system.leading(free)
    b = system.rng.normal(size=len(a))
    kept = b.copy()
    x = solve(system.factorise(free), b)
    dense = np.linalg.solve(a, b)
    scale = np.linalg.cond(a) * np.abs(dense).max()
    np.testing.assert_allclose(x, dense, rtol=0, atol=1e-13 * scale)
    np.testing.assert_array_equal(b, kept)


@given(three_unknowns_and_pressures, st.integers(0, 6), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_compliance_of_points_and_of_extra_rows_is_the_dense_product(case, points, extras):
    system, free = case
    rng, a = system.rng, system.leading(free)
    carriers = np.flatnonzero(~system.negative[:free])
    points = points if len(carriers) else 0
    nodes = np.sort(rng.choice(carriers, size=(points, 3)), axis=1) if points else np.zeros((0, 3))
    nodes = nodes[np.argsort(nodes[:, 0], kind="stable")].astype(int)
    weights = rng.normal(size=nodes.shape)
    rows = np.zeros((3 * points + extras, len(a)))
    for i, (own, w) in enumerate(zip(nodes, weights)):
        for d in range(3):
            np.add.at(rows[3 * i + d], system.offset[own] + d, w)
    extra = rng.normal(size=(extras, len(a))) * (rng.random((extras, len(a))) < 0.5)
    rows[3 * points :] = extra
    start = np.arange(0, nodes.size + 1, 3)
    factor = system.factorise(free)
    w = compliance_of(factor, start, nodes.ravel(), weights.ravel(), extra)
    dense = rows @ np.linalg.solve(a, rows.T)
    np.testing.assert_array_equal(w, w.T)
    scale = np.linalg.cond(a) * np.abs(dense).max(initial=0.0)
    np.testing.assert_allclose(w, dense, rtol=0, atol=1e-13 * scale)


@given(any_system, st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_pivot_of_the_wrong_sign_is_named(case, pick):
    system, free = case
    node = pick % free
    at = system.at(node)[pick % system.size[node]]
    # far beyond what its neighbours add; the nodes before it keep their pivots
    system.dense[at, at] = (1e6 if system.negative[node] else -1e6) * np.abs(system.dense).max()
    with pytest.raises(NotPositiveError) as caught:
        system.factorise(free)
    assert caught.value.node == node


def test_a_pressure_without_compliance_is_fine_after_the_nodes_that_it_presses_on():
    rng = np.random.default_rng(1)
    system = random_system(2, 1.0, 0.0, rng)
    system.negative[1], system.size[1] = True, 1
    system.dense = np.eye(4)
    system.dense[3, 3] = 0.0
    system.dense[3, :3] = system.dense[:3, 3] = [1.0, 2.0, 2.0]
    x = solve(system.factorise(2), np.array([0.0, 0.0, 0.0, 9.0]))
    np.testing.assert_allclose(x, [1.0, 2.0, 2.0, -1.0], rtol=1e-14)
    system.dense[3, :3] = system.dense[:3, 3] = 0.0
    with pytest.raises(NotPositiveError) as caught:
        system.factorise(2)
    assert caught.value.node == 1


def test_compliance_of_many_points_on_a_large_sparse_body():
    """A strip of cells in elimination order: most panels see few of the points."""
    rng = np.random.default_rng(2)
    n = 120
    i = np.concatenate([np.arange(n - 1), np.arange(n - 2), np.arange(n - 3)])
    j = np.concatenate([np.arange(1, n), np.arange(2, n), np.arange(3, n)])
    order = elimination_order(n, i, j)
    new = np.argsort(order)
    system = system_of(n, new[i], new[j], rng.random(n) < 0.4, rng)
    nodes = np.flatnonzero(~system.negative)
    assert np.any(system.negative[:20])
    start = np.arange(len(nodes) + 1)
    w = compliance_of(
        system.factorise(n), start, nodes, np.ones(len(nodes)), np.zeros((0, len(system.dense)))
    )
    at = np.concatenate([system.at(k) for k in nodes])
    inverse = np.linalg.inv(system.dense)[np.ix_(at, at)]
    scale = np.linalg.cond(system.dense) * np.abs(inverse).max()
    np.testing.assert_allclose(w, inverse, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_elimination_gives_the_same_solution(seed):
    rng = np.random.default_rng(seed)
    n = 40
    system = random_system(n, 0.1, 0.4, rng)
    p = system.pattern
    i, j = p.rows, np.repeat(np.arange(n), np.diff(p.start))
    order = elimination_order(n, i, j)
    new = np.argsort(order)
    at = np.concatenate([system.at(k) for k in order])
    turned = System(
        block_pattern(n, new[i], new[j]),
        system.size[order],
        system.negative[order],
        system.dense[np.ix_(at, at)],
        rng,
    )
    b = rng.normal(size=len(system.dense))
    x, y = solve(system.factorise(n), b), solve(turned.factorise(n), b[at])
    scale = np.linalg.cond(system.dense) * np.abs(x).max()
    np.testing.assert_allclose(y, x[at], rtol=0, atol=1e-13 * scale)


def test_an_old_factor_lends_its_arrays_to_the_next_and_to_no_other_pattern():
    rng = np.random.default_rng(5)
    one = random_system(20, 0.3, 0.4, rng)
    symbolic = analyse(one.pattern, 20, one.size, one.negative)
    first = factorise(symbolic, one.blocks())
    one.dense *= 2.0
    fresh, again = factorise(symbolic, one.blocks()), factorise(symbolic, one.blocks(), first)
    assert again.panels is first.panels
    np.testing.assert_array_equal(again.panels, fresh.panels)
    other = random_system(25, 0.3, 0.4, rng)
    symbolic = analyse(other.pattern, 25, other.size, other.negative)
    unlike = factorise(symbolic, other.blocks(), first)
    np.testing.assert_array_equal(unlike.panels, factorise(symbolic, other.blocks()).panels)
    assert unlike.panels is not first.panels


def test_signs_of_the_pivots_are_the_inertia():
    rng = np.random.default_rng(4)
    system = random_system(20, 0.3, 0.5, rng)
    sign = analyse(system.pattern, 20, system.size, system.negative).sign
    values = np.linalg.eigvalsh(system.dense)
    assert np.sum(sign < 0) == np.sum(values < 0) == system.negative.sum()
