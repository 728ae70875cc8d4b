"""A second opinion on CalculiX, and the reference under Limpet's own elastic law.

The same section, integrated at 3 x 3 points, solved by Newton in a few lines. Unknowns
are the node positions; at a point the deformation is p = (F_rr, F_rz, F_zr, F_zz, hoop stretch),
the energy density psi(p) with its first two derivatives is the law. The plate is flat: nodes
either touch it at z = 0 and press, or are free. With friction every touching node is taken to
slide outward, which holds when a dome is pressed flat and is checked from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from deck import DEPTHS, Array, Case, Section, shape_at
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import spsolve

ITERATIONS = 40

Law = Callable[[Array, float, float], tuple[Array, Array]]


def corotational(p: Array, mu: float, lam: float) -> tuple[Array, Array]:
    """Gradient (..., 5) and second derivative (..., 5, 5) of Limpet's energy density.

    psi = mu |S - I|^2 + lam/2 tr(S - I)^2 with S the stretch of F = R S. In the plane the trace
    of S is a = |(F_rr + F_zz, F_zr - F_rz)|, so psi = mu (|p|^2 - 2 a - 2 hoop + 3) +
    lam/2 (a + hoop - 3)^2.
    """
    b = np.array([[1.0, 0, 0, 1, 0], [0, -1, 1, 0, 0]])
    hoop = np.array([0.0, 0, 0, 0, 1])
    a = np.linalg.norm(p @ b.T, axis=-1)[..., None]
    u = p @ b.T / a
    da = u @ b  # of a
    across = np.eye(2) - u[..., :, None] * u[..., None, :]
    dda = np.einsum("ji,...jk,kl->...il", b, across, b) / a[..., None]
    trace = a + p[..., 4:] - 3.0
    one = da + hoop  # gradient of the trace
    gradient = 2.0 * mu * (p - one) + lam * trace * one
    second = 2.0 * mu * np.eye(5) + (lam * trace - 2.0 * mu)[..., None] * dda
    return gradient, second + lam * one[..., :, None] * one[..., None, :]


def st_venant_kirchhoff(p: Array, mu: float, lam: float) -> tuple[Array, Array]:
    """psi = mu |E|^2 + lam/2 tr(E)^2 with Green's strain E = (F^T F - I) / 2."""
    q = np.zeros((4, 5, 5))  # E_rr, E_zz, E_hoop, E_rz = (p Q p - 1) / 2, the last without 1
    q[0, [0, 2], [0, 2]] = q[1, [1, 3], [1, 3]] = q[2, 4, 4] = 1.0
    q[3, [0, 1, 2, 3], [1, 0, 3, 2]] = 0.5
    law = 2.0 * mu * np.diag([1.0, 1, 1, 2])
    law[:3, :3] += lam
    slope = np.einsum("kij,...j->...ki", q, p)
    strain = 0.5 * (np.einsum("...ki,...i->...k", slope, p) - [1.0, 1, 1, 0])
    stress = strain @ law
    gradient = np.einsum("...k,...ki->...i", stress, slope)
    second = np.einsum("...ki,kl,...lj->...ij", slope, law, slope)
    return gradient, second + np.einsum("...k,kij->...ij", stress, q)


OWN_LAWS: dict[str, Law] = {
    "corotational": corotational,
    "st-venant-kirchhoff": st_venant_kirchhoff,
}


def push(
    s: Section, case: Case, depths: Sequence[float] = DEPTHS, step: float = 0.05
) -> tuple[list[float], list[Array]]:
    """Force [N] on the stem and the node positions (n, 2) [mm] at each of the `depths` [mm]."""
    stiffness = _Stiffness(s, case)
    below = np.unique([s.quads[e][[side - 1, side % 4, side + 3]] for e, side in s.touching])
    x, active = s.points.copy(), np.zeros(len(s.points), bool)
    forces, places, at = [], [], 0.0
    for depth in depths:
        travel = step
        while at < depth:
            travel = min(travel, depth - at)
            moved = x.copy()
            moved[s.top, 1] = s.points[s.top, 1] - at - travel
            found = _equilibrium(stiffness, s, moved, below, active, case.friction)
            if found is None:
                travel *= 0.5
                if travel < 1e-4 * step:
                    raise RuntimeError(f"no equilibrium at {at + travel:.4g} mm")
                continue
            if case.friction > 0.0 and np.any((moved[:, 0] < x[:, 0] - 1e-6)[active]):
                raise RuntimeError(f"depth {at + travel:.4g} mm: a touching node slides inward")
            x, at, (g, active) = moved, at + travel, found
            travel = min(2.0 * travel, step)
        forces.append(float(-g[s.top, 1].sum()))
        places.append(x)
    return forces, places


