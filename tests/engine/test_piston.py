"""A closed cavity whose volume is known: a rigid bell over a block, moved within its seal.

The bell's flat rim keeps within the sealing distance, so the air stays trapped while the volume is
recess + outline x gap, exactly.
"""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.shape import RigidShape

OUTLINE, RECESS, DEPTH = 0.040, 0.030, 0.2e-3  # [m] edges of rim and recess, depth of the recess
SEALING = 0.4e-3
LOW, HIGH = 0.02e-3, 0.35e-3  # [m] travel of the rim over the block


def bell() -> RigidShape:
    """A square plate with a square recess in its underside."""
    rings = []
    for half, z in (
        (RECESS / 2, DEPTH),
        (RECESS / 2, 0.0),
        (OUTLINE / 2, 0.0),
        (OUTLINE / 2, 0.01),
    ):
        rings.append([(-half, -half, z), (half, -half, z), (half, half, z), (-half, half, z)])
    points = np.array([p for ring in rings for p in ring])
    triangles = [(0, 2, 1), (0, 3, 2)]  # ceiling of the recess, seen from below
    for k in range(3):
        for a in range(4):
            b = (a + 1) % 4
            p, q, r, s = 4 * k + a, 4 * k + b, 4 * k + 4 + b, 4 * k + 4 + a
            triangles += [(p, q, r), (p, r, s)]
    triangles += [(12, 13, 14), (12, 14, 15)]
    return RigidShape("bell", points, np.array(triangles, dtype=np.int32))


def volume(gap: float) -> float:
    return RECESS**2 * DEPTH + OUTLINE**2 * gap


def piston(stations, *, overpressure=0.0, leak=0.0, h=0.01, exponent=1.0, breath=None):
    """Reports of a bell driven over a fixed block, and the rim's gap at the end of each step."""
    air = lp.Atmosphere(overpressure=overpressure, exponent=exponent)
    world = lp.World(atmosphere=air, leak=leak)
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    start = stations[0][1]
    plunger = world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, start))
    motion = lp.motion.path([(t, gap - start) for t, gap in stations])
    world.prescribe_motion(plunger, motion)
    if breath is not None:
        world.set_air_exchange(plunger, breath)
    sim = lp.Simulation(world, h=h, settings=lp.Settings(sealing_distance=SEALING))
    reports = list(sim.run(stations[-1][0]))
    gaps = [start + motion.offset(r.time)[2] for r in reports]
    return reports, np.array(gaps)


def test_volume_of_the_cavity_is_the_closed_form() -> None:
    reports, gaps = piston([(0.0, HIGH), (0.5, LOW), (1.0, HIGH)], overpressure=1e7)
    for report, gap in zip(reports, gaps):
        assert len(report.cavities) == 1
        assert report.cavities[0].volume == pytest.approx(volume(gap), rel=1e-9)


def test_boyle_over_compression_and_expansion() -> None:
    reports, gaps = piston(
        [(0.0, HIGH), (0.5, LOW), (1.0, HIGH), (1.3, 0.5 * HIGH)], overpressure=1e7
    )
    atmosphere = lp.Atmosphere()
    trapped = atmosphere.pressure * volume(HIGH)
    for report, gap in zip(reports, gaps):
        assert report.cavities[0].pressure * volume(gap) == pytest.approx(trapped, rel=1e-9)
        assert report.cavities[0].gas_residual <= 1e-9
        assert report.air_error <= 1e-12
    pressures = [r.cavities[0].pressure for r in reports]
    assert max(pressures) > 3.0 * atmosphere.pressure


def test_at_p_max_air_leaves_and_never_comes_back() -> None:
    overpressure = 20e3
    reports, gaps = piston([(0.0, HIGH), (0.5, LOW), (1.0, HIGH)], overpressure=overpressure)
    atmosphere = lp.Atmosphere(overpressure=overpressure)
    p_max, rt = atmosphere.p_max, atmosphere.rt
    n0 = atmosphere.pressure * volume(HIGH) / rt
    for report, gap in zip(reports, gaps):
        cavity = report.cavities[0]
        if report.time <= 0.5 + 1e-9:  # closed form: Boyle until P_max, then n = P_max V / R T
            expected = min(n0, p_max * volume(gap) / rt)
        else:
            expected = p_max * volume(LOW) / rt
        assert cavity.air == pytest.approx(expected, rel=1e-9)
        assert cavity.pressure == pytest.approx(expected * rt / volume(gap), rel=1e-9)
        assert cavity.pressure <= p_max * (1.0 + 1e-12)
    assert sum(r.cavities[0].vented for r in reports) == pytest.approx(
        n0 - p_max * volume(LOW) / rt, rel=1e-9
    )


