"""A body made of others: of its points it says what its members say, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limpet.dynamics.body import Body, BodyReport, OwnSolve
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows

Array = np.ndarray


def join_reports(each: Sequence[BodyReport], own: OwnSolve | None = None) -> BodyReport:
    """One report of several bodies; own: of what they solve together."""
    wrenches = {name: w for r in each for name, w in r.wrenches.items()}
    held = {name: f for r in each for name, f in r.held.items()}
    known = [r.momentum_residual for r in each if r.momentum_residual is not None]
    return BodyReport(wrenches, float(np.max(known, initial=0.0)), own, held)  # a NaN stays


class CompositeBody(Body):
    """Members that move together; how is for a subclass to say."""

    def __init__(self, members: Sequence[Body]) -> None:
        self._members = tuple(members)
        self.mass = sum(m.mass for m in members)
        self.n_points = sum(m.n_points for m in members)
        self.n_dof = sum(m.n_dof for m in members)
        self.surfaces = {name: s for m in members for name, s in m.surfaces.items()}

    @property
    def members(self) -> Sequence[Body]:
        return self._members

    def positions(self) -> Array:
        return np.concatenate([m.positions() for m in self._members])

    def velocities(self) -> Array:
        return np.concatenate([m.velocities() for m in self._members])

    def predicted(self, h: float) -> Array:
        return np.concatenate([m.predicted(h) for m in self._members])

    def deforms_far(self, h: float) -> bool:
        return any(m.deforms_far(h) for m in self._members)

    @property
    def astray(self) -> bool:
        return any(m.astray for m in self._members)

    def impact_compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        parts, first = [], 0
        for member in self._members:
            local = np.full(self.n_points, -1, np.int32)
            local[first : first + member.n_points] = np.arange(member.n_points)
            first += member.n_points
            index, own = rows.select(local)
            if len(index) and member.movable:
                parts += [(index[at], part) for at, part in member.impact_compliance(own)]
        return parts

    def apply_impact(self, impulse: Array) -> None:
        ends = np.cumsum([m.n_points for m in self._members])[:-1]
        for member, own in zip(self._members, np.split(impulse, ends)):
            member.apply_impact(own)

    def points_after(self, h: float) -> tuple[Array, Array]:
        x, v = zip(*(m.points_after(h) for m in self._members))
        return np.concatenate(x), np.concatenate(v)

    def advance(self, h: float) -> None:
        for member in self._members:
            member.advance(h)

    def get_state(self) -> dict[str, Array]:
        return {f"{m.name}/{k}": a for m in self._members for k, a in m.get_state().items()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        for m in self._members:
            own = f"{m.name}/"
            m.set_state({k[len(own) :]: a for k, a in state.items() if k.startswith(own)})
