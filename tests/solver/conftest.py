"""Random problems of contacts and cavities, and the laws they must satisfy."""

from __future__ import annotations

import numpy as np

from limpet.cavity.gas import law as gas_law
from limpet.contact import law as contact_law
from limpet.dynamics.constraint_set import DATA
from limpet.solver.problem import Problem

CONTACT, GAS = contact_law.KIND, gas_law.KIND

P_ATM = 101325.0
H = 0.01


REGULARISATION = 1e-5  # of each contact row's own compliance, as the step has it


def contact_problem(w, free, mu, regularisation=0.0):
    k = len(free) // 3
    data = np.zeros((k, DATA))
    data[:, 0] = mu
    start = 3 * np.arange(k + 1, dtype=np.int32)
    return Problem(
        w, regularisation * w.diagonal(), free, np.full(k, CONTACT, np.int32), start, data, H
    )


def velocities(problem, lam):
    """u = free + (W + diag(give)) lam."""
    return problem.free + problem.w @ lam + problem.regularisation * lam


def random_problem(rng, contacts, cavities=0, mu=0.5, coupling=0.3, exponent=1.0):
    """W = h H A^-1 H^T of rows that share directions; a mass of 50 g, speeds of 0.1 m/s.

    A cavity's row is an area of about 3 cm^2; its air fills 1 cm^3 at 60 to 100 % of P_atm.
    exponent: of the gas.
    """
    n = 3 * contacts + cavities
    g = np.concatenate([np.eye(n), coupling * rng.normal(size=(n, 6))], axis=1)
    scale = np.concatenate([np.ones(3 * contacts), np.full(cavities, 3e-4)])
    rows = scale[:, None] * g
    w = H / 0.05 * rows @ rows.T
    free = 0.1 * scale * rng.normal(size=n)
    data = np.zeros((contacts + cavities, DATA))
    data[:contacts, 0] = mu
    for i in range(contacts, contacts + cavities):
        gas = P_ATM * (1e-6) ** exponent * rng.uniform(0.6, 1.0)
        data[i] = 1e-6, gas, P_ATM + 10.0, P_ATM, exponent, -np.inf
    kind = np.array([CONTACT] * contacts + [GAS] * cavities, dtype=np.int32)
    start = np.concatenate([3 * np.arange(contacts + 1), 3 * contacts + 1 + np.arange(cavities)])
    return Problem(w, np.zeros(n), free, kind, start.astype(np.int32), data, H)


def check_laws(problem, lam, speed=1e-7, pressure=1e-6):
    """Signorini, Coulomb and the gas law to within `speed` [m/s] and a share of the pressure."""
    p = problem
    u = velocities(p, lam)
    for b, kind in enumerate(p.kind):
        s, e = p.start[b], p.start[b + 1]
        own, force = u[s:e], lam[s:e]
        if kind == GAS:
            volume, gas, p_max, p_atm, exponent, _ = p.data[b]
            total, end = force[0] + p_atm, (volume + p.h * own[0]) ** exponent
            if total < p_max * (1.0 - 1e-9):
                assert abs(total * end / gas - 1.0) < pressure
            else:
                assert total < p_max * (1.0 + pressure)
                assert p_max * end < gas * (1.0 + pressure)
            continue
        little = speed / p.w[s, s]  # the force that moves the contact by `speed`
        assert force[0] >= -little
        assert own[0] >= -speed
        assert min(force[0] / little, own[0] / speed) <= 1.0
        friction = np.linalg.norm(force[1:])
        mu = p.data[b, 0]
        assert friction <= mu * force[0] + 3.0 * little
        slide = np.linalg.norm(own[1:])
        if slide > 30.0 * speed and force[0] > 30.0 * little:
            np.testing.assert_allclose(
                force[1:], -mu * force[0] * own[1:] / slide, atol=mu * force[0] * 0.1 + 30 * little
            )
