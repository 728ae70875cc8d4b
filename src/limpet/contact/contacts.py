"""The record of contacts that detection hands to the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numba import njit

from limpet.geometry.distance import Vec

Array = np.ndarray
Corners = tuple[int, int, int]

VERTEX_FACE = 0  # a vertex of a on the surface of b
FACE_VERTEX = 1  # a vertex of b on the surface of a
EDGE_EDGE = 2


@dataclass(frozen=True)
class Contacts:
    """k places where two surfaces come within the alarm distance."""

    body_a: Array  # (k,) int32, index of the first body's surface in the list
    body_b: Array  # (k,) int32
    vertices_a: Array  # (k, 3) int32, vertices of a that carry the point; repeated where unused
    weights_a: Array  # (k, 3), barycentric, sum 1, zero where unused
    vertices_b: Array  # (k, 3) int32
    weights_b: Array  # (k, 3)
    gap: Array  # (k,) [m], negative when penetrating: normal . (point_a - point_b)
    normal: Array  # (k, 3) unit, from b to a
    kind: Array  # (k,) int8: VERTEX_FACE, FACE_VERTEX or EDGE_EDGE

    def __len__(self) -> int:
        return len(self.gap)

    def take(self, which: Array) -> Contacts:
        """Some of the contacts, by mask or index."""
        return Contacts(**{f.name: getattr(self, f.name)[which] for f in fields(Contacts)})

    @staticmethod
    def none() -> Contacts:
        return Contacts.of_rows(0, 0, np.empty((0, 7), np.int32), np.empty((0, 10)))

    @staticmethod
    def of_rows(body_a: int, body_b: int, index: Array, value: Array) -> Contacts:
        """From the kernels' rows: index (k, 7) kind, vertices of a, of b; value (k, 10) weights of
        a, of b, gap, normal."""
        k = len(index)
        return Contacts(
            body_a=np.full(k, body_a, np.int32),
            body_b=np.full(k, body_b, np.int32),
            vertices_a=index[:, 1:4].copy(),
            weights_a=value[:, 0:3].copy(),
            vertices_b=index[:, 4:7].copy(),
            weights_b=value[:, 3:6].copy(),
            gap=value[:, 6].copy(),
            normal=value[:, 7:10].copy(),
            kind=index[:, 0].astype(np.int8),
        )

    @staticmethod
    def join(parts: Sequence[Contacts]) -> Contacts:
        """One record after the other."""
        if not parts:
            return Contacts.none()
        if len(parts) == 1:
            return parts[0]
        return Contacts(
            **{
                f.name: np.concatenate([getattr(p, f.name) for p in parts])
                for f in fields(Contacts)
            }
        )


def contact_keys(contacts: Contacts, offset: Array) -> Array:
    """(k,) int64: a vertex contact is known by its vertex and the other body, edges by their ends.

    Those of edges are negative. Beyond 46340 vertices two pairs of edges may share a key, at odds
    of one in 10^18.
    """
    a = np.sort(contacts.vertices_a[:, :2].astype(np.int64), axis=1) + offset[contacts.body_a, None]
    b = np.sort(contacts.vertices_b[:, :2].astype(np.int64), axis=1) + offset[contacts.body_b, None]
    by_b = contacts.kind == FACE_VERTEX
    vertex = np.where(
        by_b,
        contacts.vertices_b[:, 0] + offset[contacts.body_b],
        contacts.vertices_a[:, 0] + offset[contacts.body_a],
    ).astype(np.int64)
    other = np.where(by_b, contacts.body_a, contacts.body_b)
    size = int(offset[-1])
    ends = ((a[:, 0] * size + a[:, 1]) * size + b[:, 0]) * size + b[:, 1]
    edges = -1 - (ends & (2**62 - 1))
    return np.where(contacts.kind == EDGE_EDGE, edges, vertex * (len(offset) + 1) + other)


@njit(cache=True)
def doubled(array: Array) -> Array:
    """Twice the room."""
    return np.concatenate((array, np.empty_like(array)))


@njit(cache=True)
def store(
    index: Array,
    value: Array,
    row: int,
    kind: int,
    va: Corners,
    wa: Vec,
    vb: Corners,
    wb: Vec,
    n: Vec,
    gap: float,
) -> None:
    """Write one contact, as Contacts.of_rows reads it."""
    index[row, 0], value[row, 6] = kind, gap
    for k in range(3):
        value[row, 7 + k] = n[k]
        index[row, 1 + k], index[row, 4 + k] = va[k], vb[k]
        value[row, k], value[row, 3 + k] = wa[k], wb[k]
