"""How the velocities of a particle system follow impulses, with the rows that hold inside it.

With J the rows that hold, their compliance C and the mobility M^-1, an impulse f changes the
velocities by

    B f,    B = M^-1 - M^-1 J^T (J M^-1 J^T + C)^-1 J M^-1 = (M + J^T C^-1 J)^-1.

Springs are rows with C = 1/(h (h k + c)), so B is that of backward Euler, (M + h c + h^2 K)^-1. The
second form is factored: it has as many unknowns as velocities, and redundant rows do no harm. Held
points, which have no compliance, take STIFF of what they yield by themselves.

Inextensible edges are not among these rows: their lengths change with the square of the velocity
across, and a step of Newton along their directions at the start can overshoot without bound where a
skin is flat. They are left to the sweeps. A skin of a given stiffness is among them.

Contacts among the particle bodies are condensed: W = H B H^T is their Delassus operator, with all
other rows in it, and block Gauss-Seidel on W solves their laws. In steps of Newton and sweeps in
turn, contacts that stick or slip would change each other for ever.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from limpet.compiled import njit
from limpet.contact.law import solve_contact
from limpet.linalg.reduced_compliance import half_product, rows_times_columns, sparse_rows
from limpet.linalg.rows import Rows
from limpet.particles.active_rows import (
    contact_rows,
    flat_impulses,
    held_rows,
    pressing_rows,
    row_errors,
    rows_of_nodes,
    set_impulses,
)
from limpet.particles.node_factor import NodeFactor, NodePattern
from limpet.particles.sweep import ConstraintRows, Impulses
from limpet.particles.sweep_points import Velocities

Array = np.ndarray

STIFF = 1e-4  # compliance of rows without, over J M^-1 J^T of the row
SWEEPS = 2000  # over the contacts, at most
STILL = 1e-6  # [m/s] contacts that change no velocity by more are solved


class ParticleTangent:
    """B, of the rows that are within their bounds with the multipliers p.

    Velocities y are those of all nodes (n, 3), then of the rigid bodies (2 b, 3).
    """

    def __init__(self, of: NodePattern, rows: ConstraintRows, p: Impulses, on: Velocities) -> None:
        n = len(on.v)
        self.mobility, mass = mass_matrices(on)
        self._moves = moves = np.asarray(self.mobility.any(axis=(1, 2)))
        self.held = held_rows(rows, p)
        j = rows_of_nodes(rows, self.held, n)
        compliance = np.maximum(j.compliance, STIFF * j.own)
        self._stiffness = 1.0 / np.where(compliance > 0.0, compliance, 1.0)
        self._place, self._j = j.place, _only(j.jacobian, moves)
        self._factor = NodeFactor(
            of, mass, self._j.start, self._j.point, self._j.vector, self._stiffness
        )
        contacts = rows_of_nodes(rows, contact_rows(rows, p), n)
        self._contacts, self._h = contacts.place, _only(contacts.jacobian, moves)
        both = rows.rigid_contacts, rows.contacts
        self._friction = np.concatenate([c.pairs.friction[c.w[:, 0, 0] > 0.0] for c in both])
        self._touching = np.unique(self._h.point)  # nodes
        self._w = self._sandwich(self._touching)[1]  # (3 k, 3 k)
        self.active = np.zeros(len(self._w), bool)  # contact rows that hold, in B
        self._active_factor: tuple[Array, bool] | None = None

    def _sandwich(self, nodes: Array) -> tuple[Array, Array]:
        """A^-1 H^T at nodes (t,), (3 t, 3 k), and W = H A^-1 H^T if they are all that H acts on."""
        every = np.union1d(nodes, self._touching)
        if len(self._h) == 0:
            return np.zeros((3 * len(nodes), 0)), np.zeros((0, 0))
        place = np.zeros(len(self.mobility), np.int32)
        place[every] = np.arange(len(every))
        none = np.full(len(self._h), -1, np.int32)
        b = sparse_rows(self._h.start, self._h.point, self._h.vector, place, none)
        g = half_product(*b, self._factor.inverse(every)).T
        at = (3 * place[nodes][:, None] + np.arange(3)).ravel()
        return g[at], rows_times_columns(*b, np.ascontiguousarray(g.T))

    def hold_contacts(self, p: Impulses) -> None:
        """Take the contacts that press, and stick, into B."""
        q = flat_impulses(p)[self._contacts].reshape(-1, 3)
        self.active = pressing_rows(q, self._friction)
        self._active_factor = None
        if self.active.any():
            w = self._w[np.ix_(self.active, self.active)]
            w.reshape(-1)[:: len(w) + 1] *= 1.0 + STIFF
            self._active_factor = cho_factor(w, lower=True)

    def solve(self, impulse: Array) -> Array:
        """B f of impulses f (n, 3) on the velocities."""
        y = self._factor.solve(impulse * self._moves[:, None])
        if self._active_factor is not None:
            pull = np.zeros(len(self._h))
            pull[self.active] = cho_solve(self._active_factor, self._h.times(y)[self.active])
            y -= self._factor.solve(self._h.transpose_times(pull, len(y)))
        return y

    def compliance(self, nodes: Array) -> Array:
        """(3 t, 3 t) of B at some nodes."""
        s = self._factor.inverse(nodes)
        if self._active_factor is not None:
            g = self._sandwich(nodes)[0][:, self.active]
            s -= g @ cho_solve(self._active_factor, g.T)
        moves = np.repeat(self._moves[nodes], 3)
        return 0.5 * (s + s.T) * moves * moves[:, None]

    def correct(self, rows: ConstraintRows, p: Impulses, on: Velocities, h: float) -> None:
        """One Newton step of the rows that hold, with the contacts, in place on p and on."""
        error, flat = row_errors(rows, p, on, h), flat_impulses(p)
        held, n = error[self._place], len(self.mobility)
        y = self._factor.solve(-self._j.transpose_times(self._stiffness * held, n))
        old = flat[self._contacts]
        new = old.copy()
        if len(old):
            solve_contacts(self._w, error[self._contacts] + self._h.times(y), new, self._friction)
            y += self._factor.solve(self._h.transpose_times(new - old, n))
        change = -self._stiffness * (held + self._j.times(y))
        flat[self._place] += change
        flat[self._contacts] = new
        set_impulses(p, flat)
        impulse = self._j.transpose_times(change, n) + self._h.transpose_times(new - old, n)
        self.push(on, impulse)

    def push(self, on: Velocities, impulse: Array) -> None:
        """Add what impulses (n, 3) do without any rows to the velocities, in place."""
        change = np.einsum("nij,nj->ni", self.mobility, impulse)
        on.v[:] += change[: len(on.v)]
        on.rigid_v[:] += change[len(on.v) :].reshape(-1, 6)


def _only(rows: Rows, moves: Array) -> Rows:
    """The rows without what they do to nodes that cannot move."""
    return Rows(rows.start, rows.point, rows.vector * moves[rows.point][:, None])


@njit(cache=True, error_model="numpy")
def solve_contacts(w: Array, u: Array, p: Array, friction: Array) -> int:
    """Contacts with compliance w (3 k, 3 k) by block Gauss-Seidel; in place on p (3 k,) and on
    u (3 k,), what they do with p. Returns the number of sweeps.
    """
    new = np.empty(3)
    for sweep in range(SWEEPS):
        largest = 0.0
        for c in range(len(friction)):
            own = slice(3 * c, 3 * c + 3)
            if u[3 * c] >= 0.0 and p[3 * c] == 0.0:
                continue  # open, and stays so
            solve_contact(w[own, own], u[own], p[own], friction[c], new)
            for i in range(3):
                d = new[i] - p[3 * c + i]
                if d != 0.0:
                    p[3 * c + i] = new[i]
                    largest = max(largest, w[3 * c + i, 3 * c + i] * abs(d))
                    for r in range(len(u)):
                        u[r] += w[3 * c + i, r] * d
        if largest <= STILL:
            return sweep + 1
    return SWEEPS


def mass_matrices(on: Velocities) -> tuple[Array, Array]:
    """(n, 3, 3) M^-1, zero where nothing moves, and M, one there."""
    nodes, b = len(on.v), len(on.rigid_v)
    mobility = np.zeros((nodes + 2 * b, 3, 3))
    mobility[:nodes] = on.inverse_mass[:, None, None] * np.eye(3)
    mobility[nodes::2] = on.rigid_inverse_mass[:, None, None] * np.eye(3)
    mobility[nodes + 1 :: 2] = on.rigid_inverse_inertia
    mobility[nodes + 1 :: 2][on.rigid_inverse_mass == 0.0] = 0.0
    fixed = np.asarray(~mobility.any(axis=(1, 2)))
    return mobility, np.linalg.inv(mobility + fixed[:, None, None] * np.eye(3))
