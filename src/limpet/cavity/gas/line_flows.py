"""Cavities on vacuum lines while a step is solved: what their lines draw, and whether it is so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limpet.cavity.gas.cavity_flow import coupling
from limpet.cavity.gas.ledger import Cavity
from limpet.cavity.gas.network import CupAir, GasNetwork, NetworkState
from limpet.cavity.gas.vacuum_line import Flow

Array = np.ndarray

# Of a cavity's air, in a step: by so much what its line is linearised to may miss what it draws.
# The air is conserved all the same, as the line gets what the row gives
FOLLOWED = 1e-8
SHARED = 1e-10  # of a cavity's air: what coupling may move, which the gas law of the row misses
NEARLY_EMPTY = 1e-3  # of its volume: with less air than that held outside, it is a share of that


def predicted_pressures(
    network: GasNetwork, lines: NetworkState, cavities: Sequence[Cavity], h: float
) -> Array:
    """(c,) [Pa] of the cavities at the end of a step in which their volumes stay."""
    cups = [
        CupAir(c.flow.port, c.pressure, c.volume, c.gas.amount, c.flow.leak)
        for c in cavities
        if c.flow is not None and c.flow.port is not None
    ]
    found = network.predicted(lines, cups, h)
    ports = [None if c.flow is None else c.flow.port for c in cavities]
    return np.array(
        [c.pressure if i is None else found[i] for c, i in zip(cavities, ports)], dtype=float
    )


def on_lines(
    network: GasNetwork, lines: NetworkState, cavities: Sequence[Cavity], pressures: Array, h: float
) -> tuple[Cavity, ...]:
    """The cavities with what their lines draw, linearised at `pressures` (c,) [Pa]."""
    cups = {
        c.flow.port: (p, c.gas.amount)
        for c, p in zip(cavities, pressures.tolist())
        if c.flow is not None and c.flow.port is not None
    }
    flows, out = network.flows(lines, cups, h), []
    for c in cavities:
        if c.flow is None or c.flow.port is None:
            out.append(c)
            continue
        flow = replace(flows[c.flow.port], leak=c.flow.leak)
        if flow.to_line.target is not None:  # blown off: no more than the lip holds
            flow = replace(flow, to_line=Flow(target=min(flow.to_line.target, c.p_max)))
        out.append(replace(c, flow=flow))
    return tuple(out)


def follow_lines(
    network: GasNetwork, lines: NetworkState, cavities: Sequence[Cavity], pressures: Array,
    least: Array, h: float,
) -> bool:  # fmt: skip
    """Whether rows that have led to `pressures` (c,) [Pa] give what the lines draw at these.

    least (c,) [m^3]: V where the walls meet.
    """
    around = network.atmosphere
    known = {
        c.flow.port: p
        for c, p in zip(cavities, pressures.tolist())
        if c.flow is not None and c.flow.port is not None
    }
    if not known or all(c.flow is None or c.imposed is not None for c in cavities):
        return True
    draws, _ = network.draws(lines, known, h)
    joined, shared = coupling([c.flow for c in cavities], around.rt), np.zeros(len(cavities))
    if joined is not None:
        shared = pressures / around.rt * (joined[0] @ (pressures - joined[1]))  # [mol/s]
    for c, more, met in zip(cavities, shared.tolist(), least.tolist()):
        if c.flow is not None and c.flow.port is not None and c.imposed is None:
            drawn = c.flow.to_line.out(known[c.flow.port])
            room = NEARLY_EMPTY * max(c.volume, 0.0) - met
            scale = c.gas.amount + around.pressure * room / around.rt
            if h * abs(draws[c.flow.port] - drawn) > FOLLOWED * scale:
                return False
            if h * abs(more) > SHARED * scale:
                return False
    return True
