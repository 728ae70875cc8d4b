"""Contacts among particle bodies and the rigid bodies among them.

Vertices against primitives, closed surfaces against each other, sheets against anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.contact.collider import Collider
from limpet.contact.contacts import Contacts
from limpet.contact.crossings import crossings_of
from limpet.contact.detect import closing_speeds, collider, detect, refit_trees
from limpet.contact.impacts import stop_impacts
from limpet.contact.overlap import overlap
from limpet.contact.primitive_pairs import Kinematics, PrimitivePairs, primitive_contacts
from limpet.contact.primitives import BALL, BLOCK, HALF_SPACE, Primitive, bounding_box
from limpet.contact.rows import opening_speeds
from limpet.contact.sheet_pairs import ClosedSide, Side, closed_contacts, sheet_contacts
from limpet.contact.sheets import Sheet, sheet_of
from limpet.geometry.bvh import refit
from limpet.geometry.surface import surface_topology

Array = np.ndarray

CLEAR, LEAST = 0.05, 1e-6  # of the thickness, and [m]: kept between sheets that would pass
RIM = 0.2  # of the margin: so near to an edge a vertex lies on the face


@dataclass(frozen=True)
class CollisionBody:
    """One body as collision detection needs it: one surface, or a primitive."""

    name: str
    first: int  # its first node, -1: rigid
    rigid: int  # its number among the rigid bodies, -1: made of nodes
    movable: bool
    triangles: Array  # (m, 3)
    closed: bool  # they enclose a volume
    shape: Primitive | None  # used instead of the triangles
    thickness: float  # [m] of a sheet, all round its triangles
    self_collision: bool  # of a sheet with itself
    keeps_shape: bool = False  # its flat faces stay flat
    touches: frozenset[str] | None = None  # names of the bodies that it may touch; None: all

    @property
    def radius(self) -> float:
        """[m] of a ball, which is a point with that radius; else 0."""
        return float(self.shape.size[0]) if self.shape and self.shape.kind == BALL else 0.0

    def may_touch(self, other: CollisionBody) -> bool:
        """Whether the two can meet, and an impulse between them moves anything."""
        allowed = (
            one.touches is None or two.name in one.touches
            for one, two in ((self, other), (other, self))
        )
        return (self.movable or other.movable) and all(allowed)

    @property
    def rank(self) -> int:
        """Which side it is of a pair: sheets, volumes, balls, rigid surfaces, primitives."""
        if not self.closed:
            return 0
        if self.rigid < 0:
            return 1
        if self.shape is None:
            return 3
        return 2 if self.shape.kind == BALL else 5 if self.shape.kind == HALF_SPACE else 4


@dataclass(frozen=True)
class JoinedSheets:
    """All sheets as one, over the nodes of the particle system."""

    sheet: Sheet
    alone: Array  # (n,) int32: nodes with the same number do not collide; -1: they do
    clearance: float  # [m] kept between what would pass

    @staticmethod
    def of(bodies: Sequence[CollisionBody], numbers: set[int], at: Kinematics) -> JoinedSheets:
        sheets = {i: bodies[i] for i in sorted(numbers)}
        count = {i: int(at.start[i + 1] - at.start[i]) for i in sheets}
        n = max(body.first + count[i] for i, body in sheets.items())
        x, alone = np.zeros((n, 3)), np.full(n, -1, np.int32)
        for i, body in sheets.items():
            own = slice(body.first, body.first + count[i])
            x[own] = at.x[at.start[i] : at.start[i + 1]]
            alone[own] = -1 if body.self_collision else i
        triangles = np.concatenate([body.triangles + body.first for body in sheets.values()])
        thin = min(body.thickness for body in sheets.values())
        return JoinedSheets(sheet_of(triangles, x), alone, max(CLEAR * thin, LEAST))

    def stop(self, x: Array, u: Array, inverse_mass: Array, h: float) -> tuple[Array, int]:
        """Velocities (n, 3) with which no sheet passes through another, and how many would."""
        return stop_impacts(x, u, inverse_mass, self.sheet, self.alone, self.clearance, h)

    def crossings(self, x: Array) -> int:
        """How many edges go through triangles at x (n, 3): 0 unless something is tangled."""
        refit(self.sheet.tree, x, self.sheet.triangles)
        return int(crossings_of(x, self.sheet, self.alone))


@dataclass(frozen=True)
class CollisionPipeline:
    """All collision bodies of a particle system; their numbers are those of surfaces."""

    bodies: Sequence[CollisionBody]
    continuous: bool  # sheets: continuous collision detection
    surfaces: list[tuple[int, int]]  # pairs for `detect`
    meshes: list[tuple[int, int, int]]  # pairs with a sheet, and their numbers
    primitives: PrimitivePairs | None  # vertices and primitives
    number: Array  # (c,) int32 surface of each collider
    colliders: list[Collider]  # of the closed ones in `surfaces` and `meshes`
    sheets: dict[int, Sheet]  # of the open ones in `meshes`
    joined: JoinedSheets | None  # those that may pass through each other or themselves

    @staticmethod
    def of(
        bodies: Sequence[CollisionBody], at: Kinematics, continuous: bool = False
    ) -> CollisionPipeline:
        surfaces: list[tuple[int, int]] = []
        pairs: list[tuple[int, int]] = []
        for i, body in enumerate(bodies):
            if not body.closed and body.self_collision:
                pairs.append((i, i))
            for j, other in enumerate(bodies[:i]):
                if not body.may_touch(other):
                    continue
                # the side made of nodes comes first, then one with vertices
                one, two = (i, j) if body.rank < other.rank else (j, i)
                (surfaces if _by_surfaces(body, other) else pairs).append((one, two))
        numbered = [(a, b, n + 1) for n, (a, b) in enumerate(pairs)]
        meshes = [p for p in numbered if bodies[p[1]].shape is None]
        primitives = [p for p in numbered if bodies[p[1]].shape is not None]

        def x(i: int) -> Array:
            return at.x[at.start[i] : at.start[i + 1]]

        facing = {i for a, b, _ in meshes for i in (a, b)}
        closed = sorted(
            {i for pair in surfaces for i in pair} | {i for i in facing if bodies[i].closed}
        )
        sheets = sorted(i for i in facing if not bodies[i].closed)
        among = {i for a, b, _ in meshes for i in (a, b) if not bodies[b].closed}
        return CollisionPipeline(
            bodies, continuous, surfaces, meshes,
            _primitive_pairs(bodies, primitives) if primitives else None,
            np.array(closed, np.int32), [_collider(bodies[i], x(i)) for i in closed],
            {i: sheet_of(bodies[i].triangles, x(i)) for i in sheets},
            JoinedSheets.of(bodies, among, at) if among and continuous else None,
        )  # fmt: skip

    def overlaps(self, at: Kinematics) -> Array:
        """(p,) [m] how deep each of the pairs in `surfaces` overlaps now."""
        out = np.zeros(len(self.surfaces))
        if not self.surfaces:
            return out
        close = set(_may_meet(at, self.surfaces, 0.0, 0.0))
        if not close:
            return out
        x = [at.x[at.start[i] : at.start[i + 1]] for i in self.number]
        shapes = [c.shape for c in self.colliders]
        places = [tuple(np.searchsorted(self.number, pair).tolist()) for pair in self.surfaces]
        refit_trees(self.colliders, x, [q for p, q in zip(self.surfaces, places) if p in close])
        for k, (a, b) in enumerate(places):
            if self.surfaces[k] in close:
                out[k] = overlap(x[a], shapes[a], x[b], shapes[b])
        return out

    def find(
        self, at: Kinematics, h: float, margin: float, deep: Array | None = None
    ) -> Contacts:  # fmt: skip
        """All contacts that come within `margin` [m] within h.

        deep: `overlaps`, that far the search looks beyond a surface as well.
        """
        found = self._sheet_contacts(at, h, margin) if self.meshes else []
        if self.primitives is not None:
            found.append(primitive_contacts(self.primitives, at, margin, h))
        if self.surfaces:
            found.append(self._surface_contacts(at, h, margin, deep))
        if len(found) == 1:
            return found[0]
        return Contacts.join([c for c in found if len(c.gap)])

    def _sheet_contacts(self, at: Kinematics, h: float, margin: float) -> list[Contacts]:
        sides: dict[int, Side] = {}
        closed: dict[int, ClosedSide] = {}
        found = []
        for i, sheet in self.sheets.items():
            own = slice(at.start[i], at.start[i + 1])
            sides[i] = Side(sheet, i, at.x[own], at.v[own])
            sides[i].cover(h)
        for i in {b for _, b, _ in self.meshes if self.bodies[b].closed}:
            own = slice(at.start[i], at.start[i + 1])
            shape = self.colliders[int(np.searchsorted(self.number, i))].shape
            closed[i] = ClosedSide(shape, i, at.x[own], at.v[own])
            closed[i].fit()
        for a, b, number in self.meshes:
            thickness = self.bodies[a].thickness + self.bodies[b].thickness
            if b in closed:
                contacts = closed_contacts(sides[a], closed[b], thickness, margin, h)
            else:
                contacts = sheet_contacts(
                    sides[a], sides[b], thickness, margin, h, continuous=self.continuous
                )
            found.append(replace(contacts, key=contacts.key * 1024 + number))
        return found

    def _surface_contacts(
        self, at: Kinematics, h: float, margin: float, deep: Array | None
    ) -> Contacts:
        close = _may_meet(at, self.surfaces, margin, h)
        if not close:
            return Contacts.none()
        pairs = [tuple(np.searchsorted(self.number, pair).tolist()) for pair in close]
        x = [at.x[at.start[i] : at.start[i + 1]] for i in self.number]
        fast = closing_speeds([at.v[at.start[i] : at.start[i + 1]] for i in self.number], pairs)
        known = {} if deep is None else dict(zip(self.surfaces, deep.tolist()))
        alarm = [margin + h * s + known.get(pair, 0.0) for pair, s in zip(close, fast)]
        c = detect(self.colliders, x, pairs, alarm, rim=RIM * margin)
        a, b = self.number[c.surface_a], self.number[c.surface_b]
        c = replace(c, surface_a=a, surface_b=b, key=c.key * 1024)
        opening = opening_speeds(
            at.start[a], c.vertices_a, c.weights_a, at.start[b], c.vertices_b, c.weights_b,
            c.normal, at.v,
        )  # fmt: skip
        return c.take(c.gap + h * np.minimum(opening, 0.0) <= margin)


def _by_surfaces(one: CollisionBody, two: CollisionBody) -> bool:
    """Closed surfaces meet by their triangles; rigid ones also where a primitive block stands in.

    A block's nearest face says nothing on its rim, where the corners of a tower's boxes lie.
    """
    rigid = one.rigid >= 0 and two.rigid >= 0
    return all(
        b.closed and (b.shape is None or (rigid and b.shape.kind == BLOCK)) for b in (one, two)
    )


def _primitive_pairs(
    bodies: Sequence[CollisionBody], pairs: list[tuple[int, int, int]]
) -> PrimitivePairs:
    """Those among rigid bodies first: they are solved apart."""
    pairs = sorted(pairs, key=lambda p: bodies[p[0]].rigid < 0)
    ones = [bodies[a] for a, _, _ in pairs]
    shapes = [shape for _, b, _ in pairs if (shape := bodies[b].shape) is not None]
    return PrimitivePairs(
        one=np.array([a for a, _, _ in pairs]),
        two=np.array([b for _, b, _ in pairs]),
        soft=np.array([b.rigid < 0 for b in ones]),
        shift=np.array([max(b.first, 0) for b in ones], np.int32),
        kind=np.array([s.kind for s in shapes]),
        size=np.array([s.size for s in shapes]),
        axis=np.array([s.axis for s in shapes]),
        thickness=np.array([b.radius or b.thickness for b in ones]),
        number=np.array([n for _, _, n in pairs]),
    )


def _collider(body: CollisionBody, x: Array) -> Collider:
    return collider(surface_topology(body.triangles, len(x)), x, body.keeps_shape)


def _may_meet(
    at: Kinematics, pairs: Sequence[tuple[int, int]], margin: float, h: float
) -> list[tuple[int, int]]:
    """Pairs whose boxes come within `margin` if each goes as fast as its fastest vertex.

    This costs little, and most often no pair is left.
    """
    n = len(at.start) - 1
    middle, half, fast = np.empty((n, 3)), np.empty((n, 3)), {}
    for i in {i for pair in pairs for i in pair}:
        fast[i] = bounding_box(at.x, at.v, at.start[i], at.start[i + 1], middle[i], half[i])

    def apart(a: int, b: int) -> bool:
        between = np.abs(middle[a] - middle[b]) - half[a] - half[b]
        return bool(between.max() > margin + h * (fast[a] + fast[b]))

    return [(a, b) for a, b in pairs if not apart(a, b)]
