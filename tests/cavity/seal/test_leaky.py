"""The leaky seal in the step: a pump against a gap, a lip that is drawn down, slack, roughness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from tests.cavity.conftest import Kit

import limpet as lp
from limpet.cavity.gas.gap_flow import RingGap, slip_length
from limpet.geometry.shape import RigidShape
from limpet.scenes.registry import load
from limpet.studies.reproduce.drawn_down import END_VACUUM, sections
from limpet.studies.reproduce.drawn_down import over_a_plate as held_over_a_plate

AIR = lp.Atmosphere()
PA, RT = AIR.pressure, AIR.rt
INNER, OUTER, DEPTH, SECTORS = 0.0145, 0.0175, 0.003, 40  # [m]


def bell() -> RigidShape:
    """A rigid cup with a flat rim: a ring whose conductance is known."""
    radius = [0.0, 0.008, INNER, INNER, 0.0155, 0.0165, OUTER, OUTER, 0.008, 0.0]
    height = [DEPTH, DEPTH, DEPTH, 0.0, 0.0, 0.0, 0.0, 0.008, 0.008, 0.008]
    return RigidShape("bell", *Kit.cup(list(zip(radius, height)), SECTORS))


def over_a_plate(gap, source=None, *, h=0.01, seal="leaky", valve=None, air=AIR):
    """A simulation of the bell, held `gap` [m] over a plate."""
    world = lp.World(atmosphere=air)
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    cup = world.add_rigid(bell(), 0.1, position=(0.0, 0.0, gap))
    world.fix(cup)
    if source is not None:
        world.connect(cup, source, valve=valve)
    settings = lp.Settings(seal=seal, keep_flat_vertices=True)  # amid its rim, too
    return lp.Simulation(world, h=h, settings=settings)


def concentric(gap, inside):
    """The ring gap of the rim, by the closed form of a concentric ring."""
    slip = slip_length(0.5 * (PA + inside), RT)
    shape = 2.0 * np.pi * gap**2 * (gap + slip) / np.log(OUTER / INNER)
    return RingGap(shape, 2.0 * np.pi * INNER * gap)


def pumped(pump, p):
    """[mol/s] that the pump takes at p."""
    end = PA - pump.end_vacuum
    return pump.free_flow * max(0.0, (p - end) / pump.end_vacuum) * p / RT


@pytest.mark.parametrize("gap", [2e-6, 2e-5, 1e-4])
def test_pump_and_gap_come_to_their_balance(gap):
    """The pressure at which the pump takes what the gap lets in; to what the mesh allows."""
    pump = lp.Pump(free_flow=1e-4, end_vacuum=85e3)
    reports = list(over_a_plate(gap, pump, h=0.02).run(2.0))
    cavity = reports[-1].cavities[0]
    exact = brentq(
        lambda p: concentric(gap, p).flow(p, PA, RT) - pumped(pump, p), PA - 85e3, PA - 1e-6
    )
    assert PA - cavity.pressure == pytest.approx(PA - exact, rel=0.03)
    assert cavity.gap_flow == pytest.approx(pumped(pump, cavity.pressure), rel=1e-6)
    assert cavity.seal_gap == pytest.approx(gap, rel=1e-9)
    assert reports[-1].vacuum_sensors["bell"].sealed == (gap < 1e-5)
    assert all(r.converged and r.air_error < 1e-9 for r in reports)
    assert all(c.gas_residual < 1e-9 for r in reports for c in r.cavities)


def test_beyond_reach_there_is_no_cavity():
    assert over_a_plate(2.9e-4).step().cavities
    assert not over_a_plate(3.1e-4).step().cavities
    assert over_a_plate(3.1e-4, seal=lp.LeakySeal(reach=5e-4)).step().cavities
    assert not over_a_plate(1e-4, seal="binary").step().cavities


def evacuated(gap, duration, h, **how):
    """Pressures of a bell that is pumped down for 0.3 s and then leaks, and its volume."""
    pump = lp.Pump(free_flow=2e-4, end_vacuum=85e3)
    valve = lp.Valve([(0.0, "open"), (0.3, "closed")])
    reports = list(over_a_plate(gap, pump, h=h, valve=valve, **how).run(0.3 + duration))
    after = [r for r in reports if r.time > 0.3 - 1.5 * h]  # a step has the valve of its end
    ledger = max(r.air_error for r in reports)
    assert ledger < 1e-9
    times = np.array([r.time for r in after]) - after[0].time
    return times, np.array([r.cavities[0].pressure for r in after]), after[0].cavities[0]


@pytest.mark.parametrize("gap", [1e-6, 3e-6])
def test_a_closed_cup_loses_its_vacuum_as_the_cubic_law_says(gap):
    duration = 2.0 if gap < 2e-6 else 0.5
    error = []
    for h in (0.02, 0.01):
        times, pressures, cavity = evacuated(gap, duration, h)
        conductance = cavity.gap_conductance * (PA - cavity.pressure)
        scale = conductance / concentric(gap, cavity.pressure).flow(cavity.pressure, PA, RT)
        assert scale == pytest.approx(1.0, abs=0.03)  # the mesh
        exact = solve_ivp(
            lambda t, p, v=cavity.volume, s=scale: [
                s * concentric(gap, p[0]).flow(p[0], PA, RT) * RT / v
            ],
            (0.0, times[-1]), pressures[:1], t_eval=times, rtol=1e-9, atol=1e-3,
        ).y[0]  # fmt: skip
        error.append(np.abs(pressures - exact).max())
    assert error[1] < 0.62 * error[0] and error[1] < 0.01 * PA  # first order in h


def test_the_vacuum_is_lost_but_never_overshoots_however_long_the_step():
    for gap in (2e-5, 1e-4):
        _, pressures, _ = evacuated(gap, 0.5, 0.05)
        assert np.all(np.diff(pressures) >= -1e-6) and pressures.max() <= PA * (1.0 + 1e-12)
        assert pressures[0] < PA - 1e3 and pressures[-1] == pytest.approx(PA, rel=1e-3)


def test_an_open_ring_holds_no_overpressure():
    tight, loose = 5e-6, 1e-4
    air = lp.Atmosphere(overpressure=2e3)
    for gap, held in ((tight, 2e3), (loose, 0.0)):
        simulation = over_a_plate(gap, air=air)
        assert simulation.step().cavities[0].p_max == pytest.approx(PA + held, abs=1e-6)


def test_polytropic_air_leaks_too():
    air = lp.Atmosphere(exponent=1.4)
    world = lp.World(atmosphere=air)
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    cup = world.add_rigid(bell(), 0.1, position=(0.0, 0.0, 2e-6))
    world.prescribe_motion(cup, lp.motion.path([(0.0, 0.0), (0.1, 8e-6), (4.0, 8e-6)]))
    settings = lp.Settings(seal="leaky", keep_flat_vertices=True)
    reports = list(lp.Simulation(world, h=0.01, settings=settings).run(1.0))
    assert min(r.cavities[0].pressure for r in reports) < PA - 50.0
    assert reports[-1].cavities[0].pressure == pytest.approx(PA, rel=1e-4)
    assert all(r.air_error < 1e-9 and r.converged for r in reports)


@pytest.fixture(scope="module")
def saddle_node() -> float:
    """[m^3/s] the least pump that takes, at every vacuum, more than the lip's gap there lets in."""
    return max(section.pump() for section in sections(duration=1.0))


