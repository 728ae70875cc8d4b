"""Find the cavities between bodies in contact and mesh them (P 4.1, 4.2).

Closed vertices are offset by the sealing distance, the union of the bodies in contact is taken, and
its void shells with walls of more than one body are cavities. Where in the contact ring a cavity
ends is the ring model's choice (`ring.py`), not the cut's. A known cavity is remeshed with one
union, a new one with two: the first finds it, the second places its edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from limpet.cavity.find.mapping import Mapped, borders, map_shells, shell_of_vertices, void_shells
from limpet.cavity.find.mesh_builder import cavity_mesh
from limpet.cavity.find.offsets import offsets
from limpet.cavity.mesh import CavityMesh, JoinedSurface, common_air, mean_mesh
from limpet.cavity.seal.boundary import (
    Candidate,
    Division,
    SealBoundary,
    SealBoundaryModel,
    count_parts,
    divide,
    outer_share,
)
from limpet.cavity.seal.leak_paths import candidate_of, ring_open
from limpet.cavity.seal.proximity import VertexProximity, vertex_proximity
from limpet.contact.contacts import Contacts
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
    surface: JoinedSurface, x: Array, contacts: Contacts, sealing_distance: float,
    ring: SealBoundaryModel = SealBoundary.OUTER, previous: Sequence[CavityMesh] = (),
    trees: Sequence[Tree] | None = None, master: Array | None = None,
    grows: Sequence[bool] | None = None, bodies: Sequence[int] | None = None, pocket: float = 1.0,
) -> Detection:  # fmt: skip
    """The cavities at surface positions x (N, 3) [m].

    contacts: within at least the sealing distance [m] at x. trees: fitted to x, one a body; built
    here where missing. lead (n,): of two bodies in contact the one that leads more bears the ring
    and is moved for the union, as long as its vertices close it; by default the one that comes
    first. grows: of each previous cavity, whether it may spread over its ring (no suction).
    bodies: only of these, a group with all that touches it; by default of all. pocket: a part of a
    previous cavity that contact has cut off is a cavity of its own from this share of the volume
    on; smaller ones, and by default all, stay with it, as if air crept through.
    """
    if ring is not SealBoundary.HISTORY:
        share = outer_share(ring)
        if 0.0 < share < 1.0:

            def find(
                model: SealBoundary, before: Sequence[CavityMesh], spread: Sequence[bool] | None
            ) -> Detection:
                how = (model, before, trees, master, spread, bodies, pocket)
                return detect(surface, x, contacts, sealing_distance, *how)

            return mean_detection(find, share, previous, grows, len(x))
        ring = SealBoundary.OUTER if share else SealBoundary.INNER
    near = vertex_proximity(contacts, surface)
    search = _Search(surface, x, near, sealing_distance, ring, trees, master, bodies, pocket)
    return search.run(previous, grows)


class _Search:
    """One detection: what stays the same over its unions."""

    def __init__(
        self, surface: JoinedSurface, x: Array, near: VertexProximity, sealing_distance: float,
        ring: SealBoundary, trees: Sequence[Tree] | None, master: Array | None,
        bodies: Sequence[int] | None, pocket: float,
    ) -> None:  # fmt: skip
        self.surface, self.near, self.sealing_distance, self.ring = (
            surface,
            near,
            sealing_distance,
            ring,
        )
        self.pocket = pocket
        self.x = np.ascontiguousarray(x, dtype=np.float64)
        self.trees: dict[int, Tree] = dict(enumerate(trees)) if trees is not None else {}
        n = len(surface.offset) - 1
        self.rank = -np.arange(n, dtype=np.float64) if master is None else np.asarray(master)
        # Ties go to the body that comes first.
        first = np.arange(n)[:, None] < np.arange(n)
        equal = self.rank[:, None] == self.rank
        self.leads = (self.rank[:, None] > self.rank) | (equal & first)
        self.closed: Array = near.gap < sealing_distance
        self.free: Array = ~self.closed
        self.bodies = range(n) if bodies is None else sorted(bodies)
        own = np.zeros(n, dtype=bool)
        own[list(self.bodies)] = True
        # Centred before the union, so that no digits are lost far from the origin.
        self.centre = self.x[own[surface.body]].mean(axis=0)

    def run(self, previous: Sequence[CavityMesh], grows: Sequence[bool] | None) -> Detection:
        known = [candidate_of(m, i, grows is None or grows[i]) for i, m in enumerate(previous)]
        # Ringed candidates have a seal line; bare ones, which no vertex graph closes, are whatever
        # the union cuts out.
        ringed = [c for c in known if len(c.seal_line)]
        bare = [c for c in known if not len(c.seal_line)]
        ringed, cuts = self._split(ringed)
        found: list[CavityMesh] = []
        hopeless = np.zeros(len(self.x), dtype=bool)  # interiors whose ring gave no void
        for count in range(1, MOST_UNIONS + 1):
            ringed, bare, division = self._divide(ringed, bare)
            y, merged, voids = self._union(division)
            home = shell_of_vertices(merged, voids, self.surface, y)
            shells = [np.unique(home[c.interior]) for c in ringed + bare]
            shells = [s[s >= 0] for s in shells]
            claims = np.bincount(np.concatenate([*shells, np.empty(0, int)]), minlength=len(voids))
            good = [len(s) > 0 and bool((claims[s] == 1).all()) for s in shells]
            new = self._new(y, merged, home, np.flatnonzero(voids & (claims != 1)))
            if (all(good) and not new) or count == MOST_UNIONS:
                found = [
                    self._mesh(y, merged, home, s, c, previous, division.seal)
                    for c, s, ok in zip(ringed + bare, shells, good)
                    if ok
                ]
                break
            # A ring that gave no void of its own is dropped; the next union finds what is there.
            for c, s in zip(ringed, shells):
                hopeless[c.interior] |= len(s) == 0
            again = [len(c.rings) == 0 or bool(hopeless[c.interior].any()) for c in new]
            bare = [c for c, ok in zip(bare, good[len(ringed) :]) if ok]
            bare += [c for c, bad in zip(new, again) if bad]
            ringed = [c for c, ok in zip(ringed, good) if ok]
            ringed += [c for c, bad in zip(new, again) if not bad]
        return settle(found, previous, self.surface, self.near, self.sealing_distance, count + cuts)

    def _split(self, known: list[Candidate]) -> tuple[list[Candidate], int]:
        """Replace known cavities that contact has cut in parts by these; also how many unions."""
        if self.pocket >= 1.0:
            return known, 0
        cut = [
            count_parts(self.surface, self.near, self.sealing_distance, c.interior) > 1
            for c in known
        ]
        if not any(cut):
            return known, 0
        rest, _, division = self._divide([c for c, is_cut in zip(known, cut) if not is_cut], [])
        y, merged, voids = self._union(division)  # with all that is closed pushed in
        home = shell_of_vertices(merged, voids, self.surface, y)
        for c in (c for c, is_cut in zip(known, cut) if is_cut):
            inside = c.interior[self.free[c.interior]]
            shells = np.unique(home[inside])
            shells = shells[shells >= 0]
            size = -merged.shell_volume[shells]
            large = shells[size >= self.pocket * size.sum()]
            if len(large) < 2:
                rest.append(c)
                continue
            parts = self._new(y, merged, home, large[np.argsort(merged.shell_volume[large])])
            pockets = inside[np.isin(home[inside], np.setdiff1d(shells, large))]
            parts[0] = replace(parts[0], interior=np.union1d(parts[0].interior, pockets))
            rest += parts
        return rest, 1

    def _divide(
        self, ringed: list[Candidate], bare: list[Candidate]
    ) -> tuple[list[Candidate], list[Candidate], Division]:
        """Give every candidate its ring. Known ones that leak are dropped; new ones go bare."""
        while True:
            division = divide(self.surface, self.near, self.sealing_distance, ringed, self.ring)
            if division.sealed.all():
                break
            ringed = [c for c, ok in zip(division.candidates, division.sealed) if ok]
            leaky = [c for c, ok in zip(division.candidates, division.sealed) if not ok]
            bare = bare + [c for c in leaky if c.source < 0]
        for c in division.candidates:
            self.leads[c.rings[:, 0], c.rings[:, 1]] = True
            self.leads[c.rings[:, 1], c.rings[:, 0]] = False
        return list(division.candidates), bare, division

    def _union(self, division: Division) -> tuple[Array, UnionMesh, Array]:
        surface = self.surface
        shift = offsets(surface, self.near, self.sealing_distance, division, self.leads, self.x)
        y = self.x - self.centre + shift
        merged = union(
            [
                (y[surface.offset[b] : surface.offset[b + 1]], surface.own_triangles[b])
                for b in self.bodies
            ]
        )
        merged = replace(merged, body=np.asarray(self.bodies, dtype=np.int32)[merged.body])
        return y, merged, void_shells(merged)

    def _new(self, y: Array, merged: UnionMesh, home: Array, shells: Array) -> list[Candidate]:
        """Candidates for void shells nobody claims: the vertices of their carriers in them.

        A shell without any free vertex is a sliver smaller than a triangle, not a cavity.
        """
        new = []
        for shell in shells:
            inside = np.flatnonzero(self.free & (home == shell)).astype(np.int32)
            if len(inside):
                mapped = map_shells(merged, merged.shell == shell, self.surface, y)
                body = self.surface.body[inside]
                rings = self._rings(mapped, np.unique(body))
                if len(rings):
                    inside = inside[np.isin(body, rings[:, 0])]
                new.append(Candidate(rings, inside, np.empty(0, dtype=np.int32)))
        return new

    def _rings(self, mapped: Mapped, able: Array, known: Array | None = None) -> Array:
        """For each two bodies that meet at the edge of a void: which bears the ring, and the other.

        It is the one that leads, of those (`able`) with vertices inside, if its vertex graph closes
        the edge; else the other one; else nobody. known: pairs that stay as they are.
        """
        meets, passes = borders(mapped, self.closed, len(self.rank))
        rings = [] if known is None else known.tolist()
        for pair in np.argwhere(np.triu(meets)).tolist():
            if any(set(ring) == set(pair) for ring in rings):
                continue
            pair.sort(key=lambda b: (-self.rank[b], b))
            for one, other in (pair, pair[::-1]):
                if one in able and not passes[one, other]:
                    rings.append([one, other])
                    break
        return np.array(rings, dtype=np.int32).reshape(-1, 2)

    def _core(self, candidate: Candidate, previous: Sequence[CavityMesh]) -> Array:
        """The free vertices inside; a flattened cavity keeps the core it had."""
        core = candidate.interior[self.free[candidate.interior]]
        if len(core) == 0 and candidate.source >= 0:
            core = np.intersect1d(previous[candidate.source].core, candidate.interior)
        return core if len(core) else candidate.interior

    def _mesh(
        self, y: Array, merged: UnionMesh, home: Array, shells: Array, candidate: Candidate,
        previous: Sequence[CavityMesh], seal: Array,
    ) -> CavityMesh:  # fmt: skip
        wanted = np.zeros(len(merged.shell_volume) + 1, dtype=bool)  # the last one: of no shell
        wanted[shells] = True
        mapped = map_shells(merged, wanted[merged.shell], self.surface, y)
        within = self.free & wanted[home]
        if len(candidate.rings):
            able = np.unique(self.surface.body[within])
            rings = self._rings(mapped, able, candidate.rings)
            carrier = np.isin(self.surface.body, rings[:, 0])
            interior = candidate.interior
            if len(np.unique(rings[:, 0])) > 1:
                # What has slid under another body's ring, in or out, only the union can tell.
                stay = interior[self.closed[interior] | within[interior]]
                interior = np.union1d(stay, np.flatnonzero(within & carrier)).astype(np.int32)
            interior = interior[carrier[interior]]  # a body may have ceased to bear a ring
            candidate = replace(candidate, rings=rings, interior=interior)
        core = self._core(candidate, previous)
        return cavity_mesh(mapped, self.surface, self.x, candidate, core, seal, self._closest)

    def _closest(self, body: int, points: Array) -> tuple[Array, Array]:
        own = self.x[self.surface.offset[body] : self.surface.offset[body + 1]]
        triangles = self.surface.own_triangles[body]
        if body not in self.trees:
            self.trees[body] = build_tree(own, triangles)
        triangle, weights, _ = closest_points(self.trees[body], own, triangles, points, NOT_MAPPED)
        return triangle, weights


def settle(
    found: Sequence[CavityMesh], previous: Sequence[CavityMesh], surface: JoinedSurface,
    near: VertexProximity, sealing_distance: float, unions: int,
) -> Detection:  # fmt: skip
    """Decide what becomes of previous cavities that no mesh follows.

    A flattened cavity leaves no void, yet it holds its air and its pull until its ring opens.
    """
    kept, lost = [], []
    followed = np.logical_or.reduce(common_air(previous, found, len(near.gap)), axis=1)
    for i, mesh in enumerate(previous):
        if followed[i]:
            continue
        if ring_open(surface, near, sealing_distance, candidate_of(mesh)):
            lost.append((i, Fate.OPEN))
        elif (near.gap[mesh.interior] >= sealing_distance).any():
            lost.append((i, Fate.NO_VOID))
        else:
            kept.append(mesh)
    flags = (False,) * len(found) + (True,) * len(kept)
    return Detection((*found, *kept), flags, tuple(lost), unions)


# (ring model, previous cavities, whether each may grow) -> what is found with that model
Find = Callable[[SealBoundary, Sequence[CavityMesh], Sequence[bool] | None], Detection]


def mean_detection(
    find: Find, share: float, previous: Sequence[CavityMesh], grows: Sequence[bool] | None,
    n_vertices: int,
) -> Detection:  # fmt: skip
    """A share of the pressure falls at the outer edge of the ring, the rest at the inner one."""
    outer_before = [m.halves[0] if m.halves else m for m in previous]
    inner_before = [half for m in previous for half in (m.halves[1:] or (m,))]
    outer = find(SealBoundary.OUTER, outer_before, grows)
    inner = find(SealBoundary.INNER, inner_before, None)
    cavities = []
    for mesh in outer.cavities:
        within = [m for m in inner.cavities if common_air([mesh], [m], n_vertices).any()]
        if within:
            shares = [share] + [1.0 - share] * len(within)
            cavities.append(mean_mesh([mesh, *within], shares))
        else:
            cavities.append(replace(mesh, halves=(mesh, mesh)))
    return Detection(tuple(cavities), outer.kept, outer.lost, outer.unions + inner.unions)
