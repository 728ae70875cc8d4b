"""The cantilever: swings, comes to rest at its static sag, locks where M's does."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.record.kit import read_history

import limpet as lp
from limpet.errors import LimpetError
from limpet.fem.statics import static_equilibrium
from limpet.record.run import record_run
from limpet.scenes.registry import load
from limpet.studies.reproduce.elastica import Beam, bend


def rest(**parameters: object) -> float:
    """[m] static sag of the tip."""
    world = load("cantilever", parameters).world
    body = lp.Simulation(world).bodies[0]
    assert static_equilibrium(body, world.gravity).converged
    return float((body.shape.points - body.node_positions())[body.shape.region("tip"), 2].mean())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "cantilever"
    scene = load("cantilever", {"divisions": [6, 2, 2], "duration": "2 s"})
    summary = record_run(scene, scene.simulation(), folder)
    return folder, summary, read_history(folder / "history.csv")


def test_it_swings_beyond_its_place_of_rest_and_ends_there(recorded):
    _, summary, rows = recorded
    tip = np.array([row["tip_z"] for row in rows])
    static = rest(divisions=[6, 2, 2])
    assert tip.min() < -1.1 * static
    assert tip[-1] == pytest.approx(-static, rel=2e-3)
    span = summary.probes["tip_z"]
    assert (span.least, span.most, span.last) == (tip.min(), tip.max(), tip[-1])


def test_its_volume_stays_but_for_the_first_fall(recorded):
    _, _, rows = recorded
    volume = np.array([row["beam_volume"] for row in rows])
    assert np.abs(volume - 1.0).max() < 0.02
    assert volume[-1] == pytest.approx(1.0, abs=2e-3)


def test_the_run_folder_has_what_is_watched(recorded):
    folder, summary, rows = recorded
    assert set(summary.probes) == {"tip_x", "tip_y", "tip_z", "beam_volume"}
    assert json.loads((folder / "summary.json").read_text())["probes"]["tip_z"]["last"] < 0.0
    assert (folder / "plots" / "history.png").read_bytes().startswith(b"\x89PNG")
    assert len(rows) == 125


def test_the_clamp_carries_the_weight_at_the_end(recorded):
    assert recorded[2][-1]["reaction"] == pytest.approx(1100 * 1e-5 * 9.81, rel=2e-3)


def test_figure_7_linear_tets_lock_mixed_ones_do_not():
    tet4, iicr11, default = rest(element="tet4"), rest(element="iicr11"), rest()
    assert tet4 == pytest.approx(5.85e-3, rel=0.01)  # pinned
    assert iicr11 == pytest.approx(20.50e-3, rel=0.01)  # pinned
    beam = Beam(0.10, 0.01, 0.01, 262e3, 0.49)
    assert default == pytest.approx(bend(beam, 1100 * 9.81e-4).sag, rel=0.045)


def test_figure_9_quadratic_tets_by_parameters():
    nine = {"length": "4 cm", "young": "66 kPa", "poisson": 0.25}
    quadratic = [rest(element=e, **nine) for e in ("tet10", "iicr21")]
    assert quadratic == pytest.approx([6.40e-3, 6.41e-3], rel=0.005)  # pinned
    assert rest(element="tet4", **nine) < 0.6 * quadratic[0]


def test_mirrored_tets_hide_the_locking():
    """Known and said in the parameter: it is why the scene cuts all bricks alike."""
    assert rest(element="tet4", mirrored=True) > 3.0 * rest(element="tet4")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"poisson": 0.6}, "poisson = 0.6: expected a number less than or equal to 0.5"),
        ({"element": "tet5"}, "element = 'tet5'; did you mean 'tet"),
        ({"law": "rubber"}, "material law = 'rubber'; expected one of: corotational"),
        ({"divisions": [0, 1, 1]}, r"divisions = \(0, 1, 1\): expected three numbers from 1 up"),
        ({"lenght": 1}, "lenght: unknown parameter; did you mean 'length'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(LimpetError, match=message):
        load("cantilever", parameters)
