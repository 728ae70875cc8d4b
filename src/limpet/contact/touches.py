"""Places where nodes and rigid bodies touch: what detection of explicit and rigid bodies finds.

A side of a touch is a point on up to three nodes, or a point of a rigid body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Contacts

Array = np.ndarray


@dataclass(frozen=True)
class Touches:
    """k places within reach of a step."""

    nodes_a: Array  # (k, 3) int32, all nodes counted through; unused where a is rigid
    weights_a: Array  # (k, 3) barycentric, zero where unused
    rigid_a: Array  # (k,) int32, -1: a is on nodes
    nodes_b: Array  # (k, 3)
    weights_b: Array  # (k, 3)
    rigid_b: Array  # (k,)
    point: Array  # (k, 3) [m] where impulses act on rigid bodies
    gap: Array  # (k,) [m], negative when penetrating
    normal: Array  # (k, 3) unit, from b to a
    friction: Array  # (k,) mu
    key: Array  # (k,) int64, the same in the next step
    kind: Array  # (k,) int8: VERTEX_FACE, FACE_VERTEX or EDGE_EDGE

    def __len__(self) -> int:
        return len(self.gap)

    def take(self, which: Array | slice) -> Touches:
        return Touches(*(getattr(self, name)[which] for name in FIELDS))

    def apart(self) -> tuple[Touches, Touches]:
        """Those among rigid bodies, and those with nodes."""
        among = (self.rigid_a >= 0) & (self.rigid_b >= 0)
        count = int(among.sum())
        if among[:count].all():  # as they most often are found
            return self.take(slice(0, count)), self.take(slice(count, None))
        return self.take(among), self.take(~among)

    def of_pair(self, number: int, mu: float | None = None) -> Touches:
        """With keys of their own for each pair of bodies, by its number, and its friction."""
        friction = self.friction if mu is None else np.full(len(self), mu)
        return replace(self, key=self.key * 1024 + number, friction=friction)

    @staticmethod
    def join(parts: Sequence[Touches]) -> Touches:
        if len(parts) == 1:
            return parts[0]
        return Touches(*(np.concatenate([getattr(p, name) for p in parts]) for name in FIELDS))

    @staticmethod
    def none() -> Touches:
        empty = np.zeros(0, np.int32)
        return Touches.of_points(empty, -1, -1, np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)))

    @staticmethod
    def of_points(
        nodes: Array, rigid_a: int, rigid_b: int, point: Array, gap: Array, normal: Array
    ) -> Touches:
        """Single vertices on rigid body b: nodes, or (rigid_a >= 0) vertices of a rigid body."""
        k = len(nodes)
        column = np.ascontiguousarray(nodes, dtype=np.int32)[:, None]
        weights = np.zeros((k, 3))
        if rigid_a < 0:
            weights[:, 0] = 1.0
        return Touches(
            nodes_a=np.repeat(column, 3, axis=1),
            weights_a=weights,
            rigid_a=np.full(k, rigid_a, np.int32),
            nodes_b=np.zeros((k, 3), np.int32),
            weights_b=np.zeros((k, 3)),
            rigid_b=np.full(k, rigid_b, np.int32),
            point=point,
            gap=gap,
            normal=normal,
            friction=np.zeros(k),
            key=column[:, 0].astype(np.int64),
            kind=np.full(k, VERTEX_FACE, np.int8),
        )


FIELDS = tuple(f.name for f in fields(Touches))


def touches_of(
    contacts: Contacts, where: Sequence[Array], first_node: Array, rigid: Array, friction: Array
) -> Touches:
    """Contacts between closed surfaces, as touches.

    where: vertices of each surface (n, 3). first_node (bodies,): where a body's nodes begin. rigid
    (bodies,): its number among the rigid ones, -1 if it is made of nodes. friction: by two bodies.
    """
    c = contacts
    offset = np.cumsum([0] + [len(x) for x in where])
    x = np.concatenate(where)
    on_a = x[offset[c.surface_a][:, None] + c.vertices_a]
    on_b = x[offset[c.surface_b][:, None] + c.vertices_b]
    point_a = np.einsum("kj,kji->ki", c.weights_a, on_a)
    point_b = np.einsum("kj,kji->ki", c.weights_b, on_b)
    soft_a, soft_b = rigid[c.surface_a] < 0, rigid[c.surface_b] < 0
    # impulses meet at the point of the side that is made of nodes: no moment is left over
    share = np.where(soft_a, 1.0, np.where(soft_b, 0.0, 0.5))[:, None]
    return Touches(
        nodes_a=(first_node[c.surface_a][:, None] + c.vertices_a).astype(np.int32),
        weights_a=np.where(soft_a[:, None], c.weights_a, 0.0),
        rigid_a=rigid[c.surface_a].astype(np.int32),
        nodes_b=(first_node[c.surface_b][:, None] + c.vertices_b).astype(np.int32),
        weights_b=np.where(soft_b[:, None], c.weights_b, 0.0),
        rigid_b=rigid[c.surface_b].astype(np.int32),
        point=share * point_a + (1.0 - share) * point_b,
        gap=c.gap,
        normal=c.normal,
        friction=friction[c.surface_a, c.surface_b],
        key=c.key,
        kind=c.kind,
    )


__all__ = ["EDGE_EDGE", "FACE_VERTEX", "VERTEX_FACE", "Touches", "touches_of"]
