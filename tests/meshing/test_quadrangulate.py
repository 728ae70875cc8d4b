"""A polygon divided from corner to corner into quadrilaterals."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.meshing.section.outline import signed_area
from limpet.meshing.section.quadrangulate import outlines, quadrangulate


def strip(count, wave=0.0):
    """A wall of `count` cells, 1 thick, that may be wavy: its lower face, then its upper one."""
    r = np.arange(count + 1) * 1.5
    z = wave * np.sin(0.7 * r)
    return np.concatenate([np.column_stack([r, z]), np.column_stack([r, z + 1.0])[::-1]])


@pytest.mark.parametrize("wave", [0.0, 0.8])
def test_a_wall_becomes_a_ladder(wave):
    x = strip(6, wave)
    good, bad = quadrangulate(x, 1.5)
    assert not bad
    assert sorted(sorted(c) for c in good) == [[i, i + 1, 12 - i, 13 - i] for i in range(6)]


@pytest.mark.parametrize("turn", range(1, 14, 4))
def test_it_does_not_matter_where_the_polygon_begins(turn):
    x = strip(6, 0.8)
    one, two = quadrangulate(x, 1.5)[0], quadrangulate(np.roll(x, turn, axis=0), 1.5)[0]
    cells = {frozenset(c) for c in one}
    assert cells == {frozenset((i - turn) % 14 for i in c) for c in two}


def test_what_is_too_thick_is_left():
    x = strip(6) * [1.0, 6.0]
    good, bad = quadrangulate(x, 1.5)
    assert not good
    assert outlines(bad) == {(i, (i + 1) % 14) for i in range(14)}


@pytest.mark.parametrize("seed", range(5))
def test_cells_fill_any_star_and_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    angle = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    radius = rng.uniform(0.7, 1.3, 16)
    x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    good, bad = quadrangulate(x, 10.0)
    areas = [signed_area(x[cell]) for cell in [*good, *bad]]
    assert min(areas) > 0.0
    assert sum(areas) == pytest.approx(signed_area(x))


def test_a_polygon_with_too_many_corners_is_left():
    x = strip(40)
    assert quadrangulate(x, 1.5) == ([], [list(range(82))])
