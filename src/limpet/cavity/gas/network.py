"""The gas network: ports of vacuum lines, what they draw from the cavities, and their own air.

An ideal regulator on a cup without a hose imposes the pressure. All else is air that flows, slowly
enough to keep the temperature of its pipes, at rates linear in the pressures; taken at the end of
the step such flows need no law of their own. With n' = a - b P into a cavity

    P (V + h V') = (n + h (a - b P)) R T

is the gas law with V + h b R T for V and (n + h a) R T for n R T: the flow is condensed into the
cavity's row. A hose's own pressure P_l = alpha + beta P follows from its balance and is put in
before the step is solved. Where the walls of a cavity meet, V + h V' = 0, its line draws what there
is and no more.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere, Gas
from limpet.cavity.gas.vacuum_line import Flow, Hose, Source, Valve
from limpet.cavity.mesh import CavityMesh
from limpet.report import VacuumSensorReport

NO_FLOW = Flow()
SOLVED = 1e-9  # relative, to which P is known at least


@dataclass(frozen=True)
class Port:
    """Where a vacuum line enters: the cavity round `vertex` is on it.

    vertex: of the joined surfaces; -1: the largest cavity with a wall on the surface.
    """

    name: str  # of the body
    surface: int
    vertex: int
    source: Source
    hose: Hose
    valve: Valve
    switch: float  # [Pa] of vacuum from which on a part counts as present

    def takes(self, pressure: float, time: float, around: Atmosphere, vacuum: float | None) -> Flow:
        """What leaves the line at its far end; pressure [Pa]: of the line, in the last step.

        vacuum [Pa]: that the source is asked for instead of its own.
        """
        position = self.valve.state(time)
        if position == "open":
            source = self.source if vacuum is None else self.source.with_vacuum(vacuum)
            return source.takes(pressure, time, around)
        return NO_FLOW if position == "closed" else Flow(target=around.pressure)


@dataclass(frozen=True)
class CavityFlow:
    """What moves the air of one cavity in a step: its line, if it is on one, and what leaks."""

    leak: Flow  # outward, as all flows here
    to_line: Flow = NO_FLOW
    port: int | None = None

    def gas_row(self, amount: float, h: float, rt: float) -> tuple[float, float]:
        """h b R T and (n + h a) R T, for the gas law."""
        a, b = self.to_line.a + self.leak.a, self.to_line.b + self.leak.b
        return h * b * rt, (amount + h * a) * rt

    def after(self, gas: Gas, p: float, volume: float, h: float) -> tuple[Gas, float, float]:
        """The air of the cavity after a step that ends at p [Pa] in `volume` [m^3].

        Also how much [mol] has leaked in, and how much the line has drawn.
        """
        seeped = -h * self.leak.out(p)
        if self.to_line.target is None:  # no line draws more than there is
            amount = max(gas.amount + seeped - h * self.to_line.out(p), 0.0)
        else:
            amount = gas.amount_at(p, volume)  # as much as the pressure asks for
        drawn = gas.amount + seeped - amount
        # Through a wide gap air flows at a difference of pressures that is less than P is known to:
        # then the volume says how much has.
        missing = gas.amount_at(p, volume) - amount if volume > 0.0 else 0.0
        if abs(missing) <= SOLVED * h * self.leak.b * p:
            seeped, amount = seeped + missing, amount + missing
        return replace(gas, amount=amount), seeped, drawn


@dataclass(frozen=True)
class HoseState:
    """The air of a line, and what became of it in a step."""

    pressure: float  # [Pa]
    air: float  # [mol]
    taken: float = 0.0  # [mol] in this step, by source or vent
    drawn: float = 0.0  # [mol] in this step, from the cup
    end: Flow = NO_FLOW  # in this step: what leaves for the source, or its pressure
    on_cavity: bool = False  # it drew from trapped air, not from an open cup
    sealed: bool = False  # and the ring round that is closed
    known: bool = True  # False: an ideal regulator on an open cup, which would take any amount


@dataclass(frozen=True)
class GasNetwork:
    """The vacuum lines of a world; their state is handed in and out."""

    ports: Sequence[Port]
    atmosphere: Atmosphere

    def at_ambient(self) -> tuple[HoseState, ...]:
        """All lines at the pressure of the atmosphere."""
        around = self.atmosphere
        return tuple(
            HoseState(around.pressure, around.pressure * port.hose.volume / around.rt)
            for port in self.ports
        )

    def begin(
        self, states: Sequence[HoseState], time: float, vacuum: float | None
    ) -> tuple[tuple[HoseState, ...], float]:
        """The lines with what leaves them in the step that ends at `time` [s].

        Also the air [mol] of lines that are new: they begin at the pressure of the atmosphere.
        """
        created = 0.0
        if len(states) != len(self.ports):
            states = self.at_ambient()
            created = sum(state.air for state in states)
        flowing = tuple(
            replace(state, end=port.takes(state.pressure, time, self.atmosphere, vacuum))
            for port, state in zip(self.ports, states)
        )
        return flowing, created

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

    def flow_from_cup(self, port: int, states: Sequence[HoseState], h: float) -> Flow:
        """What leaves the cup for the line in a step, the line's own pressure eliminated."""
        return _flow_from_cup(self.ports[port].hose, states[port], h, self.atmosphere.rt)

    def advance(
        self, states: Sequence[HoseState], drawn: Mapping[int, tuple[float, float]], h: float,
        open_rings: Container[int] = (),
    ) -> tuple[HoseState, ...]:  # fmt: skip
        """The lines at the end of a step. drawn: by port the pressure [Pa] of its cavity, and the
        air [mol] that came from it; a port that is missing there is on an open cup. open_rings:
        ports whose cavity does not count as sealed.
        """
        out = []
        for i, (port, state) in enumerate(zip(self.ports, states)):
            p, taken = drawn.get(i, (self.atmosphere.pressure, None))
            after = _after(port.hose, state, p, taken, h, self.atmosphere.rt)
            out.append(replace(after, sealed=after.on_cavity and i not in open_rings))
        return tuple(out)

    def sensors(self, states: Sequence[HoseState], h: float) -> dict[str, VacuumSensorReport]:
        """What the sensor of each line reads after a step."""
        out, around = {}, self.atmosphere
        for port, state in zip(self.ports, states):
            vacuum = around.pressure - state.pressure
            flow = state.taken / h * around.rt / around.pressure if state.known else None
            out[port.name] = VacuumSensorReport(vacuum, flow, state.sealed, vacuum >= port.switch)
        return out


