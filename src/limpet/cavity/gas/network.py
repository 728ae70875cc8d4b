"""Vacuum lines within a step: what they draw from the cavities, and what becomes of their own air.

An ideal regulator on a cup without a hose imposes the pressure. All else is air that flows, slowly
enough to keep the temperature of its pipes, at rates linear in the pressures; taken at the end of
the step such flows need no law of their own. With n' = a - b P into a cavity

    P (V + h V') = (n + h (a - b P)) R T

is the gas law with V + h b R T for V and (n + h a) R T for n R T. A hose's own pressure
P_l = alpha + beta P follows from its balance and is put in before the step is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere, Gas
from limpet.cavity.gas.vacuum_line import Flow, Hose, Pump, Regulator, Source, Valve
from limpet.cavity.mesh import CavityMesh
from limpet.report import VacuumSensorReport

NO_FLOW = Flow()
Known = Sequence[tuple[int, CavityMesh, float]]  # cavities: id, mesh, volume [m^3]


@dataclass(frozen=True)
class Port:
    """A line where it meets the air: the cavity round `vertex` is on it.

    vertex: of the joined surfaces; -1: the largest cavity with a wall on the body.
    """

    name: str  # of the body
    body: int
    vertex: int
    source: Source
    hose: Hose
    valve: Valve
    switch: float  # [Pa] of vacuum from which on a part counts as present

    def asked_for(self, vacuum: float) -> Port:
        """The same with another vacuum [Pa] at its source."""
        if isinstance(self.source, Pump):
            return replace(self, source=replace(self.source, end_vacuum=vacuum))
        return replace(self, source=Regulator(vacuum))

    def takes(self, pressure: float, time: float, around: Atmosphere) -> Flow:
        """What leaves the line at its far end; pressure [Pa]: of the line, in the last step."""
        position = self.valve.state(time)
        if position == "open":
            return self.source.takes(pressure, time, around)
        return Flow() if position == "closed" else Flow(target=around.pressure)


@dataclass(frozen=True)
class PortFlow:
    """What moves the air of one cavity in a step: its line, and what leaks."""

    port: int
    to_line: Flow
    leak: Flow  # outward, as all flows here

    def gas_row(self, volume: float, amount: float, h: float, rt: float) -> tuple[float, float]:
        """V + h b R T and (n + h a) R T, for the gas law."""
        a, b = self.to_line.a + self.leak.a, self.to_line.b + self.leak.b
        return volume + h * b * rt, (amount + h * a) * rt


@dataclass(frozen=True)
class HoseState:
    """The state of a line's air, and what became of it in a step."""

    pressure: float  # [Pa]
    air: float  # [mol]
    taken: float = 0.0  # [mol] in this step, by source or vent
    drawn: float = 0.0  # [mol] in this step, from the cup
    end: Flow = NO_FLOW  # in this step: what leaves for the source, or its pressure
    sealed: bool = False
    known: bool = True  # False: an ideal regulator on an open cup, which would take any amount


def at_ambient(hose: Hose, around: Atmosphere) -> HoseState:
    """A line at the pressure of the atmosphere."""
    return HoseState(around.pressure, around.pressure * hose.volume / around.rt)


def flow_from_cup(hose: Hose, state: HoseState, h: float, rt: float) -> Flow:
    """What leaves the cup for the line in a step, the line's own pressure eliminated."""
    end = state.end
    if hose.conductance == np.inf:
        if end.target is not None:
            return end
        return Flow(end.a + state.air / h, end.b + hose.volume / (rt * h))
    alpha, beta = _own(hose, state, h, rt)
    g = hose.conductance
    return Flow(g * alpha, g * (1.0 - beta))


def _own(hose: Hose, state: HoseState, h: float, rt: float) -> tuple[float, float]:
    """alpha, beta of P_l = alpha + beta P at the end of the step, from the line's balance

    P_l V_l/(R T) = n_l + h (G (P - P_l) - b P_l + a).
    """
    end = state.end
    if end.target is not None:
        return end.target, 0.0
    whole = hose.volume / rt + h * (hose.conductance + end.b)
    return (state.air + h * end.a) / whole, h * hose.conductance / whole


def after(
    hose: Hose, state: HoseState, pressure: float, drawn: float | None, h: float, rt: float
) -> HoseState:
    """The line at the end of a step. pressure [Pa]: of the cup, or of the atmosphere if it is open.

    drawn [mol]: what came from a sealed cavity; None: the cup is open, and it is reckoned here.
    """
    end, sealed = state.end, drawn is not None
    if hose.conductance == np.inf:
        own = pressure
    else:
        alpha, beta = _own(hose, state, h, rt)
        own = alpha + beta * pressure
    air = own * hose.volume / rt
    known = end.target is None or sealed or hose.conductance < np.inf
    if drawn is None:
        flow = flow_from_cup(hose, state, h, rt)
        drawn = h * flow.out(pressure) if flow.target is None else air - state.air
    taken = h * end.out(own) if end.target is None else state.air + drawn - air
    return HoseState(own, air, taken, drawn, end, sealed, known)


def with_source_flow(
    ports: Sequence[Port], states: Sequence[HoseState], time: float, around: Atmosphere
) -> tuple[HoseState, ...]:
    """The lines with what leaves them in the step that ends at `time` [s]."""
    return tuple(
        replace(state, end=port.takes(state.pressure, time, around))
        for port, state in zip(ports, states)
    )


def ports_of_cavities(
    ports: Sequence[Port], cavities: Sequence[tuple[int, CavityMesh, float]]
) -> dict[int, int]:
    """The port of each cavity (id, mesh, volume) on a line, by id; of two ports the first."""
    out: dict[int, int] = {}
    for i, port in enumerate(ports):
        mine = [
            (volume, number)
            for number, mesh, volume in cavities
            if (port.vertex in mesh.support if port.vertex >= 0 else port.body in mesh.body)
        ]
        if mine:
            out.setdefault(max(mine)[1], i)
    return out


def after_flow(
    gas: Gas, port_flow: PortFlow, p: float, volume: float, h: float
) -> tuple[Gas, float, float]:
    """The air of a cavity on a line after a step that ends at p [Pa] in `volume` [m^3].

    Also how much [mol] has leaked in, and how much the line has drawn.
    """
    seeped = -h * port_flow.leak.out(p)
    if port_flow.to_line.target is None:
        drawn = h * port_flow.to_line.out(p)
        return replace(gas, amount=max(gas.amount + seeped - drawn, 0.0)), seeped, drawn
    amount = gas.amount_at(p, volume)  # as much as the pressure asks for
    return replace(gas, amount=amount), seeped, gas.amount + seeped - amount


def sensor(port: Port, state: HoseState, h: float, around: Atmosphere) -> VacuumSensorReport:
    """What the sensor of a line reads after a step."""
    vacuum = around.pressure - state.pressure
    flow = state.taken / h * around.rt / around.pressure if state.known else None
    return VacuumSensorReport(vacuum, flow, state.sealed, vacuum >= port.switch)
