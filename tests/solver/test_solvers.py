"""Newton and sweeps on random problems, against the laws, each other, and least squares."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from tests.dynamics.conftest import compliance

from limpet.contact.rows import contact_frames, contact_rows
from limpet.linalg.rows import Rows
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.boxes import box
from limpet.solver.constraint_solver import STALLED, _same
from limpet.solver.gauss_seidel import GaussSeidelSettings, residual, solve_by_sweeps
from limpet.solver.newton import NewtonSettings, solve_by_newton

from .conftest import REGULARISATION, H, check_laws, contact_problem, random_problem, velocities

SWEEPS = GaussSeidelSettings(tolerance=1e-10)
NEWTON = NewtonSettings()
SOLVERS = {
    "newton": lambda p, guess: solve_by_newton(p, guess, NEWTON),
    "sweeps": lambda p, guess: solve_by_sweeps(p, guess, SWEEPS),
}

seeds = st.integers(0, 10**9)
sizes = st.integers(1, 30)
cavity_counts = st.integers(0, 2)


@pytest.fixture(params=list(SOLVERS))
def solve(request):
    return SOLVERS[request.param]


def none(problem):
    return np.zeros(len(problem.free))


@given(seeds, sizes, cavity_counts, st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.floats(0.1, 2.0))
@settings(max_examples=60, deadline=None)
def test_newton_satisfies_every_law(seed, contacts, cavities, mu, coupling):
    p = random_problem(np.random.default_rng(seed), contacts, cavities, mu, coupling)
    found = solve_by_newton(p, none(p), NEWTON)
    assert found.converged
    assert found.residual <= NEWTON.tolerance
    check_laws(p, found.multipliers)


@given(seeds, sizes, st.floats(1.0, 1.67))
@settings(max_examples=40, deadline=None)
def test_newton_and_sweeps_satisfy_polytropic_gas(seed, contacts, exponent):
    p = random_problem(np.random.default_rng(seed), contacts, 2, 0.5, exponent=exponent)
    for found in (solve_by_newton(p, none(p), NEWTON), solve_by_sweeps(p, none(p), SWEEPS)):
        assert found.converged
        check_laws(p, found.multipliers)


@given(seeds, sizes, cavity_counts, st.sampled_from([0.0, 0.2, 0.5, 1.0]))
@settings(max_examples=40, deadline=None)
def test_sweeps_and_newton_find_the_same_velocities(seed, contacts, cavities, mu):
    p = random_problem(np.random.default_rng(seed), contacts, cavities, mu, coupling=0.2)
    one, two = solve_by_newton(p, none(p), NEWTON), solve_by_sweeps(p, none(p), SWEEPS)
    assert one.converged
    assert two.converged
    check_laws(p, two.multipliers)
    scale = np.where(np.arange(len(p.free)) < 3 * contacts, 1.0, 3e-4)  # a cavity's row is an area
    miss = (velocities(p, one.multipliers) - velocities(p, two.multipliers)) / scale
    assert np.abs(miss).max() < 1e-8


@given(seeds, st.integers(1, 15), cavity_counts)
@settings(max_examples=30, deadline=None)
def test_the_guess_does_not_matter(seed, contacts, cavities):
    rng = np.random.default_rng(seed)
    p = random_problem(rng, contacts, cavities, mu=0.5)
    cold = solve_by_newton(p, none(p), NEWTON)
    guess = 2.0 * rng.normal(size=len(p.free))
    guess[3 * contacts :] *= -1e4
    kept = guess.copy()
    warm = solve_by_newton(p, guess, NEWTON)
    assert warm.converged
    np.testing.assert_array_equal(guess, kept)
    np.testing.assert_allclose(
        velocities(p, warm.multipliers), velocities(p, cold.multipliers), atol=1e-8
    )


def test_the_solution_is_its_own_best_guess(solve):
    p = random_problem(np.random.default_rng(1), 12, 1)
    found = solve(p, none(p))
    again = solve(p, found.multipliers)
    assert again.iterations == 0
    assert again.sweeps <= 10
    np.testing.assert_allclose(
        velocities(p, again.multipliers), velocities(p, found.multipliers), atol=1e-9
    )


@given(seeds, st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_without_friction_it_is_non_negative_least_squares(seed, contacts):
    """min 1/2 l W l + free l over l >= 0, with W = L L^T, is |L^T l + L^-1 free|^2."""
    p = random_problem(np.random.default_rng(seed), contacts, mu=0.0, coupling=1.0)
    normal = slice(0, None, 3)
    w = (p.w + np.diag(p.regularisation))[normal, normal]
    low = np.linalg.cholesky(w)
    exact, _ = nnls(low.T, -np.linalg.solve(low, p.free[normal]))
    for solver in SOLVERS.values():
        lam = solver(p, none(p)).multipliers
        np.testing.assert_allclose(lam[normal], exact, atol=1e-8)
        np.testing.assert_allclose(lam[1::3], 0.0, atol=1e-12)
        np.testing.assert_allclose(lam[2::3], 0.0, atol=1e-12)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_without_friction_every_active_set_was_considered(seed):
    """Brute force: of all 16 ways to touch, the one that satisfies Signorini."""
    p = random_problem(np.random.default_rng(seed), 4, mu=0.0, coupling=1.0)
    w, free = (p.w + np.diag(p.regularisation))[::3, ::3], p.free[::3]
    for touching in product([False, True], repeat=4):
        on = np.array(touching)
        lam = np.zeros(4)
        lam[on] = np.linalg.solve(w[np.ix_(on, on)], -free[on])
        if np.all(lam >= 0.0) and np.all((free + w @ lam)[~on] >= 0.0):
            break
    np.testing.assert_allclose(solve_by_newton(p, none(p), NEWTON).multipliers[::3], lam, atol=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("degrees", [5, 16, 17.5, 34, 36, 60])
def test_a_point_on_an_incline_slips_when_the_slope_exceeds_the_friction(solve, mu, degrees):
    angle, mass, g = np.radians(degrees), 0.2, 9.81
    along, across = H * g * np.sin(angle), H * g * np.cos(angle)
    direction = np.array([0.6, -0.8])
    p = contact_problem(H / mass * np.eye(3), np.concatenate([[-across], along * direction]), mu)
    found = solve(p, none(p))
    u, lam = velocities(p, found.multipliers), found.multipliers
    assert found.converged
    assert lam[0] == pytest.approx(mass * g * np.cos(angle), rel=1e-8)
    slide = max(0.0, along - mu * across)
    assert (slide > 0.0) == (np.tan(angle) > mu)
    np.testing.assert_allclose(u, [0.0, *(slide * direction)], atol=1e-9)


# Newton needs the rows' own give where contacts are redundant; sweeps need none, and crawl with it.
REDUNDANT = {
    "newton": (SOLVERS["newton"], REGULARISATION),
    "newton, little give": (SOLVERS["newton"], 1e-9),
    "sweeps": (SOLVERS["sweeps"], 0.0),
}


@pytest.fixture(params=list(REDUNDANT))
def redundant(request):
    return REDUNDANT[request.param]


def block_on_ground(divisions, regularisation, push=(0.0, 0.0), mu=0.4):
    """All bottom vertices of one rigid box as contacts: up to 3 (n+1)^2 rows of rank six."""
    body = RigidBody("block", box(0.06, 0.04, 0.02, divisions), 0.3)
    body.v = np.array([*push, 0.0])
    body.compute_free_velocity(H, np.array([0.0, 0.0, -9.81]), 0.0)
    x = body.positions()
    bottom = np.flatnonzero(x[:, 2] < -0.02 + 1e-9).astype(np.int32)
    k = len(bottom)
    normal = np.tile([0.0, 0.0, 1.0], (k, 1))
    corner = np.stack([bottom] * 3, axis=1)
    weight = np.tile([1.0, 0.0, 0.0], (k, 1))
    first = np.zeros(k, np.int64)
    rows = Rows(
        *contact_rows(first, corner, weight, first, corner, 0.0 * weight, contact_frames(normal))
    )
    free = rows.times(body.velocities())
    return contact_problem(H * compliance(body, rows), free, mu, regularisation)


@pytest.mark.parametrize("divisions", [(1, 1, 1), (2, 3, 1), (4, 4, 1)])
def test_redundant_contacts_of_a_rigid_block_converge(redundant, divisions):
    solve, regularisation = redundant
    p = block_on_ground(divisions, regularisation)
    assert np.linalg.matrix_rank(p.w, tol=1e-9 * np.abs(p.w).max()) == 6 < len(p.free)
    found = solve(p, none(p))
    assert found.converged
    check_laws(p, found.multipliers)
    assert found.multipliers[::3].sum() == pytest.approx(0.3 * 9.81, rel=1e-4)
    # at rest to within the rows' own give: nothing falls, nothing turns
    assert np.abs(p.free + p.w @ found.multipliers).max() < 1e-4 * H * 9.81


def test_a_sliding_block_is_braked_by_friction_times_weight(redundant):
    solve, regularisation = redundant
    p = block_on_ground((3, 3, 1), regularisation, push=(0.5, 0.2), mu=0.4)
    found = solve(p, none(p))
    assert found.converged
    force = found.multipliers.reshape(-1, 3)
    _, first, second = contact_frames(np.array([[0.0, 0.0, 1.0]]))[0]
    drag = force[:, 1].sum() * first + force[:, 2].sum() * second
    direction = np.array([0.5, 0.2, 0.0]) / np.hypot(0.5, 0.2)
    np.testing.assert_allclose(drag, -0.4 * 0.3 * 9.81 * direction, rtol=5e-3, atol=5e-3)


def test_a_contact_named_twice_is_shared_half_and_half():
    """Only the rows' own give makes the division unique."""
    w = random_problem(np.random.default_rng(3), 1).w
    p = contact_problem(
        np.tile(w, (2, 2)), np.tile([-0.1, 0.02, 0.0], 2), mu=0.3, regularisation=REGULARISATION
    )
    found = solve_by_newton(p, none(p), NEWTON)
    assert found.converged
    check_laws(p, found.multipliers)
    np.testing.assert_allclose(found.multipliers[:3], found.multipliers[3:], rtol=1e-6, atol=1e-9)