def _equilibrium(
    stiffness: _Stiffness, s: Section, x: Array, below: Array, active: Array, friction: float
) -> tuple[Array, Array] | None:
    """Move x (in place) to rest; the nodes' forces (n, 2) [N] and which touch, if it is found."""
    for _ in range(ITERATIONS):
        x[active, 1] = 0.0
        g, k = stiffness(x)
        free = np.ones_like(x, bool)
        free[s.top], free[s.axis, 0], free[active, 1] = False, False, False
        # sliding outward: g_r + friction g_z = 0 at the nodes that touch
        r = 2 * np.flatnonzero(active)
        mix = coo_array((np.full(len(r), friction), (r, r + 1)), shape=k.shape)
        k, residual = k + mix @ k, g.ravel() + mix @ g.ravel()
        index = np.flatnonzero(free)
        touches = active.copy()
        touches[active] = g[active, 1] > 0.0
        touches[below[x[below, 1] < 0.0]] = True
        if np.abs(residual[index]).max() < 1e-9 and np.array_equal(touches, active):
            return g, active
        if np.abs(residual[index]).max() < 1e-4:
            active = touches
        move = np.zeros(x.size)
        move[index] = spsolve(csc_array(k.tocsr()[index][:, index]), -residual[index])
        x += np.clip(move, -0.2, 0.2).reshape(x.shape)
    return None


class _Stiffness:
    """Forces and stiffness of the section, over the full turn."""

    def __init__(self, s: Section, case: Case) -> None:
        shape, slope, weight = shape_at(3)
        jacobian = np.einsum("mai,qaj->mqij", s.points[s.quads], slope)
        radius = np.einsum("qa,ma->mq", shape, s.points[s.quads, 0])
        g = np.einsum("qaj,mqji->mqai", slope, np.linalg.inv(jacobian))
        self.weight = 2.0 * np.pi * radius * weight * np.linalg.det(jacobian)
        self.b = np.zeros((*radius.shape, 5, 16))  # p by the positions of the 8 nodes
        self.b[..., 0, 0::2], self.b[..., 1, 0::2] = g[..., 0], g[..., 1]
        self.b[..., 2, 1::2], self.b[..., 3, 1::2] = g[..., 0], g[..., 1]
        self.b[..., 4, 0::2] = shape / radius[..., None]
        self.dofs = (2 * s.quads[:, :, None] + [0, 1]).reshape(len(s.quads), 16)
        e, nu = case.young, case.poisson
        self.mu, self.lam = e / (2 * (1 + nu)), e * nu / ((1 + nu) * (1 - 2 * nu))
        self.law = OWN_LAWS[case.law]

    def __call__(self, x: Array) -> tuple[Array, coo_array]:
        p = np.einsum("mqij,mj->mqi", self.b, x.ravel()[self.dofs])
        gradient, second = self.law(p, self.mu, self.lam)
        g = np.zeros(x.size)
        np.add.at(g, self.dofs, np.einsum("mq,mqi,mqij->mj", self.weight, gradient, self.b))
        left = np.einsum("mq,mqij,mqik->mqkj", self.weight, second, self.b)
        k = np.einsum("mqkj,mqjl->mkl", left, self.b)
        row = np.broadcast_to(self.dofs[:, :, None], k.shape)
        column = np.broadcast_to(self.dofs[:, None, :], k.shape)
        full = coo_array((k.ravel(), (row.ravel(), column.ravel())), shape=(x.size, x.size))
        return g.reshape(x.shape), full.tocsr()
