"""Vacuum lines against closed forms: a rigid bell over a block, whose volume is known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from tests.engine.test_piston import DEPTH, OUTLINE, RECESS, SEALING, bell

import limpet as lp
from limpet.cavity.gas.line_elements import (
    CheckValve,
    FlowCheck,
    Hose,
    Orifice,
    Reservoir,
    Restriction,
)
from limpet.cavity.gas.vacuum_line import Ejector, Pump, Regulator, Valve

AIR = lp.Atmosphere()
P0, RT = AIR.pressure, AIR.rt
GAP = 0.3e-3  # [m]: the rim is closed, the ceiling of the recess is not
VOLUME = RECESS**2 * DEPTH + OUTLINE**2 * GAP
PUMP = Pump(free_flow=2e-6, end_vacuum=60e3)


def gripper(source, duration, *, h=0.01, line=None, valve=None, breath=None, gap=GAP, **others):
    """Reports of a bell that stands still over a block, on a line."""
    world = lp.World(**others)
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    cup = world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, gap))
    world.fix(cup)
    world.connect(cup, source, line=line, valve=valve)
    if breath is not None:
        world.set_air_exchange(cup, breath)
    sim = lp.Simulation(world, h=h, settings=lp.Settings(sealing_distance=SEALING))
    reports = list(sim.run(duration))
    assert all(r.converged and r.air_error < 1e-9 for r in reports)
    assert all(c.gas_residual < 1e-9 for r in reports for c in r.cavities)
    return reports


def rate_of(pump, p):
    """[mol/s] that the pump takes at p."""
    end = P0 - pump.end_vacuum
    return pump.free_flow * max(0.0, (p - end) / pump.end_vacuum) * p / RT


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_a_regulator_imposes_its_vacuum_whatever_the_step(h):
    reports = gripper(Regulator([(0.0, 0.0), (0.1, 20e3)]), 0.2, h=h)
    for r in reports:
        vacuum = 20e3 * min(1.0, r.time / 0.1)
        assert P0 - r.cavities[0].pressure == pytest.approx(vacuum, abs=1e-6)
        assert r.reactions["bell"][2] == pytest.approx(0.981 + vacuum * OUTLINE**2, abs=1e-6)
        assert r.cavities[0].air == pytest.approx((P0 - vacuum) * VOLUME / RT, rel=1e-9)
        g = r.vacuum_sensors["bell"]
        assert g.vacuum == pytest.approx(vacuum, abs=1e-6)
        assert g.sealed
        assert g.present == (vacuum > 10e3 - 1e-6)
    drawn = sum(r.vacuum_sensors["bell"].flow for r in reports) * h * P0 / RT
    assert drawn == pytest.approx(20e3 * VOLUME / RT, rel=1e-9)


def test_a_pump_empties_a_cup_along_its_characteristic():
    """V P' = -S(P) P, at two steps: the error falls with the step and the end is the same."""
    exact = solve_ivp(
        lambda t, p: [-rate_of(PUMP, p[0]) * RT / VOLUME], (0.0, 1.0), [P0], rtol=1e-10, atol=1e-3,
        dense_output=True,
    )  # fmt: skip
    errors = []
    for h in (0.04, 0.01):
        reports = gripper(PUMP, 1.0, h=h)
        p = np.array([r.cavities[0].pressure for r in reports])
        errors.append(np.abs(p - exact.sol([r.time for r in reports])[0]).max())
        assert np.all(np.diff(p) < 0.0)
        assert p[-1] > P0 - PUMP.end_vacuum
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 0.01 * P0


def test_however_long_the_step_the_pump_stops_at_its_end_vacuum():
    reports = gripper(Pump(1e-3, 60e3), 5.0, h=0.5)
    p = [r.cavities[0].pressure for r in reports]
    assert min(p) >= (P0 - 60e3) * (1.0 - 1e-12)
    assert p[-1] == pytest.approx(P0 - 60e3, rel=1e-9)


