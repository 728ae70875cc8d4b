"""The study of cups on soft bodies: one of its cases, and its options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from limpet.errors import LimpetError
from limpet.studies.reproduce.soft_on_soft import build, examine, run


def test_two_cups_on_each_other() -> None:
    found = examine(build("cup", "none", 1.0, 0.01, 434))
    assert found.holds and found.peak > 1.0 and found.lowest < 1e5
    assert not replace(found, overlap=6e-5).holds
    assert not replace(found, unconverged=1).holds
    assert not replace(found, wall_overlap=6e-5).holds
    assert not replace(found, stopped="diverged").holds


def test_the_force_on_a_soft_box_does_not_depend_on_its_mesh() -> None:
    """Steps of 1 mm leave 5 %; with facets that span whole cells the forces were 16 and 20 N."""
    coarse, fine = (examine(build("box", "none", 1.0, 0.02, 434, n)) for n in (4, 6))
    assert coarse.holds and fine.holds
    assert coarse.peak == pytest.approx(fine.peak, rel=0.05)


@pytest.mark.parametrize("settings", ({"ratios": "0"}, {"others": "plate"}, {"nods": 434}))
def test_a_wrong_option_is_one_line(settings: dict[str, object]) -> None:
    with pytest.raises(LimpetError) as problem:
        run(lambda *_: None, settings, None)
    assert "\n" not in str(problem.value) and next(iter(settings)) in str(problem.value)
