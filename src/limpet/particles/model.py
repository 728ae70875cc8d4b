"""Particle bodies, the rigid bodies among them, and the constraints between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import TypeVar

import numpy as np

from limpet.contact.friction import FrictionTable
from limpet.contact.pipeline import CollisionBody
from limpet.contact.primitives import Primitive
from limpet.dynamics.body import Body
from limpet.errors import LimpetError, require_positive
from limpet.geometry.rotation import quaternion_matrix
from limpet.particles.anchors import Anchors, anchors_at
from limpet.particles.bending import BendingModel, Bends, bending_angles, rest_sizes
from limpet.particles.body import ParticleBody
from limpet.particles.chains import chains
from limpet.particles.distances import Distances, ForceSide, bounds
from limpet.particles.meshes import edge_lengths
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.surface_proxy import RigidProxy, SurfaceProxy
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray
B = TypeVar("B", bound=Body)


class ParticleModel:
    """Add bodies, then constraints between them. Nothing moves here: see `ParticleSystem`."""

    def __init__(
        self, friction: FrictionTable | None = None, settings: ParticleSolverSettings | None = None
    ) -> None:
        self.friction = friction or FrictionTable()
        self.settings = settings or ParticleSolverSettings()
        self.soft: list[ParticleBody] = []
        self.rigid: list[RigidBody] = []
        self.first = np.zeros(1, np.int64)  # where each soft body's nodes begin, and their number
        self.collision_bodies: list[CollisionBody] = []
        self.distances: list[Distances] = []
        self.bends: list[Bends] = []
        self.anchors: list[Anchors] = []

    def copy(self) -> ParticleModel:
        """The same constraints between copies of the bodies, in their present states."""
        out = copy(self)
        out.soft, out.rigid = [_copied(b) for b in self.soft], [_copied(b) for b in self.rigid]
        return out

    @property
    def bodies(self) -> list[ParticleBody | RigidBody]:
        return [*self.soft, *self.rigid]

    def add(
        self, body: ParticleBody, thickness: float = 0.0, *, collides: bool = True,
        self_collision: bool = False,
    ) -> ParticleBody:  # fmt: skip
        """`thickness` [m] of a sheet; with `self_collision` it may collide with itself."""
        self._new(body.name)
        self.soft.append(body)
        self.first = np.append(self.first, self.first[-1] + body.n_points)
        if collides:
            mesh, first = body.mesh, int(self.first[-2])
            self.collision_bodies.append(
                CollisionBody(
                    body.name,
                    first,
                    -1,
                    True,
                    mesh.triangles,
                    mesh.closed,
                    None,
                    thickness,
                    self_collision,
                )
            )
        return body

    def add_rigid(
        self, body: RigidBody, shape: Primitive | None = None, *, collides: bool = True
    ) -> RigidBody:
        """`shape`: a primitive that is used instead of its surface in contact."""
        self._new(body.name)
        self.rigid.append(body)
        if collides:
            i, moves = len(self.rigid) - 1, body.movable
            self.collision_bodies.append(
                CollisionBody(
                    body.name, -1, i, moves, body.triangles, True, shape, 0.0, False, True
                )
            )
        return body

    def add_proxy(self, proxy: SurfaceProxy, touches: Iterable[str]) -> None:
        """Let the sheets of these names touch a body of another solver."""
        self._new(proxy.name)
        first, number = -1, -1
        if isinstance(proxy, RigidProxy):
            number = len(self.rigid)
            self.rigid.append(proxy)
        else:
            first = int(self.first[-1])
            self.soft.append(proxy)
            self.first = np.append(self.first, first + proxy.n_points)
        self.collision_bodies = [
            *self.collision_bodies,
            CollisionBody(
                proxy.name, first, number, proxy.movable, proxy.triangles, True, None, 0.0, False,
                number >= 0, frozenset(touches),
            ),
        ]  # fmt: skip

    def collides(self, name: str) -> bool:
        """Whether the body of this name takes part in contact."""
        return any(part.name == name for part in self.collision_bodies)

    def _new(self, name: str) -> None:
        if name in [b.name for b in self.bodies]:
            raise LimpetError(f"body '{name}' is there already: give each its own name")

    def add_inextensible_edges(
        self, body: ParticleBody, edges: Array | None = None, resists: ForceSide = ForceSide.BOTH,
        max_force: float = np.inf, stiffness: float = np.inf, damping: float = 0.0,
    ) -> None:  # fmt: skip
        """Edges (k, 2) of the body, all of them if not given, keep their length.

        `max_force` [N]: their largest force; with `stiffness` [N/m] they are implicit springs.
        """
        nodes = body.checked_nodes(body.mesh.edges if edges is None else edges)
        rest = edge_lengths(body.mesh.points, nodes)
        if len(rest) and rest.min() <= 0.0:
            raise LimpetError(f"edge {int(np.argmin(rest))} of '{body.name}' has no length at rest")
        order, flip, chain = chains(body.mesh.points, nodes)
        nodes = np.where(flip[:, None], nodes[order, ::-1], nodes[order])
        k, (lower, upper) = len(nodes), bounds(ForceSide(resists), max_force)
        self.distances.append(
            Distances(self._global(body, nodes), rest[order], np.full(k, lower), np.full(k, upper),
                      np.full(k, stiffness), np.full(k, damping), chain)
        )  # fmt: skip

    def add_springs(
        self, body: ParticleBody, stiffness: float, damping: float = 0.0,
        edges: Array | None = None,
    ) -> None:  # fmt: skip
        """Implicit springs [N/m] with dampers [N s/m] on edges (k, 2) of the body, or on all.

        They are rows of the solve, so their stiffness does not depend on the time step, and any is
        stable. `spring_stiffness` has that of a Young's modulus.
        """
        require_positive(f"stiffness of the springs of '{body.name}'", stiffness, " N/m")
        self.add_inextensible_edges(body, edges, stiffness=stiffness, damping=damping)

    def add_bending(
        self, body: ParticleBody, hinges: Array | None = None,
        model: BendingModel = BendingModel.ANGLE, max_force: float = np.inf,
        stiffness: float = np.inf, damping: float = 0.0,
    ) -> None:  # fmt: skip
        """Hinges (k, 4) of the body, all if not given, keep their angle at rest.

        `max_force` [N m]: their largest moment ([N] for BendingModel.DOT); with `stiffness`
        [N m/rad] they are implicit springs.
        """
        nodes = body.checked_nodes(body.mesh.hinges if hinges is None else hinges)
        x, k = body.mesh.points, len(nodes)
        kind, size = np.full(k, int(model), np.int8), rest_sizes(x, nodes)
        rest, _ = bending_angles(x, nodes, kind, size)
        lower, upper = bounds(ForceSide.BOTH, max_force)
        self.bends.append(
            Bends(
                self._global(body, nodes),
                kind,
                size,
                rest,
                np.full(k, lower),
                np.full(k, upper),
                np.full(k, stiffness),
                np.full(k, damping),
            )
        )

    def anchor(
        self, body: ParticleBody | RigidBody, at: Array | Sequence[float],
        to: RigidBody | None = None,
    ) -> None:  # fmt: skip
        """Hold points of a body where they are, in the world or on the rigid body `to`.

        `at`: nodes of an explicit body, or points (k, 3) [m] of a rigid one.
        """
        target = -1 if to is None else self._number(to, self.rigid)
        place, local = body.anchor_points(at)
        own = -1 if local is not None else self._number(body, self.rigid)
        nodes = np.full(len(place), -1) if local is None else self._global(body, local)
        centre = np.array([b.centre for b in self.rigid]).reshape(-1, 3)
        rotation = np.array([quaternion_matrix(b.quaternion) for b in self.rigid]).reshape(-1, 3, 3)
        self.anchors.append(anchors_at(place, nodes, own, target, centre, rotation))

    def _global(self, body: Body, nodes: Array) -> Array:
        first = self.first[self._number(body, self.soft)]
        return np.ascontiguousarray(nodes + first, dtype=np.int32)

    def _number(self, body: Body, among: Sequence[Body]) -> int:
        for i, known in enumerate(among):
            if known is body:
                return i
        raise LimpetError(f"body '{body.name}' is not in this world: add it first")


def _copied(body: B) -> B:
    out = copy(body)
    out.set_state(body.get_state())
    return out
