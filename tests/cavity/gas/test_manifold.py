"""Several cups on one source: rigid bells of known volume against a network solved by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy.integrate import solve_ivp
from tests.cavity.gas.test_vacuum_line import GAP, P0, RT, SEALING, VOLUME
from tests.engine.test_piston import bell

import limpet as lp

FREE, END = 1e-5, 70e3  # [m^3/s], [Pa] of the ejector
EJECTOR = {"free_flow": FREE, "end_vacuum": END}
G = np.array([2e-9, 1e-9, 4e-9, 1.5e-9])  # [mol/(s Pa)] of the lines
LEAK = np.array([0.0, 2e-10, 5e-10, 1e-10])  # [mol/(s Pa)] into the cups
TANK = 2e-6  # [m^3] of the manifold


def rack(source, lines, *, leaks=LEAK, off=(), order=None, h=0.01, **others):
    """A simulation of bells in a row over a block, on a manifold; those that are `off` gape."""
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.3, 0.06, 0.02, (12, 2, 1)), 1.0, name="block", fixed=True)
    manifold = world.add_manifold(source, **others)
    for i in order or range(len(lines)):
        where = (-0.105 + 0.07 * i, 0.0, 2e-3 if i in off else GAP)
        cup = world.add_rigid(bell(), 0.1, name=f"cup{i}", position=where)
        world.fix(cup)
        world.connect(cup, manifold, line=lines[i])
        if leaks[i] > 0.0:
            world.set_air_exchange(cup, lp.AirExchange(conductance=leaks[i]))
    return lp.Simulation(world, h=h, settings=lp.Settings(sealing_distance=SEALING))


def run(sim, duration):
    reports = list(sim.run(duration))
    assert all(r.converged and r.air_error < 1e-12 for r in reports)
    assert all(c.gas_residual < 1e-9 for r in reports for c in r.cavities)
    return reports


def vacua(report, names=("cup0", "cup1", "cup2", "cup3", "manifold")):
    return np.array([report.vacuum_sensors[n].vacuum for n in names])


def ejected(p):
    """[mol/s] that the ejector takes at the pressure p."""
    return FREE * P0 / RT * np.clip(1.0 - (P0 - p) / END, 0.0, 1.0)


def rates(p):
    """[mol/s] into four cups and the manifold, at their pressures p (5,)."""
    into = G * (p[4] - p[:4]) + LEAK * (P0 - p[:4])
    return np.append(into, np.sum(G * (p[:4] - p[4])) - ejected(p[4]))


def root(rate, guess):
    """Pressures at which rate(p) [mol/s] is zero, in units that SciPy likes."""
    found = optimize.root(lambda x: 1e4 * rate(x * P0), guess / P0, tol=1e-13).x * P0
    assert np.abs(rate(found)).max() < 1e-12
    return found


CAPACITY = np.array([VOLUME] * 4 + [TANK]) / RT  # [mol/Pa]
LINES = [lp.Restriction(g) for g in G]


def test_four_cups_on_one_ejector_against_the_same_implicit_euler():
    h, p = 0.01, np.full(5, P0)
    for report in run(rack(lp.Ejector(**EJECTOR), LINES, volume=TANK), 0.3):
        p = root(lambda q, p=p: CAPACITY * (q - p) / h - rates(q), p)
        assert vacua(report) == pytest.approx(P0 - p, rel=1e-6)
        drawn = G * (p[:4] - p[4]) * RT / P0
        flows = [report.vacuum_sensors[f"cup{i}"].flow for i in range(4)]
        assert flows == pytest.approx(drawn, rel=1e-6)
        assert report.vacuum_sensors["manifold"].flow == pytest.approx(ejected(p[4]) * RT / P0)


def test_the_transient_approaches_that_of_solve_ivp():
    exact = solve_ivp(
        lambda t, p: rates(p) / CAPACITY, (0.0, 0.2), np.full(5, P0), "LSODA", rtol=1e-10, atol=1e-6
    ).y[:, -1]
    errors = []
    for h in (0.01, 0.005):
        sim = rack(lp.Ejector(**EJECTOR), LINES, volume=TANK, h=h)
        errors.append(np.abs(vacua(run(sim, 0.2)[-1]) - (P0 - exact)).max())
    assert errors[1] < 0.55 * errors[0] < 0.55 * 0.02 * P0


def test_four_cups_on_one_ejector_settle_where_scipy_says():
    sim = rack(lp.Ejector(**EJECTOR), LINES, volume=TANK, h=0.5)
    p = root(rates, np.full(5, P0 - 0.5 * END))
    assert vacua(run(sim, 20.0)[-1]) == pytest.approx(P0 - p, rel=1e-6)


def test_the_order_of_cups_does_not_matter():
    one, other = (
        run(rack(lp.Ejector(**EJECTOR), LINES, volume=TANK, order=order), 0.1)
        for order in ((0, 1, 2, 3), (2, 0, 3, 1))
    )
    for a, b in zip(one, other):
        assert vacua(a) == pytest.approx(vacua(b), rel=1e-9)


def test_hoses_orifices_and_a_pump_by_its_curve_keep_the_air():
    """Non-linear laws: the balance of each step, and the ledger, close to round-off."""
    curve = [("0 kPa", "2 l/min"), ("40 kPa", "1.2 l/min"), ("80 kPa", "0 l/min")]
    hose = lp.Hose("0.3 m", "2 mm")
    lines = [hose, [lp.Orifice("0.3 mm"), hose], [hose, lp.CheckValve()], lp.Orifice("0.2 mm")]
    sim = rack(lp.Pump.from_curve(curve), lines, volume="5 ml", line=lp.Hose("1 m", "4 mm"))
    reports = run(sim, 0.6)
    deep = np.array([vacua(r) for r in reports])
    assert np.all(np.diff(deep, axis=0) > -1e-6 * P0)
    assert deep[-1].min() > 5e3 and deep[-1].max() < 80e3
    flow = [r.vacuum_sensors["manifold"].flow for r in reports]
    ledger = sim.model.cavities.ledger
    assert sum(flow) * 0.01 * P0 / RT == pytest.approx(ledger.taken, rel=1e-12)


def test_soft_cups_give_what_their_lines_take():
    """Volumes that move: each step's balance of every cup and of the manifold, from the reports."""
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.12, 0.06, 0.02, (6, 3, 1)), 1.0, fixed=True)
    manifold = world.add_manifold(lp.Ejector("10 l/min", "80 kPa"), volume=TANK)
    rubber, g = lp.Material(young=4e6, poisson=0.45), {"left": 4e-8, "right": 1e-8}
    for name, x in (("left", -0.025), ("right", 0.025)):
        shape = lp.shapes.cup(sectors=8, segments=4)
        cup = world.add_soft(shape, rubber, mass=0.02, name=name, position=(x, 0, 1e-4))
        world.prescribe_motion(cup["top"], lp.motion.path([(0, 0), (0.02, -6e-4)]))
        world.connect(cup, manifold, line=lp.Restriction(g[name]))
    h, before, checked = 0.005, None, 0
    once = lp.Settings(relinearisation=lp.Relinearisation(most=1))  # steps are made in one part
    for report in run(lp.Simulation(world, h=h, settings=once), 0.06):
        now = {next(b for b in c.bodies if b in g): c for c in report.cavities}
        level = P0 - report.vacuum_sensors["manifold"].vacuum
        if before is not None and len(now) == len(before[0]) == 2:
            drawn = {n: g[n] * (c.pressure - level) for n, c in now.items()}
            checked += 1
            for name, c in now.items():
                lost = before[0][name].air - c.air - c.vented
                assert lost / h == pytest.approx(drawn[name], rel=1e-6, abs=1e-9 * c.air / h)
                assert report.vacuum_sensors[name].vacuum == pytest.approx(P0 - c.pressure)
            taken = 10e-3 / 60 * P0 / RT * (1.0 - (P0 - level) / 80e3)
            stored = TANK * (level - before[1]) / (RT * h)
            assert sum(drawn.values()) - taken == pytest.approx(stored, rel=1e-6)
        before = now, level
    assert checked > 5 and level < P0 - 20e3


