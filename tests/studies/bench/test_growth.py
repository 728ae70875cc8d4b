"""Time over the number of constraints: the line, and what a table of it says."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from limpet.scenes.cloth import cloth_system
from limpet.studies.bench import fig5_c, fig6_c
from limpet.studies.bench.constrained import PAPER_SWEEPS
from limpet.studies.bench.growth import GrowthStudy, LinearFit, measure


def test_the_line_is_found_again():
    count = np.array([100.0, 200.0, 400.0, 800.0])
    line = LinearFit.through(count, 0.2 + 3e-3 * count)
    assert (line.fixed, line.each) == pytest.approx((0.2, 3e-3))
    assert line.explained == pytest.approx(1.0)
    assert LinearFit.through(count, np.array([1.0, -1.0, 1.0, -1.0])).explained < 0.5


def test_sizes_are_told_side_by_side(tmp_path):
    sizes = [(f"{n}", partial(cloth_system, n, settings=PAPER_SWEEPS)) for n in (5, 8)]
    result = measure(GrowthStudy("small", "cloth", ("C: said",), sizes, 4, 1), lambda *_: None)
    (table,) = result.tables
    told = [dict(zip(table.columns, row)) for row in table.rows]
    assert [t["nodes"] for t in told] == [36, 81]
    assert all(t["constraints, min"] <= t["constraints, max"] for t in told)
    assert all(t["sweeps [ms]"] > 0.0 and t["stable"] for t in told)
    assert table.notes[0] == "C: said"
    assert result.ok and (tmp_path / "small.png") in result.save(tmp_path)


@pytest.mark.parametrize("module", [fig5_c, fig6_c])
def test_every_size_can_be_built_and_stepped(module):
    for _, build in module.FIGURE.sizes[::2]:
        assert build().step().rows > 0