def test_give_is_a_spring_in_the_row():
    """u = 0 with the give inside: the contact sinks in by give times force."""
    p = replace(
        contact_problem(0.1 * np.eye(3), np.array([-0.1, 0.0, 0.0]), 0.0),
        regularisation=np.full(3, 0.025),
    )
    lam = solve_by_newton(p, none(p), NEWTON).multipliers
    assert lam[0] == pytest.approx(0.1 / 0.125)
    assert (p.free + p.w @ lam)[0] == pytest.approx(-0.025 * lam[0])


def test_a_piston_obeys_boyle(solve):
    """One cavity, nothing touching: a mass of 50 g on 3 cm^2 moves until P V = n R T."""
    p = random_problem(np.random.default_rng(4), 0, 1)
    found = solve(p, none(p))
    volume, nrt, _, p_atm, *_ = p.data[0]
    end = volume + H * velocities(p, found.multipliers)[0]
    assert (found.multipliers[0] + p_atm) * end == pytest.approx(nrt, rel=1e-9)


def test_no_rows_are_solved_at_once(solve):
    p = random_problem(np.random.default_rng(5), 0)
    found = solve(p, none(p))
    assert found.converged
    assert len(found.multipliers) == 0


def test_open_contacts_carry_nothing(solve):
    p = contact_problem(np.eye(6), np.array([0.1, 1.0, 1.0, 0.2, -1.0, 0.0]), 0.5)
    found = solve(p, np.ones(6))
    assert found.converged
    np.testing.assert_allclose(found.multipliers, 0.0, atol=1e-10)


