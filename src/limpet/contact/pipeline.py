"""Who may touch whom among explicit and rigid bodies, and how each pair is looked at.

Closed forms against vertices, closed surfaces against each other, sheets against anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.contact.collider import Collider
from limpet.contact.contacts import Contacts
from limpet.contact.detect import closing_speeds, collider, detect
from limpet.contact.primitive_pairs import BodyKinematics, PrimitivePairs, touches_on_forms
from limpet.contact.primitives import BALL, HALF_SPACE, Primitive, box_round
from limpet.contact.sheet_pairs import Side, sheet_touches
from limpet.contact.sheets import Sheet, sheet_of
from limpet.contact.touches import Touches, touches_of
from limpet.geometry.surface import surface_topology

Array = np.ndarray

RIM = 0.2  # of the margin: so near to an edge a vertex lies on the face


@dataclass(frozen=True)
class CollisionBody:
    """What is seen of one body."""

    name: str
    first: int  # its first node, -1: rigid
    rigid: int  # its number among the rigid bodies, -1: made of nodes
    movable: bool
    triangles: Array  # (m, 3)
    closed: bool  # they enclose a volume
    shape: Primitive | None  # that stands for them
    thickness: float  # [m] of a sheet, all round its triangles
    self_collision: bool  # a sheet that may touch itself


@dataclass(frozen=True)
class Kinematics:
    """Where a part is, and how it moves."""

    x: Array  # (n, 3) [m] its vertices; of a ball its centre
    v: Array  # (n, 3) [m/s]
    centre: Array  # (3,) of a rigid body
    rotation: Array  # (3, 3)
    motion: Array  # (6,)


@dataclass(frozen=True)
class CollisionPipeline:
    """All parts of a world."""

    parts: Sequence[CollisionBody]
    friction: Callable[[str, str], float]
    continuous: bool  # sheets: look along the way of each vertex
    surfaces: list[tuple[int, int]]  # pairs seen by `detect`
    meshes: list[tuple[int, int, int]]  # pairs with a sheet, and their numbers
    forms: PrimitivePairs | None  # vertices and closed forms
    colliders: dict[int, Collider]  # of the parts in `surfaces`
    sheets: dict[int, Sheet]  # of those in `meshes`

    @staticmethod
    def of(
        parts: Sequence[CollisionBody],
        places: Sequence[Kinematics],
        friction: Callable[[str, str], float],
        continuous: bool = False,
    ) -> CollisionPipeline:
        surfaces: list[tuple[int, int]] = []
        pairs: list[tuple[int, int]] = []
        for i, part in enumerate(parts):
            if not part.closed and part.self_collision:
                pairs.append((i, i))
            for j, other in enumerate(parts[:i]):
                if not (part.movable or other.movable):
                    continue
                # the side made of nodes comes first, then one with vertices to be looked at
                one, two = (i, j) if _rank(part) < _rank(other) else (j, i)
                both = all(p.closed and p.shape is None for p in (part, other))
                (surfaces if both else pairs).append((one, two))
        numbered = [(a, b, n + 1) for n, (a, b) in enumerate(pairs)]
        meshes = [p for p in numbered if parts[p[1]].shape is None]
        forms = [p for p in numbered if parts[p[1]].shape is not None]

        seen = sorted({i for pair in surfaces for i in pair})
        met = sorted({i for a, b, _ in meshes for i in (a, b) if parts[i].shape is None})
        return CollisionPipeline(
            parts, friction, continuous, surfaces, meshes,
            _form_pairs(parts, forms, friction) if forms else None,
            {i: _collider(parts[i], places[i].x) for i in seen},
            {i: sheet_of(parts[i].triangles, places[i].x) for i in met},
        )  # fmt: skip

    def find(self, places: Sequence[Kinematics], h: float, margin: float) -> Touches:
        """All places that come within `margin` [m] within h."""
        found, sides = [], self._sides(places, h)
        for a, b, number in self.meshes:
            touches = self._sheets(a, b, sides, h, margin)
            found.append(touches.of_pair(number, self._mu(a, b)))
        if self.forms is not None:
            found.append(touches_on_forms(self.forms, _joined(places), margin, h))
        if self.surfaces:
            found.append(self._surfaces(places, h, margin))
        found = [t for t in found if len(t)]
        return Touches.join(found) if found else Touches.none()

    def _mu(self, a: int, b: int) -> float:
        return self.friction(self.parts[a].name, self.parts[b].name)

    def _sides(self, places: Sequence[Kinematics], h: float) -> dict[int, Side]:
        """The meshes that sheets may meet, covering the step."""
        out = {}
        for i, sheet in self.sheets.items():
            part, at = self.parts[i], places[i]
            out[i] = Side(sheet, at.x, at.v, part.first, part.rigid)
            out[i].cover(h)
        return out

    def _sheets(self, a: int, b: int, sides: dict[int, Side], h: float, margin: float) -> Touches:
        one, two = self.parts[a], self.parts[b]
        return sheet_touches(
            sides[a], sides[b], one.thickness + two.thickness, margin, h, closed=two.closed,
            continuous=self.continuous,
        )  # fmt: skip

    def _surfaces(self, places: Sequence[Kinematics], h: float, margin: float) -> Touches:
        close = _may_meet(places, self.surfaces, margin, h)
        if not close:
            return Touches.none()
        seen = list(self.colliders)
        place = {i: k for k, i in enumerate(seen)}
        pairs = [(place[a], place[b]) for a, b in close]
        where = [places[i].x for i in seen]
        fast = closing_speeds([places[i].v for i in seen], pairs)
        colliders = list(self.colliders.values())
        contacts = detect(colliders, where, pairs, [margin + h * s for s in fast], rim=RIM * margin)
        if len(contacts) == 0:
            return Touches.none()
        parts = [self.parts[i] for i in seen]
        mu = np.array([[self.friction(p.name, q.name) for q in parts] for p in parts])
        first = np.array([max(p.first, 0) for p in parts])
        rigid = np.array([p.rigid for p in parts])
        contacts = _soon(contacts, places, seen, h, margin)
        return touches_of(contacts, where, first, rigid, mu).of_pair(0)


def _form_pairs(
    parts: Sequence[CollisionBody],
    pairs: list[tuple[int, int, int]],
    friction: Callable[[str, str], float],
) -> PrimitivePairs:
    """Those among rigid bodies first: they are solved apart."""
    pairs = sorted(pairs, key=lambda p: parts[p[0]].rigid < 0)
    ones, twos = [parts[a] for a, _, _ in pairs], [parts[b] for _, b, _ in pairs]
    shapes = [p.shape for p in twos if p.shape is not None]
    return PrimitivePairs(
        one=np.array([a for a, _, _ in pairs]),
        two=np.array([b for _, b, _ in pairs]),
        rigid=np.array([[p.rigid, q.rigid] for p, q in zip(ones, twos)], np.int32),
        shift=np.array([max(p.first, 0) for p in ones], np.int32),
        kind=np.array([s.kind for s in shapes]),
        size=np.array([s.size for s in shapes]),
        axis=np.array([s.axis for s in shapes]),
        thickness=np.array([_round(p) or p.thickness for p in ones]),
        friction=np.array([friction(p.name, q.name) for p, q in zip(ones, twos)]),
        number=np.array([n for _, _, n in pairs]),
    )


def _collider(part: CollisionBody, x: Array) -> Collider:
    return collider(surface_topology(part.triangles, len(x)), x, part.rigid >= 0)


def _may_meet(
    places: Sequence[Kinematics], pairs: Sequence[tuple[int, int]], margin: float, h: float
) -> list[tuple[int, int]]:
    """Those whose boxes come within `margin` if each goes as fast as the fastest of its vertices.

    This is had from the vertices at once, and most often there is nothing else to look for.
    """
    middle, half, fast = np.empty((len(places), 3)), np.empty((len(places), 3)), {}
    for i in {i for pair in pairs for i in pair}:
        at = places[i]
        fast[i] = box_round(at.x, at.v, 0, len(at.x), middle[i], half[i])

    def apart(a: int, b: int) -> bool:
        between = np.abs(middle[a] - middle[b]) - half[a] - half[b]
        return bool(between.max() > margin + h * (fast[a] + fast[b]))

    return [(a, b) for a, b in pairs if not apart(a, b)]


def _round(part: CollisionBody) -> float:
    """[m] Its radius if it is a ball: a point with that round it."""
    ball = part.shape is not None and part.shape.kind == BALL
    return float(part.shape.size[0]) if ball else 0.0  # type: ignore[union-attr]


def _joined(places: Sequence[Kinematics]) -> BodyKinematics:
    n = len(places)
    start, centre, rotation = np.zeros(n + 1, np.int64), np.empty((n, 3)), np.empty((n, 3, 3))
    motion = np.empty((n, 6))
    for i, p in enumerate(places):
        start[i + 1] = start[i] + len(p.x)
        centre[i], rotation[i], motion[i] = p.centre, p.rotation, p.motion
    x, v = np.concatenate([p.x for p in places]), np.concatenate([p.v for p in places])
    return BodyKinematics(start, x, v, centre, rotation, motion)


def _soon(c: Contacts, places: Sequence[Kinematics], seen: list[int], h: float, margin: float):
    """Those that come within the margin at the present velocities."""
    v = np.concatenate([places[i].v for i in seen])
    offset = np.cumsum([0] + [len(places[i].x) for i in seen])
    va = np.einsum("kj,kji->ki", c.weights_a, v[offset[c.surface_a][:, None] + c.vertices_a])
    vb = np.einsum("kj,kji->ki", c.weights_b, v[offset[c.surface_b][:, None] + c.vertices_b])
    closing = np.einsum("ki,ki->k", c.normal, va - vb)
    return c.take(c.gap + h * np.minimum(closing, 0.0) <= margin)


def _rank(part: CollisionBody) -> int:
    """Which side a part is of a pair: sheets, volumes, balls, rigid surfaces, closed forms."""
    if not part.closed:
        return 0
    if part.rigid < 0:
        return 1
    if part.shape is None:
        return 3
    return 2 if part.shape.kind == BALL else 5 if part.shape.kind == HALF_SPACE else 4
