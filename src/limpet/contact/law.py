"""Signorini and Coulomb: the contact law on three rows (normal, two tangents).

Rows carry forces lambda [N]; u [m/s] is gap/h + H v along the normal (P eq 4, with the gap that the
paper leaves out) and the sliding velocity along the tangents.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit

Array = np.ndarray

KIND = 0  # three rows; data: mu
REGULARISED = True  # redundant contacts share their load by a small compliance of each row


@njit(cache=True, error_model="numpy", inline="always")
def solve_contact(w: Array, u: Array, lam: Array, mu: float, out: Array) -> None:
    """One block Gauss-Seidel update: out (3,) from the block's own compliance w (3, 3)."""
    n = max(0.0, lam[0] - u[0] / w[0, 0])
    change = n - lam[0]
    mean = 0.5 * (w[1, 1] + w[2, 2])
    t1 = lam[1] - (u[1] + w[1, 0] * change) / mean
    t2 = lam[2] - (u[2] + w[2, 0] * change) / mean
    out[0], out[1], out[2] = n, t1, t2
    project_on_cone(out, mu)


@njit(cache=True, error_model="numpy", inline="always")
def project_on_cone(lam: Array, mu: float) -> None:
    """No pull, and no more friction than mu allows, in place: lam (3,)."""
    lam[0] = max(0.0, lam[0])
    size = np.sqrt(lam[1] * lam[1] + lam[2] * lam[2])
    if size > mu * lam[0]:
        shrink = mu * lam[0] / size if size > 0.0 else 0.0
        lam[1] *= shrink
        lam[2] *= shrink


@njit(cache=True, error_model="numpy")
def alart_curnier(
    w: Array, u: Array, lam: Array, mu: float, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    """Alart and Curnier's map phi(lambda, u), zero at the solution, with its derivatives.

    phi_n = lambda_n - max(0, lambda_n - r u_n),  phi_t = lambda_t - disc(lambda_t - rho u_t) on the
    disc of radius mu max(0, lambda_n - r u_n); r = 1/W_nn, rho = 1/mean of W_tt, which is the same
    whatever axes the tangents have: else Newton's path would depend on them, and with it which of
    two solutions it finds. Returns False when the contact is open: then phi = lambda and u does not
    enter.
    """
    d_lam[:] = 0.0
    d_u[:] = 0.0
    r = 1.0 / w[0, 0]
    rho = 2.0 / (w[1, 1] + w[2, 2])
    pushed = lam[0] - r * u[0]
    if pushed <= 0.0:
        for i in range(3):
            phi[i] = lam[i]
            d_lam[i, i] = 1.0
        return False
    phi[0] = r * u[0]
    d_u[0, 0] = r
    p1, p2 = lam[1] - rho * u[1], lam[2] - rho * u[2]
    size = np.sqrt(p1 * p1 + p2 * p2)
    radius = mu * pushed
    if size <= radius:  # sticks
        phi[1], phi[2] = rho * u[1], rho * u[2]
        d_u[1, 1] = rho
        d_u[2, 2] = rho
        return True
    e1, e2 = p1 / size, p2 / size
    phi[1], phi[2] = lam[1] - radius * e1, lam[2] - radius * e2
    # d(radius e) = mu e d(pushed) + (radius / size) (I - e e^T) d(p)
    k = radius / size
    a11, a12, a22 = k * (1.0 - e1 * e1), -k * e1 * e2, k * (1.0 - e2 * e2)
    d_lam[1, 0], d_lam[2, 0] = -mu * e1, -mu * e2
    d_lam[1, 1], d_lam[1, 2] = 1.0 - a11, -a12
    d_lam[2, 1], d_lam[2, 2] = -a12, 1.0 - a22
    d_u[1, 0], d_u[2, 0] = mu * e1 * r, mu * e2 * r
    d_u[1, 1], d_u[1, 2] = rho * a11, rho * a12
    d_u[2, 1], d_u[2, 2] = rho * a12, rho * a22
    return True


@inner(error_model="numpy")
def displacement_error(h: float, w: Array, phi: Array) -> float:
    """phi as a displacement, over 1 mm."""
    largest = 0.0
    for i in range(len(w)):
        size = abs(phi[i]) * w[i, i]
        if not size <= largest:  # and not max(), which would pass over a NaN
            largest = size
    return largest * h / 1e-3


@njit(cache=True, error_model="numpy", inline="always")
def solve_block(data: Array, h: float, w: Array, u: Array, lam: Array, out: Array) -> None:
    solve_contact(w, u, lam, data[0], out)


@njit(cache=True, error_model="numpy", inline="always")
def project(data: Array, lam: Array) -> None:
    project_on_cone(lam, data[0])


@inner(error_model="numpy")
def natural_map(
    data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    return alart_curnier(w, u, lam, data[0], phi, d_lam, d_u)


@njit(cache=True, error_model="numpy")
def error(data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    """phi as a displacement, over 1 mm; of the tangents together, whatever axes they have."""
    along = abs(phi[0]) * w[0, 0]
    across = np.sqrt(phi[1] * phi[1] + phi[2] * phi[2]) * 0.5 * (w[1, 1] + w[2, 2])
    largest = along if along != along or across < along else across  # a NaN comes through
    return largest * h / 1e-3
