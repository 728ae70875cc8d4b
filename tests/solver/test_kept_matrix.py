"""Newton with the matrix of an earlier step, as long as the residual falls fast with it."""

from dataclasses import replace

import numpy as np

from limpet.solver import dense
from limpet.solver.dense import DenseSystem
from limpet.solver.newton import NewtonSettings, solve_by_newton

from .conftest import random_problem

NEWTON = NewtonSettings()


def test_a_problem_solved_about_its_solution_is_that_solved_anew(monkeypatch):
    monkeypatch.setattr(dense, "LARGE", 0)
    made, step = [], DenseSystem.step
    monkeypatch.setattr(DenseSystem, "step", lambda self, at: made.append(1) or step(self, at))
    again = anew = 0
    for seed in range(30):
        p = random_problem(np.random.default_rng(seed), 12, 1, 0.5)
        p = replace(p, proximal=p.regularisation + 1e-3 * p.w.diagonal())
        p = replace(p, regularisation=p.proximal)
        found = NEWTON.solve(p, np.zeros(len(p.free)), 0)
        assert found.converged
        about = replace(p, before=found.multipliers)
        made.clear()
        one = NEWTON.solve_about(about, found)
        again += len(made)
        made.clear()
        with monkeypatch.context() as full:
            full.setattr(DenseSystem, "iterate", iterate_fully)
            other = solve_by_newton(about, found.multipliers, NEWTON, found.level)
        anew += len(made)
        assert one.converged and other.converged
        scale = np.abs(other.multipliers).max()
        np.testing.assert_allclose(one.multipliers, other.multipliers, rtol=0, atol=1e-9 * scale)
    assert again < 0.5 * anew


def iterate_fully(self, lam, enough):
    at = self.linearise(lam)
    if at.residual <= enough:
        return at.residual, lam
    return at.residual, lam + self.step(at)
