"""Facets that turn by just the crease angle are smooth in every pose."""

from __future__ import annotations

import numpy as np

import limpet as lp
from limpet.geometry.facet_normals import CREASE
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.tessellate import tessellated


def test_a_hole_of_twelve_facets_is_round_however_it_lies() -> None:
    plate = lp.shapes.drilled_plate(0.13, 0.13, 0.026, hole=0.028, depth=0.004, at=(-0.00986, 0.0))
    rng, counts = np.random.default_rng(0), set()
    for _ in range(8):
        turn = rotation_matrix(rng.normal(size=3), float(rng.uniform(0.3, 3.0)))
        made = tessellated(plate.points @ turn.T, np.asarray(plate.triangles), CREASE, 1.25e-5)
        assert made is not None
        counts.add(len(made.points))
    assert len(counts) == 1  # 296 to 395 before it allowed for rounding
