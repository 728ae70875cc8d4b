"""W by way of few coordinates gives what W as a matrix gives, piece by piece and solved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limpet.solver.constraint_solver as response
from limpet.cavity.gas import law
from limpet.engine.simulation import Simulation
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.model.settings import Settings
from limpet.scenes.registry import load
from limpet.solver.dense import DenseSystem
from limpet.solver.gauss_seidel import GaussSeidelSettings, solve_by_sweeps
from limpet.solver.low_rank import LowRankSystem, _invert
from limpet.solver.newton import NewtonSettings, solve_by_newton
from limpet.solver.problem import FactoredDelassus

from .conftest import H, check_laws, random_problem

NEWTON = NewtonSettings()


def redundant(seed, contacts, cavities, size, mu=0.5, regularisation=1e-4):
    """Contacts at random points of a body with `size` coordinates; a cavity pushes on them all."""
    rng = np.random.default_rng(seed)
    p = random_problem(rng, contacts, cavities, mu)
    n = len(p.free)
    b = np.zeros((n, size))
    for r in range(3 * contacts):
        b[r, rng.choice(size, size=4, replace=False)] = rng.normal(size=4)
    b[3 * contacts :] = 3e-4 * rng.normal(size=(cavities, size))
    g = rng.normal(size=(size, size + 3))
    s = H / 0.05 * (g @ g.T) / size
    start = np.concatenate([[0], np.cumsum((b != 0.0).sum(axis=1))]).astype(np.int32)
    reduced = ReducedCompliance(start, np.nonzero(b)[1].astype(np.int32), b[b != 0.0], s)
    own, own_give = np.zeros(n), np.zeros(n)
    own[:3] = 1.0  # as a contact on driven vertices has it
    own_give[: 3 * contacts] = regularisation * reduced.diagonal()[: 3 * contacts]
    return replace(p, w=FactoredDelassus(reduced, own), regularisation=own_give)


def written_out(p):
    return replace(p, w=p.w.dense())


cases = st.tuples(
    st.integers(0, 10**9), st.integers(1, 25), st.integers(0, 2), st.integers(5, 30)
)  # seed, contacts, cavities, coordinates


@given(cases, st.sampled_from([0.0, 0.5]), st.sampled_from([1.0, 30.0]))
@settings(max_examples=40, deadline=None)
def test_every_piece_is_that_of_the_matrix(case, mu, factor):
    p = redundant(*case, mu)
    low, dense = LowRankSystem(p, p.w), DenseSystem(p, p.w.dense())
    for system in (low, dense):
        system.regularise(factor)
    np.testing.assert_allclose(low.blocks, dense.blocks, rtol=1e-9, atol=1e-14)
    lam = np.random.default_rng(case[0]).normal(size=len(p.free))
    u = dense.velocities(lam)
    np.testing.assert_allclose(low.velocities(lam), u, rtol=1e-9, atol=1e-12)
    for one, two in zip(low.sweep(lam, 2), dense.sweep(lam, 2)):
        assert one == pytest.approx(two, rel=1e-7, abs=1e-7)


@given(cases, st.sampled_from([0.0, 0.5]))
@settings(max_examples=40, deadline=None)
def test_a_newton_step_solves_the_linearised_laws(case, mu):
    """(D_lam + D_u W) step = -phi, checked with W as a matrix."""
    p = redundant(*case, mu)
    low = LowRankSystem(p, p.w)
    lam = np.abs(np.random.default_rng(case[0]).normal(size=len(p.free)))
    at = low.linearise(lam)
    step = low.step(at)
    du = (p.w.dense() + np.diag(p.regularisation)) @ step
    for b in range(len(p.kind)):
        s, e = p.start[b], p.start[b + 1]
        left = at.d_lam[s:e, : e - s] @ step[s:e] + at.d_u[s:e, : e - s] @ du[s:e] + at.phi[s:e]
        size = np.abs(at.phi[s:e]).max() + np.abs(step[s:e]).max()
        assert np.abs(left).max() <= 1e-6 * size


def test_a_cavity_whose_walls_meet_is_solved_for():
    """Its row asks for a velocity, whatever its pressure is: K of that row is zero."""
    met = 0
    for seed in range(20):
        p = redundant(seed, 12, 2, 20, regularisation=1e-3)
        data = p.data.copy()
        gas = np.flatnonzero(p.kind == law.KIND)
        data[gas, 0] *= 1e-3
        data[gas, 1] *= 1e-6  # next to no air
        data[gas, 5] = data[gas, 0]  # V_min: what volume there is
        p = replace(p, data=data)
        found = [solve_by_newton(q, np.zeros(len(p.free)), NEWTON) for q in (p, written_out(p))]
        assert np.isfinite(found[0].residual)
        assert found[0].converged or not found[1].converged
        if found[0].converged and found[1].converged:
            scale = np.abs(found[1].multipliers).max()
            difference = np.abs(found[0].multipliers - found[1].multipliers).max()
            assert difference <= 1e-6 * scale
            u = p.free + written_out(p).w @ found[0].multipliers
            at_least = np.abs(p.h * u[p.start[gas]]) <= 1e-9 * data[gas, 0]
            met += int(at_least.sum())
    assert met > 10


def test_a_cavity_between_bodies_that_cannot_move_is_solved_in_one_step():
    """Rows over no coordinate at all: W is zero, and the gas law says the pressure outright."""
    p = random_problem(np.random.default_rng(3), 0, 2, 0.5)
    none = ReducedCompliance(
        np.zeros(3, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 0))
    )
    p = replace(p, w=FactoredDelassus(none, np.zeros(2)), regularisation=np.zeros(2))
    solution = solve_by_newton(p, np.zeros(2), NEWTON)
    assert (solution.converged, solution.iterations, solution.sweeps) == (True, 1, 0)
    volume, product, _, around, exponent = p.data.T[:5]
    expected = np.minimum(product / (volume + p.h * p.free) ** exponent, p.data[:, 2]) - around
    np.testing.assert_allclose(solution.multipliers, expected, rtol=1e-12)


def test_the_laws_hold_for_what_is_found():
    """Random redundant contacts are hard: Newton fails with some, as it does with the matrix."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(40):
        case = rng.integers([0, 1, 0, 5], [10**9, 26, 3, 31])
        p = redundant(*(int(c) for c in case), regularisation=1e-3)
        solution = solve_by_newton(p, np.zeros(len(p.free)), NEWTON)
        if solution.converged:
            check_laws(written_out(p), solution.multipliers)
            found += 1
    assert found >= 36