def test_a_cup_off_the_part_pulls_the_others_down():
    wide = [lp.Restriction(4e-9)] * 4
    held, off = (
        vacua(run(rack(lp.Ejector(**EJECTOR), wide, leaks=np.zeros(4), off=off, h=0.05), 3.0)[-1])
        for off in ((), (2,))
    )
    free = FREE * P0 / RT  # g v = free (1 - v/end), through the open line
    expected = free / (4e-9 + free / END)
    assert held == pytest.approx(END, rel=1e-3)
    assert off[[0, 1, 3, 4]] == pytest.approx(expected, rel=1e-3)
    assert off[2] == 0.0


def test_flow_checks_save_the_others():
    """The open cup's check closes, its bypass of 0.1 mm passes a choked flow."""
    check = lp.FlowCheck(flow=3e-6, bypass="0.1 mm", drop=2e3)
    lines = [[check, lp.Restriction(4e-9)]] * 4
    sim = rack(lp.Ejector(**EJECTOR), lines, leaks=np.zeros(4), off=[2], h=0.05)
    last = run(sim, 4.0)[-1]
    vacuum = vacua(last)
    bypass = 0.8 * np.pi / 4 * 1e-8 * P0 * 0.684731 / np.sqrt(0.0289644 * RT)  # [mol/s] choked
    expected = END * (1.0 - bypass / (FREE * P0 / RT))
    assert vacuum[4] == pytest.approx(expected, rel=1e-3)
    assert vacuum[[0, 1, 3]].min() > 0.999 * expected
    assert last.vacuum_sensors["cup2"].flow == pytest.approx(bypass * RT / P0, rel=1e-3)
    assert [last.vacuum_sensors[f"cup{i}"].sealed for i in range(4)] == [True, True, False, True]
    assert sim.model.cavities.ledger.lines.closed.sum() == 1


