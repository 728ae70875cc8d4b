"""Signorini and Coulomb on one contact: the block update and the natural map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.contact import law as contact

seeds = st.integers(0, 10**9)
frictions = st.sampled_from([0.0, 0.1, 0.5, 1.0])


def natural_map(w, u, lam, mu):
    phi, d_lam, d_u = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    on = contact.alart_curnier(w, u, lam, mu, phi, d_lam, d_u)
    return on, phi, d_lam, d_u


def updated(w, free, mu, times, lam=None):
    """`times` block updates of a single contact with u = free + w lam."""
    lam = np.zeros(3) if lam is None else lam.copy()
    for _ in range(times):
        out = np.empty(3)
        contact.solve_contact(w, free + w @ lam, lam, mu, out)
        lam = out
    return lam


def check_laws(w, free, mu, lam, tolerance=1e-9):
    """Signorini and Coulomb at lam, to a tolerance relative to the free velocity."""
    u = free + w @ lam
    speed = tolerance * np.abs(free).max()
    force = speed / w[0, 0]
    assert lam[0] >= 0.0
    assert u[0] >= -speed
    assert abs(lam[0] * u[0]) <= force * np.abs(free).max()
    pull, slide = np.linalg.norm(lam[1:]), np.linalg.norm(u[1:])
    assert pull <= mu * lam[0] + force
    if lam[0] > force and slide > 100 * speed:  # it slides: full friction, against the motion
        assert pull == pytest.approx(mu * lam[0], abs=100 * force)
        np.testing.assert_allclose(lam[1:], -pull * u[1:] / slide, atol=100 * force)


@given(seeds, frictions, st.floats(0.1, 10.0), st.floats(0.1, 10.0))
@settings(max_examples=100, deadline=None)
def test_one_update_solves_an_isolated_contact(seed, mu, normal, tangent):
    rng = np.random.default_rng(seed)
    w, free = np.diag([normal, tangent, tangent]), rng.normal(size=3)
    lam = updated(w, free, mu, 1, lam=np.abs(rng.normal(size=3)))
    check_laws(w, free, mu, lam)
    np.testing.assert_allclose(updated(w, free, mu, 1, lam), lam, atol=1e-12)


@given(seeds, frictions)
@settings(max_examples=50, deadline=None)
def test_updates_converge_for_unequal_tangents(seed, mu):
    rng = np.random.default_rng(seed)
    w, free = np.diag(rng.uniform(0.5, 2.0, size=3)), rng.normal(size=3)
    check_laws(w, free, mu, updated(w, free, mu, 500), tolerance=1e-7)


@given(seeds, frictions)
@settings(max_examples=50, deadline=None)
def test_the_natural_map_is_zero_at_solutions_and_only_there(seed, mu):
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(3, 3))
    w = np.eye(3) + 0.05 * g @ g.T
    free = rng.normal(size=3)
    lam = updated(w, free, mu, 500)
    check_laws(w, free, mu, lam, tolerance=1e-7)
    on, phi, _, _ = natural_map(w, free + w @ lam, lam, mu)
    assert np.abs(phi).max() < 1e-9
    assert on == (lam[0] > 0.0)
    for axis in np.eye(3):
        wrong = lam + 0.1 * axis
        _, phi, _, _ = natural_map(w, free + w @ wrong, wrong, mu)
        assert np.abs(phi).max() > 1e-3


def state_of(u, lam, w, mu):
    """Which branch of the map holds."""
    pushed = lam[0] - u[0] / w[0, 0]
    if pushed <= 0.0:
        return "open"
    rho = 2.0 / (w[1, 1] + w[2, 2])
    return "stick" if np.linalg.norm(lam[1:] - rho * u[1:]) <= mu * pushed else "slip"


@pytest.mark.parametrize("state", ["open", "stick", "slip"])
def test_derivatives_are_finite_differences(state):
    tried = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        w = np.diag(rng.uniform(0.2, 3.0, size=3))
        u, lam, mu = rng.normal(size=3), rng.normal((1, 0, 0)), rng.uniform(0.1, 1.5)
        step = 1e-6
        shifted = [s * step * d for d in np.eye(3) for s in (-1, 1)]
        near = {state_of(u + d, lam, w, mu) for d in shifted}
        near |= {state_of(u, lam + d, w, mu) for d in shifted}
        if near != {state}:
            continue
        tried += 1
        on, _, d_lam, d_u = natural_map(w, u, lam, mu)
        assert on == (state != "open")
        for i in range(3):
            d = step * np.eye(3)[i]
            by_lam = natural_map(w, u, lam + d, mu)[1] - natural_map(w, u, lam - d, mu)[1]
            by_u = natural_map(w, u + d, lam, mu)[1] - natural_map(w, u - d, lam, mu)[1]
            np.testing.assert_allclose(d_lam[:, i], by_lam / (2 * step), atol=1e-8)
            np.testing.assert_allclose(d_u[:, i], by_u / (2 * step), atol=1e-8)
    assert tried > 30


@given(seeds, st.floats(0.0, 2 * np.pi))
@settings(max_examples=30, deadline=None)
def test_friction_has_no_preferred_direction(seed, angle):
    rng = np.random.default_rng(seed)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    g = rng.normal(size=(3, 3))
    w, u, lam = 0.1 * np.eye(3) + g @ g.T, rng.normal(size=3), rng.normal(size=3)
    there = turn @ w @ turn.T, turn @ u, turn @ lam  # the same contact along other tangents
    plain, turned = np.empty(3), np.empty(3)
    contact.solve_contact(w, u, lam, 0.4, plain)
    contact.solve_contact(*there, 0.4, turned)
    np.testing.assert_allclose(turned, turn @ plain, atol=1e-11)
    phi, phi_turned = natural_map(w, u, lam, 0.4)[1], natural_map(*there, 0.4)[1]
    np.testing.assert_allclose(phi_turned, turn @ phi, atol=1e-11)
    data, h = np.array([0.4]), 0.01
    left = contact.error(data, h, w, u, lam, phi)
    assert contact.error(data, h, *there, phi_turned) == pytest.approx(left, rel=1e-11)


@pytest.mark.parametrize("row", [0, 1, 2])
def test_the_error_of_a_nan_is_a_nan(row):
    phi = np.full(3, 0.1)
    phi[row] = np.nan
    assert np.isnan(contact.error(np.array([0.4]), 0.01, np.eye(3), phi, phi, phi))


def test_the_tangents_answer_to_the_new_normal_force():
    """One update of a coupled block sticks at once: u_t = 0 for the normal force just found."""
    w = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.0], [-0.2, 0.0, 1.5]])
    free = np.array([-1.0, 0.05, 0.1])
    lam = updated(w, free, 1.0, 1)
    assert lam[0] == pytest.approx(0.5)
    np.testing.assert_allclose((free + w @ lam)[1:], 0.0, atol=1e-15)


def test_an_open_contact_carries_nothing():
    np.testing.assert_array_equal(
        updated(np.eye(3), np.array([0.1, 2.0, -3.0]), 0.5, 1), np.zeros(3)
    )
