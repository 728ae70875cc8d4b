"""A soft body, or what is attached to carriers, by the velocities that pressure fields act on.

These are the carriers' own V and those u of some nodes. With the nodes free to follow, u moves by
N V and by the impulses on the nodes through C, their compliance with the carriers held. So the
condensed mass is

    [ S + N^T C^-1 N   -N^T C^-1 ]
    [ -C^-1 N               C^-1 ],     S being that of the carriers.

Rows of constraint sets keep their compliance with V and u held, and act on V and u besides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from limpet.dynamics.body import Body, BodyReport
from limpet.fem.attachments import AttachedBodies
from limpet.fem.soft_body import SoftBody
from limpet.linalg.reduced_compliance import (
    ReducedCompliance,
    half_product,
    join,
    rows_times_columns,
)
from limpet.linalg.rows import Rows

Array = np.ndarray
Parts = Sequence[tuple[Array, ReducedCompliance]]


class CondensedSoft:
    """A CondensedBody with the velocities of the nodes that `select` names."""

    def __init__(self, body: SoftBody | AttachedBodies) -> None:
        self.body = body
        self._carriers = body if isinstance(body, AttachedBodies) else None
        self._points = np.zeros(0, int)
        self._unit = Rows.none()
        self._modes = self._stiffness = self._compliance = np.zeros((0, 0))

    @property
    def members(self) -> Sequence[Body]:
        return self.body.members

    @property
    def n_carried(self) -> int:
        """Velocities of the carriers, which come first."""
        return 0 if self._carriers is None else self._carriers.n_condensed

    @property
    def n_condensed(self) -> int:
        return self.n_carried + 3 * len(self._points)

    def condensed_columns(self, member: Body) -> int | None:
        return None if self._carriers is None else self._carriers.condensed_columns(member)

    def select(self, points: Array) -> None:
        """After `compute_free_velocity`: points of the body, each at a node that is free."""
        self._points = points
        self._unit = _unit_rows(points)
        parts, self._modes = self._split(self._unit)
        c = join(list(parts), len(self._unit), 1.0).dense()
        self._compliance = c
        self._stiffness = cho_solve(cho_factor(c), np.eye(len(c))) if len(c) else c

    def modes(self, points: Array) -> Array:
        """(3 p, n_carried): how points that are not free follow the carriers."""
        return self._split(_unit_rows(points))[1]

    def _split(self, rows: Rows) -> tuple[Parts, Array]:
        if self._carriers is not None:
            return self._carriers.split_compliance(rows)
        return self.body.compliance(rows) if len(rows) else (), np.zeros((len(rows), 0))

    def condensed_mass(self) -> Array:
        n, k = self._modes, self._stiffness
        carried = np.zeros((0, 0)) if self._carriers is None else self._carriers.condensed_mass()
        return np.block([[carried + n.T @ k @ n, -n.T @ k], [-k @ n, k]])

    def condensed_mobility(self) -> Array:
        n, c = self._modes, self._compliance
        s = np.zeros((0, 0)) if self._carriers is None else self._carriers.condensed_mobility()
        return np.block([[s, s @ n.T], [n @ s, c + n @ s @ n.T]])

    def condensed_velocity(self) -> Array:
        own = self.body.velocities()[self._points].ravel()
        if self._carriers is None:
            return own
        return np.concatenate([self._carriers.condensed_velocity(), own])

    def split_compliance(self, rows: Rows) -> tuple[Parts, Array]:
        n, m = len(rows), len(self._unit)
        parts, carried = self._split(Rows.stack([rows, self._unit]))
        whole = join(list(parts), n + m, 1.0)
        own, unit = _some(whole, 0, n), _some(whole, n, n + m)
        pressed = half_product(unit.start, unit.column, unit.value, whole.s)  # B_m S
        held = whole.s - pressed.T @ self._stiffness @ pressed
        cross = rows_times_columns(own.start, own.column, own.value, pressed).T
        follow = cross @ self._stiffness
        rest = ReducedCompliance(own.start, own.column, own.value, held)
        modes = np.hstack([carried[:n] - follow @ self._modes, follow])
        return [(np.arange(n), rest)], modes

    def compute_free_velocity(self, h: float, gravity: Array, time: float) -> Array:
        return self.body.compute_free_velocity(h, gravity, time)

    def apply_impulse(self, impulse: Array) -> Array:
        return self.body.apply_impulse(impulse)

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        return self.body.report(h, gravity, force)


def _unit_rows(points: Array) -> Rows:
    """Three for each point: its velocity."""
    m = len(points)
    start = np.arange(3 * m + 1, dtype=np.int32)
    return Rows(start, np.repeat(points, 3).astype(np.int32), np.tile(np.eye(3), (m, 1)))


def _some(rows: ReducedCompliance, first: int, last: int) -> ReducedCompliance:
    own = slice(rows.start[first], rows.start[last])
    start = (rows.start[first : last + 1] - rows.start[first]).astype(np.int32)
    return ReducedCompliance(start, rows.column[own], rows.value[own], rows.s)
