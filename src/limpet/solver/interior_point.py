"""Contacts with friction by an interior-point method: where Newton's method finds no active set.

More contacts than the bodies have freedoms, such as those round a stiff rim on a rigid part, share
a load in many ways; only the rows' own small compliance tells these apart. Full Newton steps then
hop between two sets of sticking and sliding contacts, and sweeps would take 1e5. An interior-point
method keeps all forces inside their cones and lets the set form by itself.

With mu the friction, x = (mu lambda_n, lambda_t) and z = (u_n/mu + |u_t|, u_t) Coulomb's and
Signorini's laws read: x and z are in the Lorentz cone, and x o z = 0 (De Saxce and Feng 1998; o is
Jordan's product). Steps of Newton's method on x o z = sigma m e, m the mean of x . z, with steps
that stay within the cones, lead to m = 0. |u_t| makes this problem differ from that of a convex
program, and its path may turn; then |u_t| is held while a convex problem is solved, and found
again (Acary and Cadoux 2013). Where it drifts, slowly to the solution or slowly away from one that
is not stable to another, ever longer steps are made the same way. All other laws enter by their
natural maps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from limpet.contact import law as contact
from limpet.solver.dense import DenseSystem
from limpet.solver.linearised import Linearised
from limpet.solver.problem import FactoredDelassus, Problem

Array = np.ndarray

WORTH = 3e11  # steps times the cube of the rows, in all
STEPS, ROUNDS = 60, 50  # of Newton's method on one path; paths with a held |u_t|
START = 0.3, 0.1  # forces over the largest expected; velocities over what these forces make
WITHIN = 0.9  # of the way to the border of a cone
NEAR = 1e-11  # residual at which a path ends: Newton's method may hop away from one that is larger
GONE = 1e-16  # of m at the start
SAME, FARTHEST = 0.5, 16.0  # cosine of changes of |u_t| that go the same way; their largest factor
STUCK, PATIENCE = 1e-3, 6  # a step shorter than this share, so often


class _Cones:
    """The contacts of a problem as Lorentz cones; k is their number."""

    def __init__(self, problem: Problem, guess: Array) -> None:
        w = problem.w.dense() if isinstance(problem.w, FactoredDelassus) else problem.w
        self.system = DenseSystem(problem, w)
        self.w, self.problem = self.system.matrix, problem
        self.which = np.flatnonzero(problem.kind == contact.KIND)
        self.rows = problem.start[self.which][:, None] + np.arange(3)  # (k, 3)
        mu = problem.data[self.which, 0]
        grips = mu > 0.0
        self.scale = np.ones((len(mu), 3))  # from lambda to x
        self.scale[grips, 0] = mu[grips]
        self.inverse = 1.0 / self.scale
        self.inverse[~grips, 1:] = 0.0  # without friction no tangent enters
        lam = guess.copy()
        normal = self.rows[:, 0]
        compliance = self.w[normal, normal]
        most = max(float(guess[normal].max()), float((-problem.free[normal] / compliance).max()))
        size = START[0] * max(most, 1e-9)
        lam[self.rows] = np.array([size, 0.0, 0.0]) / self.scale
        z = np.zeros((len(mu), 3))
        z[:, 0] = START[1] * size * compliance
        self.start = lam, z
        self.left = int(WORTH / len(guess) ** 3)  # steps

    def velocities(self, lam: Array) -> Array:
        """(k, 3) u_n/mu and u_t"""
        return self.system.velocities(lam)[self.rows] * self.inverse

    def follow(self, sliding: Array | None = None) -> tuple[Array, Array]:
        """The multipliers at the end of the path, and |u_t| (k,) there; sliding: it is held."""
        (lam, z), count = self.start, len(self.rows)
        x = lam[self.rows] * self.scale
        first, length, stuck = float((x * z).sum()) / count, 1.0, 0
        for step in range(min(STEPS, self.left)):
            self.left -= 1
            at = self.system.linearise(lam)
            tangential = np.sqrt((z[:, 1:] ** 2).sum(axis=1))
            left = self.velocities(lam) - z
            left[:, 0] += tangential if sliding is None else sliding
            m = float((x * z).sum()) / count
            done = m <= GONE * first and np.abs(left).max() <= NEAR
            if at.residual <= NEAR or done or stuck == PATIENCE:
                break
            share = 0.3 if step == 0 else min(max(2.0 * (1.0 - length) ** 2, 0.1), 0.9)
            turn = np.tile(np.eye(3), (count, 1, 1))  # dz = turn (W dx + left)
            if sliding is None:
                turn[:, 0, 1:] = z[:, 1:] / np.maximum(tangential, 1e-300)[:, None]
            inner = _arrow(x) @ turn
            right = -_product(x, z) - _apply(inner, left)
            right[:, 0] += share * m
            matrix, total = self._others(at)
            of_rows = self.w[self.rows] * self.inverse[:, :, None]
            matrix[self.rows] = inner @ of_rows
            own = _arrow(z) * self.scale[:, None, :]
            matrix[self.rows[:, :, None], self.rows[:, None, :]] += own
            total[self.rows] = right
            change = np.linalg.solve(matrix, total)
            dx = change[self.rows] * self.scale
            dz = _apply(turn, (self.w @ change)[self.rows] * self.inverse + left)
            length = min(1.0, WITHIN * _reach(x, dx), WITHIN * _reach(z, dz))
            stuck = stuck + 1 if length < STUCK else 0
            lam, z = lam + length * change, z + length * dz
            x = lam[self.rows] * self.scale
        return lam, np.sqrt((self.velocities(lam)[:, 1:] ** 2).sum(axis=1))

    def _others(self, at: Linearised) -> tuple[Array, Array]:
        """The Newton system of all laws, whose rows of contacts are still to be set."""
        matrix, total = np.zeros_like(self.w), -at.phi
        start = self.problem.start
        for b in np.flatnonzero(self.problem.kind != contact.KIND):
            own = slice(start[b], start[b + 1])
            size = start[b + 1] - start[b]
            matrix[own] = at.d_u[own, :size] @ self.w[own]
            matrix[own, own] += at.d_lam[own, :size]
        return matrix, total


def interior_points(problem: Problem, guess: Array) -> Iterator[Array]:
    """Multipliers near the solution, better and better ones; from each Newton's method may go on.

    None if there are too many rows or no contacts.
    """
    if not (problem.kind == contact.KIND).any():
        return
    cones = _Cones(problem, guess)
    if cones.left < STEPS:
        return
    lam, sliding = cones.follow()
    yield lam
    before, factor = np.zeros_like(sliding), 1.0
    for _ in range(ROUNDS):
        if cones.left == 0:
            return
        lam, found = cones.follow(sliding)
        yield lam
        change = found - sliding
        along = change @ before > SAME * np.linalg.norm(change) * np.linalg.norm(before)
        factor = min(2.0 * factor, FARTHEST) if along else 1.0
        sliding, before = np.maximum(sliding + factor * change, 0.0), change


def _arrow(x: Array) -> Array:
    """(k, 3, 3): x o y as a matrix times y."""
    out = np.eye(3) * x[:, 0, None, None]
    out[:, 0, 1:] = out[:, 1:, 0] = x[:, 1:]
    return out


def _apply(matrix: Array, x: Array) -> Array:
    return np.einsum("kij,kj->ki", matrix, x)


def _product(x: Array, y: Array) -> Array:
    """x o y"""
    return _apply(_arrow(x), y)


def _reach(x: Array, d: Array) -> float:
    """The largest factor for which x + factor d is in all cones, x being inside."""
    # x + t d is on a border where a t^2 + 2 b t + c = 0
    a = d[:, 0] ** 2 - (d[:, 1:] ** 2).sum(axis=1)
    b = x[:, 0] * d[:, 0] - (x[:, 1:] * d[:, 1:]).sum(axis=1)
    c = x[:, 0] ** 2 - (x[:, 1:] ** 2).sum(axis=1)
    meets = b * b >= a * c
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    ends = [np.inf]
    for below in (-b + root, -b - root):  # c over this is a zero
        ahead = meets & (below > 0.0)
        ends.append(float((c[ahead] / below[ahead]).min(initial=np.inf)))
    falls = d[:, 0] < 0.0
    ends.append(float((-x[falls, 0] / d[falls, 0]).min(initial=np.inf)))
    return max(min(ends), 0.0)