def test_too_few_sweeps_say_so_with_the_residual_that_is_left():
    p = random_problem(np.random.default_rng(6), 30, 1, mu=0.5, coupling=1.0)
    found = solve_by_sweeps(p, none(p), GaussSeidelSettings(tolerance=1e-12, max_sweeps=10))
    assert not found.converged
    assert found.sweeps == 10
    lam = found.multipliers
    left = residual(
        p.w + np.diag(p.regularisation), p.kind, p.start, p.data, p.h, lam, velocities(p, lam)
    )
    assert found.residual == pytest.approx(left, rel=1e-6)
    assert left > 1e-12


def test_newton_needs_one_step_when_the_right_contacts_touch():
    """Without friction the laws are linear there, also for contacts that open in the same step."""
    rng = np.random.default_rng(10)
    p = random_problem(rng, 12, mu=0.0, coupling=1.0)
    exact = solve_by_newton(p, none(p), NEWTON).multipliers
    touching, u = exact[::3] > 0.0, velocities(p, exact)[::3]
    assert 0 < touching.sum() < 12
    guess = exact.copy()
    guess[::3] += 1e-3 * rng.random(12) * np.where(touching, exact[::3], u / p.w.diagonal()[::3])
    found = solve_by_newton(p, guess, replace(NEWTON, sweeps=10))
    assert found.converged
    assert found.iterations == 1
    np.testing.assert_allclose(found.multipliers, exact, atol=1e-9)


