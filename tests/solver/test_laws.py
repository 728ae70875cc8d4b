"""Blocks handed to their law: one kit for all laws."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.cavity.gas import law as gas
from limpet.contact import law as contact
from limpet.solver import laws


def test_kinds_number_the_laws():
    assert [law.KIND for law in laws.LAWS] == list(range(len(laws.LAWS)))


def block(seed, kind):
    """(data, w, u, lam) of one random block of the kind."""
    rng = np.random.default_rng(seed)
    if kind == contact.KIND:
        w = np.diag(rng.uniform(0.5, 2.0, size=3))
        return np.array([rng.uniform(0, 1), 0, 0, 0, 0]), w, rng.normal(size=3), rng.normal(size=3)
    data = np.array([1e-6, 0.05, 101335.0, 101325.0, 1.0])
    return data, np.array([[1e-9]]), rng.normal(size=1) * 1e-5, rng.normal(size=1) * 1e4


@pytest.mark.parametrize("kind", [contact.KIND, gas.KIND])
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
