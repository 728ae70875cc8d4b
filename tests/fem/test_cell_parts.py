"""Cells assembled in parts give what all of them at once give."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.fem import cell_parts
from limpet.fem.material import Fem, Material
from limpet.fem.soft_body import SoftBody
from limpet.linalg.threads import Threads
from limpet.shapes.boxes import soft_box

H = 0.01
LAWS = [
    ("tet4", Material(4e6, 0.45)),
    ("hex20p", Material(4e6, 0.45)),
    ("hex20p", Material(4e6, 0.45, stiffness_damping=0.0)),
    ("iicr21", Material(4e6, 0.45)),
    ("hex20", Material(4e6, 0.45, law="neo-hookean")),
    ("hex20p", Material.mooney_rivlin(5e5, 1e5, 1e4, 1e3)),
]


@pytest.mark.parametrize(("element", "material"), LAWS)
def test_parts_sum_to_the_whole(element, material, monkeypatch):
    shape = soft_box(0.02, 0.02, 0.03, (2, 2, 3), element)
    rng = np.random.default_rng(3)
    moved = 2e-4 * rng.normal(size=(len(shape.points), 3))
    results = []
    for cost, count in ((np.inf, 1), (1.0, 1), (1.0, 2), (1.0, 4)):
        monkeypatch.setattr(cell_parts, "COST", cost)
        body = SoftBody(
            "a", shape, material, 0.02, fem=Fem(element=element), threads=Threads(count)
        )
        assert (len(body.fem._cells.parts) > 1) == (cost == 1.0)
        x, p = body.x + moved, np.linspace(-1e4, 1e4, len(body.p))
        exact = body.fem.can_be_exact
        results.append(body.fem.assemble(x, p, H, exact=exact))
    (whole, loads), (parts, part_loads), *others = [(v.copy(), f) for v, f in results]
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-13 * np.abs(whole).max())
    scale = np.abs(loads.force).max()
    np.testing.assert_allclose(part_loads.force, loads.force, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(part_loads.excess, loads.excess, rtol=0, atol=1e-20)
    for values, same in others:
        np.testing.assert_array_equal(values, parts)
        np.testing.assert_array_equal(same.force, part_loads.force)
        np.testing.assert_array_equal(same.excess, part_loads.excess)
