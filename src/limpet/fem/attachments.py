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

from limpet.dynamics.body import Rows, select_rows
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import Array
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.rigid.rigid_body import RigidBody


@dataclass(frozen=True)
class Attachment:
    """Where a region of a soft body is attached to a rigid one."""

    soft: int  # which of the bodies
    rigid: int
    nodes: Array  # (t,) of the soft body's shape
    on_soft: Array  # (t,) its surface vertices there
    on_rigid: Array  # (t,) and those of the rigid body


class _Rider:
    """A soft body on its carriers."""

    def __init__(
        self, body: SoftBody, handles: list[tuple[Attachment, RigidBody]], movable: list[int]
    ) -> None:
        """movable: which of the bodies have twists, in the order of these."""
        self.body = body
        self.seats = [(h, body.held(h.nodes)) for h, _ in handles]
        own = dict.fromkeys(h.rigid for h, rigid in handles if rigid.movable)
        first = [6 * movable.index(i) for i in own]
        # where the twists that move it stand among all
        self.columns = np.array([c + k for c in first for k in range(6)], dtype=int)
        for h, rigid in handles:
            body.attach(rigid, h.nodes, h.on_rigid)


class Attachments:
    """The rigid bodies that carry soft ones, with all that they carry.

    What it knows of a step is made by `begin`, once all bodies have their free velocities.
    """

    def __init__(
        self, bodies: Sequence[SoftBody | RigidBody], offset: Array, handles: Sequence[Attachment]
    ) -> None:
        """offset (bodies + 1,): where each body's vertices begin."""
        self._offset, self._handles = offset, handles
        self._rigid: dict[int, RigidBody] = {}
        self._riders: dict[int, _Rider] = {}
        for h in handles:
            rigid = bodies[h.rigid]
            assert isinstance(rigid, RigidBody)
            self._rigid[h.rigid] = rigid
        self._movable = [i for i, body in self._rigid.items() if body.movable]
        for i in dict.fromkeys(h.soft for h in handles):
            soft = bodies[i]
            assert isinstance(soft, SoftBody)
            own = [(h, self._rigid[h.rigid]) for h in handles if h.soft == i]
            self._riders[i] = _Rider(soft, own, self._movable)
        self._free = self._pulled = np.zeros(0)
        self._mobility: Array = np.zeros((0, 0))

    def __len__(self) -> int:
        return len(self._rigid)

    def carries(self, body: int) -> bool:
        """Whether a twist here gives its velocity."""
        return body in self._movable

    def begin(self) -> None:
        """From every body's free velocity to that of all together, and what the carriers feel."""
        size = 6 * len(self._movable)
        mass, self._pulled = np.zeros((size, size)), np.zeros(size)
        for k, i in enumerate(self._movable):
            mass[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = self._rigid[i].mass_matrix()
        for rider in self._riders.values():
            own = rider.columns
            mass[own[:, None], own] += rider.body.condensed_mass
            self._pulled[own] += rider.body.condensed_load()
        self._mobility = np.linalg.inv(mass) if size else mass
        self._free = np.array([self._rigid[i].twist() for i in self._movable]).ravel()
        self._move(self._mobility @ self._pulled)

    def compliance(self, rows: Rows) -> ReducedCompliance:
        """What the twists add to that of the soft bodies with their attached nodes at rest."""
        n, size = len(rows), 6 * len(self._movable)
        b = np.zeros((n, size))
        for k, i in enumerate(self._movable):
            index, its = self._own(rows, i)
            b[index, 6 * k : 6 * k + 6] = self._rigid[i].rows_times(its)
        for i, rider in self._riders.items():
            index, its = self._own(rows, i)
            b[index[:, None], rider.columns] = rider.body.rows_times(its)
        column = np.tile(np.arange(size, dtype=np.int32), n)
        return ReducedCompliance(
            size * np.arange(n + 1, dtype=np.int32), column, b.ravel(), self._mobility
        )

    def apply(self, impulse: Array) -> Array:
        """Once all bodies took their impulses (n, 3) [N s] alone: move the carriers, let the soft
        bodies follow, and return the impulses with those between them and their carriers.
        """
        total, out = self._pulled.copy(), impulse.copy()
        for k, i in enumerate(self._movable):
            total[6 * k : 6 * k + 6] += self._rigid[i].wrench(self._part(impulse, i))
        for rider in self._riders.values():
            total[rider.columns] += rider.body.modal_impulse()
        self._move(self._mobility @ total)
        for i, rider in self._riders.items():
            held = rider.body.held_impulse()
            for h, place in rider.seats:
                out[self._offset[i] + h.on_soft] += held[place]
                out[self._offset[h.rigid] + h.on_rigid] -= held[place]
        for i, rigid in self._rigid.items():
            if not rigid.movable:  # its drive or fixture bears it
                rigid.apply_impulse(self._part(out, i))
        return out

    def _move(self, moved: Array) -> None:
        """Change the free twists by `moved`; the soft bodies follow."""
        for k, i in enumerate(self._movable):
            own = slice(6 * k, 6 * k + 6)
            self._rigid[i].set_velocity(self._free[own] + moved[own], None)
        for rider in self._riders.values():
            rider.body.follow(moved[rider.columns])

    def _part(self, of_all: Array, body: int) -> Array:
        return of_all[self._offset[body] : self._offset[body + 1]]

    def _own(self, rows: Rows, body: int) -> tuple[Array, Rows]:
        return select_rows(rows, self._offset[body], self._offset[body + 1])
