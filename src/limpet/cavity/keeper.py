"""Keeps the cavities and their air from step to step: when to remesh, what to carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from limpet.cavity.detect import detect, seal_gaps, seal_necks
from limpet.cavity.gas import Atmosphere
from limpet.cavity.mesh import CavityMesh, Walls, needs_remesh, volume, volume_and_gradient
from limpet.cavity.notice import changed_groups, contact_pattern, differ, groups
from limpet.cavity.ring import Nearness, Ring, RingModel, count_parts, nearness, ring_vertices
from limpet.cavity.track import Air, add_air, annexed, links
from limpet.collision.contacts import Contacts
from limpet.geometry.bvh import Tree
from limpet.report import NOWHERE, CavityReport, Place

Array = np.ndarray

POCKET = 0.01  # share of a cavity's volume from which a part that is cut off has its own pressure
PATIENCE = 1  # detections in a row that may miss a cavity before its air is given up


@dataclass(frozen=True)
class Trapped:
    """One cavity: its mesh and its air, and what the current step needs to know of it."""

    id: int
    mesh: CavityMesh
    air: float  # n [mol]
    pressure: float  # P [Pa] absolute, of the last step
    volume: float = 0.0  # V [m^3] at x
    gradient: Array = field(default_factory=lambda: np.zeros((0, 3)))  # H_p at mesh.support [m^2]
    leaked: float = 0.0  # [mol] in this step
    seal_gap: float = 0.0  # [m]
    seal_place: Place = NOWHERE  # [m] see CavityReport
    missing: int = 0  # detections in a row that did not find it
    parts: int = 1  # into which contact cut it when it was last meshed, by its vertex graph


@dataclass(frozen=True)
class AirBook:
    """All trapped air, and where it came from and went since the start [mol]."""

    cavities: tuple[Trapped, ...] = ()
    next_id: int = 0
    created: float = 0.0
    leaked: float = 0.0
    vented: float = 0.0
    released: float = 0.0
    pattern: Array = field(default_factory=lambda: np.zeros(0, np.int8))  # see contact_pattern

    @property
    def error(self) -> float:
        """What the books miss, as a share of all air that was ever trapped."""
        held = sum(c.air for c in self.cavities)
        came = self.created + self.leaked
        return abs(held - (came - self.vented - self.released)) / came if came > 0.0 else 0.0


@dataclass(frozen=True)
class CavityKeeper:
    """The rules; the state is the AirBook that is handed in and out."""

    walls: Walls
    trees: Sequence[Tree]  # kept fitted by contact detection
    lead: Array  # (bodies,) of two bodies the one that leads more bears the contact ring
    sealing: float  # [m]
    ring: RingModel
    limit: float  # of bridging area before a cavity is remeshed
    every_step: bool
    atmosphere: Atmosphere
    leak: float  # [mol/s]

    def update(self, book: AirBook, x: Array, contacts: Contacts, h: float) -> tuple[AirBook, bool]:
        """Find, remesh and feed the cavities at x; also whether a union was run."""
        near = nearness(contacts, self.walls)
        group = groups(contacts, self.sealing, [c.mesh for c in book.cavities], len(self.lead))
        pattern = self._pattern(near, book)
        if len(book.pattern) == 0:
            book = replace(book, pattern=np.zeros_like(pattern))
        due, alone = self._due(book, x, near, pattern, group)
        remesh = bool(due.any())
        if remesh:
            book = self._remesh(book, x, contacts, group, np.unique(group[due]).tolist())
            book = replace(book, cavities=tuple(self._counted(c, near) for c in book.cavities))
            pattern = self._pattern(near, book)
        if remesh or alone.any():
            seen = (due | alone)[self.walls.body]
            book = replace(book, pattern=np.where(seen, pattern, book.pattern))
        necks = seal_necks(self.walls, near, self.sealing, [c.mesh for c in book.cavities])
        cavities, leaked = [], 0.0
        for c, (gap, neck) in zip(book.cavities, necks):
            v, gradient = volume_and_gradient(c.mesh, x)
            gained = h * self.leak  # P eq 15
            leaked += gained
            cavities.append(
                replace(
                    c,
                    air=c.air + gained,
                    volume=v,
                    gradient=gradient,
                    leaked=gained,
                    seal_gap=gap,
                    seal_place=tuple(x[neck].tolist()) if neck >= 0 else NOWHERE,
                )
            )
        return replace(book, cavities=tuple(cavities), leaked=book.leaked + leaked), remesh

    def close(
        self, book: AirBook, pressures: Array, rates: Array, h: float
    ) -> tuple[AirBook, tuple[CavityReport, ...]]:
        """Settle the step: P and V' of each cavity are known; at P_max air has left (P eq 13)."""
        rt, p_max = self.atmosphere.rt, self.atmosphere.p_max
        cavities, reports, vented = [], [], 0.0
        for c, p, rate in zip(book.cavities, pressures, rates):
            after = c.volume + h * rate
            air = c.air
            if p >= p_max * (1.0 - 1e-9):
                air = min(air, max(p * after / rt, 0.0))
            vented += c.air - air
            miss = abs(p * after - air * rt) / (air * rt) if air > 0.0 else abs(p * after)
            cavities.append(replace(c, air=air, pressure=float(p)))
            reports.append(
                CavityReport(
                    id=c.id,
                    pressure=float(p),
                    volume=after,
                    air=air,
                    vented=c.air - air,
                    leaked=c.leaked,
                    gas_residual=miss,
                    seal_gap=c.seal_gap,
                    margin=self.sealing - c.seal_gap,
                    seal_place=c.seal_place,
                )
            )
        book = replace(book, cavities=tuple(cavities), vented=book.vented + vented)
        return book, tuple(reports)

    def _pattern(self, near: Nearness, book: AirBook) -> Array:
        known = [c.mesh for c in book.cavities]
        return contact_pattern(self.walls, near, self.sealing, self.lead, known)

    def _counted(self, c: Trapped, near: Nearness) -> Trapped:
        parts = count_parts(self.walls, near, self.sealing, c.mesh.interior)
        return c if parts == c.parts else replace(c, parts=parts)

    def _due(
        self, book: AirBook, x: Array, near: Nearness, pattern: Array, group: Array
    ) -> tuple[Array, Array]:
        """The bodies (n,) bool whose group is to be united anew (P 4.2), and those without one.

        Vertices inside a sealed cavity may touch and part as they like, as long as they do not cut
        it in parts; a ring may not change unnoticed, nor may a new ring form elsewhere. With
        Ring.HISTORY a ring may change, and the mesh flattens, until its bridging triangles are too
        large or the ring is open.
        """
        alone = np.bincount(group, minlength=len(group))[group] == 1
        if self.every_step:
            return ~alone, alone
        before = book.pattern
        calm = np.zeros(len(pattern), dtype=bool)
        stale = []
        for c in book.cavities:
            calm[c.mesh.interior] = True
            line = c.mesh.seal_line
            if self.ring is Ring.HISTORY:
                calm |= ring_vertices(self.walls, (pattern > 0) | (before > 0), line)
                ((gap, _),) = seal_necks(self.walls, near, self.sealing, [c.mesh])
                moved = gap >= self.sealing
            else:
                moved = differ(pattern, before, line)
            if (
                moved
                or c.missing > 0
                or needs_remesh(c.mesh, x, self.limit)
                or self._counted(c, near) is not c
            ):
                stale.append(group[c.mesh.body[0]])
        due = changed_groups(pattern, before, calm, self.walls.body, group)
        due[stale] = True
        return due[group] & ~alone, alone

    def _remesh(
        self, book: AirBook, x: Array, contacts: Contacts, group: Array, due: Sequence[int]
    ) -> AirBook:
        """Unite the groups that are due, and hand on the air of their cavities."""
        for name in due:
            mine = [c for c in book.cavities if group[c.mesh.body[0]] == name]
            found = detect(
                self.walls, x, contacts, self.sealing, self.ring,
                [c.mesh for c in mine], self.trees, self.lead,
                [c.pressure >= self.atmosphere.pressure * (1.0 - 1e-9) for c in mine],
                np.flatnonzero(group == name).tolist(), POCKET,
            )  # fmt: skip
            others = [c for c in book.cavities if group[c.mesh.body[0]] != name]
            book = self._carry(book, mine, found.cavities, x, contacts)
            cavities = sorted([*others, *book.cavities], key=lambda c: c.id)
            book = replace(book, cavities=tuple(cavities))
        return book

    def _carry(
        self,
        book: AirBook,
        old: Sequence[Trapped],
        found: Sequence[CavityMesh],
        x: Array,
        contacts: Contacts,
    ) -> AirBook:
        """Hand the air on to the cavities found; what was only missed now keeps its mesh."""
        link = links([c.mesh for c in old], found, x)
        ringed = np.array([len(c.mesh.seal_line) > 0 for c in old], dtype=bool)
        bare = np.array([len(m.seal_line) == 0 for m in found], dtype=bool)
        # a ring that has come apart is no cavity, even where folded walls still enclose a void
        keep = ~(bare & link[ringed].any(axis=0))
        new = [m for m, ok in zip(found, keep) if ok]
        link = link[:, keep]
        # a leak path along which nothing is even near is open beyond doubt; else wait a step
        lost = [i for i, c in enumerate(old) if not link[i].any() and c.missing < PATIENCE]
        gaps = seal_gaps(self.walls, contacts, self.sealing, [old[i].mesh for i in lost])
        waiting = [i for i, gap in zip(lost, gaps) if np.isfinite(gap)]
        meshes = [*new, *(old[i].mesh for i in waiting)]
        stays = np.zeros((len(old), len(waiting)), dtype=bool)
        stays[waiting, np.arange(len(waiting))] = True
        link = np.hstack([link, stays])
        volumes = np.array([max(volume(m, x), 0.0) for m in meshes])
        gained = annexed([c.mesh for c in old], meshes, link, x, self.sealing)
        outside = np.where(link.any(axis=0), gained, volumes)  # [m^3] open to the air until now
        created = self.atmosphere.pressure * outside / self.atmosphere.rt
        air = Air(
            np.array([c.id for c in old], dtype=np.int64),
            np.array([c.air for c in old], dtype=float),
            book.next_id,
        )
        after, ledger = add_air(air, link, volumes, created)
        source = ledger.share * air.amount[:, None]  # whose air it is, for the most part
        pressure = [
            old[int(np.argmax(source[:, j]))].pressure if link[:, j].any()
            else self.atmosphere.pressure for j in range(len(meshes))
        ]  # fmt: skip
        missing = {old[i].id: old[i].missing + 1 for i in waiting}
        cavities = tuple(
            Trapped(
                id=int(number), mesh=mesh, air=float(amount),
                pressure=p, missing=missing.get(int(number), 0),
            )
            for number, mesh, amount, p in zip(after.id, meshes, after.amount, pressure)
        )  # fmt: skip
        return replace(
            book, cavities=cavities, next_id=after.next_id,
            created=book.created + float(ledger.created.sum()),
            released=book.released + float(ledger.released.sum()),
        )  # fmt: skip
