"""Blocks handed to their law: one kit for all laws."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.cavity.gas import law as gas
from limpet.cavity.gas import regulated
from limpet.contact import law as contact
from limpet.particles import held
from limpet.rigid import limited
from limpet.solver import laws


def test_kinds_number_the_laws():
    assert [law.KIND for law in laws.LAWS] == list(range(len(laws.LAWS)))


def block(seed, kind):
    """(data, w, u, lam) of one random block of the kind."""
    rng = np.random.default_rng(seed)
    three = np.diag(rng.uniform(0.5, 2.0, size=3)), rng.normal(size=3), rng.normal(size=3)
    if kind == contact.KIND:
        return np.array([rng.uniform(0, 1), 0, 0, 0, 0, 0]), *three
    if kind == held.KIND:
        return np.zeros(6), *three
    if kind == limited.KIND:
        data = np.array([-rng.uniform(), rng.uniform(), 0, 0, 0, 0])
        return data, np.array([[rng.uniform(0.5, 2.0)]]), rng.normal(size=1), rng.normal(size=1)
    data = np.array([1e-6, 0.05, 101335.0, 101325.0, 1.0, -np.inf])
    if kind == regulated.KIND:
        data = np.array([9e4, 101325.0, 1e-6, 0, 101335.0, 0])
    return data, np.array([[1e-9]]), rng.normal(size=1) * 1e-5, rng.normal(size=1) * 1e4


SOLVED = [contact.KIND, gas.KIND, regulated.KIND, limited.KIND, held.KIND]


def test_every_law_that_is_solved_for_is_in_the_kit():
    assert sorted([*SOLVED, laws.ELIMINATED]) == [law.KIND for law in laws.LAWS]


@pytest.mark.parametrize("kind", SOLVED)
@pytest.mark.parametrize("seed", range(5))
def test_derivatives_are_those_of_the_natural_map(kind, seed):
    data, w, u, lam = block(seed, kind)
    n, h = len(u), 0.01

    def at(du, dl):
        phi, d_lam, d_u = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
        laws.natural_map(kind, data, h, w, u + du, lam + dl, phi, d_lam, d_u)
        return phi[:n], d_lam[:n, :n], d_u[:n, :n]

    _, d_lam, d_u = at(np.zeros(n), np.zeros(n))
    for by, scale in ((0, np.abs(u).max()), (1, np.abs(lam).max())):
        for k in range(n):
            step = np.zeros(n)
            step[k] = 1e-6 * scale
            ends = [at(s * step, 0.0 * step)[0] if by == 0 else at(0.0 * step, s * step)[0]
                    for s in (-1.0, 1.0)]  # fmt: skip
            slope = (ends[1] - ends[0]) / (2.0 * step[k])
            found = (d_u if by == 0 else d_lam)[:, k]
            np.testing.assert_allclose(found, slope, atol=1e-4 * max(1.0, np.abs(slope).max()))


@pytest.mark.parametrize("kind", SOLVED)
@pytest.mark.parametrize("seed", range(5))
def test_every_law_is_solved_by_its_own_update_and_then_has_no_error(kind, seed):
    """One kit for all laws: the update's fixed point is the zero of phi and of the error."""
    data, w, start, lam = block(seed, kind)
    free, h, n = start, 0.01, len(start)
    for _ in range(500):
        out = np.zeros(3)
        laws.solve_block(kind, data, h, w, free + w @ lam, lam, out)
        lam = out[:n].copy()
    u = free + w @ lam
    phi, d_lam, d_u = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    laws.natural_map(kind, data, h, w, u, lam, phi, d_lam, d_u)
    assert laws.error(kind, data, h, w, u, lam, phi) < 1e-10
    wrong = lam + 0.1 * (np.abs(lam) + 1.0)
    u = free + w @ wrong
    laws.natural_map(kind, data, h, w, u, wrong, phi, d_lam, d_u)
    assert laws.error(kind, data, h, w, u, wrong, phi) > 1e-6


def test_the_error_of_a_contact_is_a_displacement_over_a_millimetre():
    w, h = np.diag([2.0, 2.0, 2.0]), 0.01
    phi, d_lam, d_u = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    data, lam = np.array([0.5, 0, 0, 0, 0]), np.array([10.0, 0.0, 0.0])
    u = np.array([0.02, 0.0, 0.0])  # 0.2 mm a step too far apart for a contact that carries force
    laws.natural_map(contact.KIND, data, h, w, u, lam, phi, d_lam, d_u)
    assert laws.error(contact.KIND, data, h, w, u, lam, phi) == pytest.approx(0.2)


def test_gas_blocks_go_to_the_gas_law():
    data, w, u, lam = block(1, gas.KIND)
    out = np.zeros(3)
    laws.solve_block(gas.KIND, data, 0.01, w, u, lam, out)
    assert out[0] == gas.solve_row(w[0, 0], u[0], lam[0], *data[:4], 0.01)
    data[1], data[4] = 0.05 * 1e-6**0.4, 1.4
    laws.solve_block(gas.KIND, data, 0.01, w, u, lam, out)
    assert out[0] == gas.solve_row(w[0, 0], u[0], lam[0], *data[:4], 0.01, 1.4)
