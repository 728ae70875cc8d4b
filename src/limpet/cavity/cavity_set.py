"""Cavities as a constraint set: a row for each, dV/dx, under the gas law or a regulated pressure.

The set owns all trapped air. `update` moves air once a step, as a trial: it finds the cavities,
lets them leak and connects them to the vacuum lines. `accept` commits the trial and closes the
air mass balance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from limpet.cavity.gas import law, regulated
from limpet.cavity.gas.cavity_flow import CavityFlow, coupling
from limpet.cavity.gas.exchange import AirExchange, ExchangeResult, exchange_air
from limpet.cavity.gas.increments import PressureIncrement
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.gas.limit import ConstantLimit, Seal
from limpet.cavity.gas.line_flows import follow_lines, on_lines, predicted_pressures
from limpet.cavity.gas.network import GasNetwork
from limpet.cavity.gas.vacuum_line import Flow
from limpet.cavity.mesh import CavityMesh, volume_and_gradient
from limpet.cavity.seal.leak_paths import (
    seal_tractions,
    vertex_areas,
    vertex_loads,
)
from limpet.cavity.seal.leaky_rings import LeakyRings
from limpet.cavity.seal.proximity import VertexProximity
from limpet.cavity.search import CavitySearch
from limpet.contact.contacts import Contacts
from limpet.contact.limits import DEFAULT_LIMITS
from limpet.dynamics.constraint_set import DATA, ConstraintSet, Control, RowBlock, StepContext
from limpet.linalg.rows import Rows
from limpet.report import NOWHERE, CavityReport, VacuumSensorReport

Array = np.ndarray

SEALED = AirExchange()  # no air passes


class ContactSource(Protocol):
    """What the cavities need of the contacts between their walls."""

    contacts: Contacts  # that the step was solved for

    def normal_forces(self) -> Array:
        """(k,) [N] of them."""
        ...

    def near(self, now: StepContext) -> Contacts: ...

    @property
    def ahead(self) -> Contacts:
        """Those within the alarm distance at the end of the step, as it was last rechecked."""
        ...


class CavitySet(ConstraintSet):
    """All trapped air of a world."""

    name, phase = "cavities", "cavities"

    def __init__(
        self,
        search: CavitySearch,
        contacts: ContactSource,
        network: GasNetwork,
        exchanges: Sequence[AirExchange | None],  # of each surface
        default_exchange: AirExchange,  # of cavities between surfaces without one
        elastic: Callable[[], Array],  # (surfaces, 2) energy [J] and volume [m^3] of soft bodies
        names: Sequence[str],  # of the surfaces
        leaky: LeakyRings | None = None,  # None: a seal is binary
        increments: int = 1,  # in which a regulated vacuum is raised in each step
        # [m] by which the walls of an empty cavity may lie in each other, on average, before its
        # pressure parts them: contact does so first, and leaves edges that cross by as much
        clearance: float = DEFAULT_LIMITS.crossing,
    ) -> None:
        self._increments = increments if network.ports else 1
        self._increment = PressureIncrement(self._increments)
        self._names, self._leaky, self._clearance = names, leaky, clearance
        self._search, self._contacts, self._network = search, contacts, network
        self._exchanges, self._default, self._elastic = exchanges, default_exchange, elastic
        self._atmosphere = search.atmosphere
        self.ledger = AirLedger()
        self._trial, self.remeshed = self.ledger, False
        self.reports: tuple[CavityReport, ...] = ()  # of the last step
        self.sensors: dict[str, VacuumSensorReport] = {}  # of each vacuum line, by body
        self.air_error = 0.0  # relative error of the air mass balance

    @property
    def retries(self) -> int:
        return self._increment.retries

    def update(self, now: StepContext) -> None:
        self._now = now
        near = self._contacts.near(now).between_bodies()
        self._trial, self.remeshed = self.trial(
            self.ledger, now.x, near, now.time, now.h, now.control
        )
        imposed = [(c.imposed, c.pressure) for c in self._trial.cavities if c.imposed is not None]
        held = bool(imposed) and all(abs(p - q) <= 1e-9 * q for q, p in imposed)
        self._increment = PressureIncrement.first(self._increments, changes=not held)

    def classes(self, contacts: Contacts, x: Array) -> Array:
        """(N,) int8, the class of A III-B of every vertex at x (N, 3)."""
        return self._search.classes(contacts, x).label

    def rows(self) -> RowBlock:
        cavities, around, h = self._trial.cavities, self._atmosphere, self._now.h
        c = len(cavities)
        if c == 0:
            return RowBlock.none()
        start = np.cumsum([0, *(len(a.mesh.support) for a in cavities)]).astype(np.int32)
        jacobian = Rows(
            start, np.concatenate([a.mesh.support for a in cavities]).astype(np.int32),
            np.concatenate([a.gradient for a in cavities]),
        )  # fmt: skip
        kind, data = np.full(c, law.KIND, np.int32), np.zeros((c, DATA))
        for i, cavity in enumerate(cavities):
            volume, product, least = cavity.volume, cavity.gas.product, -np.inf
            if (target := cavity.imposed) is not None:
                rest = (1.0 - self._increment.share) * (cavity.pressure - target)
                kind[i] = regulated.KIND
                data[i, :5] = (
                    target + rest,
                    around.pressure,
                    volume,
                    self._least(cavity),
                    cavity.p_max,
                )
                continue
            if cavity.flow is not None:
                flow, product = cavity.flow.gas_row(cavity.air, h, around.rt)
                volume, least = volume + flow, flow + self._least(cavity)
            data[i] = volume, product, cavity.p_max, around.pressure, cavity.gas.exponent, least
        keys = np.array([a.id for a in cavities], dtype=np.int64)
        bias, joined = np.zeros(c), coupling([a.flow for a in cavities], around.rt)
        if joined is not None:
            bias = -joined[0] @ (joined[1] - around.pressure)
        return RowBlock(
            jacobian, bias, np.zeros(c), kind, np.arange(c + 1, dtype=np.int32), data, keys,
            coupling=None if joined is None else joined[0],
        )  # fmt: skip

    def _least(self, cavity: Cavity) -> float:
        """[m^3] V of walls that meet."""
        return -self._clearance * _wall_area(cavity)

    def recheck(self, x_after: Array, v_after: Array) -> bool:
        """Raise a regulated vacuum by an increment, with the classes at the end of the step."""
        if self._increments == 1:
            return False
        now, before = self._now, self._trial.cavities
        contacts = self._contacts.ahead.between_bodies()
        trial, remeshed = self.trial(
            self.ledger, now.x, contacts, now.time, now.h, now.control, x_after
        )
        increment = self._increment.next(_differ(before, trial.cavities))
        if increment is None:
            return False
        self._increment, self._trial = increment, trial
        self.remeshed = self.remeshed or remeshed
        return True

    def relinearise(self, x_after: Array) -> None:
        """V and its gradient where the step ends, V as it would be at x by that gradient."""
        x, cavities = self._now.x, []
        for c in self._trial.cavities:
            volume, gradient = volume_and_gradient(c.mesh, x_after)
            moved = x_after[c.mesh.support] - x[c.mesh.support]
            volume -= float(np.vdot(gradient, moved))
            cavities.append(replace(c, volume=volume, gradient=gradient))
        self._trial = replace(self._trial, cavities=tuple(cavities))

    def accept(self, multipliers: Array, rates: Array) -> None:
        pressures = multipliers + self._atmosphere.pressure
        h = self._now.h
        self.ledger, self.reports = self.close(self._trial, pressures, rates, h)
        self.air_error = self.ledger.error
        if self.ledger.lines is not None:
            self.sensors = self._network.sensors(self.ledger.lines, h)

    def trial(
        self,
        ledger: AirLedger,
        x: Array,
        contacts: Contacts,
        time: float,
        h: float,
        control: Control,
        seen: Array | None = None,
    ) -> tuple[AirLedger, bool]:
        """Find, remesh and feed the cavities at x; also whether any was meshed anew.

        time [s]: at the start of the step. seen (N, 3): where the contacts are, and the trees of
        surfaces stand, if not at x.
        """
        search, there = self._search, x if seen is None else seen
        near = search.proximity(contacts, there)
        ledger, remeshed = search.update(ledger, there, contacts, near)
        meshes = [c.mesh for c in ledger.cavities]
        paths = search.bottlenecks(near, meshes, there)
        measured = []
        for c, (_, bottleneck) in zip(ledger.cavities, paths):
            v, gradient = volume_and_gradient(c.mesh, x)
            place = tuple(x[bottleneck].tolist()) if bottleneck >= 0 else NOWHERE
            measured.append(replace(c, volume=v, gradient=gradient, bottleneck=place))
        seals = [Seal(gap, 0.0, 0.0) for gap, _ in paths]
        load = ledger.load if len(ledger.load) else np.zeros(len(x))
        if self._needs_tractions:
            seals = self._seals(measured, seals, load, x, near)
        if self._leaky is not None and measured:
            seals = self._leaky.leaking(measured, seals, paths, load, there, near)
        port: dict[int, int] = {}
        if self._network.ports:
            lines, created = self._network.begin(ledger.lines, time + h, control.vacuum)
            ledger = replace(ledger, lines=lines, created=ledger.created + created)
            port = self._network.port_of([(c.id, c.mesh, c.volume) for c in measured])
        fed = tuple(
            self._with_exchange(c, seal, time, h, port.get(c.id), control.leak)
            for c, seal in zip(measured, seals)
        )
        if port and ledger.lines is not None:
            found = predicted_pressures(self._network, ledger.lines, fed, h)
            fed = on_lines(self._network, ledger.lines, fed, found, h)
        return replace(
            ledger, cavities=fed, leaked=ledger.leaked + sum(c.leaked for c in fed)
        ), remeshed

    def close(
        self, ledger: AirLedger, pressures: Array, rates: Array, h: float
    ) -> tuple[AirLedger, tuple[CavityReport, ...]]:
        """Close the step: P and V' of each cavity are known; at P_max air has left (P eq 13)."""
        cavities, reports, vented, leaked = [], [], 0.0, 0.0
        drawn: dict[int, tuple[float, float]] = {}  # by port: P of its cavity, what it took
        open_rings: set[int] = set()  # ports of cavities whose ring does not touch all round
        around = self._atmosphere.pressure
        for c, p, rate in zip(ledger.cavities, pressures.tolist(), rates.tolist()):
            end = float(c.volume + h * rate)
            gas, seeped = c.gas, 0.0
            if c.flow is not None:
                gas, seeped, taken = c.flow.after(gas, p, end, h)
                if c.flow.port is not None:
                    drawn[c.flow.port] = p, taken
                    if not c.seal.closed:
                        open_rings.add(c.flow.port)
            before, leaked = gas.amount, leaked + seeped
            if p >= c.p_max * (1.0 - 1e-9):
                gas = gas.with_less(min(gas.amount, gas.amount_at(p, end)))
            vented += before - gas.amount
            cavities.append(replace(c, gas=gas, pressure=p))
            reports.append(
                CavityReport(
                    id=c.id, pressure=p, volume=max(end, 0.0),
                    wall_overlap=-end / _wall_area(c) if end < 0.0 else 0.0, air=gas.amount,
                    vented=before - gas.amount, leaked=c.leaked + seeped,
                    gas_residual=gas.miss(p, end), seal_gap=c.seal.gap,
                    temperature=gas.temperature_at(p), stored=c.stored, p_max=c.p_max,
                    seal_traction=c.seal.traction,
                    margin=self._search.sealing_distance - c.seal.gap,
                    bottleneck=c.bottleneck, area=self._search.area(c),
                    bodies=tuple(self._names[i] for i in np.unique(c.mesh.body)),
                    gap_flow=c.seal.conductance * (around - p),
                    gap_conductance=c.seal.conductance,
                )
            )  # fmt: skip
        ledger = replace(
            ledger, cavities=tuple(cavities), vented=ledger.vented + vented, load=self._load(),
            leaked=ledger.leaked + leaked,
        )  # fmt: skip
        if ledger.lines is not None:
            lines = self._network.advance(ledger.lines, drawn, h, open_rings)
            ledger = replace(
                ledger, lines=lines, leaked=ledger.leaked + lines.let_in,
                taken=ledger.taken + float(lines.taken.sum()),
            )  # fmt: skip
        return ledger, tuple(reports)

    def _load(self) -> Array:
        """(N,) [N] normal force on every vertex, of the step's contacts."""
        c, surface = self._contacts.contacts, self._search.surface
        force = np.where(c.surface_a != c.surface_b, self._contacts.normal_forces(), 0.0)
        return vertex_loads(
            surface.offset[c.surface_a], c.vertices_a, c.weights_a,
            surface.offset[c.surface_b], c.vertices_b, c.weights_b,
            force, len(surface.body),
        )  # fmt: skip

    def get_state(self) -> dict[str, object]:
        return {"ledger": self.ledger}

    def set_state(self, state: Mapping[str, object]) -> None:
        ledger = state["ledger"]
        assert isinstance(ledger, AirLedger)
        self.ledger = self._trial = ledger
        self.reports = ()

    def _seals(
        self, cavities: Sequence[Cavity], seals: Sequence[Seal], load: Array, x: Array,
        near: VertexProximity,
    ) -> list[Seal]:  # fmt: skip
        """The seals with what they bear; their load is that of the last step."""
        search, elastic = self._search, self._elastic()
        meshes = [c.mesh for c in cavities]
        area = vertex_areas(search.surface.triangles, x)
        traction = np.divide(load, area, out=np.zeros_like(load), where=area > 0.0)
        paths = seal_tractions(search.surface, near, search.sealing_distance, meshes, traction)
        loaded = []
        for c, mesh, seal, (largest, total) in zip(cavities, meshes, seals, paths):
            energy, room = elastic[np.unique(mesh.body)].sum(axis=0)
            loaded.append(
                Seal(
                    seal.gap, largest, total, float(energy / room) if room > 0.0 else 0.0,
                    force=float(load[mesh.interior].sum() + load[mesh.seal_line].sum()),
                    area=search.area(c),
                    overpressure=c.pressure - self._atmosphere.pressure,
                )
            )  # fmt: skip
        return loaded

    @cached_property
    def _needs_tractions(self) -> bool:
        """Whether a limit or a leak depends on the contact traction of the rings."""
        exchanges = [b for b in self._exchanges if b is not None]
        limited = not isinstance(self._atmosphere.rule, ConstantLimit)
        return limited or any(b.traction < np.inf for b in exchanges)

    def _with_exchange(
        self, c: Cavity, seal: Seal, time: float, h: float, port: int | None, leak: float | None
    ) -> Cavity:
        """The cavity after a step's air exchange, and the pressure that its seal holds.

        On a vacuum line, and through a leaky ring, what leaks and what is drawn are balanced within
        the step: see `close`. Air of another exponent leaks before the step.
        """
        air, exchange, flow = self._atmosphere, self._exchange(c.mesh, leak), None
        if port is not None:
            g = exchange.conductance_at(seal.traction) + seal.conductance
            least = -c.gas.amount / h  # a constant rate cannot take more than there is
            leaks = Flow(a=max(exchange.leak, least) + g * air.pressure, b=g)
            flow = CavityFlow(leaks, port=port)  # what its line draws: see _on_lines
            exchange = replace(exchange, leak=0.0, conductance=0.0)
        elif seal.conductance > 0.0 and air.exponent == 1.0:
            g = seal.conductance
            flow = CavityFlow(Flow(a=g * air.pressure, b=g))
        elif seal.conductance > 0.0:
            g = exchange.conductance_at(seal.traction) + seal.conductance
            exchange = replace(exchange, conductance=g, traction=np.inf)
        result = ExchangeResult(c.gas, c.stored, 0.0)
        if exchange != SEALED or c.stored > 0.0:
            known = c.pressure > 0.0 and c.gas.amount > 0.0
            room = c.gas.volume_at(c.pressure) if known else c.volume
            result = exchange_air(exchange, c.gas, c.stored, room, seal.traction, air, time + h, h)
        held = air.rule.overpressure_of(seal) if seal.closed else 0.0
        return replace(
            c, gas=result.gas, stored=result.stored, leaked=result.leaked, seal=seal,
            p_max=air.pressure + held, flow=flow,
        )  # fmt: skip

    def adjust(self, multipliers: Array) -> bool:
        """Take the flows into vacuum lines anew, at the pressures that the rows have led to."""
        trial, h, found = self._trial, self._now.h, multipliers + self._atmosphere.pressure
        least = np.array([self._least(c) for c in trial.cavities])
        if trial.lines is None or follow_lines(
            self._network, trial.lines, trial.cavities, found, least, h
        ):
            return False
        cavities = on_lines(self._network, trial.lines, trial.cavities, found, h)
        self._trial = replace(trial, cavities=cavities)
        return True

    @property
    def adjusts(self) -> bool:
        return bool(self._network.ports)

    def _exchange(self, mesh: CavityMesh, leak: float | None) -> AirExchange:
        """That of the body that carries the ring; if it has none, of the first wall that has."""
        for body in (*mesh.rings[:, 0].tolist(), *np.unique(mesh.body).tolist()):
            exchange = self._exchanges[body]
            if exchange is not None:
                return exchange
        return self._default if leak is None else AirExchange(leak=leak)


def _wall_area(c: Cavity) -> float:
    """[m^2] of one of its walls: dV/dx is the area of both, by vertex."""
    return 0.5 * float(np.linalg.norm(c.gradient, axis=1).sum())


def _differ(one: Sequence[Cavity], other: Sequence[Cavity]) -> bool:
    """Whether the cavities, or the vertices within their rings, are not the same."""
    return len(one) != len(other) or any(
        not np.array_equal(a.mesh.interior, b.mesh.interior)
        or not np.array_equal(a.mesh.seal_line, b.mesh.seal_line)
        for a, b in zip(one, other)
    )
