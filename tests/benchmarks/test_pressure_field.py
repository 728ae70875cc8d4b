"""Contact surfaces against Drake: stored results, and Drake itself where it is installed."""

from __future__ import annotations

import importlib
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from limpet.pressure_field.fields import half_space
from limpet.pressure_field.surface import contact_surface
from limpet.studies.bench.pressure_field import AT_ORIGIN, BOX, ON_TOP, THROUGH, TILTED
from limpet.studies.bench.test_objects import Sphere, build_field, rigid_mug, soft_mug

FOLDER = Path(__file__).parents[2] / "benchmarks" / "pressure_field"
STORED = json.loads((FOLDER / "reference.json").read_text())
with_drake = pytest.mark.skipif(find_spec("pydrake") is None, reason="drake is not installed")


@pytest.fixture(autouse=True)
def _scripts_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)


def script(name: str):
    return importlib.import_module(name)


@pytest.mark.parametrize("name", STORED)
def test_polygons_area_and_force_as_drake_gave_them(name):
    first, second, pose = script("compare").simple_pairs()[name]
    a, b = build_field(first), build_field(second)
    surface = script("drake_pair").as_drake(contact_surface(a, pose, b, AT_ORIGIN), a, b)
    expected = STORED[name]
    assert len(surface) == expected["faces"]
    area = np.linalg.norm(surface.area, axis=1).sum()
    assert area == pytest.approx(expected["area"], rel=1e-12)
    force = np.array(expected["force"])
    difference = np.linalg.norm(surface.pressure @ surface.area - force)
    assert difference < 1e-12 * np.linalg.norm(force)


def test_what_drake_leaves_out_faces_away_from_a_gradient():
    """Deep in a corner some polygons do; the paper keeps them."""
    first, second, pose = script("compare").simple_pairs()["capsule through cylinder"]
    a, b = build_field(first), build_field(second)
    whole = contact_surface(a, pose, b, AT_ORIGIN)
    kept = script("drake_pair").as_drake(whole, a, b)
    assert 0 < len(kept) < len(whole)
    assert kept.start[-1] == len(kept.corners) == len(kept.corner_pressure)
    inward = np.einsum("ij,ij->i", kept.area, kept.gradient_a)
    size = np.linalg.norm(kept.area, axis=1) * np.linalg.norm(kept.gradient_a, axis=1)
    assert (inward > np.cos(5.0 / 8.0 * np.pi) * size).all()


@with_drake
@pytest.mark.parametrize("edge", [0.02, 0.01, 0.005])
def test_on_drakes_own_sphere_and_box(edge):
    _, _, area, force = script("compare").compare(Sphere(0.05, edge, 1e7), BOX, ON_TOP)
    assert area < 1e-12 and force < 1e-12


@with_drake
def test_mugs():
    compare = script("compare").compare
    for first in (soft_mug(300, 1e6), rigid_mug(300)):
        _, _, area, force = compare(first, BOX, TILTED)
        assert area < 1e-12 and force < 1e-12
    _, _, _, force = compare(soft_mug(300, 1e6), soft_mug(300, 2e6), THROUGH)
    assert force < 1e-10


def test_the_surface_is_judged_and_no_time():
    timing = script("timing")
    rows = [
        ("sphere-box", "", 1, 30, 1.0, 30, 2.0, 2.0, True),
        ("mug-box", "", 1, 800, 1.0, 700, 0.5, 0.5, True),
    ]
    result = timing.table(rows)
    assert result.ok and result.tables[0].as_dict()["rows"][0]["speed-up"] == 2.0
    rows[1] = ("mug-box", "", 1, 800, 1.0, 700, 9.0, 9.0, False)
    assert not timing.table(rows).ok


def test_surfaces_agree_in_polygons_area_and_force():
    agree = script("timing").agree
    sphere, ground = build_field(Sphere(0.05, 0.02, 1e7)), half_space((0.0, 0.0, 1.0), 0.0)
    surface = contact_surface(sphere, (np.eye(3), np.array([0.0, 0.0, 0.04])), ground, AT_ORIGIN)
    polygons, area = len(surface), float(np.linalg.norm(surface.area, axis=1).sum())
    force = surface.pressure @ surface.area
    assert polygons > 5
    assert agree(surface, polygons, area, force)
    assert not agree(surface, polygons + 1, area, force)
    assert not agree(surface, polygons, area * (1.0 + 1e-9), force)
    assert not agree(surface, polygons, area, force + 1e-9 * force[2])
