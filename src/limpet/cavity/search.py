"""Where air is trapped: finds the cavities, follows them, and remeshes those that changed (P 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from limpet.cavity.find.classifier_search import detect_recesses
from limpet.cavity.find.classify import VertexClasses, classify, outside_seeds
from limpet.cavity.find.trigger import changed_groups, contact_pattern, differ, groups
from limpet.cavity.find.union_search import detect
from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.gas.transfer import transfer_air
from limpet.cavity.mesh import JoinedSurface, needs_remesh
from limpet.cavity.seal.boundary import (
    SealBoundary,
    SealBoundaryModel,
    count_parts,
    ring_vertices,
)
from limpet.cavity.seal.drained import without_drained
from limpet.cavity.seal.edge_seals import proximity_with_edge_seals
from limpet.cavity.seal.leak_paths import bottlenecks, vertex_areas
from limpet.cavity.seal.proximity import TOUCHING, VertexProximity, vertex_proximity
from limpet.contact.contacts import Contacts
from limpet.geometry.bvh import Tree

Array = np.ndarray

POCKET = 0.01  # share of a cavity's volume from which a part that is cut off has its own pressure
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
            ledger = self._remesh(ledger, x, contacts, group, np.unique(group[due]).tolist())
            ledger = replace(
                ledger, cavities=tuple(self._counted(c, near) for c in ledger.cavities)
            )
            pattern = self._pattern(near, ledger)
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

    def area(self, c: Cavity) -> float:
        """|sum of dV/dx| [m^2] over the bodies that carry the ring."""
        carried = c.gradient[np.isin(self.surface.body[c.mesh.support], c.mesh.rings[:, 0])]
        return float(np.linalg.norm(carried.sum(axis=0)))

    def _empty(self, c: Cavity) -> bool:
        """Whether its air, as it is in the atmosphere, is a film so thin that its walls touch."""
        if len(c.gradient) == 0:  # not measured yet: it was found just now
            return False
        return c.air * self.atmosphere.rt < TOUCHING * self.area(c) * self.atmosphere.pressure

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
            ):
                stale.append(group[c.mesh.body[0]])
        due = changed_groups(pattern, before, quiet, self.surface.body, group)
        due[stale] = True
        return due[group] & ~alone, alone

    def _remesh(
        self, ledger: AirLedger, x: Array, contacts: Contacts, group: Array, due: Sequence[int]
    ) -> AirLedger:
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
            others = [c for c in ledger.cavities if group[c.mesh.body[0]] != name]
            ledger = transfer_air(
                ledger, mine, found.cavities, x, contacts, self.surface, self.sealing_distance,
                self.atmosphere,
            )  # fmt: skip
            cavities = sorted([*others, *ledger.cavities], key=lambda c: c.id)
            ledger = replace(ledger, cavities=tuple(cavities))
        return ledger
