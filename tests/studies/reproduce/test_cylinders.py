"""The bell on tubes, in small: few facets seal as many do; what the table says of made-up runs."""

from __future__ import annotations

import pytest

from limpet.studies.reproduce import cylinders
from limpet.studies.reproduce.cylinders import Seal, seal


def quiet(done: float, total: float, text: str) -> None:
    pass


def test_a_tube_of_24_facets_seals_and_pulls_like_one_of_360() -> None:
    few, many = (seal(0.07, 800, facets) for facets in (24, 360))
    assert few.holds and many.holds
    assert few.flips == many.flips == 1
    assert few.unsolved == many.unsolved == 0
    assert few.peak == pytest.approx(many.peak, rel=0.05)
    assert few.volume == pytest.approx(many.volume, rel=0.04)
    assert max(few.depth, many.depth) < 1e-6
    # as a prism it does not hold
    assert seal(0.07, 434, 24, crease=0.0).peak < 0.3 * many.peak


def test_the_verdict_is_that_all_meshes_agree_but_at_one_radius() -> None:
    def made_up(limit):
        def one(radius: float, nodes: int, facets: int) -> Seal:
            holds = radius >= limit(nodes, facets)
            return Seal(radius, nodes, facets, holds, 1, 10.0 * holds, 1e-7, 0, 1e-8)

        return one

    assert cylinders.run(quiet, made_up(lambda n, f: 0.03)).ok
    assert cylinders.run(quiet, made_up(lambda n, f: 0.027 if f > 24 else 0.03)).ok
    assert not cylinders.run(quiet, made_up(lambda n, f: 0.03 if f > 24 else 0.06)).ok