@pytest.mark.parametrize("h", [0.5, 0.25])
@pytest.mark.parametrize(
    "line", [None, Restriction(3e-10, 1e-6), Restriction(volume=2e-7), Restriction(3e-10)]
)
def test_pump_and_leak_balance(h, line):
    """g (P_atm - P) = flow of the pump, through the hose, in closed form."""
    g = 2e-10  # [mol/(s Pa)]
    reports = gripper(
        PUMP, 60.0 if h == 0.05 else 20.0, h=h, line=line, breath=lp.AirExchange(conductance=g)
    )

    def surplus(p):  # [mol/s] leaks in more than is taken, cup at p
        behind = p - g * (P0 - p) / line.conductance if line else p  # the hose's own pressure
        return g * (P0 - p) - rate_of(PUMP, behind)

    p = brentq(surplus, P0 - PUMP.end_vacuum, P0)
    last = reports[-1]
    assert P0 - last.cavities[0].pressure == pytest.approx(P0 - p, rel=1e-6)
    assert last.vacuum_sensors["bell"].flow == pytest.approx(g * (P0 - p) * RT / P0, rel=1e-6)


def test_the_flow_balance_is_the_root_of_a_quadratic():
    g, end = 2e-10, P0 - PUMP.end_vacuum
    last = gripper(PUMP, 20.0, h=0.25, breath=lp.AirExchange(conductance=g))[-1]
    rate = PUMP.free_flow / (PUMP.end_vacuum * RT)  # rate P (P - end) = g (P_atm - P)
    b = g / rate - end
    p = 0.5 * (-b + np.sqrt(b * b + 4.0 * g * P0 / rate))
    assert last.cavities[0].pressure == pytest.approx(p, rel=1e-9)


def test_an_open_cup_takes_the_free_flow():
    reports = gripper(PUMP, 0.1, gap=2e-3)  # further than the sealing distance
    for r in reports:
        g = r.vacuum_sensors["bell"]
        assert not r.cavities
        assert (g.vacuum, g.sealed, g.present) == (0.0, False, False)
        assert g.flow == pytest.approx(PUMP.free_flow, rel=1e-12)
    (last,) = gripper(Regulator(20e3), 0.01, gap=2e-3)
    assert last.vacuum_sensors["bell"].flow is None


def test_a_hose_on_an_open_cup_shows_a_vacuum_of_its_own():
    line = Restriction(3e-10, 1e-7)
    g = gripper(PUMP, 3.0, gap=2e-3, line=line)[-1].vacuum_sensors["bell"]
    p = brentq(lambda p: line.conductance * (P0 - p) - rate_of(PUMP, p), P0 - 60e3, P0)
    assert g.vacuum == pytest.approx(P0 - p, rel=1e-6)
    g = gripper(Regulator(5e3), 0.1, gap=2e-3, line=line)[-1].vacuum_sensors["bell"]
    assert g.flow == pytest.approx(line.conductance * 5e3 * RT / P0, rel=1e-9)


def test_a_valve_shuts_and_vents():
    valve = Valve([(0.0, "closed"), (0.1, "open"), (0.3, "closed"), (0.5, "vent")])
    reports = gripper(Regulator(30e3), 0.6, valve=valve)
    for r in reports:
        vacuum = 30e3 if 0.1 - 1e-9 < r.time < 0.5 - 1e-9 else 0.0
        assert P0 - r.cavities[0].pressure == pytest.approx(vacuum, abs=1e-6)
        if 0.3 < r.time < 0.5 - 1e-9:
            assert r.vacuum_sensors["bell"].flow == 0.0
    assert not reports[-1].vacuum_sensors["bell"].present


