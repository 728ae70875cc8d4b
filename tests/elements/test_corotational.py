"""The corotational law on every element: invariants, derivatives, patch test, a stretched bar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.elements import ELEMENTS
from limpet.elements.corotational import cell_block, lame
from limpet.geometry.shapes import soft_box

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=10, deadline=None)
every_element = pytest.mark.parametrize("name", list(ELEMENTS))


def random_state(rng, patch, kit, stretches):
    """Positions under a rotation, principal `stretches` along random axes, and a little noise."""
    a, b = kit.turn(rng), kit.turn(rng)
    f = a @ b @ np.diag(stretches) @ b.T
    return patch.rest @ f.T + 1e-3 * kit.SIZE * rng.uniform(-1, 1, size=patch.rest.shape)


def difference(function, x, step):
    """Central differences of function(x) by every coordinate, (..., 3 n)."""
    columns = []
    for i in np.ndindex(*x.shape):
        d = np.zeros_like(x)
        d[i] = step
        columns.append((function(x + d) - function(x - d)) / (2.0 * step))
    return np.stack(columns, axis=-1)


@every_element
def test_rigid_motion_gives_no_force(name, kit):
    @given(seeds)
    @few
    def check(seed):
        rng = np.random.default_rng(seed)
        patch = kit.bent_cell(ELEMENTS[name], rng)
        offset = 10.0 * rng.normal(size=3)
        x = patch.rest @ kit.turn(rng).T + offset
        round_off = np.finfo(float).eps * np.abs(offset).max() / kit.SIZE  # of a strain
        limit = 100 * round_off * kit.YOUNG * kit.SIZE**2
        assert np.abs(patch.force(x)).max() < limit
        assert patch.energy(x) < limit * round_off * kit.SIZE * 100

    check()


@every_element
def test_force_is_minus_the_gradient_of_the_energy(name, kit):
    @given(seeds)
    @few
    def check(seed):
        rng = np.random.default_rng(seed)
        patch = kit.bent_cell(ELEMENTS[name], rng)
        x = random_state(rng, patch, kit, rng.uniform(0.6, 1.5, size=3))
        force = patch.force(x)
        slope = difference(patch.energy, x, 1e-5 * kit.SIZE).reshape(-1, 3)
        np.testing.assert_allclose(force, -slope, rtol=0, atol=1e-7 * np.abs(force).max())

    check()


@every_element
def test_stiffness_is_exact_in_tension(name, kit):
    @given(seeds)
    @few
    def check(seed):
        rng = np.random.default_rng(seed)
        patch = kit.bent_cell(ELEMENTS[name], rng)
        x = random_state(rng, patch, kit, rng.uniform(1.1, 1.5, size=3))
        _, k = patch.respond(x)
        exact = -difference(lambda y: patch.force(y).ravel(), x, 1e-6 * kit.SIZE)
        np.testing.assert_allclose(k, exact, rtol=0, atol=1e-7 * np.abs(k).max())

    check()


@every_element
def test_stiffness_is_symmetric_and_never_negative_and_the_clamp_only_adds(name, kit):
    @given(seeds)
    @few
    def check(seed):
        rng = np.random.default_rng(seed)
        patch = kit.bent_cell(ELEMENTS[name], rng)
        x = random_state(rng, patch, kit, rng.uniform(0.5, 1.1, size=3))
        _, k = patch.respond(x)
        np.testing.assert_allclose(k, k.T, rtol=0, atol=1e-13 * np.abs(k).max())
        values = np.linalg.eigvalsh(k)
        assert values[0] > -1e-12 * values[-1]
        exact = -difference(lambda y: patch.force(y).ravel(), x, 1e-6 * kit.SIZE)
        left_out = np.linalg.eigvalsh(k - 0.5 * (exact + exact.T))
        assert left_out[0] > -1e-7 * values[-1]

    check()


@every_element
def test_forces_have_no_net_force_and_no_net_moment(name, kit):
    @given(seeds)
    @few
    def check(seed):
        rng = np.random.default_rng(seed)
        patch = kit.bent_cell(ELEMENTS[name], rng)
        x = random_state(rng, patch, kit, rng.uniform(0.3, 2.0, size=3))
        force = patch.force(x)
        scale = np.abs(force).sum()
        np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12 * scale)
        moment = np.cross(x - x[0], force).sum(axis=0)
        np.testing.assert_allclose(moment, 0.0, atol=1e-12 * scale * kit.SIZE)

    check()


def test_a_moved_and_turned_state_turns_its_forces(element, kit):
    rng = np.random.default_rng(4)
    patch = kit.bent_cell(element, rng)
    x = random_state(rng, patch, kit, [0.7, 1.1, 1.3])
    r = kit.turn(rng)
    force, k = patch.respond(x)
    turned, k_turned = patch.respond(x @ r.T + [1.0, -2.0, 3.0])
    np.testing.assert_allclose(turned, force @ r.T, atol=1e-11 * np.abs(force).max())
    both = np.kron(np.eye(len(x)), r)
    np.testing.assert_allclose(k_turned, both @ k @ both.T, atol=1e-11 * np.abs(k).max())


def test_a_slot_below_zero_stores_the_transposed_block(element, kit):
    rng = np.random.default_rng(5)
    patch = kit.bent_cell(element, rng)
    x = random_state(rng, patch, kit, [0.7, 1.1, 1.3])
    _, k = patch.respond(x)
    _, same = patch.respond(x, transposed=True)
    np.testing.assert_array_equal(k, same)


@pytest.mark.parametrize("size", [1e-3, 0.3], ids=["small", "large"])
def test_patch(element, kit, size):
    """A homogeneous deformation of a distorted mesh leaves no force on inner nodes."""
    rng = np.random.default_rng(6)
    points, cells = kit.distorted_box(element, (2, 2, 3), rng)
    patch = kit.Patch(cell_block(element, points, cells), points)
    shift = size * rng.uniform(-1, 1, size=(3, 3))
    force = patch.force(points @ (np.eye(3) + shift).T)
    top = np.array([2, 2, 3]) * kit.SIZE
    inner = np.all((points > 1e-9) & (points < top - 1e-9), axis=1)
    assert inner.sum() >= 2
    assert np.abs(force[inner]).max() < 1e-10 * np.abs(force[~inner]).max()


def test_flattened_cells_answer_with_finite_numbers(element, kit):
    rng = np.random.default_rng(7)
    patch = kit.bent_cell(element, rng)
    for stretches in ([1.0, 1.0, 0.0], [1.0, 1.2, -0.3], [0.9, 0.5, -0.4]):
        a, b = kit.turn(rng), kit.turn(rng)
        force, k = patch.respond(patch.rest @ (a @ np.diag(stretches) @ b.T).T)
        assert np.all(np.isfinite(force))
        assert np.all(np.isfinite(k))
        values = np.linalg.eigvalsh(k)
        assert values[0] > -1e-12 * values[-1]


def test_an_inverted_cell_is_pushed_back(element, kit):
    """Towards its rest volume: the force does work when the inverted direction grows."""
    patch = kit.bent_cell(element, np.random.default_rng(8), bend=0.0)
    x = patch.rest * [1.0, 1.0, -0.3]
    outward = patch.rest * [0.0, 0.0, 1.0]
    assert np.sum(patch.force(x) * outward) > 0.0


@pytest.mark.parametrize("name", ["hex20", "tet4"])
def test_a_stretched_bar_pulls_with_young_times_strain_times_area(name, kit):
    strain, poisson, young = 1e-3, 0.45, 4e6
    box = soft_box(0.01, 0.02, 0.03, (2, 2, 3), name)
    block = cell_block(ELEMENTS[name], box.points, box.cells[name])
    patch = kit.Patch(block, box.points, young, poisson)
    force = patch.force(box.points * [1 - poisson * strain, 1 - poisson * strain, 1 + strain])
    pull = young * strain * 0.01 * 0.02
    np.testing.assert_allclose(force[box.region("top")].sum(axis=0), [0, 0, -pull], atol=1e-9)
    np.testing.assert_allclose(force[box.region("bottom")].sum(axis=0), [0, 0, pull], atol=1e-9)
    side = np.abs(np.abs(box.points[:, 0]) - 0.005) < 1e-9
    np.testing.assert_allclose(force[side, 0], 0.0, atol=1e-9 * pull)


@given(st.floats(1e3, 1e12), st.floats(-0.9, 0.499))
def test_lame_constants_give_back_young_and_poisson(young, poisson):
    mu, lam = lame(young, poisson)
    assert mu * (3 * lam + 2 * mu) / (lam + mu) == pytest.approx(young, rel=1e-9)
    assert lam / (2 * (lam + mu)) == pytest.approx(poisson, rel=1e-9, abs=1e-12)