def _flow_from_cup(hose: Hose, state: HoseState, h: float, rt: float) -> Flow:
    end = state.end
    if hose.conductance == np.inf:
        if end.target is not None:
            return end
        return Flow(end.a + state.air / h, end.b + hose.volume / (rt * h))
    alpha, beta = _own_pressure(hose, state, h, rt)
    g = hose.conductance
    return Flow(g * alpha, g * (1.0 - beta))


def _own_pressure(hose: Hose, state: HoseState, h: float, rt: float) -> tuple[float, float]:
    """alpha, beta of P_l = alpha + beta P at the end of the step, from the line's balance

    P_l V_l/(R T) = n_l + h (G (P - P_l) - b P_l + a).
    """
    end = state.end
    if end.target is not None:
        return end.target, 0.0
    whole = hose.volume / rt + h * (hose.conductance + end.b)
    return (state.air + h * end.a) / whole, h * hose.conductance / whole


def _after(
    hose: Hose, state: HoseState, pressure: float, drawn: float | None, h: float, rt: float
) -> HoseState:
    """The line at the end of a step. pressure [Pa]: of the cup, or of the atmosphere if it is open.

    drawn [mol]: what came from a cavity; None: the cup is open, and it is computed here.
    """
    end, on_cavity = state.end, drawn is not None
    if drawn is not None and end.target is None and hose.volume / rt + h * end.b > 0.0:
        own = (state.air + drawn + h * end.a) / (hose.volume / rt + h * end.b)
    elif hose.conductance == np.inf:
        own = pressure
    else:
        alpha, beta = _own_pressure(hose, state, h, rt)
        own = alpha + beta * pressure
    air = own * hose.volume / rt
    known = end.target is None or on_cavity or hose.conductance < np.inf
    if drawn is None:
        flow = _flow_from_cup(hose, state, h, rt)
        drawn = h * flow.out(pressure) if flow.target is None else air - state.air
    taken = h * end.out(own) if end.target is None else state.air + drawn - air
    return HoseState(own, air, taken, drawn, end, on_cavity, known=known)
