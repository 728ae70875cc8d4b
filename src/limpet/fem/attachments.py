"""Soft bodies attached to carriers as one body: the attached nodes keep their place, exactly.

They have no unknowns of their own: a node attached to a carrier moves by G of its generalised
velocity (v + w x r of a rigid body). The rest of the soft body follows: a unit velocity moves it by
the constraint modes N = [-A_ff^-1 A_ft G; G], t being the attached nodes and f the free ones. So
the carriers have their own mass and the condensed mass of what they carry,

    S = M + sum of N^T A N = M + sum of G^T (A N)_t,

and all points follow from the carriers: H A^-1 H^T of the free nodes, and (H N) S^-1 (H N)^T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.dynamics.body import Body, BodyReport, Carrier
from limpet.dynamics.composite import CompositeBody, join_reports
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import Array
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows


@dataclass(frozen=True)
class Attachment:
    """Where a region of a soft body is attached to a carrier."""

    soft: int  # number of the member
    carrier: int
    nodes: Array  # (t,) of the soft body's shape
    on_soft: Array  # (t,) its marker points there
    on_carrier: Array  # (t,) and those of the carrier


class _AttachedSoft:
    """A soft body on its carriers."""

    def __init__(self, body: SoftBody, own: Sequence[Attachment]) -> None:
        self.body = body
        self.seats = [(a, body.held(a.nodes)) for a in own]
        self.columns = np.zeros(0, int)  # where the velocities that move it stand among all


class AttachedBodies(CompositeBody):
    """Carriers, and the soft bodies attached to them."""

    deformable = movable = True
    settled = 0.0

    def __init__(
        self,
        members: Sequence[Body],
        soft: Mapping[int, SoftBody],  # by number of the member
        carriers: Mapping[int, Carrier],
        attachments: Sequence[Attachment],
    ) -> None:
        super().__init__(members)
        self._carriers = carriers
        self.name = " + ".join(m.name for m in members)
        self._first = np.cumsum([0, *(m.n_points for m in members)])
        self._local = []
        for i in range(len(members)):
            self._local.append(np.full(self.n_points, -1, np.int32))
            self._local[i][self._part(i)] = np.arange(members[i].n_points)
        free = [i for i, c in carriers.items() if c.movable]
        ends = np.cumsum([0, *(carriers[i].n_dof for i in free)])
        self._size = int(ends[-1])
        self._columns = {i: slice(ends[k], ends[k + 1]) for k, i in enumerate(free)}
        self._soft: dict[int, _AttachedSoft] = {}
        for i, body in soft.items():
            own = [a for a in attachments if a.soft == i]
            self._soft[i] = _AttachedSoft(body, own)
            used = dict.fromkeys(a.carrier for a in own if a.carrier in self._columns)
            columns = [np.arange(self._size)[self._columns[c]] for c in used]
            self._soft[i].columns = np.concatenate([np.zeros(0, int), *columns])
            for a in own:
                body.attach(carriers[a.carrier], a.nodes, a.on_carrier)
        self.theta = min(m.theta for m in members if m.movable)  # one for all that move
        self.staggered = max(soft.body.staggered for soft in self._soft.values())
        self._free = self._condensed_load = np.zeros(self._size)
        self._mass: Array = np.zeros((0, 0))
        self._mobility: Array = np.zeros((0, 0))
        self._internal = np.zeros((self.n_points, 3))  # [N s] between soft bodies and carriers

    def _part(self, i: int) -> slice:
        return slice(self._first[i], self._first[i + 1])

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        """Of every member alone, carriers first; then of all together."""
        for i in sorted(range(len(self._members)), key=lambda i: i in self._soft):
            self._members[i].compute_free_velocity(h, gravity, time)
        self._free = self.condensed_velocity()
        self._condense()
        self._move(self._mobility @ self._condensed_load)
        if applied is not None and applied.any():
            return self.apply_impulse(h * applied)
        return self.velocities()

    def _condense(self) -> None:
        """The carriers' mass, and what the soft bodies do to them without constraints."""
        mass, self._condensed_load = np.zeros((self._size, self._size)), np.zeros(self._size)
        for i, columns in self._columns.items():
            mass[columns, columns] = self._carriers[i].mass_matrix()
        for soft in self._soft.values():
            own = soft.columns
            soft.body.take_free()
            mass[own[:, None], own] += soft.body.condensed_mass
            self._condensed_load[own] += soft.body.condensed_load()
        self._mobility = np.linalg.inv(mass) if self._size else mass
        self._mass = mass

    @property
    def n_condensed(self) -> int:
        return self._size

    def condensed_columns(self, member: Body) -> int | None:
        columns = self._columns.get(self._members.index(member))
        return None if columns is None else columns.start

    def condensed_mass(self) -> Array:
        return self._mass

    def condensed_mobility(self) -> Array:
        return self._mobility

    def condensed_velocity(self) -> Array:
        return np.concatenate([np.zeros(0), *(self._carriers[i].velocity() for i in self._columns)])

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        parts, b = self.split_compliance(rows)
        column = np.tile(np.arange(self._size, dtype=np.int32), len(rows))
        start = self._size * np.arange(len(rows) + 1, dtype=np.int32)
        carried = ReducedCompliance(start, column, b.ravel(), self._mobility)
        return [*parts, (np.arange(len(rows)), carried)]

    def split_compliance(
        self, rows: Rows
    ) -> tuple[Sequence[tuple[Array, ReducedCompliance]], Array]:
        """Of the soft bodies with their attached nodes at rest, and what the carriers add."""
        n, parts = len(rows), []
        b = np.zeros((n, self._size))
        for i, columns in self._columns.items():
            index, own = rows.select(self._local[i])
            b[index, columns] = self._carriers[i].rows_times(own)
        for i, soft in self._soft.items():
            index, own = rows.select(self._local[i])
            if len(own):
                parts += [(index[at], part) for at, part in soft.body.compliance(own)]
                b[index[:, None], soft.columns] += soft.body.rows_times(own)  # beside its carrier
        return parts, b

    def apply_impulse(self, impulse: Array) -> Array:
        """Every member alone; then the carriers move, and the soft bodies follow."""
        for i, member in enumerate(self._members):
            member.apply_impulse(impulse[self._part(i)])
        total, out = self._condensed_load.copy(), impulse.copy()
        for i, columns in self._columns.items():
            total[columns] += self._carriers[i].generalised_impulse(impulse[self._part(i)])
        for soft in self._soft.values():
            total[soft.columns] += soft.body.modal_impulse()
        self._move(self._mobility @ total)
        for i, soft in self._soft.items():
            held = soft.body.held_impulse()
            for a, place in soft.seats:
                out[self._first[i] + a.on_soft] += held[place]
                out[self._first[a.carrier] + a.on_carrier] -= held[place]
        for i, carrier in self._carriers.items():
            if not carrier.movable:  # its motion or fixture bears it
                self._members[i].apply_impulse(out[self._part(i)])
        self._internal = out - impulse
        return self.velocities()

    def relinearise(self, impulse: Array) -> float:
        """Newton's method on the whole step, for all soft bodies with their carriers."""
        load, found = np.zeros(self._size), []
        for soft in self._soft.values():
            if soft.body.staggered and (defect := soft.body.defect()) is not None:
                found.append((soft, soft.body.tangent.solve(defect)))
                load[soft.columns] += soft.body.modal_load(defect)
        moved = self._mobility @ load
        changes = [own + soft.body.carried(moved[soft.columns]) for soft, own in found]
        worth = [soft.body.worth(c) for (soft, _), c in zip(found, changes)]
        if not any(worth):
            return 0.0
        for soft, _ in found:
            soft.body.correct()
        self._condense()
        return max(float(np.abs(change).max()) for change in changes)

    @property
    def converged(self) -> bool:  # type: ignore[override]
        return all(soft.body.converged for soft in self._soft.values())

    @property
    def relinearisation_residual(self) -> float:  # type: ignore[override]
        return max(soft.body.relinearisation_residual for soft in self._soft.values())

    def _move(self, change: Array) -> None:
        """Change the carriers' free velocities; the soft bodies follow."""
        for i, columns in self._columns.items():
            self._carriers[i].set_velocity(self._free[columns] + change[columns])
        for soft in self._soft.values():
            soft.body.follow(change[soft.columns])

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        total = force + self._internal / h
        each = [m.report(h, gravity, total[self._part(i)]) for i, m in enumerate(self._members)]
        return join_reports(each)

    def elastic_energy(self) -> float:
        return sum(m.elastic_energy() for m in self._members)