def test_a_reservoir_is_pumped_down_exponentially():
    """Of an ejector with a linear characteristic: v = end (1 - exp(-t/tau)), tau = V end/(q R T)
    with q its free flow; implicit Euler's power of 1/(1 + h/tau) to 1e-9, the exponential to O(h).
    """
    volume = 2e-5
    sim = rack(
        lp.Ejector(**EJECTOR), [lp.Restriction(1e-30)], leaks=[0.0], volume=volume,
        valve=lp.Valve([(0.0, "open")]),
    )  # fmt: skip
    tau = volume * END / (FREE * P0)
    for r in run(sim, 0.5):
        n = round(r.time / 0.01)
        steps = END * (1.0 - (1.0 + 0.01 / tau) ** -n)
        vacuum = r.vacuum_sensors["manifold"].vacuum
        assert vacuum == pytest.approx(steps, rel=1e-9)
        assert vacuum == pytest.approx(END * (1.0 - np.exp(-r.time / tau)), abs=5e-3 * END)


def test_air_saving_switches_between_its_levels_and_the_non_return_valve_holds():
    saving = lp.Ejector(**EJECTOR, saving=("50 kPa", "40 kPa"))
    reports = run(rack(saving, LINES, volume=TANK), 2.0)
    vacuum = np.array([r.vacuum_sensors["manifold"].vacuum for r in reports])
    flow = np.array([r.vacuum_sensors["manifold"].flow for r in reports])
    off = np.flatnonzero(flow[1:] == 0.0) + 1
    assert len(off) > 10 and vacuum[0 : off[0]].max() >= 50e3
    later = vacuum[off[0] :]
    assert 35e3 < later.min() < 40e3 and later.max() < 56e3
    assert np.count_nonzero(np.diff((flow == 0.0).astype(int)) == 1) >= 2  # off more than once
    assert flow.min() == 0.0


