"""Particle bodies and the bodies of the world that their sheets touch, as one body of the step.

A cloth or a rope is light and taut: contact forces and tension make each other. So the sweeps solve
both together, with the surfaces of the other bodies as they move (`SurfaceProxy`), and the bodies
take the impulses of the sheets as loads, solved with all that holds them (P). The two take turns
until the loads agree. In each turn the sweeps go through the step anew, in as many substeps as they
need, and the surfaces yield at least as much as the bodies do: so the turns converge (a proximal
iteration; Robin transmission conditions), whichever side is the lighter one.

Exact in every turn: the laws of the constraint sets, and momentum. What the last turn changed in
the loads is left to the next step, since it would press bodies through what holds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from limpet.dynamics.body import Body, BodyReport, OwnSolve
from limpet.dynamics.composite import CompositeBody, join_reports
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.particles.anderson import Anderson
from limpet.particles.coupling import CoupledParticles
from limpet.particles.system import MILLIMETRE

Array = np.ndarray

TURNS = 6  # of sweeps and constraint sets, at most
AROUND = 0.02  # [m] round the sheets: so near they may come to press within the step


class DrapedBodies(CompositeBody):
    """Hosts, which sheets touch, and all particle bodies."""

    name = "draped bodies"
    deformable = movable = True

    def __init__(
        self,
        hosts: Sequence[Body],
        particles: CoupledParticles,
        members: Sequence[int],  # numbers of the hosts' members, one host after the other
    ) -> None:
        """No constraint set acts on the particles: they are alone, and take substeps."""
        self._hosts, self._particles = hosts, particles
        flat = [m for host in hosts for m in host.members]
        super().__init__([*(flat[i] for i in np.argsort(members)), *particles.members])
        self.staggered = max([TURNS, *(host.staggered for host in hosts)])

        ends = np.cumsum([0, *(m.n_points for m in self._members)])
        place = {m.name: np.arange(ends[i], ends[i + 1]) for i, m in enumerate(self._members)}
        self._own = [np.concatenate([place[m.name] for m in host.members]) for host in hosts]
        self._touching = [(proxy, place[proxy.name]) for proxy in particles.system.proxies]
        self._touched = np.concatenate([at for _, at in self._touching])
        sheets = [b.name for b in particles.system.soft if b.is_sheet]
        self._sheets = np.concatenate([place[name] for name in sheets])
        self._inside = np.concatenate([place[b.name] for b in particles.members])
        self._local = [self._numbers(own) for own in self._own]
        none = np.zeros((self.n_points, 3))
        # [N s] of the sheets in this step: as the hosts have it, as the sweeps found it, to try
        self._load = self._found = self._try = none
        self._owed = self._given = none  # [N s] that the last step has left, and took from before
        self._applied, self._x = none, none
        self._response = np.zeros(self.n_points)  # [1/kg] of the surfaces, at least
        self._start: Mapping[str, Array] = {}
        self._now = (0.0, np.zeros(3), 0.0)  # h, gravity, time
        self._turns, self._off = 0, 0.0  # in this step; [m/s] by which the two sides disagree
        self._mixing = Anderson(np.zeros((self.n_points, 1)))

    def _numbers(self, points: Array) -> Array:
        """(n_points,) int32: place of each point among these, or -1."""
        out = np.full(self.n_points, -1, np.int32)
        out[points] = np.arange(len(points))
        return out

    @property
    def converged(self) -> bool:  # type: ignore[override]
        return all(host.converged for host in self._hosts)

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        """Of the hosts under the loads of the last step. The particles follow in `relinearise`."""
        self._applied = np.zeros((self.n_points, 3)) if applied is None else applied
        self._now, self._turns, self._x = (h, gravity, time), 0, self.positions()
        self._start = self._particles.get_state()
        for host in self._hosts:
            host.compute_free_velocity(h, gravity, time)
        self._response = self._measured_response(h)
        self._mixing = Anderson(self._response[:, None])
        self._try = self._found
        return self.apply_impulse(h * self._applied)

    def _measured_response(self, h: float) -> Array:
        """(n_points,) [1/kg] the row sums of the hosts' compliance, over the points that sheets
        press; of others, over all points near the sheets.

        A diagonal of row sums is an upper bound of a matrix with no negative entries.
        """
        sheets, v = self._x[self._sheets], self.velocities()
        reach = AROUND + h * float(np.linalg.norm(v[self._sheets], axis=1).max())
        x, near = self._x, np.zeros(self.n_points, bool)
        near[self._touched] = True
        near &= np.all((x > sheets.min(axis=0) - reach) & (x < sheets.max(axis=0) + reach), axis=1)
        pressed = np.any(self._found != 0.0, axis=1)
        return np.where(pressed, self._row_sums(pressed), self._row_sums(near))

    def _row_sums(self, loaded: Any) -> Array:
        """(n_points,) [1/kg] the fastest that points move by unit impulses on all the loaded."""
        out = np.zeros(self.n_points)
        for host, own in zip(self._hosts, self._own):
            if not (host.movable and loaded[own].any()):
                continue
            before = host.apply_impulse(np.zeros((len(own), 3)))
            for axis in np.eye(3):
                change = host.apply_impulse(loaded[own, None] * axis) - before
                out[own] = np.maximum(out[own], np.linalg.norm(change, axis=1))
        return out

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        parts = []
        for host, local in zip(self._hosts, self._local):
            index, own = rows.select(local)
            if len(index) and host.movable:
                parts += [(index[at], part) for at, part in host.compliance(own)]
        return parts

    def apply_impulse(self, impulse: Array) -> Array:
        self._load = self._try
        total = impulse + self._load + self._owed
        for host, own in zip(self._hosts, self._own):
            host.apply_impulse(total[own])
        return self.velocities()

    def relinearise(self, impulse: Array) -> float:
        """The sweeps, with the surfaces as they move now."""
        total, changes = impulse + self._load + self._owed, [0.0]
        for host, own in zip(self._hosts, self._own):
            if host.staggered:
                changes.append(host.relinearise(total[own]))
        self._sweep()
        self._turns += 1
        change = np.linalg.norm(self._found - self._load, axis=1)
        self._off = float((self._response * change).max())
        if self._turns < TURNS:
            changes.append(self._off)
            self._try = self._mixing.next(self._load, self._found)
        return max(changes)

    def _sweep(self) -> None:
        """The particles through the whole step, and what they load the surfaces with."""
        (h, gravity, time), v = self._now, self.velocities()
        self._particles.set_state(self._start)
        for proxy, at in self._touching:
            proxy.follow(self._x[at], v[at], self._load[at], self._response[at], h)
        self._particles.compute_free_velocity(h, gravity, time, self._applied[self._inside])
        self._particles.advance(h)
        self._found = np.zeros((self.n_points, 3))
        for proxy, at in self._touching:
            self._found[at] = proxy.total

    def points_after(self, h: float) -> tuple[Array, Array]:
        x, v = self.positions(), self.velocities()
        for host, own in zip(self._hosts, self._own):
            x[own], v[own] = host.points_after(h)
        return x, v

    def advance(self, h: float) -> None:
        for host in self._hosts:
            host.advance(h)
        self._given, self._owed = self._owed, self._found - self._load

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        total = force + (self._load + self._given) / h
        each = [b.report(h, gravity, total[own]) for b, own in zip(self._hosts, self._own)]
        each.append(self._particles.report(h, gravity, force[self._inside]))
        own = [r.own for r in each if r.own is not None]
        residual = h * self._off / MILLIMETRE
        agreed = residual <= self._particles.system.settings.accuracy
        own.append(OwnSolve(0, 0, 0, 0, residual, agreed, 0.0))
        return join_reports(each, _together(own))

    def get_state(self) -> dict[str, Array]:
        state = {f"host/{b.name}/{k}": a for b in self._hosts for k, a in b.get_state().items()}
        state |= {"load": self._found.copy(), "owed": self._owed.copy()}
        return state | self._particles.get_state()

    def set_state(self, state: Mapping[str, Array]) -> None:
        for host in self._hosts:
            own = f"host/{host.name}/"
            host.set_state({k[len(own) :]: a for k, a in state.items() if k.startswith(own)})
        self._found, self._owed = state["load"].copy(), state["owed"].copy()
        self._particles.set_state(state)


def _together(solves: Sequence[OwnSolve]) -> OwnSolve:
    """One report of several bodies."""
    first, *others = solves
    for one in others:
        first = replace(
            first, rows=first.rows + one.rows, contacts=first.contacts + one.contacts,
            active_contacts=first.active_contacts + one.active_contacts,
            sweeps=first.sweeps + one.sweeps, residual=max(first.residual, one.residual),
            converged=first.converged and one.converged,
            max_penetration=max(first.max_penetration, one.max_penetration),
            particles=first.particles or one.particles, crossings=first.crossings + one.crossings,
        )  # fmt: skip
    return first
