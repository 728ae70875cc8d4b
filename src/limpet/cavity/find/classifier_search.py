"""Find cavities as A does: by the classes of a cup's vertices, without a union.

Of two bodies in contact the one that leads is the cup, unless nothing is inside on it; then the
other one. Its contacts, within the sealing distance, and its surface graph say what is inside
(`classify.py`); the ring model places the seal line as it does for the union (`ring.py`); the mesh
is closed on the other bodies (`patch.py`). What results is the same record as from the union, so
that air, gradient and reports know no difference.

Where the two may differ, because only one side is looked at, and only at its vertices:

- leaks finer than the cup's vertices (a narrow groove): the union opens, the classifier stays
  closed; wider ones open both. The line may pass from one body to another only where these touch;
- gaps of a few sealing distances over a finely meshed body: the union moves its vertices, too, and
  may close with some of them what the cup's leave open;
- a passage in the other body (a hole in the plate): the union follows it, and opens if it leads
  out; the classifier covers it, as if a tube were fixed there: the plate of A;
- cavities that pass through another body (a tunnel between two cups) are one for the union, and one
  for each cup here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limpet.cavity.find.classify import NO_REGION, classify, next_to, outside_seeds
from limpet.cavity.find.recess_mesh import recess_mesh
from limpet.cavity.find.union_search import NOT_MAPPED, Detection, mean_detection, settle
from limpet.cavity.mesh import CavityMesh, JoinedSurface, volume
from limpet.cavity.seal.boundary import (
    PART,
    Candidate,
    Division,
    SealBoundary,
    SealBoundaryModel,
    count_parts,
    divide,
    outer_share,
)
from limpet.cavity.seal.edge_seals import proximity_with_edge_seals
from limpet.cavity.seal.leak_paths import candidate_of, vertex_areas
from limpet.cavity.seal.proximity import VertexProximity
from limpet.contact.contacts import Contacts
from limpet.errors import LimpetError
from limpet.geometry.bvh import Tree, build_tree, closest_points

Array = np.ndarray

ROUNDS = 3  # a known cavity that has changed beyond recognition is sought anew; then that is that


def detect_recesses(
    surface: JoinedSurface, x: Array, contacts: Contacts, sealing_distance: float,
    ring: SealBoundaryModel = SealBoundary.OUTER, previous: Sequence[CavityMesh] = (),
    trees: Sequence[Tree] | None = None, master: Array | None = None,
    grows: Sequence[bool] | None = None, bodies: Sequence[int] | None = None,
    inner: Array | None = None,
) -> Detection:  # fmt: skip
    """The cavities at surface positions x (N, 3) [m]; arguments as those of `detect`.

    inner (N,) bool: the vertices of inner surfaces that are named (`outside_seeds`).
    """
    if ring is SealBoundary.HISTORY:
        raise LimpetError(
            "seal_boundary = 'history': only the union of the bodies cuts so; use "
            "cavities = 'union', or another seal_boundary"
        )
    share = outer_share(ring)
    if 0.0 < share < 1.0:

        def find(
            model: SealBoundary, before: Sequence[CavityMesh], spread: Sequence[bool] | None
        ) -> Detection:
            how = (model, before, trees, master, spread, bodies, inner)
            return detect_recesses(surface, x, contacts, sealing_distance, *how)

        return mean_detection(find, share, previous, grows, len(x))
    model = SealBoundary.OUTER if share else SealBoundary.INNER
    search = _Recesses(
        surface, x, contacts, sealing_distance, model, trees, master, bodies, inner, previous
    )
    return search.run(previous, grows)


class _Recesses:
    """One detection: contacts, classes and regions at x."""

    def __init__(
        self, surface: JoinedSurface, x: Array, contacts: Contacts, sealing_distance: float,
        ring: SealBoundary, trees: Sequence[Tree] | None, master: Array | None,
        bodies: Sequence[int] | None, inner: Array | None, previous: Sequence[CavityMesh],
    ) -> None:  # fmt: skip
        self.surface, self.sealing_distance, self.ring = surface, sealing_distance, ring
        self.x = np.ascontiguousarray(x, dtype=np.float64)
        self.trees: dict[int, Tree] = dict(enumerate(trees)) if trees is not None else {}
        n = len(surface.offset) - 1
        rank = np.zeros(n) if master is None else np.asarray(master)
        order = np.arange(n)  # ties go to the body that comes first
        leads = (rank[:, None] > rank) | ((rank[:, None] == rank) & (order[:, None] < order))
        known = np.zeros((n, n), dtype=bool)
        for mesh in previous:
            known[mesh.rings[:, 0], mesh.rings[:, 1]] = True
        leads = (leads & ~known.T) | known
        near = proximity_with_edge_seals(contacts, surface, sealing_distance, self.x)
        self.other = surface.body[near.face[:, 0]]
        self.area = vertex_areas(surface.triangles, self.x)
        self._classify(near, leads, inner)
        touching = self._touching(near.gap < sealing_distance)
        idle = leads & (touching | touching.T) & ~known & ~self._bearing()
        self.joined = touching | touching.T  # (n, n) bool: bodies without a slit between them
        if idle.any():  # nothing is inside on the body that leads: look at the other one
            self._classify(near, (leads & ~idle) | idle.T, inner)
        if bodies is not None:
            self.region[~np.isin(surface.body, bodies)] = NO_REGION

    def _classify(self, near: VertexProximity, leads: Array, inner: Array | None) -> None:
        """Find the regions inside, by the contacts that a body does not only follow."""
        bears = leads[self.surface.body, self.other]
        self.near = replace(near, gap=np.where(bears, near.gap, np.inf), second=None)
        self.contact: Array = self.near.gap < self.sealing_distance
        graph = (self.surface.vertex_start, self.surface.neighbours)
        seeds = outside_seeds(*graph, self.surface.body, self.contact, self.area, inner)
        self.region: Array = classify(*graph, self.contact, seeds).region

    def _bearing(self) -> Array:
        """(n, n) bool: whether a region on body i ends at a contact with body j."""
        graph = (self.surface.vertex_start, self.surface.neighbours)
        return self._touching(self.contact & next_to(*graph, self.region != NO_REGION))

    def _touching(self, which: Array) -> Array:
        """(n, n) bool: whether any of these vertices (N,) of body i touches body j."""
        n = len(self.surface.offset) - 1
        pairs = np.zeros((n, n), dtype=bool)
        pairs[self.surface.body[which], self.other[which]] = True
        return pairs

    def run(self, previous: Sequence[CavityMesh], grows: Sequence[bool] | None) -> Detection:
        known = self._known(
            [candidate_of(m, i, grows is None or grows[i]) for i, m in enumerate(previous)]
        )
        refused: set[int] = set()  # regions whose ring does not close
        for _ in range(ROUNDS):
            taken = {r for c in known for r in self._regions(c)} | refused
            new = [r for r in np.unique(self.region[self.region >= 0]).tolist() if r not in taken]
            fresh = [self._fresh(r) for r in new]
            division = divide(
                self.surface, self.near, self.sealing_distance, known + fresh, self.ring
            )
            if division.sealed.all():
                break
            refused |= {r for r, ok in zip(new, division.sealed[len(known) :]) if not ok}
            known = [c for c, ok in zip(known, division.sealed) if ok]
        return self._meshed(division, previous)

    def _meshed(self, division: Division, previous: Sequence[CavityMesh]) -> Detection:
        found = []
        for candidate, sealed in zip(division.candidates, division.sealed):
            # without a line it is a hollow within the body, which nothing has closed
            if not sealed or len(candidate.seal_line) == 0 or self._slit(candidate):
                continue
            mesh = self._mesh(candidate, previous)
            # what is cut off but bulges out of the line round it is no recess
            if candidate.source >= 0 or volume(mesh, self.x) > 0.0:
                found.append(mesh)
        return settle(found, previous, self.surface, self.near, self.sealing_distance, 0)

    def _slit(self, candidate: Candidate) -> bool:
        """Whether a seal line passes from one body to another that stands apart from it."""
        line = candidate.seal_line
        if (self.other[line] == self.other[line[0]]).all():
            return False
        start = self.surface.vertex_start
        on_line = np.zeros(len(self.x), dtype=bool)
        on_line[line] = True
        one = np.repeat(line, start[line + 1] - start[line])
        two = np.concatenate([self.surface.neighbours[start[v] : start[v + 1]] for v in line])
        passes = on_line[two] & (self.other[one] != self.other[two])
        return not self.joined[self.other[one[passes]], self.other[two[passes]]].all()

    def _regions(self, candidate: Candidate) -> list[int]:
        """The regions in which a candidate has vertices."""
        there = np.unique(self.region[candidate.interior])
        return there[there != NO_REGION].tolist()

    def _known(self, known: list[Candidate]) -> list[Candidate]:
        """Those that are still there as they were: not open, not merged, not cut in parts."""
        shared = np.bincount(
            np.array([r for c in known for r in self._regions(c)], dtype=int),
            minlength=self.region.max() + 1,
        )
        stay = []
        for c in known:
            regions = self._regions(c)
            if regions and (shared[regions] == 1).all():
                if not self._cut(c, regions):
                    stay.append(c)
            elif self.contact[c.interior].all():  # flattened
                stay.append(c)
        return stay

    def _cut(self, candidate: Candidate, regions: list[int]) -> bool:
        """Whether contact has cut a cavity in parts; small pockets join the largest of them."""
        if len(regions) < 2 or (
            count_parts(self.surface, self.near, self.sealing_distance, candidate.interior) < 2
        ):
            return False
        size = np.array([self.area[self.region == r].sum() for r in regions])
        large = size >= PART * size.sum()
        small = np.array(regions)[~large]
        self.region[np.isin(self.region, small)] = regions[int(np.argmax(size))]
        return int(large.sum()) > 1

    def _fresh(self, region: int) -> Candidate:
        interior = np.flatnonzero(self.region == region).astype(np.int32)
        return Candidate(np.empty((0, 2), np.int32), interior, np.empty(0, np.int32))

    def _mesh(self, candidate: Candidate, previous: Sequence[CavityMesh]) -> CavityMesh:
        interior, line = candidate.interior, candidate.seal_line
        others = np.unique(self.other[line])
        carrier = np.full(len(others), self.surface.body[interior[0]])
        rings = np.column_stack([carrier, others]).astype(np.int32)
        core = interior[~self.contact[interior]]
        if len(core) == 0 and candidate.source >= 0:  # flattened: it keeps the core it had
            core = np.intersect1d(previous[candidate.source].core, interior)
        return recess_mesh(
            self.surface, self.x, replace(candidate, rings=rings), core if len(core) else interior,
            self._closest,
        )  # fmt: skip

    def _closest(self, body: int, points: Array) -> tuple[Array, Array]:
        own = self.x[self.surface.offset[body] : self.surface.offset[body + 1]]
        triangles = self.surface.own_triangles[body]
        if body not in self.trees:
            self.trees[body] = build_tree(own, triangles)
        triangle, weights, _ = closest_points(self.trees[body], own, triangles, points, NOT_MAPPED)
        return triangle, weights
