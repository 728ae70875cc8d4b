"""The arm picks the apple, carries it into a cell of the box and leaves it there."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.scenes.pick_and_place import BOX, BOX_AT
from limpet.scenes.registry import load

from .runs import run


@pytest.fixture(scope="module")
def picked():
    return run("pick-and-place")


def test_the_apple_is_carried_by_suction(picked) -> None:
    height = picked.probes("apple_z")
    carried = (picked.time > 1.8) & (picked.time < 2.6)
    assert height[carried].min() > height[0] + 0.09
    for report in np.array(picked.reports)[carried]:
        (cavity,) = report.cavities
        assert cavity.pressure < 97e3
        assert cavity.margin > 0.1e-3  # of 0.2 mm: on no edge
        # it moves evenly: the arm carries apple and cup
        assert report.reactions["cup"][2] == pytest.approx((0.15 + 0.02) * 9.81, rel=0.02)


def test_it_is_let_go_at_the_wall_and_stays_in_the_cell(picked) -> None:
    last = picked.reports[-1]
    assert not last.cavities
    x, y = picked.probes("apple_x"), picked.probes("apple_y")
    assert BOX_AT[0] < x[-1] < BOX_AT[0] + 0.5 * BOX[0]
    assert BOX_AT[1] - 0.5 * BOX[1] < y[-1] < BOX_AT[1]
    assert picked.probes("apple_z")[-1] < 0.05
    assert np.ptp(picked.probes("apple_z")[-10:]) < 1e-5  # at rest
    # the wall stops the apple while it still hangs; the cup lets go only after that
    released = picked.time[picked.sealed][-1]
    stopped = picked.time[x > BOX_AT[0] + 0.5 * BOX[0] - 0.004 - 0.037][0]
    assert 3.4 < stopped < released
    assert released == pytest.approx(4.27, abs=0.03)  # pinned; 4.24 at 20 ms, 4.26 at 5 ms


def test_every_step_is_sound(picked) -> None:
    held = picked.time <= picked.time[picked.sealed][-1]
    assert all(r.converged for r in np.array(picked.reports)[held])
    assert max(r.air_error for r in picked.reports) <= 1e-9
    assert max(r.momentum_residual for r in picked.reports) <= 1e-6


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(LimpetError, match="diameter"):
        load("pick-and-place", {"diameter": "20 cm"})
