"""Curved surfaces: a cup lifts what it can seal on, and nothing else; from physics."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.geometry.shape import RigidShape
from limpet.report import StepReport
from limpet.scenes.ground import GroundParameters, cup_over
from limpet.scenes.registry import load
from limpet.shapes.curved import plate_with_groove, plate_with_hole, rod

COARSE = {"h": "20 ms", "push_time": "0.4 s", "hold": "0.1 s", "speed": "10 mm/s"}


def on_plate(shape: RigidShape, **parameters: object) -> list[StepReport]:
    """The ground scene with another body, fixed, under the cup."""
    p = GroundParameters.model_validate({**COARSE, "duration": "0.9 s", **parameters})
    world, _, place = cup_over(p)
    world.add_rigid(shape, 1.0, name="plate", position=place, fixed=True)
    return list(Simulation(world, h=p.h).run(p.duration))


def lifts(**parameters: object) -> tuple[bool, list[StepReport]]:
    """Whether the block follows the cup, and the run."""
    scene = load("curved", {**COARSE, "duration": "1.2 s", "rise": "6 mm", **parameters})
    reports = list(scene.simulation().run(scene.duration))
    heights = [r.probes["block_z"] for r in reports]
    return heights[-1] - heights[0] > 2e-3, reports


def pull(reports: list[StepReport]) -> float:
    return max(float(r.reactions["cup"][2]) for r in reports)


WEIGHT = 0.020 * 9.81  # [N] of the cup


@pytest.mark.parametrize(
    "shape",
    [
        plate_with_hole(10e-3, 0.06, 5e-3),
        rod(5e-3, 0.06),
        plate_with_groove(1e-3, 1e-3, 0.06, 5e-3),
        plate_with_groove(1e-3, 4e-3, 0.06, 5e-3),
    ],
    ids=["20 mm hole", "5 mm rod", "narrow groove", "wide groove"],
)
def test_where_air_gets_in_nothing_seals(shape: RigidShape) -> None:
    reports = on_plate(shape)
    assert min(float(r.reactions["cup"][2]) for r in reports) < 0.0  # it was pressed on
    assert not any(c.volume > 1e-9 for r in reports for c in r.cavities)
    assert pull(reports) < 1.2 * WEIGHT


def test_a_groove_shallower_than_the_sealing_distance_does_not_matter() -> None:
    shallow = on_plate(plate_with_groove(0.03e-3, 1e-3, 0.06, 5e-3))
    assert shallow[-1].cavities[0].pressure < 0.8 * 101325.0
    assert pull(shallow) > 5.0


@pytest.mark.parametrize(("surface", "radius"), [("convex", "50 mm"), ("concave", "60 mm")])
def test_low_curvature_lifts(surface: str, radius: str) -> None:
    lifted, reports = lifts(surface=surface, radius=radius)
    assert lifted
    # all of the block's weight hangs on the cup, and all of it on the drive
    assert reports[-1].reactions["cup"][2] == pytest.approx(0.21 * 9.81, rel=0.05)
    assert reports[-1].cavities[0].pressure < 101325.0


@pytest.mark.parametrize(("surface", "radius"), [("convex", "16 mm"), ("concave", "20 mm")])
def test_high_curvature_does_not(surface: str, radius: str) -> None:
    lifted, reports = lifts(surface=surface, radius=radius)
    assert not lifted
    assert pull(reports) < 1.2 * WEIGHT


def test_a_hollow_that_the_cup_does_not_fit_into_is_refused() -> None:
    with pytest.raises(LimpetError, match=r"15 mm: the cup does not fit .* 18.5 mm or more"):
        load("curved", {"surface": "concave", "radius": "15 mm"})
    load("curved", {"surface": "convex", "radius": "15 mm"})


def test_the_block_stands_under_the_cup_with_the_clearance() -> None:
    for surface in ("convex", "concave"):
        scene = load("curved", {"surface": surface, "radius": "30 mm"})
        cup, block = (scene.world.specs[name].shape for name in ("cup", "block"))
        lip = cup.points[cup.region("lip")]
        z = block.points[:, 2].max() if surface == "convex" else block.points[:, 2]
        bottom = lip[:, 2].min()
        if surface == "convex":
            assert bottom - z == pytest.approx(0.5e-3, rel=1e-9)
        else:
            # above the mantle at the lip's radius
            middle = np.abs(block.points[:, 0]) < 1e-9
            low = block.points[middle, 2].max()
            mantle = low + 0.03 - np.sqrt(0.03**2 - 0.0175**2)
            assert bottom - mantle == pytest.approx(0.5e-3, rel=1e-6)
