"""Contacts of sheets, put together from vertices on faces and edges on edges."""

from __future__ import annotations

import numpy as np

from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Contacts
from limpet.contact.sheets import Sheet, cover, edges_on_edges, vertices_on_faces

Array = np.ndarray


class Side:
    """One surface of a pair: its mesh, its number, positions and velocities."""

    def __init__(self, sheet: Sheet, number: int, x: Array, v: Array) -> None:
        self.sheet, self.number = sheet, number
        self.x, self.v = np.ascontiguousarray(x), np.ascontiguousarray(v)

    def cover(self, h: float) -> None:
        """Let its tree cover the step."""
        cover(self.sheet.tree, self.x, self.x + h * self.v, self.sheet.triangles)


def sheet_contacts(
    one: Side, two: Side, thickness: float, margin: float, h: float, *, closed: bool = False,
    continuous: bool = False, edges: bool = True,
) -> Contacts:  # fmt: skip
    """Contacts of a sheet with itself (`two` is `one`), another sheet, or a closed surface."""
    itself = two is one
    parts = []
    if not itself:
        low1, high1 = one.sheet.tree.lower[0], one.sheet.tree.upper[0]
        low2, high2 = two.sheet.tree.lower[0], two.sheet.tree.upper[0]
        reach = thickness + margin
        if np.any(low1 > high2 + reach) or np.any(low2 > high1 + reach):
            return Contacts.none()
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
    return Contacts.join(parts)


def _on_face(vertex: Side, face: Side, index: Array, value: Array, kind: int) -> Contacts:
    """The vertex is a (VERTEX_FACE), or b."""
    corners = index[:, 2:5]
    one = np.zeros((len(index), 3))
    one[:, 0] = 1.0
    sides = [
        (vertex.number, np.repeat(index[:, :1], 3, axis=1), one),
        (face.number, corners, value[:, :3]),
    ]
    normal = value[:, 4:7]
    if kind == FACE_VERTEX:
        sides, normal = sides[::-1], -normal
    # the nearest faces of a vertex change; which vertex, on which side of it, does not
    key = (index[:, 0].astype(np.int64) * 2 + (kind == FACE_VERTEX)) * 2
    a, b, c = (face.x[corners[:, i]] for i in range(3))
    key += np.einsum("ki,ki->k", normal, np.cross(b - a, c - a)) > 0.0
    return _contacts(sides, value[:, 3], normal, kind, key)


def _on_edge(one: Side, two: Side, index: Array, value: Array) -> Contacts:
    s, t = value[:, 0], value[:, 1]
    wa, wb = np.stack([1 - s, s, 0 * s], axis=1), np.stack([1 - t, t, 0 * t], axis=1)
    ends = index.astype(np.int64)
    key = -1 - (((ends[:, 0] * 65521 + ends[:, 1]) * 65521 + ends[:, 2]) * 65521 + ends[:, 3])
    sides = [(one.number, index[:, [0, 1, 0]], wa), (two.number, index[:, [2, 3, 2]], wb)]
    return _contacts(sides, value[:, 2], value[:, 3:6], EDGE_EDGE, key)


def _contacts(
    sides: list[tuple[int, Array, Array]], gap: Array, normal: Array, kind: int, key: Array
) -> Contacts:
    k = len(gap)
    (a, vertices_a, weights_a), (b, vertices_b, weights_b) = sides
    return Contacts(
        np.full(k, a, np.int32), np.full(k, b, np.int32),
        np.ascontiguousarray(vertices_a), np.ascontiguousarray(weights_a),
        np.ascontiguousarray(vertices_b), np.ascontiguousarray(weights_b),
        gap.copy(), np.ascontiguousarray(normal), np.full(k, kind, np.int8), key,
    )  # fmt: skip
