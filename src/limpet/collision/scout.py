"""Who may touch whom among explicit and rigid bodies, and how each pair is looked at.

Closed forms against vertices, closed surfaces against each other, sheets against anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from limpet.collision.collider import Collider
from limpet.collision.contacts import Contacts
from limpet.collision.detect import closing_speeds, collider, detect
from limpet.collision.primitives import BALL, HALF_SPACE, Primitive, vertices_near
from limpet.collision.sheet_pairs import Side, sheet_touches
from limpet.collision.sheets import Sheet, sheet_of
from limpet.collision.touches import Touches, touches_of
from limpet.geometry.surface import surface_topology

Array = np.ndarray

RIM = 0.2  # of the margin: so near to an edge a vertex lies on the face


@dataclass(frozen=True)
class Part:
    """What is seen of one body."""

    name: str
    first: int  # its first node, -1: rigid
    rigid: int  # its number among the rigid bodies, -1: made of nodes
    movable: bool
    triangles: Array  # (m, 3)
    closed: bool  # they enclose a volume
    shape: Primitive | None  # that stands for them
    thickness: float  # [m] of a sheet, all round its triangles
    itself: bool  # a sheet that may touch itself


@dataclass(frozen=True)
class Place:
    """Where a part is, and how it moves."""

    x: Array  # (n, 3) [m] its vertices
    v: Array  # (n, 3) [m/s]
    centre: Array  # (3,) of a rigid body
    turn: Array  # (3, 3)
    motion: Array  # (6,)


@dataclass(frozen=True)
class Scout:
    """All parts of a world."""

    parts: Sequence[Part]
    friction: Callable[[str, str], float]
    continuous: bool = False  # sheets: look along the way of each vertex
    colliders: list[Collider | None] = field(default_factory=list)
    sheets: list[Sheet | None] = field(default_factory=list)
    surfaces: list[tuple[int, int]] = field(default_factory=list)  # pairs seen by `detect`
    others: list[tuple[int, int]] = field(default_factory=list)

    @staticmethod
    def of(
        parts: Sequence[Part], places: Sequence[Place], friction: Callable[[str, str], float],
        continuous: bool = False,
    ) -> Scout:  # fmt: skip
        scout = Scout(parts, friction, continuous)
        for i, (part, place) in enumerate(zip(parts, places)):
            sheet = not part.closed
            scout.sheets.append(None if part.shape else sheet_of(part.triangles, place.x))
            scout.colliders.append(
                None
                if sheet or part.shape is not None
                else collider(
                    surface_topology(part.triangles, len(place.x)), place.x, part.rigid >= 0
                )
            )
            if sheet and part.itself:
                scout.others.append((i, i))
            for j, other in enumerate(parts[:i]):
                if not (part.movable or other.movable):
                    continue
                # the side made of nodes comes first, then one with vertices to be looked at
                one, two = (i, j) if _rank(part) < _rank(other) else (j, i)
                both = all(p.closed and p.shape is None for p in (part, other))
                (scout.surfaces if both else scout.others).append((one, two))
        return scout

    def find(self, places: Sequence[Place], h: float, margin: float) -> Touches:
        """All places that come within `margin` [m] within h."""
        sides = self._sides(places, h)
        found = [self._pair(a, b, places, sides, h, margin) for a, b in self.others]
        kept = [
            t.of_pair(n + 1, self._mu(a, b))
            for n, ((a, b), t) in enumerate(zip(self.others, found))
            if t is not None and len(t)
        ]
        if self.surfaces:
            kept.append(self._surfaces(places, h, margin))
        return Touches.join(kept) if kept else Touches.none()

    def _mu(self, a: int, b: int) -> float:
        return self.friction(self.parts[a].name, self.parts[b].name)

    def _sides(self, places: Sequence[Place], h: float) -> list[Side | None]:
        """The meshes that sheets may meet, covering the step."""
        out: list[Side | None] = [None] * len(self.parts)
        for a, b in self.others:
            for i in (a, b):
                sheet, part, at = self.sheets[i], self.parts[i], places[i]
                if out[i] is None and sheet is not None and self.parts[b].shape is None:
                    out[i] = Side(sheet, at.x, at.v, part.first, part.rigid)
                    out[i].cover(h)  # type: ignore[union-attr]
        return out

    def _pair(
        self, a: int, b: int, places: Sequence[Place], sides: Sequence[Side | None], h: float,
        margin: float,
    ) -> Touches | None:  # fmt: skip
        one, two, at, on = self.parts[a], self.parts[b], places[a], places[b]
        if two.shape is not None:
            x, v, thickness = at.x, at.v, one.thickness
            if one.shape is not None and one.shape.kind == BALL:  # a point with its radius round it
                x, v, thickness = at.centre[None], at.motion[None, :3], float(one.shape.size[0])
            # threads draw their neighbours along: any node may come as far as the fastest does
            reach = h * float(np.sqrt((v**2).sum(axis=1).max())) if one.rigid < 0 else 0.0
            near = vertices_near(
                x, v, two.shape, on.centre, on.turn, on.motion, thickness, margin, h, reach
            )
            index, gap, normal, point = near
            if len(index) == 0:
                return None
            if thickness > 0.0 and one.rigid >= 0:
                point = point - thickness * normal
            shift = max(one.first, 0)
            return Touches.of_points(index + shift, one.rigid, two.rigid, point, gap, normal)
        one_side, two_side = sides[a], sides[b]
        assert one_side is not None and two_side is not None
        return sheet_touches(
            one_side, two_side, one.thickness + two.thickness, margin, h, closed=two.closed,
            continuous=self.continuous,
        )  # fmt: skip

    def _surfaces(self, places: Sequence[Place], h: float, margin: float) -> Touches:
        seen = [i for i, c in enumerate(self.colliders) if c is not None]
        place = {i: k for k, i in enumerate(seen)}
        pairs = [(place[a], place[b]) for a, b in self.surfaces]
        where = [places[i].x for i in seen]
        fast = closing_speeds([places[i].v for i in seen], pairs)
        colliders = [c for c in self.colliders if c is not None]
        contacts = detect(colliders, where, pairs, [margin + h * s for s in fast], rim=RIM * margin)
        if len(contacts) == 0:
            return Touches.none()
        parts = [self.parts[i] for i in seen]
        mu = np.array([[self.friction(p.name, q.name) for q in parts] for p in parts])
        first = np.array([max(p.first, 0) for p in parts])
        rigid = np.array([p.rigid for p in parts])
        contacts = _soon(contacts, places, seen, h, margin)
        return touches_of(contacts, where, first, rigid, mu).of_pair(0)


def _soon(c: Contacts, places: Sequence[Place], seen: list[int], h: float, margin: float):
    """Those that come within the margin at the present velocities."""
    v = np.concatenate([places[i].v for i in seen])
    offset = np.cumsum([0] + [len(places[i].x) for i in seen])
    va = np.einsum("kj,kji->ki", c.weights_a, v[offset[c.body_a][:, None] + c.vertices_a])
    vb = np.einsum("kj,kji->ki", c.weights_b, v[offset[c.body_b][:, None] + c.vertices_b])
    closing = np.einsum("ki,ki->k", c.normal, va - vb)
    return c.take(c.gap + h * np.minimum(closing, 0.0) <= margin)


def _rank(part: Part) -> int:
    """Which side a part is of a pair: sheets, volumes, balls, rigid surfaces, closed forms."""
    if not part.closed:
        return 0
    if part.rigid < 0:
        return 1
    if part.shape is None:
        return 3
    return 2 if part.shape.kind == BALL else 5 if part.shape.kind == HALF_SPACE else 4