@pytest.mark.parametrize("h", [0.02, 0.01])
def test_a_pump_draws_a_lip_down_from_a_tenth_of_a_millimetre(saddle_node, h):
    pump = lp.Pump(1.05 * saddle_node, END_VACUUM)
    reports = list(held_over_a_plate(pump, h).run(1.0))
    end = reports[-1]
    assert end.vacuum_sensors["cup"].sealed and end.cavities[0].pressure < PA - 60e3
    assert end.cavities[0].gap_flow == 0.0
    assert reports[0].cavities[0].seal_gap == pytest.approx(1e-4, rel=1e-6)
    assert all(r.converged and r.air_error < 1e-9 for r in reports)
    weaker = lp.Pump(0.95 * saddle_node, END_VACUUM)
    end = list(held_over_a_plate(weaker, h).run(1.0))[-1]
    assert not end.vacuum_sensors["cup"].sealed and PA - 1e3 < end.cavities[0].pressure < PA


def test_a_run_through_a_gap_goes_on_from_a_saved_state_with_the_same_bits(tmp_path):
    one, two = (held_over_a_plate(lp.Pump(5e-5, END_VACUUM), 0.02) for _ in range(2))
    for _ in range(6):
        report = one.step()
    assert report.cavities[0].gap_flow > 0.0
    one.save(tmp_path / "state.npz")
    two.load(tmp_path / "state.npz")
    for _ in range(10):
        a, b = one.step(), two.step()
        assert a.cavities[0].pressure == b.cavities[0].pressure
        assert a.cavities[0].leaked == b.cavities[0].leaked
    assert np.array_equal(one.snapshot().positions, two.snapshot().positions)


