"""The kernels against the laws written plainly (plain.py), and the rotations they are built on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.mixed import pressure_compliance
from limpet.geometry.rotation import gram_schmidt, polar

from .kit import LAWS, bent_cell, random_state, turn, with_laws
from .meshes import SIZE
from .plain import cell_answer, rotation_of

MIXED = [name for name, e in ELEMENTS.items() if e.pressure is not None]
SHARED = [name for name, e in ELEMENTS.items() if e.shared_pressure]
# principal stretches: a tension, a compression, a large mixed state, an inverted one
STATES = ([1.1, 1.2, 1.3], [0.6, 0.8, 0.9], [0.4, 1.0, 2.5], [0.7, 1.1, -0.4])


@with_laws(LAWS)
def test_forces_and_matrix_are_those_of_the_law_written_plainly(name, law):
    for seed, stretches in enumerate(STATES):
        rng = np.random.default_rng(seed)
        patch = bent_cell(name, rng, law)
        x = random_state(rng, patch, stretches, noise=0.03)
        p = 2e5 * rng.normal(size=len(patch.corners))
        got, plain = patch.answer(x, p), cell_answer(patch, 0, x, p)
        matrix, n = got.matrix.toarray(), x.size
        for one, other in (
            (got.force, plain.force),
            (matrix[:n, :n], plain.stiffness),
            (got.excess, plain.excess),
            (matrix[n:, :n], plain.coupling),
            (-matrix[n:, n:], patch.compliance[0] if len(p) else np.zeros((0, 0))),
        ):
            scale = np.abs(other).max(initial=0.0)
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("law", ["polar", "gram-schmidt"])
@pytest.mark.parametrize("name", MIXED)
def test_an_explicit_deviatoric_part_leaves_forces_and_volume_only(name, law):
    """M 3.4: the forces stay, the matrix keeps K B^T C^-1 B, or B and C."""
    rng = np.random.default_rng(1)
    patch = bent_cell(name, rng, law)
    x = random_state(rng, patch, [0.8, 1.1, 1.3], noise=0.03)
    p = 2e5 * rng.normal(size=len(patch.corners))
    implicit, explicit = patch.answer(x, p), patch.answer(x, p, implicit=False)
    np.testing.assert_array_equal(explicit.force, implicit.force)
    np.testing.assert_array_equal(explicit.excess, implicit.excess)
    n = x.size
    before, after = implicit.matrix.toarray(), explicit.matrix.toarray()
    if len(p):
        np.testing.assert_array_equal(after[:n, :n], 0.0)
        np.testing.assert_array_equal(after[n:], before[n:])
        return
    c = ELEMENTS[name].pressure.count
    values = np.linalg.eigvalsh(after)
    assert np.sum(values > 1e-10 * values[-1]) == c
    added = np.linalg.eigvalsh(before - after)
    assert added[0] > -1e-12 * values[-1]


@pytest.mark.parametrize("name", SHARED)
def test_pressure_compliance_is_the_mass_over_the_bulk_modulus_and_slack_of_iicr11(name):
    patch = bent_cell(name, np.random.default_rng(2), bend=0.0)
    block, mu, bulk = patch.block, 3.0, 50.0
    mass = block.volume / 20.0 * (np.eye(4) + np.ones((4, 4)))  # M eq 25
    np.testing.assert_allclose(block.pressure_mass[0], mass, rtol=1e-12)
    plain = pressure_compliance(block, mu, bulk, 0.0)[0]
    np.testing.assert_allclose(plain, mass / bulk, rtol=1e-12)
    slack = pressure_compliance(block, mu, bulk, 0.7)[0] - plain
    if not ELEMENTS[name].pressure.as_rich:
        np.testing.assert_array_equal(slack, 0.0)
        return
    # 0.7/mu times the integral of (p - mean p)^2
    rng = np.random.default_rng(3)
    values = rng.normal(size=4)
    about = values - values.mean()
    assert values @ slack @ values == pytest.approx(0.7 / mu * about @ mass @ about, rel=1e-10)
    np.testing.assert_allclose(slack @ np.ones(4), 0.0, atol=1e-14 * np.abs(slack).max())


def test_pressures_of_an_incompressible_material_have_no_compliance_of_their_own():
    patch = bent_cell("iicr21", np.random.default_rng(4))
    np.testing.assert_array_equal(pressure_compliance(patch.block, 1.0, np.inf, 1.0), 0.0)


@pytest.mark.parametrize(("kernel", "law"), [(polar, "polar"), (gram_schmidt, "gram-schmidt")])
@given(st.integers(0, 2**32 - 1), st.floats(-0.9, 3.0))
@settings(max_examples=60, deadline=None)
def test_rotations_are_those_of_the_textbook(kernel, law, seed, weakest):
    rng = np.random.default_rng(seed)
    f = turn(rng) @ np.diag([1.5, 1.0, weakest]) @ turn(rng)
    r = np.empty((3, 3))
    kernel(f, r)
    # towards a weakest stretch of -1 the nearest rotation is not unique
    np.testing.assert_allclose(r, rotation_of(law, f), atol=1e-8)
    np.testing.assert_allclose(r.T @ r, np.eye(3), atol=1e-12)
    assert np.linalg.det(r) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "f",
    [np.zeros((3, 3)), np.diag([1.0, 0.0, 0.0]), np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 0.5])],
    ids=["null", "line", "parallel columns"],
)
def test_gram_schmidt_finds_a_rotation_where_columns_are_null_or_parallel(f):
    r = np.empty((3, 3))
    gram_schmidt(f, r)
    np.testing.assert_allclose(r.T @ r, np.eye(3), atol=1e-12)
    assert np.linalg.det(r) == pytest.approx(1.0)


def test_gram_schmidt_keeps_the_first_axis_and_the_plane_of_the_first_two():
    r = np.empty((3, 3))
    gram_schmidt(SIZE * np.array([[2.0, 3.0, 0.1], [0.0, 1.0, 5.0], [0.0, 0.0, 0.7]]), r)
    np.testing.assert_allclose(r, np.eye(3), atol=1e-15)
