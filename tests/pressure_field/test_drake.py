"""Against Drake: figures it gave once, and Drake itself where it is installed."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from limpet.pressure_field.surface import contact_surface
from limpet.studies.bench import drake
from limpet.studies.bench.test_objects import Ball, Brick, own_body, rigid_mug, soft_mug

from .kit import HERE

FOLDER = Path(__file__).parents[2] / "benchmarks" / "pressure_field"


def load_compare() -> ModuleType:
    name = "pressure_field_compare"
    spec = importlib.util.spec_from_file_location(name, FOLDER / "compare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


COMPARE = load_compare()
STORED = json.loads((FOLDER / "reference.json").read_text())
with_drake = pytest.mark.skipif(not drake.available(), reason="drake is not installed")


@pytest.mark.parametrize("name", STORED)
def test_faces_area_and_force_as_drake_gave_them(name):
    one, two, where = COMPARE.simple_pairs()[name]
    a, b = own_body(one), own_body(two)
    surface = drake.as_drake(contact_surface(a, where, b, HERE), a, b)
    wanted = STORED[name]
    assert len(surface) == wanted["faces"]
    area = np.linalg.norm(surface.area, axis=1).sum()
    assert area == pytest.approx(wanted["area"], rel=1e-12)
    force = np.array(wanted["force"])
    off = np.linalg.norm(surface.pressure @ surface.area - force)
    assert off < 1e-12 * np.linalg.norm(force)


def test_what_drake_leaves_out_faces_away_from_a_gradient():
    """Deep in a corner some polygons do; the paper keeps them."""
    one, two, where = COMPARE.simple_pairs()["capsule through cylinder"]
    a, b = own_body(one), own_body(two)
    whole = contact_surface(a, where, b, HERE)
    kept = drake.as_drake(whole, a, b)
    assert 0 < len(kept) < len(whole)
    assert kept.start[-1] == len(kept.corners) == len(kept.corner_pressure)
    inward = np.einsum("ij,ij->i", kept.area, kept.gradient_a)
    size = np.linalg.norm(kept.area, axis=1) * np.linalg.norm(kept.gradient_a, axis=1)
    assert (inward > np.cos(5.0 / 8.0 * np.pi) * size).all()


@with_drake
@pytest.mark.parametrize("edge", [0.02, 0.01, 0.005])
def test_on_drakes_own_sphere_and_box(edge):
    _, _, area, force = COMPARE.compare(
        Ball(0.05, edge, 1e7), Brick((0.1, 0.12, 0.08), 2e7), COMPARE.ON_TOP
    )
    assert area < 1e-12 and force < 1e-12


@with_drake
def test_mugs():
    for one in (soft_mug(300, 1e6), rigid_mug(300)):
        _, _, area, force = COMPARE.compare(one, COMPARE.BRICK, COMPARE.TILTED)
        assert area < 1e-12 and force < 1e-12
    _, _, _, force = COMPARE.compare(soft_mug(300, 1e6), soft_mug(300, 2e6), COMPARE.THROUGH)
    assert force < 1e-10
