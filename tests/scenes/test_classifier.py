"""Scenes whose cavities are found by the classifier instead of the union."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.model.settings import Settings
from limpet.scenes.registry import load

from .runs import assert_sound, run

SMALL = {"speed": "5 mm/s", "duration": "3.3 s", "sectors": 8, "segments": 5}


@pytest.fixture(scope="module")
def by_classes():
    return run("ground", cavities="classifier", **SMALL)


def test_it_holds_its_air_and_lets_go(by_classes):
    assert_sound(by_classes)
    pulled = [r for r in by_classes.reports if r.cavities and r.time > 0.8]
    air = np.array([r.cavities[0].air for r in pulled])
    assert np.ptp(air) <= 1e-9 * air[0]
    assert min(r.cavities[0].pressure for r in pulled) < 40e3
    assert by_classes.force.max() > 30.0
    assert not by_classes.reports[-1].cavities
    assert abs(by_classes.force[-1]) < 1.0


# The same seal line, and a volume that is exact: nothing but rounding differs, until the lip
# wrinkles and lets it grow: with flat faces after the peak, with curved ones shortly before.
def test_on_a_flat_block_the_force_is_that_of_the_union(by_classes):
    union = run("ground", **SMALL)
    peak = int(np.argmax(union.force))
    difference = np.abs(by_classes.force - union.force)
    assert difference[: peak + 1].max() < 1e-5 * union.force[peak]
    assert int(np.argmax(by_classes.force)) == peak
    assert np.count_nonzero(by_classes.sealed != union.sealed) <= 1


def test_under_curved_faces_the_force_is_that_of_the_union_until_the_lip_wrinkles():
    quick = {**SMALL, "speed": "10 mm/s", "duration": "2 s", "cavity_faces": "curved"}
    union, by_classes = run("ground", **quick), run("ground", cavities="classifier", **quick)
    highest = union.force.max()
    assert not union.sealed[-1]
    smooth = int(np.argmax(union.force > 0.98 * highest))
    # The floor follows the lip in steps, which the two take at other times.
    assert np.abs(by_classes.force - union.force)[:smooth].max() < 2e-4 * highest


def test_a_named_inner_surface_gives_the_same(by_classes):
    scene = load("ground", {**SMALL, "cavities": "classifier", "duration": "0.8 s"})
    reports = list(scene.simulation(inner_region="underside").run(0.8))
    force = [r.reactions["cup"][2] for r in reports]
    assert force == pytest.approx(by_classes.force[:80], rel=1e-9, abs=1e-9)


def test_settings_say_what_is_wrong():
    assert Settings(cavities="classifier").cavities == "classifier"
    for told, line in (
        ({"cavities": "clasifier"}, "cavities = 'clasifier'; did you mean 'classifier'?"),
        ({"cavities": "classifier", "seal_boundary": "history"}, "seal_boundary = 'history'"),
        (
            {"inner_region": "underside"},
            "inner_region = 'underside': only the classifier asks for it",
        ),
    ):
        with pytest.raises(LimpetError) as caught:
            Settings(**told)
        assert str(caught.value).startswith(line)
    scene = load("ground", {**SMALL, "cavities": "classifier"})
    with pytest.raises(LimpetError, match=r"inner_region = 'undersde'.* did you mean 'underside'"):
        scene.simulation(inner_region="undersde")
