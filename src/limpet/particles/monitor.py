"""What a run of particle bodies is watched for: stretch, inverted cells, energy from nowhere.

Motion may come from what the bodies had at the start (kinetic energy, springs), from gravity, from
prescribed motions and from forces on them; contacts and drags only take. So

    kinetic <= start + given by gravity + work,

whatever the elastic energy, which is never negative. A run that breaks this gains energy from
nowhere and ends. Two allowances: a share GAINED of the kinetic energy for the time stepping, and
that of all bodies at the speed SLOW, for round-off. Overlaps that a run begins with are pushed out
(Baumgarte): lifting all bodies by so much counts to the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from limpet.errors import DivergedError
from limpet.particles.body import ParticleBody
from limpet.particles.constraints import ParticleConstraints
from limpet.particles.energy import (
    drive_work,
    elastic_energy,
    energy_and_moment,
    force_work,
    inverted_cells,
    kinetic_energies,
    largest_strain,
)
from limpet.particles.surface_proxy import SurfaceProxy
from limpet.particles.sweep import bounded
from limpet.particles.sweep_points import Velocities
from limpet.report import ParticleReport
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray

GAINED = 0.1  # of the kinetic energy
SLOW = 0.5  # [m/s]
OUT = 0.1  # of an overlap that a step pushes out, about: the default of `baumgarte`
FASTEST = 1e4  # [m/s, rad/s]
REMEDY = "lower h, or take more substeps or sweeps (ParticleSolverSettings)"
ELASTIC = 10  # steps between two measurements of the elastic energy


class Monitor:
    """Watches the bodies of a particle system, from the first step on."""

    def __init__(
        self, soft: Sequence[ParticleBody], rigid: Sequence[RigidBody],
        proxies: Sequence[SurfaceProxy], among: ParticleConstraints,
    ) -> None:  # fmt: skip
        self.soft, self.rigid, self.proxies, self.among = soft, rigid, proxies, among
        self.bodies: list[ParticleBody | RigidBody] = [*soft, *rigid]
        self.mass = sum(b.mass for b in self.bodies if b.movable)
        self.start = np.nan  # [J] kinetic and elastic, when the first step began
        self.fallen = 0.0  # [J] given by gravity since
        # [J] of prescribed motions, forces, bodies of other solvers and whoever set a velocity
        self.work = 0.0
        self.kinetic = np.nan  # [J] after the last step
        self.stretch = 0.0  # |l/L - 1| of the worst inextensible edge after the last step
        self._moment = np.zeros(3)  # (3,) [kg m] mass times place when the step began
        self.driven = any(len(b.driven) for b in soft) or any(b.motion is not None for b in rigid)
        self.tells = self.driven or len(self.proxies) > 0  # impulses are to be known
        self._drives: dict[str, Array] = {}  # (6,) [N s, N m s] by body, in this step

    def begin(self, h: float, gravity: Array, overlap: float) -> None:
        """A step h begins, with bodies that overlap by that much [m]."""
        kinetic, self._moment = energy_and_moment(self.soft, self.rigid)
        if np.isnan(self.start):
            goals = sum(b.stored_energy(h) - b.elastic_energy() for b in self.soft)
            pushed = overlap * float(np.linalg.norm(gravity)) + 0.5 * (OUT * overlap / h) ** 2
            self.start = kinetic + goals + self._elastic() + self.mass * pushed
        else:
            self.work += kinetic - self.kinetic  # velocities that were set between two steps
        self._drives = {}

    def solved(self, outside: Sequence[Array], h: float) -> None:
        """The velocities of a solve h are known; outside: forces (n_points, 3) [N] on each body."""
        if outside:
            self.work += force_work(self.bodies, outside, h)
        self.work += sum(b.work() for b in self.proxies)
        if self.driven:
            self.work += drive_work(self.soft, self.rigid, h)
            for name, wrench in _drive_wrenches(self.soft, self.rigid, h).items():
                self._drives[name] = self._drives.get(name, np.zeros(6)) + h * wrench

    def reactions(self, h: float) -> dict[str, Array]:
        """(6,) [N, N m] of each prescribed motion, the mean over the step h."""
        return {name: impulse / h for name, impulse in self._drives.items()}

    def end(self, x: Array, gravity: Array) -> None:
        """A step has ended, with the nodes at x (n, 3)."""
        self.stretch = largest_strain(x, self.among.distances)
        self.kinetic, moment = energy_and_moment(self.soft, self.rigid)
        self.fallen += float(gravity @ (moment - self._moment))

    def gained(self) -> float:
        """[J] from nowhere, 0 within the allowances."""
        gained = self.kinetic - (self.start + self.fallen + self.work)
        allowed = GAINED * self.kinetic + 0.5 * self.mass * SLOW**2
        return gained if gained > allowed else 0.0

    def check(self, step: int, time: float) -> None:
        """Stop a run that gains energy from nowhere."""
        gained = self.gained()
        if gained == 0.0 and np.isfinite(self.kinetic):
            return
        each = np.nan_to_num(kinetic_energies(self.soft, self.rigid), nan=np.inf)
        raise DivergedError(
            f"step {step} at {time:.4g} s: the particle bodies gained {gained:.3g} J from nowhere, "
            f"most in '{self.bodies[int(np.argmax(each))].name}'; {REMEDY}"
        )

    def require_bounded(self, on: Velocities, step: int, time: float) -> None:
        """Stop a run whose velocities diverge, before anything is computed from them."""
        if bounded(on, FASTEST):
            return
        nodes = [*self.soft, *(b for b in self.proxies if isinstance(b, ParticleBody))]
        rigid = [*self.rigid, *(b for b in self.proxies if isinstance(b, RigidBody))]
        ends = np.cumsum([0, *(b.n_points for b in nodes)])
        names = [b.name for b in (*nodes, *rigid)]
        parts = [on.v[a:b] for a, b in pairwise(ends)] + list(on.rigid_v[:, None])
        fast = [bool((np.abs(v) <= FASTEST).all()) for v in parts].index(False)
        raise DivergedError(
            f"step {step} at {time:.4g} s: velocities of '{names[fast]}' diverged "
            f"beyond {FASTEST:g} m/s; {REMEDY}"
        )

    def report(self, step: int) -> ParticleReport:
        return ParticleReport(
            stretch=self.stretch,
            inverted=sum(inverted_cells(b.x, b.mesh.tets) for b in self.soft),
            kinetic=self.kinetic,
            fallen=self.fallen,
            work=self.work,
            elastic=None if step % ELASTIC else self._elastic(),
        )

    def _elastic(self) -> float:
        return elastic_energy(self.soft, self.among.distances, self.among.bends)

    def get_state(self) -> Array:
        return np.array([self.start, self.fallen, self.work, self.kinetic, self.stretch])

    def set_state(self, state: Array) -> None:
        self.start, self.fallen, self.work, self.kinetic, self.stretch = state.tolist()


def _drive_wrenches(
    soft: Sequence[ParticleBody], rigid: Sequence[RigidBody], h: float
) -> dict[str, Array]:
    """(6,) [N, N m] of each prescribed motion over the last solve h."""
    wrenches = {b.name: b.reaction(h) for b in soft if len(b.driven)}
    return wrenches | {b.name: b.reaction(h) for b in rigid if b.motion is not None}
