"""Soft bodies that ride on rigid ones: the attached nodes keep their place, exactly.

They have no unknowns of their own: a node attached at the arm r moves with v + w x r of the rigid
body that carries it, G of its twist. The rest of the soft body follows: a unit twist moves it by
the modes N = [-A_ff^-1 A_ft G; G], t being the attached nodes and f the free ones. So the carriers
feel their own mass and what they carry,

    S = M + sum of N^T A N = M + sum of G^T (A N)_t,

and all vertices follow from the twists: H A^-1 H^T of the free nodes, and (H N) S^-1 (H N)^T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.bodies.contract import Rows
from limpet.bodies.reduced import Reduced
from limpet.bodies.rigid import RigidBody
from limpet.bodies.soft import SoftBody
from limpet.geometry.shapes import Array


@dataclass(frozen=True)
class Handle:
    """Where a region of a soft body is attached to a rigid one."""

    soft: int  # which of the bodies
    rigid: int
    nodes: Array  # (t,) of the soft body's shape
    on_soft: Array  # (t,) its surface vertices there
    on_rigid: Array  # (t,) and those of the rigid body


@njit(cache=True)
def _twist_modes(arms: Array, out: Array, first: int) -> None:
    """Columns first to first + 5 of out (n, 3, m): v + w x r at the ends of arms r (n, 3)."""
    for i in range(len(arms)):
        a = arms[i]
        for d in range(3):
            out[i, d, first + d] = 1.0
        out[i, 0, first + 4], out[i, 0, first + 5] = a[2], -a[1]
        out[i, 1, first + 3], out[i, 1, first + 5] = -a[2], a[0]
        out[i, 2, first + 3], out[i, 2, first + 4] = a[1], -a[0]


@njit(cache=True)
def _bound_modes(start: Array, nodes: Array, weights: Array, modes: Array) -> Array:
    """(vertices, 3, m): the modes (n, 3, m) of nodes, at the vertices that they carry."""
    out = np.zeros((len(start) - 1, 3, modes.shape[2]))
    for i in range(len(out)):
        for k in range(start[i], start[i + 1]):
            source, f = modes[nodes[k]], weights[k]
            for d in range(3):
                for c in range(out.shape[2]):
                    out[i, d, c] += f * source[d, c]
    return out


@njit(cache=True)
def _rows_times_modes(start: Array, vertex: Array, vector: Array, modes: Array) -> Array:
    """H N, (r, m), for modes (n, 3, m) of all vertices."""
    out = np.zeros((len(start) - 1, modes.shape[2]))
    for r in range(len(out)):
        line = out[r]
        for k in range(start[r], start[r + 1]):
            for d in range(3):
                f, source = vector[k, d], modes[vertex[k], d]
                for c in range(len(line)):
                    line[c] += f * source[c]
    return out


class Carriers:
    """The rigid bodies that carry soft ones, with all that they carry. Nothing of it outlives a
    step: `begin` makes it anew once all bodies have their free velocities.
    """

    def __init__(
        self, bodies: Sequence[SoftBody | RigidBody], offset: Array, handles: Sequence[Handle]
    ) -> None:
        """offset (bodies + 1,): where each body's vertices begin."""
        self._bodies, self._offset, self._handles = bodies, offset, handles
        moving = sorted({h.rigid for h in handles if bodies[h.rigid].movable})
        self._column = {rigid: 6 * k for k, rigid in enumerate(moving)}
        self._soft: dict[int, Array] = {}  # the columns that move each of the soft bodies
        for i in sorted({h.soft for h in handles}):
            own = sorted(
                {self._column[h.rigid] for h in handles if h.soft == i and h.rigid in moving}
            )
            self._soft[i] = np.array([c + k for c in own for k in range(6)], dtype=int)
        for h in handles:
            soft, rigid = bodies[h.soft], bodies[h.rigid]
            assert isinstance(soft, SoftBody) and isinstance(rigid, RigidBody)
            soft.ride(rigid, h.nodes, h.on_rigid)

    def __len__(self) -> int:
        return len(self._handles)

    @property
    def movable(self) -> bool:
        """Whether any of them is."""
        return bool(self._column)

    def begin(self) -> None:
        """With all free velocities known: the modes, and what the carriers feel."""
        size = 6 * len(self._column)
        self._modes = np.zeros((self._offset[-1], 3, size))  # of all vertices
        self._by_unknown: dict[int, Array] = {}  # and of the unknowns of the soft bodies
        mass, self._pulled = np.zeros((size, size)), np.zeros(size)
        self._free = np.zeros(size)
        for i, c in self._column.items():
            rigid = self._rigid(i)
            _twist_modes(rigid.arms(), self._modes[self._offset[i] : self._offset[i + 1]], c)
            mass[c : c + 3, c : c + 3] = rigid.mass * np.eye(3)
            mass[c + 3 : c + 6, c + 3 : c + 6] = rigid.world_inertia()
            self._free[c : c + 6] = rigid.twist()
        for i, columns in self._soft.items():
            soft = self._soft_body(i)
            held = np.zeros((soft.n_held, 3, len(columns)))
            for h in self._handles:
                if h.soft == i and h.rigid in self._column:
                    own = self._modes[self._offset[h.rigid] + h.on_rigid]
                    held[soft.held(h.nodes)] = own[:, :, columns]
            modes, felt = soft.modes(held)
            flat = held.reshape(-1, len(columns))
            mass[np.ix_(columns, columns)] += flat.T @ felt.reshape(flat.shape)
            self._pulled[columns] -= soft.held_impulse().ravel() @ flat
            self._by_unknown[i] = modes
            b = soft.collision
            self._modes[self._offset[i] : self._offset[i + 1], :, columns] = _bound_modes(
                b.start, b.nodes, b.weights, modes[soft.fem.node_unknown]
            )
        self._mobility = np.linalg.inv(mass) if size else mass

    def compliance(self, rows: Rows) -> Reduced:
        """What the twists add to that of the soft bodies with their attached nodes at rest."""
        b = _rows_times_modes(rows.start, rows.vertex, rows.vector, self._modes)
        n, size = b.shape
        column = np.tile(np.arange(size, dtype=np.int32), n)
        return Reduced(size * np.arange(n + 1, dtype=np.int32), column, b.ravel(), self._mobility)

    def carries(self, body: int) -> bool:
        """Whether its velocity is given by a twist here."""
        return body in self._column

    def apply(self, impulse: Array) -> Array:
        """Once all bodies took their impulses (n, 3) [N s] alone: move the carriers, let the soft
        bodies follow, and return the impulses with those between them and their carriers.
        """
        size = len(self._pulled)
        total = self._pulled + impulse.reshape(-1) @ self._modes.reshape(-1, size)
        moved = self._mobility @ total
        out = impulse.copy()
        for i, modes in self._by_unknown.items():
            soft = self._soft_body(i)
            own = modes.reshape(-1, modes.shape[2]) @ moved[self._soft[i]]
            soft.follow(own.reshape(-1, 3))
            held = soft.held_impulse()
            for h in self._handles:
                if h.soft == i:
                    given = held[soft.held(h.nodes)]
                    out[self._offset[i] + h.on_soft] += given
                    out[self._offset[h.rigid] + h.on_rigid] -= given
        for i in {h.rigid for h in self._handles}:
            if (c := self._column.get(i)) is None:  # its drive or fixture bears it
                self._rigid(i).apply(out[self._offset[i] : self._offset[i + 1]])
            else:
                self._rigid(i).reach(self._free[c : c + 6] + moved[c : c + 6], None)
        return out

    def _rigid(self, i: int) -> RigidBody:
        body = self._bodies[i]
        assert isinstance(body, RigidBody)
        return body

    def _soft_body(self, i: int) -> SoftBody:
        body = self._bodies[i]
        assert isinstance(body, SoftBody)
        return body
