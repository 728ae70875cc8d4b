"""The committed reference of three cups, and the mesh and deck it is computed with."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limpet.meshing.section.outline import Part, signed_area, trace

FOLDER = Path(__file__).parents[2] / "benchmarks" / "cup_reference"


@pytest.fixture(scope="module")
def cups():
    pytest.importorskip("netgen")
    sys.path.insert(0, str(FOLDER))
    try:
        import calculix_cups
    finally:
        sys.path.remove(str(FOLDER))
    return calculix_cups


@pytest.mark.parametrize("name", ["stem", "bell", "bellows"])
def test_the_fine_mesh_fills_the_outline_and_touches_where_it_should(cups, name):
    cup = cups.CUPS[name]
    s = cups.fine_section(list(cup.outline), cup.sizes[0])
    loop = trace(Part(list(cup.outline)), False).points
    assert s.area == pytest.approx(1e6 * signed_area(loop), rel=1e-6)
    assert s.points[:, 1].min() == pytest.approx(0.0, abs=1e-9)
    assert s.points[s.held, 1].max() == pytest.approx(s.points[:, 1].max())
    assert len(s.folds) == (3 if name == "bellows" else 0)  # two folds, and collar on plate


@pytest.mark.parametrize("name", ["stem", "bell", "bellows"])
def test_the_two_meshes_of_the_reference_agree(cups, name):
    runs = json.loads(cups.STORED.read_text())["cups"][name]["runs"]
    fine, coarse = (np.array(runs[k]["force_N"]) for k in ("neo-hooke", "neo-hooke, coarse"))
    assert len(fine) == len(cups.CUPS[name].depths) == 5
    assert np.abs(coarse / fine - 1.0).max() < 0.012


@pytest.mark.parametrize(
    ("name", "nodes", "within"), [("stem", 500, 0.01), ("bell", 500, 0.04), ("bellows", 700, 0.07)]
)
def test_push_forces_are_near_those_of_ccx(cups, name, nodes, within):
    """At the first two depths, which take two seconds; README.md has all five."""
    own = json.loads(cups.STORED.read_text())["cups"][name]
    force, unsolved = cups.limpet_forces(
        cups.CUPS[name].shape(nodes), own["depths_mm"][:2], "corotational"
    )
    assert unsolved == 0
    assert force == pytest.approx(own["runs"]["neo-hooke"]["force_N"][:2], rel=within)


@pytest.mark.skipif(shutil.which("ccx") is None, reason="needs CalculiX")
def test_ccx_finds_the_stored_force_at_a_small_depth(cups):
    cup = replace(cups.CUPS["stem"], depths=(0.75,))
    s = cups.fine_section(list(cup.outline), 0.8)
    force = cups.ccx_forces(s, cups.variants(cup)["neo-hooke"][1], cup.depths)
    stored = json.loads(cups.STORED.read_text())["cups"]["stem"]["runs"]["neo-hooke"]["force_N"][0]
    assert force == pytest.approx([stored], rel=0.01)