def test_sweeps_alone_write_the_matrix_out():
    p = redundant(1, 10, 1, 40)
    found = [
        solve_by_sweeps(q, np.zeros(len(p.free)), GaussSeidelSettings(1e-8))
        for q in (p, written_out(p))
    ]
    np.testing.assert_array_equal(found[0].multipliers, found[1].multipliers)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_inverses(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        a = np.zeros((3, 3))
        a[:n, :n] = rng.normal(size=(n, n))
        a[0, 0] = 0.0 if n > 1 else a[0, 0]  # needs a row exchange
        out = np.zeros((3, 3))
        _invert(a.copy(), n, out)
        np.testing.assert_allclose(out[:n, :n] @ a[:n, :n], np.eye(n), atol=1e-9)


def test_a_scene_runs_alike_either_way(monkeypatch):
    """The cup pressed on a fine block, all vertices in; the same forces and pressure."""
    ends = []
    parameters = {
        "element": "tet4", "sectors": 10, "segments": 5, "block_divisions": 20, "h": "20 ms",
        "block_edge": "40 mm", "push_time": "0.2 s", "hold": "0.1 s",
    }  # fmt: skip
    for many in (0.0, np.inf):
        monkeypatch.setattr(response, "MANY_ROWS", many)
        settings = Settings(keep_flat_vertices=True, use_all_contacts=True, regularisation=1e-4)
        scene = load("ground", parameters)
        reports = list(Simulation(scene.world, h=scene.h, settings=settings).run(0.5))
        assert all(r.converged for r in reports)
        ends.append((reports[-1].reactions["cup"][2], reports[-1].cavities[0].pressure))
    assert max(r.rows for r in reports) > 150
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
