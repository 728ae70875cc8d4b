"""Touches of sheets, put together from vertices on faces and edges on edges."""

from __future__ import annotations

import numpy as np

from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE
from limpet.contact.sheets import Sheet, cover, edges_on_edges, vertices_on_faces
from limpet.contact.touches import Touches

Array = np.ndarray


class Side:
    """One body of a pair: its mesh, where it is, how it moves, and whose nodes it has."""

    def __init__(self, sheet: Sheet, x: Array, v: Array, first: int, rigid: int) -> None:
        self.sheet, self.rigid, self.first = sheet, rigid, max(first, 0)
        self.x, self.v = np.ascontiguousarray(x), np.ascontiguousarray(v)

    def cover(self, h: float) -> None:
        """Let its tree cover the step."""
        cover(self.sheet.tree, self.x, self.x + h * self.v, self.sheet.triangles)


def sheet_touches(
    one: Side, two: Side, thickness: float, margin: float, h: float, *, closed: bool = False,
    continuous: bool = False, edges: bool = True,
) -> Touches:  # fmt: skip
    """Touches of a sheet with itself (`two` is `one`), another sheet, or a closed surface."""
    itself = two is one
    parts = []
    if not itself:
        low1, high1 = one.sheet.tree.lower[0], one.sheet.tree.upper[0]
        low2, high2 = two.sheet.tree.lower[0], two.sheet.tree.upper[0]
        reach = thickness + margin
        if np.any(low1 > high2 + reach) or np.any(low2 > high1 + reach):
            return Touches.none()
    rule = (thickness, margin, h)
    outside = 2 if closed else 0
    index, value = vertices_on_faces(
        one.x, one.v, one.sheet, two.x, two.v, two.sheet, itself, outside, *rule, continuous
    )
    if len(index):
        parts.append(_on_face(one, two, index, value, VERTEX_FACE))
    if not itself:
        outside = 1 if closed else 0
        index, value = vertices_on_faces(
            two.x, two.v, two.sheet, one.x, one.v, one.sheet, False, outside, *rule, continuous
        )
        if len(index):
            parts.append(_on_face(two, one, index, value, FACE_VERTEX))
    if edges:
        outside = 2 if closed else 0
        index, value = edges_on_edges(
            one.x, one.v, one.sheet, two.x, two.v, two.sheet, itself, outside, *rule
        )
        if len(index):
            parts.append(_on_edge(one, two, index, value))
    return Touches.join(parts) if parts else Touches.none()


def _on_face(vertex: Side, face: Side, index: Array, value: Array, kind: int) -> Touches:
    """The vertex is a (VERTEX_FACE), or b."""
    k = len(index)
    corners, weights = index[:, 2:5], value[:, :3]
    lone = np.zeros((k, 3))
    lone[:, 0] = 1.0
    nodes = np.repeat(index[:, :1], 3, axis=1)
    sides = [
        (nodes + vertex.first, lone, vertex.rigid),
        (corners + face.first, weights, face.rigid),
    ]
    normal = value[:, 4:7]
    if kind == FACE_VERTEX:
        sides, normal = sides[::-1], -normal
    # where impulses meet: at the side that is made of nodes
    at_vertex = vertex.x[index[:, 0]]
    at_face = np.einsum("kj,kji->ki", weights, face.x[corners])
    point = at_vertex if vertex.rigid < 0 else at_face
    # the nearest faces of a vertex change; which vertex, on which side of it, does not
    key = (index[:, 0].astype(np.int64) * 2 + (kind == FACE_VERTEX)) * 2
    key += np.einsum("ki,ki->k", normal, _ups(face, corners)) > 0.0
    return _touches(sides, point, value[:, 3], normal, key, kind)


def _ups(face: Side, corners: Array) -> Array:
    a, b, c = (face.x[corners[:, i]] for i in range(3))
    return np.cross(b - a, c - a)


def _on_edge(one: Side, two: Side, index: Array, value: Array) -> Touches:
    s, t = value[:, 0], value[:, 1]
    wa, wb = np.stack([1 - s, s, 0 * s], axis=1), np.stack([1 - t, t, 0 * t], axis=1)
    a, b = index[:, [0, 1, 0]], index[:, [2, 3, 2]]
    at_one, at_two = (
        np.einsum("kj,kji->ki", wa, one.x[a]), np.einsum("kj,kji->ki", wb, two.x[b])
    )  # fmt: skip
    ends = index.astype(np.int64)
    key = -1 - (((ends[:, 0] * 65521 + ends[:, 1]) * 65521 + ends[:, 2]) * 65521 + ends[:, 3])
    sides = [(a + one.first, wa, one.rigid), (b + two.first, wb, two.rigid)]
    point = at_one if one.rigid < 0 else at_two
    return _touches(sides, point, value[:, 2], value[:, 3:6], key, EDGE_EDGE)


def _touches(
    sides: list[tuple[Array, Array, int]], point: Array, gap: Array, normal: Array, key: Array,
    kind: int,
) -> Touches:  # fmt: skip
    k = len(gap)
    (a, wa, rigid_a), (b, wb, rigid_b) = sides
    return Touches(
        a.astype(np.int32), wa if rigid_a < 0 else np.zeros((k, 3)), np.full(k, rigid_a, np.int32),
        b.astype(np.int32), wb if rigid_b < 0 else np.zeros((k, 3)), np.full(k, rigid_b, np.int32),
        point, gap.copy(), np.ascontiguousarray(normal), np.zeros(k), key,
        np.full(k, kind, np.int8),
    )  # fmt: skip
