"""The committed reference of the cup's push force, and the mesh it was computed on."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from limpet.shapes.cups import STANDARD

FOLDER = Path(__file__).parents[2] / "benchmarks" / "cup_reference"


@pytest.fixture(scope="module")
def deck() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cup_reference_deck", FOLDER / "deck.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stored() -> dict:
    return json.loads((FOLDER / "reference.json").read_text())


def profile_volume() -> float:
    """[mm^3] by revolution: 2 pi times the integral of r z dr round it, in short pieces."""
    p, across = STANDARD, np.linspace(0.0, 1.0, 2001)
    below, above = np.linspace(0.0, p.radius, 20001), np.linspace(p.radius, p.stem_radius, 20001)
    outline = [
        np.column_stack(p.wall(below, 0.0)),
        np.array([p.wall(p.radius, a) for a in across]),
        np.column_stack(p.wall(above, 1.0)),
        np.array([[p.stem_radius, p.height], [0.0, p.height]]),
    ]
    r, z = 1e3 * np.concatenate(outline).T
    s, y = np.roll(r, -1), np.roll(z, -1)
    return float(2.0 * np.pi * ((r - s) * (2.0 * (r * z + s * y) + r * y + s * z)).sum() / 6.0)


@pytest.mark.parametrize("n", [1, 2])
def test_section_fills_the_profile(deck: ModuleType, n: int) -> None:
    section = deck.section(n)
    assert deck.jacobians(section).min() > 0.0
    assert deck.volume(section) == pytest.approx(profile_volume(), rel=1e-6)
    points = section.points
    assert points[section.underside[-1]] == pytest.approx([1e3 * STANDARD.radius, 0.0], abs=1e-9)
    assert points[:, 1].min() == pytest.approx(0.0, abs=1e-9)
    assert points[section.top, 1] == pytest.approx(1e3 * STANDARD.height)
    assert points[section.axis, 0] == pytest.approx(0.0)


def test_quads_join_and_the_touching_sides_lie_outside(deck: ModuleType) -> None:
    section = deck.section(1)
    sides = section.quads[:, [[0, 4, 1], [1, 5, 2], [2, 6, 3], [3, 7, 0]]]
    middles, count = np.unique(sides[:, :, 1], return_counts=True)
    assert set(count) == {1, 2}
    outside = set(middles[count == 1])
    touching = [sides[quad, side - 1] for quad, side in section.touching]
    assert {s[1] for s in touching} <= outside
    assert set(section.underside) <= set(np.concatenate(touching))


def test_deck_names_what_it_uses(deck: ModuleType) -> None:
    section = deck.section(1)
    text = deck.cup_deck(section, deck.Case(0.45, friction=0.5, law="neo-hooke"))
    nodes = text.split("*NODE, NSET=NALL\n")[1].split("*")[0].splitlines()
    assert len(nodes) == len(section.points) + 8
    cells = re.findall(r"TYPE=CAX8R, ELSET=CUP\n((?:\d.*\n)+)", text)[0].splitlines()
    assert len(cells) == len(section.quads)
    assert [int(c) for c in cells[-1].split(",")[1:]] == list(section.quads[-1] + 1)
    assert text.count("*STEP, NLGEOM") == text.count("*END STEP") == len(deck.DEPTHS)
    for depth in deck.DEPTHS:
        assert f"TOP, 2, 2, {-depth:g}\n" in text
    # C10 = mu / 2 and D1 = 2 / bulk modulus
    c10, d1 = (float(v) for v in re.findall(r"NEO HOOKE\n(.*), (.*)", text)[0])
    mu, bulk = 2 * c10, 2 / d1
    assert 9 * bulk * mu / (3 * bulk + mu) == pytest.approx(4.0)
    assert (3 * bulk - 2 * mu) / (6 * bulk + 2 * mu) == pytest.approx(0.45)


def test_reference_is_sane(deck: ModuleType, stored: dict) -> None:
    cases = {(c["law"], c["poisson"], c["friction"]): c for c in stored["cases"]}
    assert stored["depths_mm"] == list(deck.DEPTHS)
    assert len(cases) == 12
    for (law, nu, mu), case in cases.items():
        force = np.array(case["force_N"])
        assert np.all(np.diff(force) > 0.0) and force[0] > 0.3 and force[-1] < 1.0
        # a dome that is pressed flat softens
        assert np.all(np.diff(force, n=2) < 0.0)
        assert np.all(np.diff([17.5, *case["lip_radius_mm"]]) > 0.0)
        assert case["last_change"] < 5e-3
        assert case["history"][-1]["force_N"] == case["force_N"]
        assert np.all(force > np.array(cases[law, nu, 0.0]["force_N"])) or mu == 0.0
        assert np.all(force > np.array(cases[law, 0.45, mu]["force_N"])) or nu == 0.45
        others = np.array([cases[other, nu, mu]["force_N"] for other, _, _ in cases])
        assert np.all(np.abs(force / others - 1.0) < 0.02)  # the law hardly matters here
    assert all(abs(value) < 6e-3 for value in stored["checks"].values())