def test_a_lip_on_a_plane_needs_no_slack_and_peaks_as_the_binary_one():
    scene = load("ground", {"speed": "10 mm/s", "duration": "2 s", "h": "20 ms"})
    peaks = []
    for seal in ("binary", "leaky"):
        reports = list(scene.simulation(seal=seal).run(scene.duration))
        assert all(r.converged and r.air_error < 1e-9 for r in reports)
        peaks.append(max(r.reactions["cup"][2] for r in reports))
    assert peaks[1] == pytest.approx(peaks[0], rel=0.005)


def test_a_lip_lies_on_a_smooth_cylinder():
    scene = load("curved", {"duration": "1 s", "radius": "40 mm", "h": "20 ms"})
    trapped = list(scene.simulation(seal=lp.LeakySeal()).run(scene.duration))[-1].cavities[0]
    assert trapped.seal_gap < 1e-6 and trapped.gap_flow == 0.0
    assert trapped.pressure < PA - 5e3


def test_chords_of_the_lip_on_the_facets_of_a_cylinder_do_not_leak():
    """Its vertices stand off by 40 um, which the ring's normals explain; without slack it leaks."""
    scene = load("curved", {"duration": "1 s", "radius": "40 mm", "h": "20 ms"})
    block = scene.world.specs["block"]
    scene.world.specs["block"] = replace(block, crease=0.0)
    leaked = {}
    for name, seal in (("leaky", lp.LeakySeal()), ("raw", lp.LeakySeal(slack=0.0))):
        reports = list(scene.simulation(seal=seal).run(scene.duration))
        leaked[name] = sum(c.leaked for r in reports for c in r.cavities)
        if name == "leaky":
            trapped = reports[-1].cavities[0]
            assert trapped.seal_gap > 1e-5 and trapped.pressure < PA - 5e3
    assert leaked["leaky"] < 1e-8 < 1e-6 < leaked["raw"]


def test_roughness_leaks_the_more_the_rougher_and_the_less_the_harder_pressed():
    rough = lp.LeakySeal(roughness=2e-6)
    rates = {}
    for seal in (rough, replace(rough, roughness=4e-6), replace(rough, roughness=0.0)):
        scene = load("ground", {"duration": "0.9 s", "h": "20 ms"})
        reports = list(scene.simulation(seal=seal).run(scene.duration))
        rates[seal.roughness] = reports[-1].cavities[0].gap_conductance
    assert rates[0.0] == 0.0 < rates[2e-6] < 0.2 * rates[4e-6]


def test_wrong_numbers_are_refused_with_what_was_expected():
    for wrong in (
        {"reach": 0.0},
        {"reach": 0.3},
        {"roughness": -1e-6},
        {"slack": 1.0},
        {"wavelength": np.inf},
    ):
        with pytest.raises(lp.LimpetError, match=f"seal {next(iter(wrong))} = .*expected"):
            lp.LeakySeal(**wrong)
    with pytest.raises(lp.LimpetError, match=r"seal = 'leeky'.*leaky"):
        lp.Settings(seal="leeky")
    assert lp.Settings(seal="leaky").cavity_distance == lp.LeakySeal().reach
