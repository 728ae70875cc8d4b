"""Every law on every element: rigid motions, forces and energy, stiffness, a stretched bar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.corotational import lame
from limpet.shapes.boxes import soft_box

from .kit import (
    LAWS,
    OBJECTIVE,
    POISSON,
    RUBBER,
    WITH_ENERGY,
    YOUNG,
    Patch,
    bent_cell,
    difference,
    random_state,
    turn,
    with_laws,
)
from .meshes import SIZE, distorted_box

SEEDS = range(3)
STEP = 1e-4 * SIZE  # of differences: their error is of the order of STEP^4
SOFT_MODES = {"hex20r": 6}  # beyond the six rigid ones: its 8 points see 48 strains


@with_laws(OBJECTIVE)
def test_rigid_motion_gives_no_force_no_pressure_and_no_energy(name, law):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        patch = bent_cell(name, rng, law)
        offset = 10.0 * rng.normal(size=3)
        answer = patch.answer(patch.rest @ turn(rng).T + offset)
        round_off = np.finfo(float).eps * np.abs(offset).max() / SIZE  # of a strain
        limit = 100 * round_off * YOUNG * SIZE**2
        assert np.abs(answer.force).max() < limit
        assert np.all(np.abs(answer.excess) < 100 * round_off * SIZE**3)
        x = patch.rest @ turn(rng).T
        scale = YOUNG * SIZE**3
        assert abs(patch.energy(x)) < 1e-14 * scale


@with_laws(["none"])
def test_the_linear_law_answers_neither_a_shift_nor_a_small_turn(name, law):
    rng = np.random.default_rng(0)
    patch = bent_cell(name, rng, law)
    spin = np.cross(np.eye(3), rng.normal(size=3))
    answer = patch.answer(patch.rest + patch.rest @ spin.T + [0.1, -0.2, 0.3])
    assert np.abs(answer.force).max() < 1e-12 * YOUNG * SIZE**2
    assert np.all(np.abs(answer.excess) < 1e-12 * SIZE**3)


@with_laws(WITH_ENERGY)
def test_force_is_minus_the_gradient_of_the_energy(name, law):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        patch = bent_cell(name, rng, law)
        x = random_state(rng, patch, rng.uniform(0.6, 1.5, size=3))
        force = patch.force(x, patch.pressures(x))
        slope = difference(patch.energy, x, STEP).reshape(-1, 3)
        np.testing.assert_allclose(force, -slope, rtol=0, atol=1e-9 * np.abs(force).max())


@with_laws(WITH_ENERGY)
def test_stiffness_is_the_derivative_of_the_force_where_nothing_is_left_out(name, law):
    """In tension; for the rubber law in a stretch that keeps about its volume; for all at rest."""
    stretches = [1.35, 0.95, 0.85] if law in RUBBER else [1.1, 1.25, 1.4]
    for stretch, noise in ((stretches, 1e-3), (np.ones(3), 0.0)):
        rng = np.random.default_rng(1)
        patch = bent_cell(name, rng, law)
        x = random_state(rng, patch, stretch, noise)
        p = patch.pressures(x)
        exact = -difference(lambda y, f=patch.force, p=p: f(y, p).ravel(), x, STEP)
        k = patch.stiffness(x, p)
        np.testing.assert_allclose(k, exact, rtol=0, atol=1e-9 * np.abs(k).max())


@pytest.mark.parametrize("name", [n for n, e in ELEMENTS.items() if e.shared_pressure])
def test_coupling_is_the_derivative_of_the_volumes_and_of_the_forces_by_pressure(name):
    rng = np.random.default_rng(2)
    patch = bent_cell(name, rng)
    x = random_state(rng, patch, [0.7, 1.1, 1.3])
    p = 1e5 * rng.normal(size=4)
    n = x.size
    matrix = patch.answer(x, p).matrix.toarray()
    coupling = matrix[n:, :n]
    by_x = difference(lambda y: patch.answer(y, p).excess, x, STEP)
    np.testing.assert_allclose(coupling, by_x, rtol=0, atol=1e-9 * np.abs(coupling).max())
    np.testing.assert_array_equal(matrix[:n, n:], coupling.T)
    for i, d in enumerate(1e4 * np.eye(4)):  # both are linear in the pressures
        more, less = patch.answer(x, p + d), patch.answer(x, p - d)
        slope = (more.force - less.force).ravel() / 2e4
        np.testing.assert_allclose(slope, -coupling[i], atol=1e-9 * np.abs(coupling).max())
        slope = (more.excess - less.excess) / 2e4
        np.testing.assert_allclose(
            slope, matrix[n:, n + i], atol=1e-9 * np.abs(matrix[n:, n:]).max()
        )


@with_laws(LAWS)
def test_stiffness_is_symmetric_and_never_negative(name, law):
    for seed, low, high in ((0, 0.5, 1.1), (1, 0.1, 0.6), (2, -0.7, 1.3)):
        rng = np.random.default_rng(seed)
        patch = bent_cell(name, rng, law)
        x = random_state(rng, patch, rng.uniform(low, high, size=3), noise=0.1)
        k = patch.stiffness(x, patch.pressures(x))
        np.testing.assert_allclose(k, k.T, rtol=0, atol=1e-13 * np.abs(k).max())
        values = np.linalg.eigvalsh(k)
        assert values[0] > -1e-12 * values[-1]


@with_laws(["polar", *RUBBER])
def test_what_is_left_out_of_the_stiffness_was_negative(name, law):
    rng = np.random.default_rng(3)
    patch = bent_cell(name, rng, law)
    x = random_state(rng, patch, [0.6, 0.8, 0.9])
    p = patch.pressures(x)
    exact = -difference(lambda y: patch.force(y, p).ravel(), x, STEP)
    k = patch.stiffness(x, p)
    added = np.linalg.eigvalsh(k - 0.5 * (exact + exact.T))
    scale = np.abs(k).max()
    assert added[0] > -1e-9 * scale
    assert added[-1] > 1e-3 * scale  # in compression there is something to leave out


@with_laws(LAWS)
def test_only_rigid_motions_cost_nothing(name, law):
    """Shared pressures included: K + B^T C^-1 B, as they answer."""
    patch = bent_cell(name, np.random.default_rng(4), law)
    n = patch.rest.size
    matrix = patch.answer(patch.rest).matrix.toarray()
    k, b, c = matrix[:n, :n], matrix[n:, :n], -matrix[n:, n:]
    values = np.linalg.eigvalsh(k + b.T @ np.linalg.solve(c, b) if len(b) else k)
    assert np.sum(values < 1e-10 * values[-1]) == 6 + SOFT_MODES.get(name, 0)


@with_laws(LAWS)
def test_forces_have_no_net_force_and_no_net_moment(name, law):
    rng = np.random.default_rng(5)
    patch = bent_cell(name, rng, law)
    x = random_state(rng, patch, rng.uniform(0.3, 2.0, size=3))
    force = patch.force(x, patch.pressures(x))
    scale = np.abs(force).sum()
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12 * scale)
    if law in ("polar", *RUBBER):  # the others do not see where the forces act
        moment = np.cross(x - x[0], force).sum(axis=0)
        np.testing.assert_allclose(moment, 0.0, atol=1e-12 * scale * SIZE)


@with_laws(OBJECTIVE)
def test_a_moved_and_turned_state_turns_its_forces(name, law):
    rng = np.random.default_rng(6)
    patch = bent_cell(name, rng, law)
    x = random_state(rng, patch, [0.7, 1.1, 1.3])
    p = patch.pressures(x)
    r, n = turn(rng), x.size
    before, after = patch.answer(x, p), patch.answer(x @ r.T + [1.0, -2.0, 3.0], p)
    scale = np.abs(before.force).max()
    np.testing.assert_allclose(after.force, before.force @ r.T, atol=1e-11 * scale)
    np.testing.assert_allclose(after.excess, before.excess, atol=1e-11 * SIZE**3)
    both = np.eye(n + len(p))
    both[:n, :n] = np.kron(np.eye(len(x)), r)
    expected = both @ before.matrix.toarray() @ both.T
    np.testing.assert_allclose(
        after.matrix.toarray(), expected, atol=1e-11 * np.abs(expected).max()
    )


@with_laws(["polar", *RUBBER])
def test_a_slot_below_zero_stores_the_transposed_block(name, law):
    rng = np.random.default_rng(7)
    patch = bent_cell(name, rng, law)
    x = random_state(rng, patch, [0.7, 1.1, 1.3])
    one, other = patch.answer(x), patch.answer(x, transposed=True)
    np.testing.assert_array_equal(one.matrix.toarray(), other.matrix.toarray())


@with_laws(LAWS)
def test_neither_the_order_of_nodes_nor_that_of_cells_matters(name, law):
    rng = np.random.default_rng(8)
    element = ELEMENTS[name]
    points, cells = distorted_box(element, (2, 1, 2), rng)
    order, by_cell = rng.permutation(len(points)), rng.permutation(len(cells))
    new = np.argsort(order).astype(np.int32)
    one = Patch(element, points, cells, law)
    other = Patch(element, points[order], new[cells[by_cell]], law)
    x = random_state(rng, one, [0.8, 1.1, 1.2], noise=0.05)
    at = 1e4 * rng.normal(size=len(points))  # a pressure for each node, where there are any
    before, after = one.answer(x, at[one.corners]), other.answer(x[order], at[order][other.corners])
    np.testing.assert_allclose(after.force, before.force[order], atol=1e-9 * YOUNG * SIZE**2)
    excess = np.zeros((2, len(points)))
    excess[0, one.corners], excess[1, order[other.corners]] = before.excess, after.excess
    np.testing.assert_allclose(excess[1], excess[0], atol=1e-12 * SIZE**3)
    v = rng.normal(size=(len(points), 3))  # the stiffness by its product with a vector
    kv, n = before.matrix[: v.size, : v.size] @ v.ravel(), v.size
    kv_after = after.matrix[:n, :n] @ v[order].ravel()
    np.testing.assert_allclose(
        kv_after.reshape(-1, 3), kv.reshape(-1, 3)[order], atol=1e-11 * np.abs(kv).max()
    )


@pytest.mark.parametrize("name", ["tet4", "iicr10", "tet10", "hex8", "hex20", "hex20p", "hex20r"])
@pytest.mark.parametrize("law", LAWS)
def test_a_stretched_bar_pulls_with_young_times_strain_times_area(name, law):
    strain, poisson, young = 1e-6, 0.45, 4e6
    box = soft_box(0.01, 0.02, 0.03, (2, 2, 3), name)
    patch = Patch(ELEMENTS[name], box.points, next(iter(box.cells.values())), law, young, poisson)
    force = patch.force(box.points * [1 - poisson * strain, 1 - poisson * strain, 1 + strain])
    pull = young * strain * 0.01 * 0.02
    off = 1e-4 * pull  # the rubber law is straight only to first order
    np.testing.assert_allclose(force[box.region("top")].sum(axis=0), [0, 0, -pull], atol=off)
    np.testing.assert_allclose(force[box.region("bottom")].sum(axis=0), [0, 0, pull], atol=off)
    side = np.abs(np.abs(box.points[:, 0]) - 0.005) < 1e-9
    np.testing.assert_allclose(force[side, 0], 0.0, atol=off)


def test_constant_pressure_on_a_linear_tetrahedron_is_tet4_in_other_words():
    rng = np.random.default_rng(9)
    points, cells = distorted_box(ELEMENTS["tet4"], (2, 2, 1), rng)
    for law in LAWS:
        one, other = (Patch(ELEMENTS[n], points, cells, law) for n in ("tet4", "iicr10"))
        x = random_state(rng, one, [1.1, 1.2, 1.3], noise=0.02)
        np.testing.assert_allclose(one.force(x), other.force(x), atol=1e-11 * YOUNG * SIZE**2)
        np.testing.assert_allclose(one.energy(x), other.energy(x), rtol=1e-11)
        if law not in RUBBER:  # there the parts are clamped one by one
            k = one.stiffness(x)
            np.testing.assert_allclose(other.stiffness(x), k, atol=1e-11 * np.abs(k).max())


@given(st.floats(1e3, 1e12), st.floats(-0.9, 0.499))
def test_lame_constants_give_back_young_and_poisson(young, poisson):
    mu, lam = lame(young, poisson)
    assert mu * (3 * lam + 2 * mu) / (lam + mu) == pytest.approx(young, rel=1e-9)
    assert lam / (2 * (lam + mu)) == pytest.approx(poisson, rel=1e-9, abs=1e-12)


def test_lame_constants_of_an_incompressible_material():
    mu, lam = lame(3.0, 0.5)
    assert mu == pytest.approx(1.0)
    assert lam == np.inf
    assert POISSON < 0.5
