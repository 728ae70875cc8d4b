"""A closed cavity whose volume is known: a rigid bell over a block, moved within its seal.

The bell's flat rim keeps within the sealing distance, so the air stays trapped while the volume is
recess + outline x gap, exactly.
"""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.shapes import RigidShape

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


def piston(stations, *, overpressure=0.0, leak=0.0, h=0.01):
    """Reports of a bell driven over a fixed block, and the rim's gap at the end of each step."""
    world = lp.World(atmosphere=lp.Atmosphere(overpressure=overpressure), leak=leak)
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="block", fixed=True)
    start = stations[0][1]
    plunger = world.add_rigid(bell(), 0.1, name="bell", position=(0.0, 0.0, start))
    motion = lp.motion.path([(t, gap - start) for t, gap in stations])
    world.drive(plunger, motion)
    sim = lp.Simulation(world, h=h, settings=lp.Settings(sealing=SEALING))
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
    assert last.drives["bell"][2] == pytest.approx(0.1 * 9.81 + suction, rel=1e-9)
