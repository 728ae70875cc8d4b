"""The interior-point method alone, with nothing but full Newton steps behind it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.solver.interior_point import _Cones, _reach, interior_points
from limpet.solver.newton import NewtonSettings, solve_by_newton

from .conftest import REGULARISATION, H, check_laws, contact_problem, random_problem

ALONE = NewtonSettings(continuation_factors=(), fallback_rounds=0)


def rim(rng, contacts, pull, mu=0.5):
    """A rigid ring of 50 g stands on many points and is pulled aside: they share its load."""
    angle = 2.0 * np.pi * np.arange(contacts) / contacts
    arm = 0.02 * np.stack([np.cos(angle), np.sin(angle), np.full(contacts, -0.5)], axis=1)
    rows = np.zeros((3 * contacts, 6))
    for i, axis in enumerate(np.eye(3)[[2, 0, 1]]):
        rows[i::3, :3] = axis
        rows[i::3, 3:] = np.cross(arm, axis) / 0.014  # its radius of gyration
    w = H / 0.05 * rows @ rows.T
    v = np.array([0.1 * pull, 0.0, -0.1, 0.0, 0.0, 0.0]) + 0.01 * rng.normal(size=6)
    return contact_problem(w, rows @ v, mu, REGULARISATION)


@given(
    st.integers(0, 10**9), st.integers(1, 20), st.integers(0, 2),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.floats(0.1, 1.0),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_it_finds_what_the_laws_ask_for(seed, contacts, cavities, mu, coupling):
    p = random_problem(np.random.default_rng(seed), contacts, cavities, mu, coupling)
    found = solve_by_newton(p, np.zeros(len(p.free)), ALONE)
    assert found.converged
    check_laws(p, found.multipliers)


@pytest.mark.parametrize("pull", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("contacts", [3, 20, 100])
def test_many_contacts_share_one_load(contacts, pull):
    p = rim(np.random.default_rng(contacts), contacts, pull)
    guess = np.zeros(len(p.free))
    first = next(interior_points(p, guess))
    assert (first[::3] > 0.0).all()  # inside the cones to the end
    assert (np.hypot(first[1::3], first[2::3]) < 0.5 * first[::3]).all()
    found = solve_by_newton(p, guess, ALONE)
    assert found.converged
    # to within what the rows' own compliance gives way
    check_laws(p, found.multipliers, speed=1e-5)


def test_a_guess_of_any_size_leads_there():
    p = rim(np.random.default_rng(0), 20, 0.4)
    ends = []
    for size in (1e-3, 1.0, 1e3):
        guess = np.zeros(len(p.free))
        guess[::3] = size
        found = solve_by_newton(p, guess, ALONE)
        assert found.converged
        ends.append(found.multipliers)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)
    np.testing.assert_allclose(ends[2], ends[1], atol=1e-6)


def test_it_stops_where_it_costs_too_much(monkeypatch):
    p = rim(np.random.default_rng(0), 20, 0.4)
    monkeypatch.setattr("limpet.solver.interior_point.WORTH", 59.0 * len(p.free) ** 3)
    assert list(interior_points(p, np.zeros(len(p.free)))) == []
    no_contacts = random_problem(np.random.default_rng(0), 0, 2)
    assert list(interior_points(no_contacts, np.zeros(2))) == []


def test_held_sliding_is_the_convex_problem():
    """With |u_t| held, x and z are orthogonal, and z carries what is held."""
    p = rim(np.random.default_rng(3), 12, 0.7)
    cones = _Cones(p, np.zeros(len(p.free)))
    held = np.full(12, 0.02)
    lam, _ = cones.follow(held)
    x, z = lam[cones.rows] * cones.scale, cones.velocities(lam)
    z[:, 0] += held
    assert np.abs((x * z).sum(axis=1)).max() < 1e-9
    assert (z[:, 0] > np.linalg.norm(z[:, 1:], axis=1) - 1e-8).all()


@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_the_step_ends_at_the_border_of_a_cone(seed):
    rng = np.random.default_rng(seed)
    x, d = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    x[:, 0] = np.linalg.norm(x[:, 1:], axis=1) + rng.uniform(0.01, 1.0, 5)

    def depth(t):
        at = x + t * d
        return (at[:, 0] - np.linalg.norm(at[:, 1:], axis=1)).min()

    end = _reach(x, d)
    if np.isfinite(end):
        assert depth(end) == pytest.approx(0.0, abs=1e-9 * (1.0 + end))
    for t in np.linspace(0.0, min(end, 1e3) * 0.999, 20):
        assert depth(t) > 0.0
