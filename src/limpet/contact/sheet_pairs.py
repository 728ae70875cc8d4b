"""Contacts of sheets, put together from vertices on faces and edges on edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.contact.collider import Shape
from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Contacts
from limpet.contact.detect import closing_speeds
from limpet.contact.sheet_on_closed import corners_on_sheet, edges_on_ridges, vertices_on_closed
from limpet.contact.sheets import Sheet, cover, edges_on_edges, vertices_on_faces
from limpet.geometry.bvh import refit

Array = np.ndarray


CORE = 0.25  # of the thickness: what corners and ridges of a closed surface keep from a sheet


class Side:
    """One surface of a pair: its mesh, its number, positions and velocities."""

    def __init__(self, sheet: Sheet, number: int, x: Array, v: Array) -> None:
        self.sheet, self.number = sheet, number
        self.x, self.v = np.ascontiguousarray(x), np.ascontiguousarray(v)

    def cover(self, h: float) -> None:
        """Let its tree cover the step."""
        cover(self.sheet.tree, self.x, self.x + h * self.v, self.sheet.triangles)


class ClosedSide(NamedTuple):
    """A closed surface of a pair, as `Side`; its tree is fitted to x."""

    shape: Shape
    number: int
    x: Array
    v: Array

    def fit(self) -> None:
        """Let its tree follow the positions."""
        refit(self.shape.tree, self.x, self.shape.adjacent.triangles)


def sheet_contacts(
    one: Side, two: Side, thickness: float, margin: float, h: float, *, continuous: bool = False,
    edges: bool = True,
) -> Contacts:  # fmt: skip
    """Contacts of a sheet with itself (`two` is `one`), or with another sheet."""
    itself = two is one
    parts = []
    if not itself:
        low1, high1 = one.sheet.tree.lower[0], one.sheet.tree.upper[0]
        low2, high2 = two.sheet.tree.lower[0], two.sheet.tree.upper[0]
        reach = thickness + margin
        if np.any(low1 > high2 + reach) or np.any(low2 > high1 + reach):
            return Contacts.none()
    rule = (thickness, margin, h)
    index, value = vertices_on_faces(
        one.x, one.v, one.sheet, two.x, two.v, two.sheet, itself, *rule, continuous
    )
    if len(index):
        parts.append(_on_face(one, two, index, value, VERTEX_FACE))
    if not itself:
        index, value = vertices_on_faces(
            two.x, two.v, two.sheet, one.x, one.v, one.sheet, False, *rule, continuous
        )
        if len(index):
            parts.append(_on_face(two, one, index, value, FACE_VERTEX))
    if edges:
        index, value = edges_on_edges(
            one.x, one.v, one.sheet, two.x, two.v, two.sheet, itself, *rule
        )
        if len(index):
            parts.append(_on_edge(one, two, index, value))
    return Contacts.join(parts)


def closed_contacts(
    one: Side, two: ClosedSide, thickness: float, margin: float, h: float
) -> Contacts:
    """Contacts of a sheet with a closed surface, of all that may arrive there within h.

    Chains pull their neighbours along: any vertex may come as far as the fastest does. The sheet's
    vertices keep the thickness, and are pushed out. Between them it is flat, and lies nearer to
    what is round: corners and ridges keep only its CORE, and stop what comes nearer without pushing
    it out. If they pushed, a cloth over a rim would never come to rest.
    """
    (fast,) = closing_speeds([one.v, two.v], [(0, 1)])
    within = margin + h * fast
    low, high = one.sheet.tree.lower[0] - thickness, one.sheet.tree.upper[0] + thickness
    if np.any(low > two.shape.tree.upper[0] + within) or np.any(
        high < two.shape.tree.lower[0] - within
    ):
        return Contacts.none()
    parts = []
    index, value = vertices_on_closed(one.x, one.sheet.used, two.x, two.shape, thickness, within)
    if len(index):
        parts.append(_on_face(one, two, index, value, VERTEX_FACE))
    thin = CORE * thickness
    index, value = corners_on_sheet(two.x, two.shape, one.x, one.sheet, thin, within)
    if len(index):
        value[:, 3] = np.maximum(value[:, 3], 0.0)
        parts.append(_on_face(two, one, index, value, FACE_VERTEX))
    index, value = edges_on_ridges(one.x, one.sheet, two.x, two.shape, thin, within)
    if len(index):
        value[:, 2] = np.maximum(value[:, 2], 0.0)
        parts.append(_on_edge(one, two, index, value))
    return Contacts.join(parts)


def _on_face(
    vertex: Side | ClosedSide, face: Side | ClosedSide, index: Array, value: Array, kind: int
) -> Contacts:
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


def _on_edge(one: Side, two: Side | ClosedSide, index: Array, value: Array) -> Contacts:
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
