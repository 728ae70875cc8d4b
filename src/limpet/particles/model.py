"""Explicit and rigid bodies and what holds between them: what is swept, as a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.contact.pipeline import CollisionBody
from limpet.contact.primitives import Primitive
from limpet.errors import LimpetError
from limpet.geometry.rotation import quaternion_matrix
from limpet.particles.anchors import Anchors, anchors_at
from limpet.particles.bending import BendingModel, Bends, bending_angles, rest_sizes
from limpet.particles.body import ParticleBody
from limpet.particles.chains import chains
from limpet.particles.distances import Distances, ForceSide, bounds
from limpet.particles.meshes import edge_lengths
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


class ParticleModel:
    """Add bodies, then what holds between them. Bodies stand in the order they were added."""

    def __init__(self, friction: float = 0.5) -> None:
        self.soft: list[ParticleBody] = []
        self.rigid: list[RigidBody] = []
        self.first = np.zeros(1, np.int64)  # where each soft body's nodes begin, and their number
        self._owner: dict[int, ParticleBody] = {}  # of its first node
        self._parts: list[CollisionBody] = []
        self._friction = friction
        self._pair_friction: dict[frozenset[str], float] = {}
        self._distances: list[Distances] = []
        self._bends: list[Bends] = []
        self._anchors: list[Anchors] = []

    def changed(self) -> None:
        """Called whenever something is added; what was made of the old list is out of date."""

    @property
    def bodies(self) -> list[ParticleBody | RigidBody]:
        return [*self.soft, *self.rigid]

    def add(
        self, body: ParticleBody, thickness: float = 0.0, *, collides: bool = True,
        self_collision: bool = False,
    ) -> ParticleBody:  # fmt: skip
        """`thickness` [m] of a sheet; with `self_collision` it may touch itself."""
        self._new(body.name)
        self.soft.append(body)
        self._owner[int(self.first[-1])] = body
        self.first = np.append(self.first, self.first[-1] + body.n_points)
        if collides:
            mesh, first = body.mesh, int(self.first[-2])
            self._parts.append(
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
        """`shape`: a closed form that stands for its surface in contact."""
        self._new(body.name)
        self.rigid.append(body)
        if collides:
            i, moves = len(self.rigid) - 1, body.movable
            self._parts.append(
                CollisionBody(body.name, -1, i, moves, body.triangles, True, shape, 0.0, False)
            )
        return body

    def collides(self, name: str) -> bool:
        """Whether the body called so touches anything."""
        return any(part.name == name for part in self._parts)

    def _new(self, name: str) -> None:
        if name in [b.name for b in self.bodies]:
            raise LimpetError(f"body '{name}' is there already: give each its own name")
        self.changed()

    def set_friction(self, a: str, b: str, mu: float) -> None:
        self._pair_friction[frozenset((a, b))] = mu
        self.changed()

    def add_inextensible_edges(
        self, body: ParticleBody, edges: Array | None = None, resists: ForceSide = ForceSide.BOTH,
        max_force: float = np.inf, stiffness: float = np.inf, damping: float = 0.0,
    ) -> None:  # fmt: skip
        """Edges (k, 2) of the body, all of them if not given, keep their length.

        `max_force` [N] they bear; with `stiffness` [N/m] they are springs, taken implicitly.
        """
        nodes = self._nodes(body, body.mesh.edges if edges is None else edges)
        rest = edge_lengths(body.mesh.points, nodes)
        if len(rest) and rest.min() <= 0.0:
            raise LimpetError(f"edge {int(np.argmin(rest))} of '{body.name}' has no length at rest")
        order, flip, chain = chains(body.mesh.points, nodes)
        nodes = np.where(flip[:, None], nodes[order, ::-1], nodes[order])
        k, (lower, upper) = len(nodes), bounds(ForceSide(resists), max_force)
        self._distances.append(
            Distances(self._global(body, nodes), rest[order], np.full(k, lower), np.full(k, upper),
                      np.full(k, stiffness), np.full(k, damping), chain)
        )  # fmt: skip
        self.changed()

    def add_bending(
        self,
        body: ParticleBody,
        hinges: Array | None = None,
        fold: BendingModel = BendingModel.ANGLE,
        max_force: float = np.inf,
        stiffness: float = np.inf,
        damping: float = 0.0,
    ) -> None:
        """Folds (k, 4) of the body, all if not given, keep their angle at rest.

        `max_force` [N m] that they bear ([N] for BendingModel.DOT); with `stiffness` [N m/rad]
        they are springs.
        """
        nodes = self._nodes(body, body.mesh.hinges if hinges is None else hinges)
        x, k = body.mesh.points, len(nodes)
        kind, size = np.full(k, int(fold), np.int8), rest_sizes(x, nodes)
        rest, _ = bending_angles(x, nodes, kind, size)
        lower, upper = bounds(ForceSide.BOTH, max_force)
        self._bends.append(
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
        self.changed()

    def anchor(
        self, body: ParticleBody | RigidBody, at: Array | Sequence[int] | Sequence[float],
        to: RigidBody | None = None,
    ) -> None:  # fmt: skip
        """Hold points of a body where they are, in the world or on the rigid body `to`.

        `at`: nodes of an explicit body, or points (k, 3) [m] of a rigid one.
        """
        target, own = -1 if to is None else self._index(to), -1
        if isinstance(body, ParticleBody):
            local = self._nodes(body, np.atleast_1d(np.asarray(at)))
            place, nodes = body.x[local], self._global(body, local)
        else:
            place, own = np.atleast_2d(np.asarray(at, float)), self._index(body)
            nodes = np.full(len(place), -1, np.int32)
        centre = np.array([b.centre for b in self.rigid]).reshape(-1, 3)
        rotation = np.array([quaternion_matrix(b.quaternion) for b in self.rigid]).reshape(-1, 3, 3)
        self._anchors.append(anchors_at(place, nodes, own, target, centre, rotation))
        self.changed()

    def _index(self, body: RigidBody) -> int:
        if not any(body is b for b in self.rigid):
            raise LimpetError(f"anchor to '{body.name}': it is no body of this world; add it first")
        return next(i for i, b in enumerate(self.rigid) if b is body)

    def _nodes(self, body: ParticleBody, nodes: Array) -> Array:
        if not any(body is b for b in self.soft):
            raise LimpetError(f"body '{body.name}' is not in this world: add it first")
        nodes = np.asarray(nodes)
        if nodes.dtype.kind not in "iu" or (
            nodes.size and (nodes.min() < 0 or nodes.max() >= body.n_points)
        ):
            raise LimpetError(
                f"nodes {nodes.ravel()[:6].tolist()} of '{body.name}': expected whole numbers "
                f"from 0 to {body.n_points - 1}"
            )
        return nodes

    def _global(self, body: ParticleBody, nodes: Array) -> Array:
        i = next(i for i, b in enumerate(self.soft) if b is body)
        return np.ascontiguousarray(nodes + self.first[i], dtype=np.int32)

    def friction_between(self, a: str, b: str) -> float:
        return self._pair_friction.get(frozenset((a, b)), self._friction)