def test_newton_without_steps_falls_back_to_sweeps(monkeypatch):
    monkeypatch.setattr("limpet.solver.interior_point.WORTH", 0.0)
    p = random_problem(np.random.default_rng(7), 10, 1)
    lazy = NewtonSettings(max_steps=0, fallback_sweeps=2000)
    found = solve_by_newton(p, none(p), lazy)
    assert found.converged
    assert (found.iterations, found.sweeps) == (0, 2010)
    check_laws(p, found.multipliers)


def test_newton_gives_up_honestly(monkeypatch):
    monkeypatch.setattr("limpet.solver.interior_point.WORTH", 0.0)
    p = random_problem(np.random.default_rng(8), 20, 1, coupling=1.0)
    found = solve_by_newton(p, none(p), NewtonSettings(max_steps=0, sweeps=1, fallback_sweeps=1))
    assert not found.converged
    lam = found.multipliers
    left = residual(
        p.w + np.diag(p.regularisation), p.kind, p.start, p.data, p.h, lam, velocities(p, lam)
    )
    assert found.residual == pytest.approx(left, rel=1e-9)


def test_the_problem_is_not_changed(solve):
    p = random_problem(np.random.default_rng(9), 8, 1)
    kept = replace(
        p,
        w=p.w.copy(),
        free=p.free.copy(),
        data=p.data.copy(),
        regularisation=p.regularisation.copy(),
    )
    solve(p, none(p))
    for name in ("w", "free", "data", "regularisation"):
        np.testing.assert_array_equal(getattr(p, name), getattr(kept, name))


def test_how_far_contacts_give_way_does_not_depend_on_their_tangents():
    """Neither does whether a retry has led nowhere else."""
    p = contact_problem(np.eye(6), np.zeros(6), 0.5)
    p = replace(p, proximal=np.repeat([1e-3, 2e-3], 3))
    force = np.array([1.0, 3.0, 0.0, 0.5, 0.0, 0.5])
    turned = np.array([1.0, 3.0 * np.cos(0.7), 3.0 * np.sin(0.7), 0.5, 0.5 * 0.6, 0.5 * 0.8])
    assert p.sunk(force) == pytest.approx(p.sunk(turned), rel=1e-12)
    assert p.sunk(force) == pytest.approx(p.h * 3e-3, rel=1e-12)
    way = 1.2 * STALLED * np.array([[1.0, 0.0, 0.0], [0.6, 0.0, 0.8]])
    assert [_same(way[[k]], np.zeros((1, 3))) for k in (0, 1)] == [False, False]
    assert _same(0.5 * way, np.zeros((2, 3)))
