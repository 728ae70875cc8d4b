"""Other air and other limits on the ground scene: what holds more, what holds less, and why."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import limpet as lp
from limpet.scenes.registry import load

COARSE = {"h": "20 ms", "speed": "5 mm/s", "duration": "3.2 s"}  # where runs are compared
HELD = 0.68  # [s] pressed on and at rest, before the pull


def run(until=None, breath=None, **parameters):
    scene = load("ground", parameters)
    if breath is not None:
        scene.world.set_air_exchange(scene.world.specs["cup"], breath)
    simulation = scene.simulation()
    reports = list(simulation.run(until or scene.duration))
    assert all(r.converged for r in reports)
    assert max(r.air_error for r in reports) <= 1e-9
    assert max(c.gas_residual for r in reports for c in r.cavities) <= 1e-9
    return reports


def peak(reports):
    return max(r.reactions["cup"][2] for r in reports)


@pytest.fixture(scope="module")
def isothermal():
    return run(**COARSE)


def test_air_that_keeps_its_heat_holds_more(isothermal) -> None:
    """P 6: at the same volume its pressure is lower; it cools as it expands."""
    adiabatic = run(exponent=1.4, **COARSE)
    assert peak(adiabatic) > 1.03 * peak(isothermal)
    assert min(c.temperature for r in adiabatic for c in r.cavities) < 200.0
    kelvin = [c.temperature for r in isothermal for c in r.cavities]
    assert np.ptp(kelvin) == 0.0
    assert adiabatic[-1].cavities == ()


def test_a_mountain_holds_less(isothermal) -> None:
    air = lp.Atmosphere.at_altitude(3000.0)
    high = run(ambient=air.pressure, **COARSE)
    ratio = peak(high) / peak(isothermal)
    # suction scales with the air's pressure, the stiffness of the lip does not
    assert air.pressure / 101325.0 < ratio < 0.9


def test_each_limit_lets_the_air_out_smoothly() -> None:
    """What is held back when pressed is air that pulls less later."""
    left = {}
    for limit in ("constant", "energy", "path"):
        reports = run(HELD, limit=limit)
        sealed = [r.cavities[0] for r in reports if r.cavities]
        pressed = np.array([c.pressure for c in sealed])
        left[limit] = sealed[-1].air
        assert all(c.pressure <= c.p_max * (1.0 + 1e-9) for c in sealed)
        rise = np.diff(pressed[5:40])  # while it is pushed: no ripple from step to step
        assert np.sum(np.diff(np.sign(rise)) != 0) <= 4
        if limit == "path":  # pressure and traction agree in the end
            assert sealed[-1].pressure - 101325.0 == pytest.approx(
                sealed[-1].seal_traction, rel=0.01
            )
            assert pressed[-1] - 101325.0 > 1000.0
        if limit == "energy":
            assert 101325.0 + 500.0 < pressed[-1] < 101325.0 + 1500.0
    assert left["constant"] < left["energy"] < left["path"]


def test_the_path_s_sum_is_no_less_than_its_largest() -> None:
    one, other = (run(0.3, limit=limit)[-1].cavities[0] for limit in ("path", "path-sum"))
    assert other.p_max >= one.p_max * (1.0 - 1e-9)


def test_a_pressed_ring_leaks_less() -> None:
    """The leak of a rough surface falls by e with every `traction` on the weakest path."""
    until, scale = 1.0, 4e3
    free = run(until, lp.AirExchange(conductance=1e-9), speed="5 mm/s")
    hindered = run(until, lp.AirExchange(conductance=1e-9, traction=scale), speed="5 mm/s")

    def conductances(reports):
        """What let the air of each step in, and the traction there, while the cup is pulled."""
        rows = []
        for before, now in pairwise(reports):
            if now.time > 0.8 and before.cavities and now.cavities:
                c = now.cavities[0]
                missing = 101325.0 - before.cavities[0].pressure
                rows.append((c.leaked / (0.01 * missing), c.seal_traction))
        return np.array(rows).T

    rate, _ = conductances(free)
    np.testing.assert_allclose(rate, 1e-9, rtol=0.05)  # the step's own decay is some per cent
    rate, traction = conductances(hindered)
    assert traction.max() > 1.5 * scale
    np.testing.assert_allclose(rate, 1e-9 * np.exp(-traction / scale), rtol=0.05)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"exponent": 0.9}, r"exponent = 0\.9: expected a number greater than or equal to 1"),
        ({"ambient": "0 Pa"}, "ambient = '0 Pa': expected a number greater than 0"),
        (
            {"limit": "paths"},
            "limit = 'paths': expected 'constant', 'path', 'path-sum' or 'energy'",
        ),
        ({"limit": "path", "overpressure": "1 kPa"}, "remove one of them"),
    ],
)
def test_wrong_air_is_refused(parameters, message) -> None:
    with pytest.raises(lp.LimpetError, match=message):
        load("ground", parameters)
