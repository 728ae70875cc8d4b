"""Where air is trapped: finds the cavities, follows them, and remeshes those that changed (P 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from limpet.cavity.find.bulges import bulge_volume
from limpet.cavity.find.classifier_search import detect_recesses
from limpet.cavity.find.classify import VertexClasses, classify, outside_seeds
from limpet.cavity.find.curved_mesh import landed_again
from limpet.cavity.find.mesh_builder import nearest
from limpet.cavity.find.trigger import changed_groups, contact_pattern, differ, groups
from limpet.cavity.find.union_search import NOT_MAPPED, detect
from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.gas.transfer import DOUBT, transfer_air
from limpet.cavity.mesh import CavityMesh, JoinedSurface, areas, needs_remesh, slip, volume
from limpet.cavity.seal.boundary import (
    SealBoundary,
    SealBoundaryModel,
    count_parts,
    ring_vertices,
)
from limpet.cavity.seal.drained import without_drained
from limpet.cavity.seal.edge_seals import proximity_with_edge_seals
from limpet.cavity.seal.leak_paths import bottlenecks, vertex_areas, widest_crossing
from limpet.cavity.seal.proximity import NOBODY, TOUCHING, VertexProximity, vertex_proximity
from limpet.contact.collider import Shape
from limpet.contact.contacts import Contacts
from limpet.contact.gap_samples import least_gaps
from limpet.geometry.bvh import Tree, closest_points

Array = np.ndarray

POCKET = 0.01  # share of a cavity's volume from which a part that is cut off has its own pressure
SLIP = 5e-4  # of the root of its area that a lip may slide: 0.2 % of the area of a round cup
FAR = 10.0  # sealing distances: that far gaps between the two ends of an edge are looked for
FINE = 0.02  # sealing distances to which they are found
BARE = 0.2  # of the remeshing threshold, where no ring but the union alone bounds a cavity


class Finder(StrEnum):
    """How cavities are found."""

    UNION = "union"  # P: the voids in the union of the bodies
    CLASSIFIER = "classifier"  # A: the vertices of a cup that its contacts part from the outside


@dataclass(frozen=True)
class CavitySearch:
    """The rules of the search; what it knows from step to step is in the AirLedger."""

    surface: JoinedSurface
    trees: Sequence[Tree]  # kept fitted by contact detection
    master: Array  # (surfaces,) of two surfaces the one with the larger number carries the ring
    sealing_distance: float  # [m]
    ring: SealBoundaryModel
    limit: float  # of bridging area before a cavity is remeshed
    every_step: bool
    atmosphere: Atmosphere
    finder: Finder = Finder.UNION
    inner: Array | None = None  # (N,) bool, the vertices of named inner surfaces: the classifier's
    shapes: Sequence[Shape] | None = None  # of each surface: its tree, and the patches over it
    staggered: frozenset[int] = (
        frozenset()
    )  # surfaces of bodies whose few sweeps leave gaps uncertain

    def update(
        self, ledger: AirLedger, x: Array, contacts: Contacts, near: VertexProximity
    ) -> tuple[AirLedger, bool]:
        """The ledger with the cavities at x (N, 3), and whether any was meshed anew."""
        group = groups(
            contacts, self.sealing_distance, [c.mesh for c in ledger.cavities], len(self.master)
        )
        pattern = self._pattern(near, ledger)
        if len(ledger.pattern) == 0:
            ledger = replace(ledger, pattern=np.zeros_like(pattern))
        due, alone = self._due(ledger, x, near, pattern, group)
        remesh = bool(due.any())
        if remesh:
            ledger = self._remesh(ledger, x, contacts, near, group, np.unique(group[due]).tolist())
            ledger = replace(
                ledger, cavities=tuple(self._counted(c, near) for c in ledger.cavities)
            )
            pattern = self._pattern(near, ledger)
        if self.surface.patches is not None:
            ledger = replace(ledger, cavities=tuple(self._landed(c, x) for c in ledger.cavities))
        if remesh or alone.any():
            seen = (due | alone)[self.surface.body]
            ledger = replace(ledger, pattern=np.where(seen, pattern, ledger.pattern))
        return ledger, remesh

    def proximity(self, contacts: Contacts, x: Array) -> VertexProximity:
        """How near every vertex is to another surface."""
        if self.finder is Finder.CLASSIFIER:
            return proximity_with_edge_seals(contacts, self.surface, self.sealing_distance, x)
        return vertex_proximity(contacts, self.surface)

    def classes(self, contacts: Contacts, x: Array) -> VertexClasses:
        """The five classes of A III-B for every vertex, however cavities are found."""
        near = proximity_with_edge_seals(contacts, self.surface, self.sealing_distance, x)
        closed = near.gap < self.sealing_distance
        graph = self.surface.vertex_start, self.surface.neighbours
        area = vertex_areas(self.surface.triangles, x)
        return classify(
            *graph, closed, outside_seeds(*graph, self.surface.body, closed, area, self.inner)
        )

    def bottlenecks(
        self, near: VertexProximity, meshes: Sequence[CavityMesh], x: Array
    ) -> list[tuple[float, int]]:
        """The seal gap [m] of each cavity and the vertex where it will open.

        Where no vertex graph closes a ring, the gaps between the vertices decide.
        """
        found = bottlenecks(self.surface, near, self.sealing_distance, meshes)
        if self.shapes is None:
            return found
        return [
            path if len(mesh.rings) else self._bare_bottleneck(near, mesh, x)
            for path, mesh in zip(found, meshes)
        ]

    def _bare_bottleneck(
        self, near: VertexProximity, mesh: CavityMesh, x: Array
    ) -> tuple[float, int]:
        if self.shapes is None or len(mesh.interior) == 0:
            return -np.inf, NOBODY
        body = self._finest_wall(mesh)
        others = [b for b in np.unique(mesh.body).tolist() if b != body]
        offset, shape = self.surface.offset, self.shapes[body]
        own = slice(offset[body], offset[body + 1])
        inside = np.zeros(offset[body + 1] - offset[body], dtype=bool)
        inside[mesh.interior[self.surface.body[mesh.interior] == body] - offset[body]] = True
        ends = shape.edges.edges
        edges = np.flatnonzero(inside[ends[:, 0]] != inside[ends[:, 1]])
        gaps = [
            least_gaps(
                x[own], shape, edges, x[offset[b] : offset[b + 1]], self.shapes[b],
                FAR * self.sealing_distance, FINE * self.sealing_distance,
            )
            for b in others
        ]  # fmt: skip
        least = np.min(gaps, axis=0)
        width, v = widest_crossing(
            self.surface.vertex_start, self.surface.neighbours, near.gap, self.sealing_distance,
            inside, offset[body], ends[edges], least,
        )  # fmt: skip
        return float(width), int(v)

    def _finest_wall(self, mesh: CavityMesh) -> int:
        """The body with the most vertices inside, of those that may touch.

        The others, amid flat faces or between the facets of a smooth part, do not know their gaps:
        a path would end where it meets one.
        """
        assert self.shapes is not None
        touches = np.concatenate([~shape.flat for shape in self.shapes])[mesh.interior]
        inside = mesh.interior[touches] if touches.any() else mesh.interior
        bodies, count = np.unique(self.surface.body[inside], return_counts=True)
        return int(bodies[np.lexsort((self.master[bodies], count))[-1]])

    def _open(self, mesh: CavityMesh, near: VertexProximity, x: Array) -> bool:
        """Whether a void of the union, which no ring bounds, has a leak beyond doubt.

        The union closes gaps by way of the vertices; how far edges stand off it does not ask.
        """
        if len(mesh.rings) or not self.staggered.isdisjoint(mesh.body.tolist()):
            return False
        return self._bare_bottleneck(near, mesh, x)[0] > DOUBT * self.sealing_distance

    def area(self, c: Cavity) -> float:
        """|sum of dV/dx| [m^2] over the bodies that carry the ring."""
        bears = np.zeros(len(self.master), dtype=bool)
        bears[c.mesh.rings[:, 0]] = True
        carried = c.gradient[bears[self.surface.body[c.mesh.support]]]
        return float(np.linalg.norm(carried.sum(axis=0)))

    def _empty(self, c: Cavity) -> bool:
        """Whether its air, as it is in the atmosphere, is a film so thin that its walls touch."""
        if len(c.gradient) == 0:  # not measured yet: it was found just now
            return False
        return c.air * self.atmosphere.rt < TOUCHING * self.area(c) * self.atmosphere.pressure

    def _landed(self, c: Cavity, x: Array) -> Cavity:
        """The edges of walls follow a lip that slides."""
        if len(c.gradient) == 0 or slip(c.mesh, x) < SLIP * np.sqrt(self.area(c)):
            return c
        land = partial(nearest, self.surface, partial(self._closest, x))
        landed = self._with_bulge(landed_again(c.mesh, self.surface, x, land), x)
        return replace(c, mesh=replace(landed, recess=c.mesh.recess))

    def _closest(self, x: Array, body: int, points: Array) -> tuple[Array, Array]:
        own = x[self.surface.offset[body] : self.surface.offset[body + 1]]
        triangle, weights, _ = closest_points(
            self.trees[body], own, self.surface.own_triangles[body], points, NOT_MAPPED
        )
        return triangle, weights

    def _pattern(self, near: VertexProximity, ledger: AirLedger) -> Array:
        known = [c.mesh for c in ledger.cavities]
        return contact_pattern(self.surface, near, self.sealing_distance, self.master, known)

    def _counted(self, c: Cavity, near: VertexProximity) -> Cavity:
        parts = count_parts(self.surface, near, self.sealing_distance, c.mesh.interior)
        return c if parts == c.parts else replace(c, parts=parts)

    def _due(
        self, ledger: AirLedger, x: Array, near: VertexProximity, pattern: Array, group: Array
    ) -> tuple[Array, Array]:
        """The bodies (n,) bool whose group is to be united anew (P 4.2), and those without one.

        Vertices inside a sealed cavity may touch and part as they like, as long as they do not cut
        it in parts; a ring may not change unnoticed, nor may a new ring form elsewhere. With
        SealBoundary.HISTORY a ring may change, and the mesh flattens, until its bridging
        triangles are too large or the ring is open.
        """
        alone = np.bincount(group, minlength=len(group))[group] == 1
        if self.every_step:
            return ~alone, alone
        before = ledger.pattern
        closed, was = pattern > 0, before > 0
        quiet = np.zeros(len(pattern), dtype=bool)
        stale = []
        for c in ledger.cavities:
            quiet[c.mesh.interior] = True
            line = c.mesh.seal_line
            if self.ring is SealBoundary.HISTORY:
                quiet |= ring_vertices(self.surface, (pattern > 0) | (before > 0), line)
                ((gap, _),) = bottlenecks(self.surface, near, self.sealing_distance, [c.mesh])
                moved = gap >= self.sealing_distance
            else:
                # a ring that only the sealing distance closes need not touch: it may come and go
                touched = bool((before[line] == 2).all())
                moved = differ(pattern, before, line) if touched else differ(closed, was, line)
            if (
                moved
                or c.missing > 0
                or (len(ledger.cavities) > 1 and self._empty(c))
                or needs_remesh(c.mesh, x, self.limit if len(line) else BARE * self.limit)
                or self._counted(c, near) is not c
                or self._open(c.mesh, near, x)
            ):
                stale.append(group[c.mesh.body[0]])
        due = changed_groups(pattern, before, quiet, self.surface.body, group)
        due[stale] = True
        return due[group] & ~alone, alone

    def _as_new(self, mesh: CavityMesh, x: Array) -> CavityMesh:
        return self._with_recess(self._with_bulge(mesh, x), x)

    def _with_bulge(self, mesh: CavityMesh, x: Array) -> CavityMesh:
        """A new mesh, with what smooth rigid walls take of its volume."""
        if self.shapes is None:
            return mesh
        return replace(mesh, bulge=bulge_volume(mesh, self.surface, x, self.shapes))

    def _with_recess(self, mesh: CavityMesh, x: Array) -> CavityMesh:
        """A new mesh whose volume is not negative where contact takes its walls to be apart.

        Contact lets the facets of a soft wall recede by their relief, as chords of what is curved.
        Their mesh does not, so where walls lie on each other it has a volume below zero; the gas
        law would ask for a pressure that parts walls which only touch.
        """
        if self.shapes is None:
            return mesh
        relief = max(self.shapes[b].patches.relief for b in np.unique(mesh.body).tolist())
        if relief == 0.0 or (v := volume(mesh, x)) >= 0.0:
            return mesh
        return replace(mesh, recess=min(-v, 0.5 * relief * areas(mesh, x)[0]))

    def _remesh(
        self, ledger: AirLedger, x: Array, contacts: Contacts, near: VertexProximity, group: Array,
        due: Sequence[int],
    ) -> AirLedger:  # fmt: skip
        """Unite the groups that are due, and hand on the air of their cavities."""
        for name in due:
            mine = [c for c in ledger.cavities if group[c.mesh.body[0]] == name]
            empty = [self._empty(c) for c in mine]
            stay, meshes = without_drained(self.surface, [c.mesh for c in mine], empty)
            given = (
                self.surface, x, contacts, self.sealing_distance, self.ring,
                meshes, self.trees, self.master,
                [mine[i].pressure >= self.atmosphere.pressure * (1.0 - 1e-9) for i in stay],
                np.flatnonzero(group == name).tolist(),
            )  # fmt: skip
            if self.finder is Finder.CLASSIFIER:
                found = detect_recesses(*given, self.inner)
            else:
                found = detect(*given, POCKET)
            cavities = tuple(
                m if kept else self._as_new(m, x)
                for m, kept in zip(found.cavities, found.kept)
                if not self._open(m, near, x)
            )
            others = [c for c in ledger.cavities if group[c.mesh.body[0]] != name]
            ledger = transfer_air(
                ledger, mine, cavities, x, contacts, self.surface, self.sealing_distance,
                self.atmosphere, self.staggered, lambda m: self._bare_bottleneck(near, m, x)[0],
            )  # fmt: skip
            all_of_them = sorted([*others, *ledger.cavities], key=lambda c: c.id)
            ledger = replace(ledger, cavities=tuple(all_of_them))
        return ledger
