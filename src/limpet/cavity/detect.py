"""Find the cavities between bodies in contact and mesh them (P 4.1, 4.2).

Closed vertices are offset by the sealing distance, the union is taken, and its void shells with
walls of more than one body are cavities. Where in the contact ring a cavity ends is the ring
model's choice (`ring.py`), not the cut's. A known cavity is remeshed with one union, a new one with
two: the first finds it, the second places its edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from limpet.cavity.leak import ring_open, seal_gap, seal_traction
from limpet.cavity.mapping import cavity_mesh, shell_of_vertices, void_shells
from limpet.cavity.mesh import CavityMesh, Walls, common_air, mean_mesh
from limpet.cavity.ring import (
    Candidate,
    Division,
    Nearness,
    Ring,
    divide,
    nearness,
    offsets,
)
from limpet.collision.contacts import Contacts
from limpet.geometry.bvh import Tree, build_tree, closest_points
from limpet.geometry.union import UnionMesh, union

Array = np.ndarray

MOST_UNIONS = 4  # find, place the edge, and twice more where a ring turns out not to close
NOT_MAPPED = 1.0  # [m] a seal line lies nearer to the other body than this


class Fate(StrEnum):
    """Why a previous cavity has no successor."""

    OPEN = "open"  # vertices that are not closed join its interior to the outside
    NO_VOID = "no void"  # its vertices seal, but the surfaces between them do not


@dataclass(frozen=True)
class Detection:
    cavities: tuple[CavityMesh, ...]
    kept: tuple[bool, ...]  # of each cavity: flattened, so the previous mesh stays as it is
    lost: tuple[tuple[int, Fate], ...]  # previous cavities (by index) that nothing follows
    unions: int


def detect(
    walls: Walls,
    x: Array,
    contacts: Contacts,
    sealing: float,
    ring: Ring = Ring.OUTER,
    previous: Sequence[CavityMesh] = (),
    trees: Sequence[Tree] | None = None,
    lead: Array | None = None,
    grows: Sequence[bool] | None = None,
) -> Detection:
    """The cavities at surface positions x (N, 3) [m].

    contacts: within at least the sealing distance [m] at x. trees: fitted to x, one a body; built
    here where missing. lead (n,): of two bodies in contact the one that leads more bears the ring
    and is moved for the union, as long as it has vertices in the cavity; by default the one that
    comes first. grows: of each previous cavity, whether it may spread over its ring (no suction).
    """
    if ring is Ring.MIDDLE:
        return _mean(walls, x, contacts, sealing, previous, trees, lead, grows)
    search = _Search(walls, x, nearness(contacts, walls), sealing, ring, trees, lead)
    return search.run(previous, grows)


def needs_detection(contacts: Contacts, sealing: float) -> bool:
    """Whether anything is closed at all: without it there is no cavity and no need for a union."""
    return bool((contacts.gap < sealing).any())


def seal_gaps(
    walls: Walls, contacts: Contacts, sealing: float, cavities: Sequence[CavityMesh]
) -> list[float]:
    """The seal gap of each cavity [m]: the largest over leak paths of the smallest gap."""
    near = nearness(contacts, walls)
    return [seal_gap(walls, near, sealing, _candidate(mesh)) for mesh in cavities]


def seal_tractions(
    walls: Walls,
    contacts: Contacts,
    sealing: float,
    cavities: Sequence[CavityMesh],
    traction: Array,
) -> list[tuple[float, float]]:
    """Of each cavity's weakest leak paths the largest traction, and the sum of all [Pa]."""
    near = nearness(contacts, walls)
    return [seal_traction(walls, near, sealing, _candidate(mesh), traction) for mesh in cavities]


def _candidate(mesh: CavityMesh, source: int = -1, grows: bool = True) -> Candidate:
    return Candidate(mesh.carrier, mesh.interior, mesh.seal_line, source, grows)


