"""What contact cannot keep apart ends in an error, never in a step that is called converged."""

from __future__ import annotations

import pytest

import limpet as lp
from limpet.errors import OverlapError


def vice(closes: float) -> lp.Simulation:
    """A box of 10 mm on the ground under a plate that comes down by `closes` [m] in 0.2 s."""
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.02), 1.0, name="ground", fixed=True)
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.01), 0.1, name="box", position=(0, 0, 0.01))
    plate = world.add_rigid(
        lp.shapes.box(0.1, 0.1, 0.02), 1.0, name="plate", position=(0, 0, 0.0301)
    )
    world.prescribe_motion(plate, lp.motion.path([(0.0, 0.0), (0.2, -closes)]))
    return lp.Simulation(world)


def test_a_box_that_a_vice_crushes_is_an_error_with_its_place() -> None:
    with pytest.raises(OverlapError, match=r"'box'.* overlap by .* mm at \(.*\) mm; lower"):
        for report in vice(8e-3).run(0.2):
            assert not (report.converged and report.max_penetration > 5e-5)


def test_a_vice_that_only_holds_is_none() -> None:
    reports = list(vice(0.11e-3).run(0.3))
    assert all(r.converged for r in reports)
    assert max(r.max_penetration for r in reports) < 5e-5


def test_a_larger_overlap_may_be_allowed() -> None:
    with pytest.raises(lp.LimpetError, match="max_overlap"):
        lp.Settings(max_overlap=0.0)
    sim = vice(2e-3)
    sim.settings = lp.Settings(max_overlap=0.1)
    assert max(r.max_penetration for r in sim.run(0.2)) > 5e-4
