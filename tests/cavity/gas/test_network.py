"""Random networks of lines: their Newton converges, keeps the air, and has exact slopes."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.cavity.gas.network import CupAir, GasNetwork, Port
from limpet.cavity.gas.piping import Line, Trunk, piping
from limpet.cavity.gas.vacuum_line import Flow

AIR = lp.Atmosphere()
P0, RT = AIR.pressure, AIR.rt


def element(rng):
    size = 10.0 ** rng.uniform(-4, -2.5)  # [m]
    return [
        lambda: lp.Hose(10.0 ** rng.uniform(-1.5, 1), size),
        lambda: lp.Orifice(size),
        lambda: lp.Restriction(10.0 ** rng.uniform(-10, -6), 10.0 ** rng.uniform(-8, -4)),
        lambda: lp.Reservoir(10.0 ** rng.uniform(-7, -3)),
        lambda: lp.CheckValve(cracking=rng.uniform(0, 3e3)),
        lambda: lp.FlowCheck(10.0 ** rng.uniform(-6, -3)),
    ][rng.integers(6)]()


def network(seed):
    """Two manifolds with up to four cups each, and two cups with sources of their own."""
    rng = np.random.default_rng(seed)

    def source():
        flow, end = 10.0 ** rng.uniform(-6, -2), rng.uniform(2e4, 9e4)
        curve = [(0.0, flow), (0.5 * end, rng.uniform(0.1, 0.9) * flow), (end, 0.0)]
        kinds = [
            lp.Pump(flow, end), lp.Ejector(flow, end), lp.Pump.from_curve(curve),
            lp.Ejector.from_curve(curve), lp.Regulator(end),
        ]  # fmt: skip
        return kinds[rng.integers(5)]

    def elements():
        return tuple(element(rng) for _ in range(rng.integers(0, 4)))

    valves = [[(0.0, "open")], [(0.0, "closed")], [(0.0, "vent")]]

    def valve():
        return lp.Valve(valves[rng.choice(3, p=[0.7, 0.15, 0.15])])

    trunks = [Trunk(f"m{i}", elements(), source(), valve(), 1e4) for i in range(2)]
    lines = [Line(elements(), source(), valve()) for _ in range(2)]
    for m in range(2):
        hose = lp.Hose(0.3, 10.0 ** rng.uniform(-3.5, -2.2))
        lines += [Line((*elements(), hose), manifold=m) for _ in range(rng.integers(1, 5))]
    ports = [Port(f"c{i}", 0, -1, 1e4) for i in range(len(lines))]
    return GasNetwork(ports, piping(lines, trunks), trunks, AIR), rng


@pytest.mark.parametrize("seed", [*range(20), 26, 39, 67, 100, 112, 188])
def test_air_is_conserved_and_newton_converges(seed):
    net, rng = network(seed)
    state, created = net.begin(None, 0.0, None)
    held, h = created, 10.0 ** rng.uniform(-4, 0)
    cup = {i: 10.0 ** rng.uniform(-8, -5) for i in range(len(net.ports)) if rng.random() < 0.7}
    air = {i: P0 * v / RT for i, v in cup.items()}
    pressure = dict.fromkeys(cup, P0)
    for step in range(12):
        state, _ = net.begin(state, h * step, None)
        cups = [CupAir(i, pressure[i], v, air[i], Flow(1e-9, 1e-14)) for i, v in cup.items()]
        found = net.predicted(state, cups, h)
        flows = net.flows(state, {i: (found[i], air[i]) for i in cup}, h)
        drawn = {}
        for i, v in cup.items():
            flow = flows[i].to_line
            after = found[i] * v / RT if flow.target is None else flow.target * v / RT
            seeped = h * (1e-9 - 1e-14 * found[i])
            if flow.target is None:  # what the line draws at the solution is what the cup loses
                lost = air[i] + seeped - after
                assert h * flow.out(found[i]) == pytest.approx(lost, rel=1e-7, abs=1e-9 * air[i])
            drawn[i] = (after * RT / v, air[i] + seeped - after)
            air[i], pressure[i] = after, after * RT / v
        state = net.advance(state, drawn, h)
        held += sum(amount for _, amount in drawn.values()) + state.let_in - state.taken.sum()
        assert state.air.sum() == pytest.approx(held, rel=1e-11)
        assert state.air == pytest.approx(state.pressure * net.piping.volume / RT, rel=1e-14)
        assert state.pressure.min() > 0.0


@pytest.mark.parametrize("seed", range(12))
def test_slopes_of_what_is_drawn_are_those_of_finite_differences(seed):
    net, rng = network(seed)
    state, _ = net.begin(None, 0.0, None)
    at = {i: rng.uniform(0.3, 0.95) * P0 for i in range(len(net.ports))}
    _, slopes = net.draws(state, at, 1e-2)
    for j in at:
        ahead, back = (net.draws(state, at | {j: at[j] + d}, 1e-2)[0] for d in (0.5, -0.5))
        scale = np.abs(slopes).max()
        assert slopes[:, j] == pytest.approx(ahead - back, rel=1e-4, abs=1e-7 * scale)
