"""The gas network: ports of vacuum lines, what they draw from the cavities, and their own air.

An ideal regulator on a cup without any resistance imposes the pressure. All else is air that flows,
slowly enough to keep the temperature of its pipes, at rates that are taken at the end of the step.
With n' = a - b P into a cavity

    P (V + h V') = (n + h (a - b P)) R T

is the gas law with V + h b R T for V and (n + h a) R T for n R T: the flow is condensed into the
cavity's row. What the lines draw is linearised at pressures of the cavities, those of their nodes
following (a Schur complement). What goes from one cavity to another is a compliance between both
rows (`coupling`), the rest is b P - a. Both are taken again until they meet the pressures that the
rows lead to. Where the walls of a cavity meet, V + h V' = 0, its line draws what there is and no
more.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.cavity_flow import NO_FLOW, CavityFlow, exchange_of
from limpet.cavity.gas.line_elements import FlowCheck
from limpet.cavity.gas.node_balance import CavityAir, EdgeGroup, NodeBalance
from limpet.cavity.gas.piping import Piping, Trunk
from limpet.cavity.gas.restrictions import FlowLaw
from limpet.cavity.gas.vacuum_line import Ejector, Flow, Regulator
from limpet.cavity.mesh import CavityMesh
from limpet.report import VacuumSensorReport

Array = np.ndarray

TINY = 1e-12  # [m^3] of a cavity, at least, where its lines are solved for
NO_PRESSURE = 1e-6  # of the ambient one: at less, flows are linearised as if there were so much
SPENT = 0.9  # of the air of a cavity, that the tangent may draw where it ends at no pressure


@dataclass(frozen=True)
class Port:
    """Where a vacuum line enters: the cavity round `vertex` is on it.

    vertex: of the joined surfaces; -1: the largest cavity with a wall on the surface.
    """

    name: str  # of the body
    surface: int
    vertex: int
    switch: float  # [Pa] of vacuum from which on a part counts as present


@dataclass(frozen=True)
class CupAir:
    """A cavity on a port, as its line sees it before a step is solved."""

    port: int
    pressure: float  # [Pa] of the last step
    volume: float  # [m^3]
    air: float  # [mol] at the start of the step
    leak: Flow


@dataclass(frozen=True)
class NetworkState:
    """The air of the lines, and what became of it in a step; e edges, s sources, c cups."""

    pressure: Array  # (k,) [Pa] of the nodes
    air: Array  # (k,) [mol]
    closed: Array  # (e,) bool, flow checks
    running: Array  # (s,) bool, by the air-saving control
    target: Array  # (s,) [Pa] imposed in this step; nan: none
    drawing: Array  # (s,) bool: it takes air in this step
    vacuum: float | None  # [Pa] that all sources are asked for instead of their own
    taken: Array  # (s,) [mol] in this step, by source or vent
    drawn: Array  # (c,) [mol] in this step, from the cups
    on_cavity: Array  # (c,) bool: it drew from trapped air, not from an open cup
    sealed: Array  # (c,) bool: and the ring round that is closed

    @property
    def let_in(self) -> float:
        """[mol] that came in through open cups in this step."""
        return float(self.drawn[~self.on_cavity].sum())


@dataclass(frozen=True)
class GasNetwork:
    """The vacuum lines of a world; their state is handed in and out."""

    ports: Sequence[Port]
    piping: Piping
    trunks: Sequence[Trunk]
    atmosphere: Atmosphere

    def at_ambient(self) -> NetworkState:
        """All lines at the pressure of the atmosphere."""
        around, pipes = self.atmosphere, self.piping
        s, c = len(pipes.sources), len(self.ports)
        return NetworkState(
            pressure=np.full(len(pipes.volume), around.pressure),
            air=around.pressure * pipes.volume / around.rt,
            closed=np.zeros(len(pipes.edges), bool), running=np.ones(s, bool),
            target=np.full(s, np.nan), drawing=np.zeros(s, bool), vacuum=None, taken=np.zeros(s),
            drawn=np.zeros(c), on_cavity=np.zeros(c, bool), sealed=np.zeros(c, bool),
        )  # fmt: skip

    def begin(
        self, state: NetworkState | None, time: float, vacuum: float | None
    ) -> tuple[NetworkState, float]:
        """The lines with what valves and sources do in the step that ends at `time` [s].

        Also the air [mol] of lines that are new: they begin at the pressure of the atmosphere.
        """
        created = 0.0
        if state is None:
            state = self.at_ambient()
            created = float(state.air.sum())
        around = self.atmosphere.pressure
        target, drawing = np.full(len(self.piping.sources), np.nan), state.running.copy()
        for i, end in enumerate(self.piping.sources):
            position = end.valve.state(time)
            drawing[i] &= position == "open"
            if position == "vent":
                target[i] = around
            elif position == "blow":
                target[i] = around + float(end.valve.blow_off)
            elif position == "open" and isinstance(end.source, Regulator):
                target[i] = around - (end.source.vacuum_at(time) if vacuum is None else vacuum)
        return replace(state, target=target, drawing=drawing, vacuum=vacuum), created

    def port_of(self, cavities: Sequence[tuple[int, CavityMesh, float]]) -> dict[int, int]:
        """The port of each cavity (id, mesh, volume) on a line, by id; of two ports the first."""
        out: dict[int, int] = {}
        for i, port in enumerate(self.ports):
            mine = [
                (volume, number)
                for number, mesh, volume in cavities
                if (port.vertex in mesh.support if port.vertex >= 0 else port.surface in mesh.body)
            ]
            if mine:
                out.setdefault(max(mine)[1], i)
        return out

    def predicted(self, state: NetworkState, cups: Sequence[CupAir], h: float) -> dict[int, float]:
        """[Pa] of each cup, by port, at the end of a step in which its volume stays."""
        own = [c for c in cups if self.imposed(state, c.port) is None]
        if not own:
            return {c.port: c.pressure for c in cups}
        p, fixed = self._ends(state, {c.port: c.pressure for c in cups})
        air = _cavity_air([(int(self.piping.port[c.port]), c) for c in own])
        fixed[air.node] = False
        p, _, _ = self._balance(state, h).solve(p, fixed, air)
        return {c.port: float(p[self.piping.port[c.port]]) for c in cups}

    def draws(
        self, state: NetworkState, pressures: Mapping[int, float], h: float
    ) -> tuple[Array, Array]:
        """(c,) [mol/s] what leaves each cup for its line, by port, and its slopes (c, c), at the
        pressures [Pa] of the cups with trapped air.
        """
        p, fixed = self._ends(state, pressures)
        _, leaving, jacobian = self._balance(state, h).solve(p, fixed)
        port, free = self.piping.port, np.flatnonzero(~fixed)
        slopes = jacobian[np.ix_(port, port)]
        if len(free):
            follow = np.linalg.solve(jacobian[np.ix_(free, free)], jacobian[np.ix_(free, port)])
            slopes = slopes - jacobian[np.ix_(port, free)] @ follow
        return np.asarray(leaving[port]), slopes

    def flows(
        self, state: NetworkState, cups: Mapping[int, tuple[float, float]], h: float
    ) -> dict[int, CavityFlow]:
        """What leaves each cup for its line in a step, by port: imposed, or linearised at the
        pressure [Pa] of the cup. cups: that pressure, and the air [mol] at the start of the step.

        The leak is left to be filled in.
        """
        lowest = NO_PRESSURE * self.atmosphere.pressure
        cups = {i: (max(p, lowest), amount) for i, (p, amount) in cups.items()}
        others = {i: p for i, (p, _) in cups.items() if self.imposed(state, i) is None}
        if not others:
            return {i: CavityFlow(NO_FLOW, Flow(target=self.imposed(state, i)), i) for i in cups}
        drawn, slopes = self.draws(state, {i: p for i, (p, _) in cups.items()}, h)
        out, exchange = {}, exchange_of(slopes, others)
        for i, (p, amount) in cups.items():
            if i not in others:
                out[i] = CavityFlow(NO_FLOW, Flow(target=self.imposed(state, i)), i)
                continue
            b = max(slopes[i, i] - exchange[i].sum(), (drawn[i] - SPENT * amount / h) / p, 0.0)
            line = Flow(float(b * p - drawn[i]), float(b))
            out[i] = CavityFlow(NO_FLOW, line, i, p, exchange[i])
        return out

    def advance(
        self, state: NetworkState, drawn: Mapping[int, tuple[float, float]], h: float,
        open_rings: Container[int] = (),
    ) -> NetworkState:  # fmt: skip
        """The lines at the end of a step. drawn: by port the pressure [Pa] of its cavity, and the
        air [mol] that came from it; a port that is missing there is on an open cup. open_rings:
        ports whose cavity does not count as sealed.
        """
        pipes, balance, rt = self.piping, self._balance(state, h), self.atmosphere.rt
        p, fixed = self._ends(state, {i: q for i, (q, _) in drawn.items()})
        given = np.full(len(pipes.edges), np.nan)
        for e, edge in enumerate(pipes.edges):  # what a cup has given enters, to the last bit
            for i in np.flatnonzero(pipes.port == edge.start).tolist():
                if i in drawn:
                    q, amount = drawn[i]
                    kept = q * pipes.volume[edge.start] / rt - state.air[edge.start]
                    given[e] = (amount - kept) / h
        p, _, _ = balance.solve(p, fixed, given=given)
        air = p * pipes.volume / rt
        computed, _, _ = balance.edge_flows(p)
        flow = np.where(np.isfinite(given), given, computed)
        came = self._came(flow, len(p), h)  # (k,) [mol] through edges
        out = np.array([drawn[i][1] if i in drawn else 0.0 for i in range(len(self.ports))])
        taken, ported = np.zeros(len(pipes.sources)), {int(n): i for i, n in enumerate(pipes.port)}
        for s, end in enumerate(pipes.sources):
            i, n = ported.get(end.node, -1), end.node
            if (i < 0 and np.isfinite(state.target[s])) or i in drawn:
                taken[s] = state.air[n] + came[n] + (out[i] if i >= 0 else 0.0) - air[n]
            else:
                flows = [
                    q.flow(float(p[n]), self.atmosphere)[0] for m, q in balance.sources if m == n
                ]
                taken[s] = h * sum(flows)
        for i, n in enumerate(pipes.port.tolist()):
            if i not in drawn:  # an open cup gives whatever its line takes
                at_source = pipes.sources[pipes.source_of[i]].node == n
                out[i] = air[n] - state.air[n] - came[n]
                out[i] += taken[pipes.source_of[i]] if at_source else 0.0
        on_cavity = np.array([i in drawn for i in range(len(self.ports))], bool)
        ringed = np.array([i not in open_rings for i in range(len(self.ports))], bool)
        closed, running = self._switched(state, p, flow)
        return replace(
            state, pressure=p, air=air, taken=taken, drawn=out, on_cavity=on_cavity,
            sealed=on_cavity & ringed, closed=closed, running=running,
        )  # fmt: skip

    def sensors(self, state: NetworkState, h: float) -> dict[str, VacuumSensorReport]:
        """What the sensors read after a step: of a line at its source, of a line on a manifold at
        the cup, and of the manifold itself.
        """
        out, around, pipes = {}, self.atmosphere, self.piping
        to_volume = around.rt / (around.pressure * h)
        first_trunk = len(pipes.sources) - len(self.trunks)
        for i, port in enumerate(self.ports):
            s = int(pipes.source_of[i])
            alone = s < first_trunk
            node = pipes.sources[s].node if alone else pipes.port[i]
            vacuum = around.pressure - float(state.pressure[node])
            amount = float(state.taken[s] if alone else state.drawn[i])
            known = state.on_cavity[i] or self.imposed(state, i) is None
            out[port.name] = VacuumSensorReport(
                vacuum, amount * to_volume if known else None, bool(state.sealed[i]),
                vacuum >= port.switch,
            )  # fmt: skip
        for j, trunk in enumerate(self.trunks):
            s = first_trunk + j
            vacuum = around.pressure - float(state.pressure[pipes.manifold[j]])
            out[trunk.name] = VacuumSensorReport(
                vacuum, float(state.taken[s]) * to_volume,
                bool(state.sealed[pipes.source_of == s].all()), vacuum >= trunk.switch,
            )  # fmt: skip
        return out

    def imposed(self, state: NetworkState, port: int) -> float | None:
        """P [Pa] of a cup with nothing between it and a regulator or a vent."""
        end = self.piping.source_of[port]
        target = float(state.target[end])
        at_source = self.piping.sources[end].node == self.piping.port[port]
        return target if at_source and np.isfinite(target) else None

    def _ends(self, state: NetworkState, cups: Mapping[int, float]) -> tuple[Array, Array]:
        """(k,) [Pa] the pressures of the last step, with those that are known for this one; and
        which are (k,) bool. cups: by port, of those that are not open.
        """
        p, fixed = state.pressure.copy(), np.zeros(len(state.pressure), bool)
        for end, target in zip(self.piping.sources, state.target.tolist()):
            if np.isfinite(target):
                p[end.node], fixed[end.node] = target, True
        for i, node in enumerate(self.piping.port):
            p[node], fixed[node] = cups.get(i, self.atmosphere.pressure), True
        return p, fixed

    def _balance(self, state: NetworkState, h: float) -> NodeBalance:
        rt, sources = self.atmosphere.rt, []
        for i, end in enumerate(self.piping.sources):
            own = end.source
            if state.drawing[i] and not isinstance(own, Regulator):
                asked = own if state.vacuum is None else own.with_vacuum(state.vacuum)
                sources.append((end.node, asked))
        by_law: dict[FlowLaw, list[tuple[int, tuple[float, ...]]]] = {}
        for e, edge in enumerate(self.piping.edges):
            law, parameters = edge.element.law(bool(state.closed[e]), rt)
            by_law.setdefault(law, []).append((e, parameters))
        groups = []
        for law, members in by_law.items():
            number = np.array([e for e, _ in members])
            start = np.array([self.piping.edges[e].start for e in number])
            end_ = np.array([self.piping.edges[e].end for e in number])
            columns = tuple(np.array(c) for c in zip(*(p for _, p in members)))
            groups.append(EdgeGroup(law, columns, number, start, end_))
        return NodeBalance(
            self.piping.volume, state.air, groups, sources,
            len(self.piping.edges), self.atmosphere, h,
        )  # fmt: skip

    def _came(self, flow: Array, n_nodes: int, h: float) -> Array:
        """(k,) [mol] that came through the edges."""
        came = np.zeros(n_nodes)
        for edge, q in zip(self.piping.edges, flow.tolist()):
            came[edge.start] -= h * q
            came[edge.end] += h * q
        return came

    def _switched(self, state: NetworkState, p: Array, flow: Array) -> tuple[Array, Array]:
        """Flow checks and air-saving controls after a step."""
        closed, running = state.closed.copy(), state.running.copy()
        for e, edge in enumerate(self.piping.edges):
            if isinstance(edge.element, FlowCheck):
                drop = float(p[edge.start] - p[edge.end])
                closed[e] = edge.element.closes(bool(closed[e]), flow[e], drop, self.atmosphere)
        for s, end in enumerate(self.piping.sources):
            if isinstance(end.source, Ejector):
                vacuum = self.atmosphere.pressure - float(p[end.node])
                running[s] = end.source.runs(bool(running[s]), vacuum)
        return closed, running


def _cavity_air(cups: Sequence[tuple[int, CupAir]]) -> CavityAir:
    if not cups:
        return CavityAir.none()
    columns = [
        (max(c.volume, TINY), 0.0, c.pressure, c.air, c.leak.a, c.leak.b) for _, c in cups
    ]  # fmt: skip
    return CavityAir(np.array([n for n, _ in cups], int), *np.array(columns).T)