def test_a_shut_hose_and_a_cup_share_their_air():
    """A hose of the cup's own volume, shut off from its source at 40 kPa: a sealed vessel."""
    valve = Valve([(0.0, "open"), (0.2, "closed")])
    reports = gripper(
        Regulator(40e3),
        6.0,
        h=0.02,
        valve=valve,
        line=Restriction(3e-9, VOLUME),
        breath=lp.AirExchange(leak=1e-8),
    )
    filling = [r.cavities[0].pressure for r in reports if r.time > 3.0]
    rise = np.diff(filling) / 0.02
    np.testing.assert_allclose(rise, 1e-8 * RT / (2.0 * VOLUME), rtol=1e-6)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Pump(0.0, 6e4), r"pump free_flow = 0.0: expected 6e-05 l/min to 6e\+04 l/min"),
        (lambda: Pump(1e-4, -8e4), "pump end_vacuum = -80000.0: expected 1 kPa to 1 MPa"),
        (lambda: Pump(20, 85), r"pump free_flow = 20: .* plain numbers are in m\^3/s"),
        (lambda: Pump("85 kPa", "20 l/min"), "pump free_flow = '85 kPa': expected a volume flow"),
        (lambda: Pump(85e3, 3e-4), "pump free_flow = 85000.0: expected"),
        (lambda: Pump("20 l/min", 85), "pump end_vacuum = 85: expected 1 kPa to 1 MPa"),
        (lambda: Pump.from_curve([(0, 1e-4), (5e4, 2e-4), (8e4, 0)]), "vacuum to rise and the fl"),
        (lambda: Pump.from_curve([(0, 1e-4), (5e4, 2e-5)]), "pump curve: expected points .* to no"),
        (
            lambda: Ejector(1e-4, 8e4, saving=(5e4, 6e4)),
            r"saving = \(50000 Pa, 60000 Pa\): .*on < o",
        ),
        (lambda: Ejector(1e-4, 8e4, saving="60 kPa"), r"saving = '60 kPa': expected \(off, on\)"),
        (lambda: Regulator(-6e3), "vacuum = -6000 Pa: expected 0 or more"),
        (lambda: Regulator(60), "regulator vacuum = 60 Pa: expected 100 Pa or more; plain numb"),
        (lambda: Regulator([]), "regulator vacuum is empty"),
        (lambda: Regulator([(1.0, 0.0), (0.5, 1e3)]), "regulator vacuum times .*: expected finite"),
        (lambda: Valve([(0.0, "open"), (2.0, "closed"), (1.0, "vent")]), "valve times .* rising"),
        (lambda: Valve([(0.0, "ajar")]), "valve has 'ajar' at 0 s: expected one of open, closed"),
        (lambda: Valve([(0.5, "open")]), "begin with its state at 0 s"),
        (lambda: Valve(switching_time=50), "valve switching_time = 50: expected 0 s to 10 s"),
        (lambda: Valve([(0, "open"), (1, "blow")]), "valve blows, but has no blow_off"),
        (lambda: Restriction(volume=-1.0), r"restriction volume = -1 m\^3: expected 0 to 1"),
        (
            lambda: Restriction(0.0),
            r"restriction conductance = 0.0 mol/\(s Pa\): expected a number",
        ),
        (lambda: Reservoir(20), r"reservoir volume = 20 m\^3: expected 0 to 1 m\^3"),
        (lambda: Hose("4 mm", "1 m"), "hose diameter = '1 m': expected 0.1 mm to 200 mm"),
        (lambda: Hose("4 mm", "6 mm"), r"hose diameter = 0.006 m is not below its length"),
        (lambda: Hose(1000, 4), "hose diameter = 4: expected 0.1 mm to 200 mm; plain numbers"),
        (lambda: Orifice(1.0), "orifice diameter = 1.0: expected"),
        (lambda: Orifice("1 mm", 80), "orifice discharge = 80: expected 0.1 to 1"),
        (lambda: FlowCheck(8), r"flow check flow = 8: expected .* plain numbers are in m\^3/s"),
        (
            lambda: CheckValve(cracking=-1.0),
            "check valve cracking = -1.0: expected 0 Pa to 100 kPa",
        ),
    ],
)
def test_wrong_lines_are_refused(build, message):
    with pytest.raises(lp.LimpetError, match=message):
        build()


def test_what_cannot_hold_a_vacuum_is_refused():
    world = lp.World()
    block = world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="block", position=(0, 0, -1))
    alien = lp.World().add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="block")
    with pytest.raises(lp.LimpetError, match="'block': it is not a body of this world"):
        world.connect(alien, Regulator(1e3))
    with pytest.raises(lp.LimpetError, match="expected a body of this world, and a Regulator"):
        world.connect(block, 6e3)
    with pytest.raises(lp.LimpetError, match="vacuum = 200000 Pa is below absolute zero pressure"):
        world.connect(block, Pump(1e-4, 2e5))
    with pytest.raises(lp.LimpetError, match=r"port = .*: expected three finite numbers"):
        world.connect(block, Regulator(1e3), port=(0.0, 1.0))
    world.connect(block, Regulator(1e3))
    with pytest.raises(lp.LimpetError, match="'block' is on a line already"):
        world.connect(block, Regulator(1e3))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="other")
    with pytest.raises(lp.LimpetError, match="neither it nor what it can touch has an inner surf"):
        lp.Simulation(world)
    world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, 1.0))
    lp.Simulation(world)  # a bell may come to stand on it


