"""The record of contacts that detection hands to the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import Vec

Array = np.ndarray
Corners = tuple[int, int, int]

VERTEX_FACE = 0  # a vertex of a on the surface of b
FACE_VERTEX = 1  # a vertex of b on the surface of a
EDGE_EDGE = 2


@dataclass(frozen=True)
class Contacts:
    """k places where two surfaces come within the alarm distance."""

    surface_a: Array  # (k,) int32, number of the first surface
    surface_b: Array  # (k,) int32
    vertices_a: Array  # (k, 3) int32, vertices of a that carry the point; repeated where unused
    weights_a: Array  # (k, 3), barycentric, sum 1, zero where unused
    vertices_b: Array  # (k, 3) int32
    weights_b: Array  # (k, 3)
    gap: Array  # (k,) [m], negative when penetrating: normal . (point_a - point_b), less by what
    # smooth surfaces stand out of their triangles
    normal: Array  # (k, 3) unit, from b to a
    kind: Array  # (k,) int8: VERTEX_FACE, FACE_VERTEX or EDGE_EDGE
    key: Array  # (k,) int64, the same in the next step

    def __len__(self) -> int:
        return len(self.gap)

    def take(self, which: Array | slice) -> Contacts:
        """Some of the contacts, by mask, index or slice."""
        return Contacts(*(getattr(self, name)[which] for name in FIELDS))

    def among(self, others: Contacts) -> Array:
        """(k,) bool: whether each contact is one of the others, too."""
        return np.isin(self.key, others.key)

    def with_more(self, others: Contacts) -> Contacts:
        """The contacts, and those of the others that they lack."""
        if len(others) == 0:
            return self
        return Contacts.join([self, others.take(~others.among(self))])

    def between_bodies(self) -> Contacts:
        """Without those of a surface with itself, which close no air off."""
        two = self.surface_a != self.surface_b
        return self if two.all() else self.take(two)

    def points(self, x: Array, first: Array) -> Array:
        """(k, 3) [m] on their first surfaces, for x (N, 3) of all surfaces joined."""
        carried = x[first[self.surface_a][:, None] + self.vertices_a]
        return np.einsum("kj,kji->ki", self.weights_a, carried)

    @staticmethod
    def none() -> Contacts:
        return Contacts.of_rows(0, 0, np.empty((0, 7), np.int32), np.empty((0, 10)), NO_POINTS)

    @staticmethod
    def of_rows(a: int, b: int, index: Array, value: Array, first: Array) -> Contacts:
        """From the kernels' rows: index (k, 7) kind, vertices of a, of b; value (k, 10) weights of
        a, of b, gap, normal. first (surfaces + 1,): where each surface's points begin.

        Edges are put in the order of their ends: they are found in that of a walk over two trees,
        which depends on how the world is turned, and sweeps of a solver depend on the order.
        """
        k, key = len(index), _keys(a, b, index, first)
        edges = index[:, 0] == EDGE_EDGE
        if np.count_nonzero(edges) > 1:
            order = np.argsort(np.where(edges, -key, 0), kind="stable")
            index, value, key = index[order], value[order], key[order]
        return Contacts(
            surface_a=np.full(k, a, np.int32), surface_b=np.full(k, b, np.int32),
            vertices_a=index[:, 1:4].copy(), weights_a=value[:, 0:3].copy(),
            vertices_b=index[:, 4:7].copy(), weights_b=value[:, 3:6].copy(), gap=value[:, 6].copy(),
            normal=value[:, 7:10].copy(), kind=index[:, 0].astype(np.int8),
            key=key,
        )  # fmt: skip

    @staticmethod
    def join(parts: Sequence[Contacts]) -> Contacts:
        """One record after the other."""
        if not parts:
            return Contacts.none()
        if len(parts) == 1:
            return parts[0]
        return Contacts(*(np.concatenate([getattr(p, name) for p in parts]) for name in FIELDS))


FIELDS = tuple(f.name for f in fields(Contacts))
NO_POINTS = np.zeros(2, np.int64)


@njit(cache=True)
def _keys(a: int, b: int, index: Array, first: Array) -> Array:
    """A vertex contact is known by its vertex and the other surface, edges by their ends.

    Those of edges are negative. Beyond 46340 vertices two pairs of edges may share a key, at odds
    of one in 10^18.
    """
    out = np.empty(len(index), np.int64)
    size, count = np.int64(first[-1]), np.int64(len(first))
    for k in range(len(index)):
        if index[k, 0] == EDGE_EDGE:
            ends = np.int64(0)
            for i, j, start in ((1, 2, first[a]), (4, 5, first[b])):
                low, high = min(index[k, i], index[k, j]), max(index[k, i], index[k, j])
                ends = (ends * size + start + low) * size + start + high
            out[k] = -1 - (ends & (2**62 - 1))
        elif index[k, 0] == FACE_VERTEX:
            out[k] = (first[b] + index[k, 4]) * (count + 1) + a
        else:
            out[k] = (first[a] + index[k, 1]) * (count + 1) + b
    return out


@njit(cache=True)
def doubled(array: Array) -> Array:
    """Twice the room."""
    return np.concatenate((array, np.empty_like(array)))


@inner()
def store(
    index: Array, value: Array, row: int, kind: int, va: Corners, wa: Vec, vb: Corners, wb: Vec,
    n: Vec, gap: float,
) -> None:  # fmt: skip
    """Write one contact, as Contacts.of_rows reads it."""
    index[row, 0], value[row, 6] = kind, gap
    for k in range(3):
        value[row, 7 + k] = n[k]
        index[row, 1 + k], index[row, 4 + k] = va[k], vb[k]
        value[row, k], value[row, 3 + k] = wa[k], wb[k]
