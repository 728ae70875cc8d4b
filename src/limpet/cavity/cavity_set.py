"""Keeps the cavities and their air from step to step: when to remesh, what to carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from limpet.cavity.find.classifier_search import detect_recesses
from limpet.cavity.find.trigger import changed_groups, contact_pattern, differ, groups
from limpet.cavity.find.union_search import bottlenecks, detect, seal_tractions
from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.exchange import AirExchange, exchange_air
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.gas.limit import ConstantLimit, Seal
from limpet.cavity.gas.network import (
    HoseState,
    Port,
    PortFlow,
    after,
    after_flow,
    at_ambient,
    flow_from_cup,
    ports_of_cavities,
    sensor,
    with_source_flow,
)  # fmt: skip
from limpet.cavity.gas.transfer import transfer_air
from limpet.cavity.gas.vacuum_line import Flow
from limpet.cavity.mesh import CavityMesh, JoinedSurface, needs_remesh, volume_and_gradient
from limpet.cavity.seal.boundary import SealBoundary, SealBoundaryModel, count_parts, ring_vertices
from limpet.cavity.seal.drained import without_drained
from limpet.cavity.seal.edge_seals import proximity_with_edge_seals
from limpet.cavity.seal.leak_paths import vertex_areas, vertex_loads
from limpet.cavity.seal.proximity import TOUCHING, VertexProximity, vertex_proximity
from limpet.contact.contacts import Contacts
from limpet.geometry.bvh import Tree
from limpet.report import NOWHERE, CavityReport, VacuumSensorReport

Array = np.ndarray

POCKET = 0.01  # share of a cavity's volume from which a part that is cut off has its own pressure
BARE = 0.2  # of the remeshing limit, where no ring but the union alone places a cavity's edge


class Finder(StrEnum):
    """How cavities are found."""

    UNION = "union"  # P: the voids in the union of the bodies
    CLASSIFIER = "classifier"  # A: the vertices of a cup that its contacts part from the outside


@dataclass(frozen=True)
class CavitySet:
    """The rules; the state is the AirLedger that is handed in and out."""

    surface: JoinedSurface
    trees: Sequence[Tree]  # kept fitted by contact detection
    master: Array  # (bodies,) of two bodies the one that leads more bears the contact ring
    sealing_distance: float  # [m]
    ring: SealBoundaryModel
    limit: float  # of bridging area before a cavity is remeshed
    every_step: bool
    atmosphere: Atmosphere
    air_exchanges: Sequence[AirExchange | None]  # of each body
    otherwise: AirExchange  # of cavities between bodies without one
    finder: Finder = Finder.UNION
    inner: Array | None = None  # (N,) bool, the vertices of named inner surfaces: the classifier's
    ports: Sequence[Port] = ()

    def update(
        self, book: AirLedger, x: Array, contacts: Contacts, time: float, h: float, elastic: Array
    ) -> tuple[AirLedger, bool]:
        """Find, remesh and feed the cavities at x; also whether a union was run.

        time [s]: at the start of the step. elastic (bodies, 2): energy [J] and volume [m^3] of the
        soft bodies, if the limit of the pressure asks for it.
        """
        near = self._near(contacts, x)
        group = groups(
            contacts, self.sealing_distance, [c.mesh for c in book.cavities], len(self.master)
        )
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
            seen = (due | alone)[self.surface.body]
            book = replace(book, pattern=np.where(seen, pattern, book.pattern))
        paths = bottlenecks(
            self.surface, near, self.sealing_distance, [c.mesh for c in book.cavities]
        )
        measured = []
        for c, (_, bottleneck) in zip(book.cavities, paths):
            v, gradient = volume_and_gradient(c.mesh, x)
            place = tuple(x[bottleneck].tolist()) if bottleneck >= 0 else NOWHERE
            measured.append(replace(c, volume=v, gradient=gradient, bottleneck=place))
        seals = [Seal(gap, 0.0, 0.0) for gap, _ in paths]
        if self._asks_for_tractions:
            seals = self._seals(measured, seals, book.load, x, near, elastic)
        if len(book.lines) != len(self.ports):  # they begin full of air
            lines = tuple(at_ambient(t.hose, self.atmosphere) for t in self.ports)
            book = replace(book, lines=lines, created=book.created + sum(n.air for n in lines))
        book = replace(
            book, lines=with_source_flow(self.ports, book.lines, time + h, self.atmosphere)
        )
        port = ports_of_cavities(self.ports, [(c.id, c.mesh, c.volume) for c in measured])
        fed = tuple(
            self._with_exchange(c, seal, time, h, book.lines, port.get(c.id))
            for c, seal in zip(measured, seals)
        )
        leaked = book.leaked + sum(c.leaked for c in fed)
        return replace(book, cavities=fed, leaked=leaked), remesh

    def _seals(
        self, cavities: Sequence[Cavity], seals: Sequence[Seal], load: Array, x: Array,
        near: VertexProximity, elastic: Array,
    ) -> list[Seal]:  # fmt: skip
        """The seals with what they bear; their load is that of the last step."""
        meshes = [c.mesh for c in cavities]
        load = load if len(load) else np.zeros(len(x))
        area = vertex_areas(self.surface.triangles, x)
        traction = np.divide(load, area, out=np.zeros_like(load), where=area > 0.0)
        paths = seal_tractions(self.surface, near, self.sealing_distance, meshes, traction)
        loaded = []
        for c, mesh, seal, (largest, total) in zip(cavities, meshes, seals, paths):
            energy, room = elastic[np.unique(mesh.body)].sum(axis=0)
            loaded.append(
                Seal(
                    seal.gap, largest, total, float(energy / room) if room > 0.0 else 0.0,
                    force=float(load[mesh.interior].sum() + load[mesh.seal_line].sum()),
                    area=self._area(c),
                    overpressure=c.pressure - self.atmosphere.pressure,
                )
            )  # fmt: skip
        return loaded

    @cached_property
    def _asks_for_tractions(self) -> bool:
        """Whether a limit or a leak depends on how the rings are pressed on."""
        air_exchanges = [b for b in self.air_exchanges if b is not None]
        limited = not isinstance(self.atmosphere.rule, ConstantLimit)
        return limited or any(b.traction < np.inf for b in air_exchanges)

    def _with_exchange(
        self,
        c: Cavity,
        seal: Seal,
        time: float,
        h: float,
        lines: Sequence[HoseState],
        port: int | None,
    ) -> Cavity:
        """The cavity after a step's breath, and the pressure that its seal holds.

        On a line what leaks and what is taken are balanced within the step: see `close`.
        """
        exchange, port_flow = self._breath(c.mesh), None
        if port is not None:
            g = exchange.conductance_at(seal.traction)
            least = -c.air / h  # a constant rate cannot take more than there is
            leak = Flow(a=max(exchange.leak, least) + g * self.atmosphere.pressure, b=g)
            rt = self.atmosphere.rt
            port_flow = PortFlow(
                port, flow_from_cup(self.ports[port].hose, lines[port], h, rt), leak
            )
            exchange = replace(exchange, leak=0.0, conductance=0.0)
        room = c.gas.volume_at(c.pressure) if c.pressure > 0.0 and c.air > 0.0 else c.volume
        breathed = exchange_air(
            exchange, c.gas, c.stored, room, seal.traction, self.atmosphere, time + h, h
        )
        p_max = self.atmosphere.pressure + self.atmosphere.rule.overpressure_of(seal)
        return replace(
            c, gas=breathed.gas, stored=breathed.stored, leaked=breathed.leaked, seal=seal,
            p_max=p_max, port_flow=port_flow,
        )  # fmt: skip

    def _breath(self, mesh: CavityMesh) -> AirExchange:
        """That of the body that carries the ring; if it has none, of the first wall that has."""
        for body in (*mesh.rings[:, 0].tolist(), *np.unique(mesh.body).tolist()):
            exchange = self.air_exchanges[body]
            if exchange is not None:
                return exchange
        return self.otherwise

    def close(
        self, book: AirLedger, pressures: Array, rates: Array, h: float,
        contacts: Contacts, normal_force: Array,
    ) -> tuple[AirLedger, tuple[CavityReport, ...]]:  # fmt: skip
        """Settle the step: P and V' of each cavity are known; at P_max air has left (P eq 13).

        contacts, normal_force (k,) [N]: of the step.
        """
        cavities, reports, vented, leaked = [], [], 0.0, 0.0
        drawn: dict[int, tuple[float, float]] = {}  # by tap: P of its cavity, what it took
        for c, p, rate in zip(book.cavities, pressures, rates):
            end = float(c.volume + h * rate)
            gas, seeped = c.gas, 0.0
            if c.port_flow is not None:
                gas, seeped, taken = after_flow(gas, c.port_flow, float(p), end, h)
                drawn[c.port_flow.port] = float(p), taken
            before, leaked = gas.amount, leaked + seeped
            if p >= c.p_max * (1.0 - 1e-9):
                gas = gas.with_less(min(gas.amount, gas.amount_at(float(p), end)))
            vented += before - gas.amount
            cavities.append(replace(c, gas=gas, pressure=float(p)))
            reports.append(
                CavityReport(
                    id=c.id,
                    pressure=float(p),
                    volume=end,
                    air=gas.amount,
                    vented=before - gas.amount,
                    leaked=c.leaked + seeped,
                    gas_residual=gas.miss(float(p), end),
                    seal_gap=c.seal.gap,
                    temperature=gas.temperature_at(float(p)),
                    stored=c.stored,
                    p_max=c.p_max,
                    seal_traction=c.seal.traction,
                    margin=self.sealing_distance - c.seal.gap,
                    bottleneck=c.bottleneck,
                    area=self._area(c),
                )
            )
        load = vertex_loads(
            self.surface.offset[contacts.body_a], contacts.vertices_a, contacts.weights_a,
            self.surface.offset[contacts.body_b], contacts.vertices_b, contacts.weights_b,
            normal_force, len(self.surface.body),
        )  # fmt: skip
        lines = []
        for i, (port, line) in enumerate(zip(self.ports, book.lines)):
            p, out = drawn.get(i, (self.atmosphere.pressure, None))  # an open cup: the air around
            lines.append(after(port.hose, line, p, out, h, self.atmosphere.rt))
        book = replace(
            book, cavities=tuple(cavities), vented=book.vented + vented, load=load,
            lines=tuple(lines),
            leaked=book.leaked + leaked + sum(line.drawn for line in lines if not line.sealed),
            taken=book.taken + sum(line.taken for line in lines),
        )  # fmt: skip
        return book, tuple(reports)

    def _near(self, contacts: Contacts, x: Array) -> VertexProximity:
        if self.finder is Finder.CLASSIFIER:
            return proximity_with_edge_seals(contacts, self.surface, self.sealing_distance, x)
        return vertex_proximity(contacts, self.surface)

    def vacuum_sensors(self, book: AirLedger, h: float) -> dict[str, VacuumSensorReport]:
        """What the sensor of each line reads after a step."""
        pairs = zip(self.ports, book.lines)
        return {port.name: sensor(port, line, h, self.atmosphere) for port, line in pairs}

    def _area(self, c: Cavity) -> float:
        """|sum of dV/dx| [m^2] over the bodies that carry the ring."""
        carried = c.gradient[np.isin(self.surface.body[c.mesh.support], c.mesh.rings[:, 0])]
        return float(np.linalg.norm(carried.sum(axis=0)))

    def _empty(self, c: Cavity) -> bool:
        """Whether its air, as it is in the atmosphere, is a film so thin that its walls touch."""
        if len(c.gradient) == 0:  # not measured yet: it was found just now
            return False
        return c.air * self.atmosphere.rt < TOUCHING * self._area(c) * self.atmosphere.pressure

    def _pattern(self, near: VertexProximity, book: AirLedger) -> Array:
        known = [c.mesh for c in book.cavities]
        return contact_pattern(self.surface, near, self.sealing_distance, self.master, known)

    def _counted(self, c: Cavity, near: VertexProximity) -> Cavity:
        parts = count_parts(self.surface, near, self.sealing_distance, c.mesh.interior)
        return c if parts == c.parts else replace(c, parts=parts)

    def _due(
        self, book: AirLedger, x: Array, near: VertexProximity, pattern: Array, group: Array
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
        before = book.pattern
        closed, was = pattern > 0, before > 0
        calm = np.zeros(len(pattern), dtype=bool)
        stale = []
        for c in book.cavities:
            calm[c.mesh.interior] = True
            line = c.mesh.seal_line
            if self.ring is SealBoundary.HISTORY:
                calm |= ring_vertices(self.surface, (pattern > 0) | (before > 0), line)
                ((gap, _),) = bottlenecks(self.surface, near, self.sealing_distance, [c.mesh])
                moved = gap >= self.sealing_distance
            else:
                # a ring that only the sealing distance closes need not touch: it may come and go
                touched = bool((before[line] == 2).all())
                moved = differ(pattern, before, line) if touched else differ(closed, was, line)
            if (
                moved
                or c.missing > 0
                or (len(book.cavities) > 1 and self._empty(c))
                or needs_remesh(c.mesh, x, self.limit if len(line) else BARE * self.limit)
                or self._counted(c, near) is not c
            ):
                stale.append(group[c.mesh.body[0]])
        due = changed_groups(pattern, before, calm, self.surface.body, group)
        due[stale] = True
        return due[group] & ~alone, alone

    def _remesh(
        self, book: AirLedger, x: Array, contacts: Contacts, group: Array, due: Sequence[int]
    ) -> AirLedger:
        """Unite the groups that are due, and hand on the air of their cavities."""
        for name in due:
            mine = [c for c in book.cavities if group[c.mesh.body[0]] == name]
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
            others = [c for c in book.cavities if group[c.mesh.body[0]] != name]
            book = transfer_air(
                book,
                mine,
                found.cavities,
                x,
                contacts,
                self.surface,
                self.sealing_distance,
                self.atmosphere,
            )
            cavities = sorted([*others, *book.cavities], key=lambda c: c.id)
            book = replace(book, cavities=tuple(cavities))
        return book