def test_leak_adds_air_at_its_rate() -> None:
    leak, h = 2e-7, 0.01
    reports, gaps = piston([(0.0, HIGH), (1.0, LOW)], leak=leak, h=h, overpressure=1e7)
    atmosphere = lp.Atmosphere()
    n0 = atmosphere.pressure * volume(HIGH) / atmosphere.rt
    for k, (report, gap) in enumerate(zip(reports, gaps), start=1):
        expected = n0 + leak * h * k
        assert report.cavities[0].air == pytest.approx(expected, rel=1e-9)
        assert report.cavities[0].pressure == pytest.approx(
            expected * atmosphere.rt / volume(gap), rel=1e-9
        )


def test_the_drive_feels_the_pressure() -> None:
    reports, _ = piston([(0.0, HIGH), (0.3, LOW), (0.6, HIGH), (0.7, HIGH)])
    last = reports[-1]
    suction = (lp.Atmosphere().pressure - last.cavities[0].pressure) * OUTLINE**2
    assert last.reactions["bell"][2] == pytest.approx(0.1 * 9.81 + suction, rel=1e-9)


def absolute(reports):
    return np.array([r.cavities[0].pressure for r in reports])


@pytest.mark.parametrize("exponent", [1.0, 1.2, 1.4])
def test_a_polytropic_piston_over_compression_and_expansion(exponent) -> None:
    start = 0.25e-3
    reports, gaps = piston(
        [(0.0, start), (0.3, LOW), (0.8, HIGH), (1.0, start)], overpressure=1e7, exponent=exponent
    )
    ratio = volume(gaps) / volume(start)
    expected = 101325.0 * ratio**-exponent
    np.testing.assert_allclose(absolute(reports), expected, rtol=1e-9)
    kelvin = [r.cavities[0].temperature for r in reports]
    np.testing.assert_allclose(kelvin, 293.15 * ratio ** (1.0 - exponent), rtol=1e-9)
    assert expected.max() > 2.7 * 101325.0
    assert expected.min() < 0.8 * 101325.0
    assert absolute(reports)[-1] == pytest.approx(101325.0, rel=1e-9)  # nothing drifts
    assert max(r.cavities[0].gas_residual for r in reports) <= 1e-9


def test_venting_air_leaves_the_rest_as_it_was() -> None:
    """At P_max n = V (P_max/a)^(1/k); then the polytrope of what stays."""
    overpressure, k = 20e3, 1.4
    reports, _ = piston(
        [(0.0, HIGH), (0.5, LOW), (1.0, HIGH)], overpressure=overpressure, exponent=k
    )
    air = lp.Atmosphere(overpressure=overpressure, exponent=k)
    left = volume(LOW) * (air.p_max / air.constant) ** (1.0 / k)
    assert reports[-1].cavities[0].air == pytest.approx(left, rel=1e-9)
    expected = air.p_max * (volume(LOW) / volume(HIGH)) ** k
    assert absolute(reports)[-1] == pytest.approx(expected, rel=1e-9)
    assert max(r.air_error for r in reports) <= 1e-12


# pressed to P_max and raised: then a closed volume under suction, from 0.4 s on
SUCTION = [(0.0, HIGH), (0.2, LOW), (0.4, HIGH), (0.8, HIGH)]


@pytest.mark.parametrize("exponent", [1.0, 1.4])
@pytest.mark.parametrize("h", [0.02, 0.005])
def test_a_rough_surface_lets_suction_decay_exponentially(exponent, h) -> None:
    conductance = 1.5e-9
    breath = lp.AirExchange(conductance=conductance)
    reports, _ = piston(SUCTION, h=h, exponent=exponent, breath=breath)
    air = lp.Atmosphere(exponent=exponent)
    tau = volume(HIGH) / (exponent * conductance * air.rt)
    still = [r for r in reports if r.time >= 0.4 - 1e-9]
    missing = air.pressure - absolute(still)
    time = np.array([r.time for r in still]) - still[0].time
    assert missing[0] > 0.4 * air.pressure
    assert missing[-1] < 0.3 * missing[0]
    np.testing.assert_allclose(missing, missing[0] * np.exp(-time / tau), rtol=1e-6)
    assert max(r.air_error for r in reports) <= 1e-9
    # what came in brought its heat: V dP = k R T0 dn
    gained = still[-1].cavities[0].air - still[0].cavities[0].air
    assert (missing[0] - missing[-1]) * volume(HIGH) == pytest.approx(
        exponent * air.rt * gained, rel=1e-9
    )