class _Search:
    """One detection: what stays the same over its unions."""

    def __init__(
        self,
        walls: Walls,
        x: Array,
        near: Nearness,
        sealing: float,
        ring: Ring,
        trees: Sequence[Tree] | None,
        lead: Array | None,
    ) -> None:
        self.walls, self.near, self.sealing, self.ring = walls, near, sealing, ring
        self.x = np.ascontiguousarray(x, dtype=np.float64)
        self.trees: dict[int, Tree] = dict(enumerate(trees)) if trees is not None else {}
        n = len(walls.offset) - 1
        self.rank = -np.arange(n, dtype=np.float64) if lead is None else np.asarray(lead)
        # Ties go to the body that comes first.
        first = np.arange(n)[:, None] < np.arange(n)
        equal = self.rank[:, None] == self.rank
        self.leads = (self.rank[:, None] > self.rank) | (equal & first)
        self.free: Array = near.gap >= sealing

    def run(self, previous: Sequence[CavityMesh], grows: Sequence[bool] | None) -> Detection:
        known = [_candidate(m, i, grows is None or grows[i]) for i, m in enumerate(previous)]
        # Ringed candidates have a seal line; bare ones, which no vertex graph closes, are whatever
        # the union cuts out.
        ringed = [c for c in known if len(c.seal_line)]
        bare = [c for c in known if not len(c.seal_line)]
        found: list[CavityMesh] = []
        hopeless = np.zeros(len(self.x), dtype=bool)  # interiors whose ring gave no void
        for count in range(1, MOST_UNIONS + 1):
            ringed, bare, division = self._divide(ringed, bare)
            y, merged, voids = self._union(division)
            home = shell_of_vertices(merged, voids, self.walls, y)
            shells = [np.unique(home[c.interior]) for c in ringed + bare]
            shells = [s[s >= 0] for s in shells]
            claims = np.bincount(np.concatenate([*shells, np.empty(0, int)]), minlength=len(voids))
            good = [len(s) > 0 and bool((claims[s] == 1).all()) for s in shells]
            new = self._new(home, np.flatnonzero(voids & (claims != 1)))
            if (all(good) and not new) or count == MOST_UNIONS:
                found = [
                    self._mesh(y, merged, s, c, self._core(c, previous), division.seal)
                    for c, s, ok in zip(ringed + bare, shells, good)
                    if ok
                ]
                break
            # A ring that gave no void of its own is dropped; the next union finds what is there.
            for c, s in zip(ringed, shells):
                hopeless[c.interior] |= len(s) == 0
            again = [bool(hopeless[c.interior].any()) for c in new]
            bare = [c for c, ok in zip(bare, good[len(ringed) :]) if ok]
            bare += [c for c, bad in zip(new, again) if bad]
            ringed = [c for c, ok in zip(ringed, good) if ok]
            ringed += [c for c, bad in zip(new, again) if not bad]
        return self._settle(found, previous, count)

    def _divide(
        self, ringed: list[Candidate], bare: list[Candidate]
    ) -> tuple[list[Candidate], list[Candidate], Division]:
        """Give every candidate its ring. Known ones that leak are dropped; new ones try another
        body as carrier, and go bare when none of them closes."""
        while True:
            division = divide(self.walls, self.near, self.sealing, ringed, self.ring)
            if division.sealed.all():
                break
            keep = []
            for c, sealed in zip(division.candidates, division.sealed):
                if sealed:
                    keep.append(c)
                elif c.otherwise:
                    keep.append(replace(c.otherwise[0], otherwise=c.otherwise[1:]))
                elif c.source < 0:
                    bare = [*bare, c]
            ringed = keep
        for c in division.candidates:
            self.leads[c.carrier, :] = True
            self.leads[:, c.carrier] = False
        return list(division.candidates), bare, division

    def _union(self, division: Division) -> tuple[Array, UnionMesh, Array]:
        walls = self.walls
        shift = offsets(walls, self.near, self.sealing, division, self.leads)
        y = self.x - self.x.mean(axis=0) + shift  # centred: no digits lost far from the origin
        merged = union(
            [
                (y[walls.offset[b] : walls.offset[b + 1]], triangles)
                for b, triangles in enumerate(walls.own_triangles)
            ]
        )
        return y, merged, void_shells(merged)

    def _new(self, home: Array, shells: Array) -> list[Candidate]:
        """Candidates for void shells nobody claims: the vertices of their leading body in them.

        A shell without any free vertex is a sliver smaller than a triangle, not a cavity.
        """
        new = []
        for shell in shells:
            inside = np.flatnonzero(self.free & (home == shell)).astype(np.int32)
            if len(inside):
                body = self.walls.body[inside]
                order = sorted(np.unique(body).tolist(), key=lambda b: (-self.rank[b], b))
                none = np.empty(0, dtype=np.int32)
                best, *others = [Candidate(b, inside[body == b], none) for b in order]
                new.append(replace(best, otherwise=tuple(others)))
        return new

    def _core(self, candidate: Candidate, previous: Sequence[CavityMesh]) -> Array:
        """The free vertices inside; a flattened cavity keeps the core it had."""
        core = candidate.interior[self.free[candidate.interior]]
        if len(core) == 0 and candidate.source >= 0:
            core = np.intersect1d(previous[candidate.source].core, candidate.interior)
        return core if len(core) else candidate.interior

    def _mesh(
        self,
        y: Array,
        merged: UnionMesh,
        shells: Array,
        candidate: Candidate,
        core: Array,
        seal: Array,
    ) -> CavityMesh:
        wanted = np.zeros(len(merged.shell_volume), dtype=bool)
        wanted[shells] = True
        return cavity_mesh(
            merged,
            wanted[merged.shell],
            self.walls,
            y,
            self.x,
            candidate,
            core,
            seal,
            self._closest,
        )

    def _closest(self, body: int, points: Array) -> tuple[Array, Array]:
        own = self.x[self.walls.offset[body] : self.walls.offset[body + 1]]
        triangles = self.walls.own_triangles[body]
        if body not in self.trees:
            self.trees[body] = build_tree(own, triangles)
        triangle, weights, _ = closest_points(self.trees[body], own, triangles, points, NOT_MAPPED)
        return triangle, weights

    def _settle(
        self, found: list[CavityMesh], previous: Sequence[CavityMesh], count: int
    ) -> Detection:
        """Decide what becomes of previous cavities that no mesh follows.

        A flattened cavity leaves no void, yet it holds its air and its pull until its ring opens.
        """
        kept, lost = [], []
        followed = np.logical_or.reduce(common_air(previous, found, len(self.x)), axis=1)
        for i, mesh in enumerate(previous):
            if followed[i]:
                continue
            if ring_open(self.walls, self.near, self.sealing, _candidate(mesh)):
                lost.append((i, Fate.OPEN))
            elif self.free[mesh.interior].any():
                lost.append((i, Fate.NO_VOID))
            else:
                kept.append(mesh)
        flags = (False,) * len(found) + (True,) * len(kept)
        return Detection((*found, *kept), flags, tuple(lost), count)


def _mean(
    walls: Walls,
    x: Array,
    contacts: Contacts,
    sealing: float,
    previous: Sequence[CavityMesh],
    trees: Sequence[Tree] | None,
    lead: Array | None,
    grows: Sequence[bool] | None,
) -> Detection:
    """Half the pressure falls at the outer edge of the ring, half at the inner one."""
    outer_before = [m.halves[0] if m.halves else m for m in previous]
    inner_before = [half for m in previous for half in (m.halves[1:] or (m,))]
    outer = detect(walls, x, contacts, sealing, Ring.OUTER, outer_before, trees, lead, grows)
    inner = detect(walls, x, contacts, sealing, Ring.INNER, inner_before, trees, lead)
    cavities = []
    for mesh in outer.cavities:
        within = [m for m in inner.cavities if common_air([mesh], [m], len(x)).any()]
        if within:
            shares = [0.5] + [0.5] * len(within)
            cavities.append(mean_mesh([mesh, *within], shares))
        else:
            cavities.append(replace(mesh, halves=(mesh, mesh)))
    return Detection(tuple(cavities), outer.kept, outer.lost, outer.unions + inner.unions)
