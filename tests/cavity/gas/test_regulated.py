"""The law of a regulator: the pressure is what is asked for, beside contacts and other cavities."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solver.conftest import (
    CONTACT,
    GAS,
    P_ATM,
    check_laws,
    contact_problem,
    random_problem,
)

from limpet.cavity.gas import regulated
from limpet.errors import LimpetError
from limpet.solver.gauss_seidel import GaussSeidelSettings, solve_by_sweeps
from limpet.solver.newton import NewtonSettings, solve_by_newton
from limpet.solver.problem import Problem


def with_regulator(problem, target):
    """The same problem, its last cavity on a regulator at `target` [Pa]."""
    kind, data = problem.kind.copy(), problem.data.copy()
    kind[-1], data[-1] = regulated.KIND, 0.0
    data[-1, :5] = target, P_ATM, 1.0, 0.0, P_ATM + 10.0  # so large that its walls never meet
    p = problem
    return Problem(p.w, p.regularisation, p.free, kind, p.start, data, p.h)


def without(problem, lam):
    """The rows before the last as a problem of their own, the last one's multiplier given."""
    p, n = problem, len(problem.free) - 1
    free = p.free[:n] + p.w[:n, n] * lam[n]
    return Problem(
        p.w[:n, :n], p.regularisation[:n], free, p.kind[:-1], p.start[:-1], p.data[:-1], p.h
    )


def test_the_map_vanishes_at_the_target_and_has_slope_one():
    data = np.array([P_ATM - 6e3, P_ATM, 1e6, 0.0, P_ATM, 0.0])
    w, u, lam = np.eye(1), np.zeros(1), np.array([-5950.0])
    phi, d_lam, d_u, out = np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1)
    assert not regulated.natural_map(data, 0.01, w, u, lam, phi, d_lam, d_u)
    assert (phi[0], d_lam[0, 0], d_u[0, 0]) == (pytest.approx(50.0), 1.0, 0.0)
    assert regulated.error(data, 0.01, w, u, lam, phi) == pytest.approx(50.0 / P_ATM)
    regulated.solve_block(data, 0.01, w, u, lam, out)
    assert out[0] == pytest.approx(-6e3)


def regulated_row(volume, rate, p_set=2e4, w=1e-9, h=0.01):
    """P [Pa] and the volume at the end of a row of its own, which begins without a multiplier."""
    data, lam = np.array([p_set, P_ATM, volume, -1e-8, P_ATM + 10.0, 0.0]), np.zeros(1)
    out, matrix = np.zeros(1), np.array([[w]])
    regulated.solve_block(data, h, matrix, np.array([rate]), lam, out)
    u = np.array([rate + w * out[0]])
    phi, d_lam, d_u = np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1))
    regulated.natural_map(data, h, matrix, u, out, phi, d_lam, d_u)
    assert regulated.error(data, h, matrix, u, out, phi) < 1e-12
    return out[0] + P_ATM, volume + h * u[0]


def test_no_regulator_empties_a_cavity_further_than_its_walls_meet():
    pressure, volume = regulated_row(1e-5, 0.0)
    assert pressure == 2e4 and volume > 0.0
    pressure, volume = regulated_row(1e-7, 0.0)  # 2e4 Pa would leave -7e-7 m^3
    assert 2e4 < pressure < P_ATM
    assert volume == pytest.approx(-1e-8, abs=1e-14)
    pressure, volume = regulated_row(1e-7, -1e-3)  # pressed on: contact has to part the walls
    assert pressure == P_ATM + 10.0
    assert volume < -1e-8


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("solve", ["newton", "sweeps"])
def test_contacts_and_gas_answer_to_the_pressure_that_is_imposed(seed, solve):
    problem = with_regulator(random_problem(np.random.default_rng(seed), 6, cavities=2), 9e4)
    guess = np.zeros(len(problem.free))
    if solve == "newton":
        solution = solve_by_newton(problem, guess, NewtonSettings())
    else:
        solution = solve_by_sweeps(problem, guess, GaussSeidelSettings(tolerance=1e-10))
    assert solution.converged
    lam = solution.multipliers
    assert lam[-1] == pytest.approx(9e4 - P_ATM, rel=1e-9)
    check_laws(without(problem, lam), lam[:-1])


@pytest.mark.parametrize("relaxation", [0.7, 1.2, 1.5])
def test_over_relaxed_sweeps_find_the_same_solution(relaxation):
    problem = with_regulator(random_problem(np.random.default_rng(3), 8, cavities=2), 8e4)
    guess = np.zeros(len(problem.free))
    plain = solve_by_sweeps(problem, guess, GaussSeidelSettings(tolerance=1e-11))
    relaxed = solve_by_sweeps(problem, guess, GaussSeidelSettings(1e-11, relaxation=relaxation))
    assert plain.converged
    assert relaxed.converged
    scale = np.abs(plain.multipliers)
    np.testing.assert_allclose(relaxed.multipliers, plain.multipliers, atol=1e-7 * scale.max())
    assert {CONTACT, GAS, regulated.KIND} == set(problem.kind.tolist())


def test_over_relaxation_takes_fewer_sweeps_along_a_chain():
    """Thirty contacts that each press on their neighbours: W = tridiag(-1, 2, -1)."""
    n = 30
    chain = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    free = np.zeros(3 * n)
    free[::3] = -0.1
    problem = contact_problem(np.kron(chain, np.eye(3)), free, mu=0.0)
    counts = []
    for relaxation in (1.0, 1.7):
        settings = GaussSeidelSettings(1e-9, relaxation=relaxation)
        solution = solve_by_sweeps(problem, np.zeros(3 * n), settings)
        assert solution.converged
        np.testing.assert_allclose(chain @ solution.multipliers[::3], 0.1, atol=1e-6)
        counts.append(solution.sweeps)
    assert counts[1] < 0.3 * counts[0]


@pytest.mark.parametrize("relaxation", [0.0, 2.0, -1.0, float("nan")])
def test_relaxation_lies_between_0_and_2(relaxation):
    with pytest.raises(LimpetError, match="expected above 0 and below 2"):
        GaussSeidelSettings(relaxation=relaxation)