def test_twice_the_leak_reaches_the_atmosphere_in_half_the_time() -> None:
    """From the bottom on, where the air is that of LOW at P_atm, what HIGH needs leaks in."""
    needed = 101325.0 * (volume(HIGH) - volume(LOW)) / lp.Atmosphere().rt
    times = []
    for leak in (5e-5, 1e-4):
        stations = [(0.0, HIGH), (0.02, LOW), (0.04, HIGH), (0.04 + 1.2 * needed / leak, HIGH)]
        reports, _ = piston(stations, h=0.002, breath=lp.AirExchange(leak=leak))
        after = [r for r in reports if r.time > 0.04]
        times.append(next(r.time for r in after if r.cavities[0].pressure >= 101325.0) - 0.02)
        assert times[-1] == pytest.approx(needed / leak, abs=0.0021)
    assert times[0] == pytest.approx(2.0 * times[1], abs=0.0041)


def test_the_chamber_imposes_its_share_of_the_air() -> None:
    breath = lp.AirExchange(chamber=[(0.1, 1.0), (0.3, 0.25), (0.5, 0.25), (0.7, 0.9)])
    reports, gaps = piston([(0.0, HIGH), (0.4, 0.5 * HIGH), (0.8, HIGH)], h=0.02, breath=breath,
                           overpressure=1e7)  # fmt: skip
    trapped = 101325.0 * volume(HIGH)
    for report, gap in zip(reports, gaps):
        cavity = report.cavities[0]
        share = breath.share(report.time)
        assert cavity.pressure * volume(gap) == pytest.approx(share * trapped, rel=1e-9)
        assert cavity.air + cavity.stored == pytest.approx(trapped / lp.Atmosphere().rt, rel=1e-9)
        assert report.air_error <= 1e-9


def test_a_pump_is_booked() -> None:
    reports, _ = piston([(0.0, HIGH), (0.4, HIGH)], breath=lp.AirExchange(leak=-1e-4))
    assert reports[-1].cavities[0].pressure == 0.0
    assert reports[-1].cavities[0].air == 0.0
    assert max(r.air_error for r in reports) <= 1e-9


def test_the_breath_of_the_ring_s_carrier_counts() -> None:
    """Both bodies breathe; the one that was added first carries the ring of two rigid bodies."""
    world = lp.World(leak=1e-6)
    block = world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    plunger = world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, HIGH))
    world.fix(plunger)
    rates = {"block": 2e-7, "bell": 5e-7}
    world.set_air_exchange(block, lp.AirExchange(leak=rates["block"]))
    world.set_air_exchange(plunger, lp.AirExchange(leak=rates["bell"]))
    sim = lp.Simulation(world, h=0.01, settings=lp.Settings(sealing_distance=SEALING))
    report = sim.step()
    carrier = sim.bodies[sim.model.cavities.ledger.cavities[0].mesh.rings[0, 0]].name
    assert report.cavities[0].leaked == pytest.approx(rates[carrier] * 0.01, rel=1e-9)


def test_a_saved_run_with_breath_continues_to_the_bit() -> None:
    def build():
        world = lp.World(atmosphere=lp.Atmosphere(exponent=1.3))
        world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
        plunger = world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, HIGH))
        world.prescribe_motion(plunger, lp.motion.path([(0.0, 0.0), (0.1, LOW - HIGH), (0.2, 0.0)]))
        world.set_air_exchange(
            plunger, lp.AirExchange(conductance=1e-9, chamber=[(0.0, 1.0), (0.3, 0.5)])
        )
        return lp.Simulation(world, h=0.01, settings=lp.Settings(sealing_distance=SEALING))

    one, other = build(), build()
    list(one.run(0.12))
    state = one.get_state()
    other.set_state(state)
    for a, b in zip(one.run(0.1), other.run(0.1)):
        assert a.cavities == b.cavities
