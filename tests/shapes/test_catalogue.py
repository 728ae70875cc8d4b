"""The catalogue of cups: every design at every size, its volume and its stiffness."""

from __future__ import annotations

import json

import numpy as np
import pytest

import limpet as lp
from limpet.cli import commands as cli
from limpet.errors import LimpetError
from limpet.meshing.check import check_surface
from limpet.record.cup_table import air_under, cup_row, push_stiffness
from limpet.shapes.catalogue import DESIGNS
from limpet.shapes.section_mesh import mesh_section


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_has_its_diameter_and_closes_its_cavity(name):
    design = DESIGNS[name]
    small, large = design.shape(5e-3), design.shape(0.1)
    assert np.allclose(20.0 * small.points, large.points, atol=1e-9)  # all is in proportion
    wide = np.ptp(large.points, axis=0)
    assert wide[1] == pytest.approx(0.1, rel=0.03)
    assert wide[0] == pytest.approx(0.1 * (1.0 + design.straight), rel=0.03)
    x = large.collision.positions(large.points)
    check_surface(x, large.collision.triangles)
    edges = np.sort(large.collision.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert len(x) - len(np.unique(edges, axis=0)) + len(large.collision.triangles) == 2
    assert {"top", "lip", "underside"} <= set(large.regions)


def test_the_air_under_a_cone_and_an_oval_is_as_in_the_book():
    mm = 1e-3
    cone = [(0, 6 * mm), (12 * mm, 0), (12 * mm, 1 * mm), (0, 8 * mm)]
    section = mesh_section(cone)
    assert air_under(section, 0.0) == pytest.approx(np.pi / 3 * 144 * 6 * mm**3, rel=1e-6)
    longer = air_under(section, 10 * mm) - air_under(section, 0.0)
    assert longer == pytest.approx(10 * 12 * 6 * mm**3, rel=1e-6)


def test_functions_of_the_catalogue_make_its_cups():
    assert len(lp.cups.flat(0.03, cleats=True).points) == len(
        DESIGNS["flat-cleats"].shape(0.03).points
    )
    assert "port" in lp.cups.bell(0.02).regions
    assert "port" in lp.cups.bellows(0.02, folds=2.5).regions
    assert np.ptp(lp.cups.oval(0.02).points[:, 0]) == pytest.approx(0.06)
    assert "foam" in lp.cups.foam_ring(0.05).regions
    for call, says in (
        (lambda: lp.cups.flat(0.2), "cup diameter = 0.2 m: expected 0.005 to 0.1 m"),
        (lambda: lp.cups.bellows(0.02, folds=4), "cup = 'bellows-4'; did you mean"),
    ):
        with pytest.raises(LimpetError, match=says):
            call()


def test_stiffness_is_in_proportion_to_the_modulus_and_the_size():
    soft, hard = lp.rubber("silicone", shore=40), lp.rubber("silicone", shore=60)
    shape, twice = (lp.cups.bell(d, nodes=450) for d in (0.02, 0.04))
    stroke = DESIGNS["bell"].stroke
    one = push_stiffness(shape, soft, stroke * 0.02, 0.02)
    assert one > 0.0
    # weight and air act too, so not to all digits
    assert push_stiffness(shape, hard, stroke * 0.02, 0.02) / one == pytest.approx(
        hard.young / soft.young, rel=0.03
    )
    assert push_stiffness(twice, soft, stroke * 0.04, 0.04) / one == pytest.approx(2.0, rel=0.03)


def test_the_command_lists_and_draws(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["limpet", "cups", "flat", "--out", str(tmp_path), "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    (row,) = json.loads(capsys.readouterr().out)["cups"]
    assert row["stiffness"] is None
    assert row["stroke"] == pytest.approx(0.11 * 0.03)
    assert (tmp_path / "flat.png").stat().st_size > 5000
    assert cup_row(DESIGNS["flat"], 0.03, None).nodes == row["nodes"]
