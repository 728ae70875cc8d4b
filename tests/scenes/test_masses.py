"""One cup lifts 1.25 and 2.5 kg and fails at 5 kg; two cups lift 5 kg (P figure 14)."""

from __future__ import annotations

import pytest

from limpet.errors import LimpetError
from limpet.scenes.registry import load

from .runs import GRAVITY, assert_sound, run

PRESSED = {"push_time": "0.2 s", "hold": "0.05 s"}  # faster than by default
CUP = 0.020  # [kg]


@pytest.mark.parametrize(("mass", "cups"), [(1.25, 1), (2.5, 1), (5.0, 2)])
def test_it_hangs_on_the_drives(mass, cups) -> None:
    lift = run(
        "masses",
        block_mass=mass,
        cups=cups,
        duration="0.9 s",
        speed="20 mm/s",
        rise="7 mm",
        **PRESSED,
    )
    assert_sound(lift)
    assert lift.probes("cube_z")[-1] > -0.045 + 2e-3  # half the cube's edge; it stood on ground
    assert lift.force[-1] == pytest.approx((mass + cups * CUP) * GRAVITY, rel=2e-3)
    cavities = lift.reports[-1].cavities
    assert len(cavities) == cups
    # two cups hold half as much each: the same pressure as under one cup with half the mass
    assert all(c.pressure == pytest.approx(cavities[0].pressure, rel=1e-6) for c in cavities)


def test_five_kilograms_are_too_much_for_one_cup() -> None:
    lift = run("masses", block_mass="5 kg", duration="1.6 s", speed="10 mm/s", **PRESSED)
    assert_sound(lift)
    assert lift.probes("cube_z") == pytest.approx(-0.045, abs=1e-6)  # never left the ground
    assert 40.0 < lift.force.max() < 5.0 * GRAVITY
    assert not lift.sealed[-1]
    assert lift.force[-1] == pytest.approx(CUP * GRAVITY, abs=0.01)  # the cup alone


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"cups": 3}, "cups = 3: expected a number less than or equal to 2"),
        ({"block_mass": "-1 kg"}, "block_mass = '-1 kg': expected a number greater than 0"),
        ({"profile": "standart"}, "cup profile = 'standart'"),
    ],
)
def test_wrong_input_is_one_clear_line(parameters, line) -> None:
    with pytest.raises(LimpetError) as caught:
        load("masses", parameters)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
