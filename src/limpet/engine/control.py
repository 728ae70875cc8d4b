"""What may be changed while a simulation runs: pulls, leak and vacuum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limpet.cavity.cavity_set import CavitySet
from limpet.cavity.gas.exchange import AirExchange
from limpet.dynamics.body import Body
from limpet.errors import LimpetError, suggest
from limpet.fem.soft_body import SoftBody
from limpet.model.world import World
from limpet.particles.body import ParticleBody
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


GRIP = 0.05  # of a swept body's mass that a pull takes hold of


def _grip(body: Body, vertex: int) -> tuple[Array, Array]:
    """The vertices that a pull acts on, and their shares of it."""
    if not isinstance(body, ParticleBody):
        return np.array([vertex]), np.ones(1)
    at = body.mesh.points
    near = np.argsort(((at - at[vertex]) ** 2).sum(axis=1), kind="stable")
    mass = body.node_mass[near]
    count = int(np.searchsorted(np.cumsum(mass), GRIP * body.mass)) + 1
    return near[:count], mass[:count] / mass[:count].sum()


class Controls:
    """The part of a Simulation that a user's hand is on."""

    world: World
    bodies: list[SoftBody | RigidBody | ParticleBody]
    first_point: Array  # (bodies + 1,) where each body's vertices begin
    _cavities: CavitySet
    _pull: Array  # (n, 3) [N] on the vertices, from outside

    def apply_force(self, body: str, vertex: int, force: Sequence[float] | Array) -> None:
        """Pull on a vertex of a body's collision surface with `force` (3,) [N], from now on.

        It acts as gravity does, before contacts and air are solved. A force of 0 lets go. Of a
        swept body it takes hold of a twentieth, the nodes around: a node alone is too light.
        """
        names = [b.name for b in self.bodies]
        if body not in names:
            raise LimpetError(f"pull on '{body}': there is no such body{suggest(body, names)}")
        i, f = names.index(body), np.asarray(force, dtype=float)
        if not 0 <= vertex < self.bodies[i].n_points:
            raise LimpetError(
                f"pull on '{body}' at vertex {vertex}: expected 0 to {self.bodies[i].n_points - 1}"
            )
        if f.shape != (3,) or not np.all(np.isfinite(f)):
            raise LimpetError(f"pull on '{body}': force = {force}: expected three finite numbers")
        if not self.bodies[i].movable:
            raise LimpetError(f"pull on '{body}': it is fixed or driven, so no force moves it")
        vertices, shares = _grip(self.bodies[i], vertex)
        self._pull[self.first_point[i] + vertices] = shares[:, None] * f

    def clear_forces(self) -> None:
        """End every pull."""
        self._pull[:] = 0.0

    def set_leak(self, rate: float) -> None:
        """Let `rate` [mol/s] leak into cavities from now on; not where a body breathes itself."""
        if not 0.0 <= rate < np.inf:
            raise LimpetError(f"leak = {rate:g} mol/s: expected 0 or more")
        self._cavities = replace(self._cavities, otherwise=AirExchange(leak=rate))

    def set_vacuum(self, vacuum: float) -> None:
        """Let every vacuum line pull `vacuum` [Pa] below the atmosphere from now on."""
        if not 0.0 < vacuum <= self.world.atmosphere.pressure:
            raise LimpetError(
                f"vacuum = {vacuum:g} Pa: expected above 0, at most the atmosphere's pressure"
            )
        if not self._cavities.ports:
            raise LimpetError("vacuum: this world has no vacuum line")
        self._cavities = replace(
            self._cavities, ports=tuple(port.asked_for(vacuum) for port in self._cavities.ports)
        )

    @property
    def vacuum(self) -> float | None:
        """[Pa] the deepest that a vacuum line is asked for; None: there is no line."""
        return max((port.source.end_vacuum for port in self._cavities.ports), default=None)