def test_a_non_return_valve_keeps_the_vacuum_when_the_source_vents():
    valve = lp.Valve([(0.0, "open"), (0.5, "vent")])
    kept, lost = (
        vacua(
            run(rack(lp.Ejector(**EJECTOR), LINES, leaks=np.zeros(4), valve=valve, line=line), 1.5)[
                -1
            ]
        )
        for line in ([lp.Reservoir(TANK), lp.CheckValve()], [lp.Restriction(1e-8, TANK)])
    )
    assert kept.min() > 0.6 * END
    assert lost.max() < 0.05 * END


def test_valves_switch_late_and_blow_off_brings_air():
    valve = lp.Valve([(0.0, "open"), (0.2, "blow")], switching_time="30 ms", blow_off="20 kPa")
    reports = run(rack(lp.Ejector(**EJECTOR), LINES, leaks=np.zeros(4), valve=valve), 0.8)
    vacuum = np.array([r.vacuum_sensors["manifold"].vacuum for r in reports])
    times = np.array([r.time for r in reports])
    assert vacuum[times < 0.225].min() > 0.0
    assert vacuum[times > 0.235] == pytest.approx(-20e3)
    assert reports[-1].vacuum_sensors["manifold"].flow < 0.0  # air comes out of it
    assert np.abs([c.pressure - P0 for c in reports[-1].cavities]).max() < 1e-6  # and vents


def test_a_manifold_continues_where_it_was_saved(tmp_path):
    def tail(sim):
        return [(vacua(r), [c.pressure for c in r.cavities]) for r in run(sim, 0.05)]

    lines = [[lp.FlowCheck(5e-6), lp.Hose("0.3 m", "2 mm")]] * 4
    sim = rack(lp.Ejector(**EJECTOR), lines, off=[1], volume=TANK)
    run(sim, 0.05)
    sim.save(tmp_path / "state.npz")
    once = tail(sim)
    again = rack(lp.Ejector(**EJECTOR), lines, off=[1], volume=TANK)
    again.load(tmp_path / "state.npz")
    for (a, b), (c, d) in zip(once, tail(again)):
        assert np.array_equal(a, c) and b == d


def test_sources_are_shared_by_manifolds_only():
    world = lp.World()
    cups = [
        world.add_rigid(bell(), 0.1, name=f"cup{i}", position=(0.1 * i, 0, 0)) for i in range(3)
    ]
    pump = lp.Pump("20 l/min", "85 kPa")
    world.connect(cups[0], pump)
    with pytest.raises(lp.LimpetError, match="this Pump serves 'cup0' already; one source for sev"):
        world.connect(cups[1], pump)
    with pytest.raises(lp.LimpetError, match="add_manifold 'manifold': its source serves another"):
        world.add_manifold(pump)
    manifold = world.add_manifold(lp.Pump("20 l/min", "85 kPa"))
    with pytest.raises(lp.LimpetError, match="add_manifold 'manifold': that name is taken"):
        world.add_manifold(lp.Pump("20 l/min", "85 kPa"))
    with pytest.raises(lp.LimpetError, match="its line to 'manifold' has no resistance; expected"):
        world.connect(cups[1], manifold)
    with pytest.raises(lp.LimpetError, match="the valve of a manifold is that of its source"):
        world.connect(cups[1], manifold, line=lp.Orifice("1 mm"), valve=lp.Valve())
    with pytest.raises(lp.LimpetError, match="'manifold' is not a manifold of this world"):
        world.connect(cups[1], lp.World().add_manifold(lp.Pump("20 l/min", "85 kPa")))
    with pytest.raises(lp.LimpetError, match="line has '1 m': expected elements of a line: Hose"):
        world.connect(cups[1], manifold, line="1 m")
    with pytest.raises(lp.LimpetError, match="manifold 'manifold': no cup is connected to it"):
        lp.Simulation(world)
    regulator = lp.Regulator("20 kPa")  # holds its vacuum for any number of cups
    world.connect(cups[1], regulator)
    world.connect(cups[2], regulator)