def test_a_pump_needs_air_that_keeps_its_temperature_and_a_bare_regulator_not():
    adiabatic = lp.Atmosphere(exponent=1.4)
    with pytest.raises(lp.LimpetError, match=r"exponent = 1\.4; pumps and hoses need 1"):
        gripper(PUMP, 0.1, atmosphere=adiabatic)
    with pytest.raises(lp.LimpetError, match="pumps and hoses need 1"):
        gripper(Regulator(1e3), 0.1, line=Restriction(volume=1e-6), atmosphere=adiabatic)
    last = gripper(Regulator(1e3), 0.1, atmosphere=adiabatic)[-1]
    assert last.vacuum_sensors["bell"].vacuum == pytest.approx(1e3, abs=1e-6)


def test_the_cavity_round_the_port_is_on_the_line():
    """Two bells on one block; the port lies under the second."""
    world = lp.World()
    block = world.add_rigid(
        lp.shapes.box(0.2, 0.06, 0.02, (8, 2, 1)), 1.0, name="block", fixed=True
    )
    for name, x in (("left", -0.05), ("right", 0.05)):
        world.fix(world.add_rigid(bell(), 0.1, name=name, position=(x, 0.0, GAP)))
    world.connect(block, Regulator(7e3), port=(0.05, 0.0, 0.0))
    sim = lp.Simulation(world, settings=lp.Settings(sealing_distance=SEALING))
    for _ in range(3):
        last = sim.step()
    assert sorted(P0 - c.pressure for c in last.cavities) == pytest.approx([0.0, 7e3], abs=1e-6)
    assert last.reactions["right"][2] == pytest.approx(0.981 + 7e3 * OUTLINE**2, abs=1e-5)
    assert last.reactions["left"][2] == pytest.approx(0.981, abs=1e-5)


@pytest.mark.parametrize(
    ("port", "message"),
    [
        ((0.0, 0.0, 1.0), r"port = \(0, 0, 1\) m is 985 mm from its surface; expected a point"),
        ((0.005, 0.0, 0.012), "is on the outside of the cup, where no cavity can be"),
        ((0.0, 0.0, 0.015), "is on the outside of the cup"),
        ((0.0, 0.0, 0.0045), None),  # the top of the dome
        ((0.0175, 0.0, 0.0), None),  # the lip
    ],
)
def test_a_port_has_to_be_on_the_inner_surface(port, message):
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, fixed=True, position=(0, 0, -1e-4))
    cup = world.add_soft(lp.shapes.cup(), lp.Material(young=4e6, poisson=0.45), mass=0.02)
    world.connect(cup, Regulator("20 kPa"), port=port)
    if message is None:
        lp.Simulation(world)
        return
    with pytest.raises(lp.LimpetError, match=message):
        lp.Simulation(world)


def test_a_line_continues_where_it_was_saved():
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    cup = world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, GAP))
    world.fix(cup)
    world.connect(cup, PUMP, line=Restriction(3e-10, 1e-6))
    sim = lp.Simulation(world, settings=lp.Settings(sealing_distance=SEALING))
    list(sim.run(0.05))
    state = sim.get_state()
    once = [(r.cavities[0].pressure, r.vacuum_sensors["bell"]) for r in sim.run(0.05)]
    sim.set_state(state)
    again = [(r.cavities[0].pressure, r.vacuum_sensors["bell"]) for r in sim.run(0.05)]
    assert once == again


@pytest.mark.parametrize("kind", [lp.Pump, lp.Ejector])
def test_the_flow_of_a_source_has_no_kink_at_its_end_vacuum(kind):
    """A cup that a source holds at its end vacuum would jump from one side to the other."""
    source, around, end = kind("12 l/min", "90 kPa"), lp.Atmosphere(), 90e3
    p = around.pressure - end
    most = source.flow(around.pressure, around)[0]
    assert source.flow(p, around)[0] == pytest.approx(0.0, abs=1e-12 * most)
    above, below = (source.flow(p + d, around)[1] for d in (1.0, -1.0))
    assert below == pytest.approx(above, rel=1e-3)
    let_back = source.flow(p - 0.1 * end, around)[0]
    assert -1.01e-4 * most <= let_back < 0.0
