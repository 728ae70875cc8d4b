"""Cells of different Young's modulus in one body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.errors import LimpetError, MeshError
from limpet.fem.discretisation import Discretisation
from limpet.fem.material import Fem, Material
from limpet.shapes.boxes import soft_box
from limpet.shapes.tentacles import tentacle

NONE = np.zeros(0, np.int64)


def bar(stiffness: np.ndarray | None = None, young: float = 1e5, element: str = "hex20"):
    shape = soft_box(0.01, 0.01, 0.04, (1, 1, 4), element)
    if stiffness is not None:
        shape = replace(shape, stiffness={next(iter(shape.cells)): stiffness})
    return Discretisation("bar", shape, Material(young, 0.3), Fem(), 0.004, NONE)


def bent(body: Discretisation) -> np.ndarray:
    x = body.rest
    return x + 2e-3 * np.sin(90.0 * x[:, [1, 2, 0]]) * [1.0, 0.5, -0.7]


@pytest.mark.parametrize("element", ["hex20", "hex8"])
def test_alike_cells_are_a_stiffer_material(element) -> None:
    soft, hard = bar(np.full(4, 7.0), element=element), bar(young=7e5, element=element)
    x, p = bent(soft), np.zeros(0)
    scale = np.abs(hard.loads(x, p, 0.01).force).max()
    np.testing.assert_allclose(
        soft.loads(x, p, 0.01).force, hard.loads(x, p, 0.01).force, atol=1e-12 * scale
    )
    one, other = (b.assemble(x, p, 0.01)[0].copy() for b in (soft, hard))
    np.testing.assert_allclose(one, other, atol=1e-12 * np.abs(other).max())
    assert soft.energy(x, p) == pytest.approx(hard.energy(x, p), rel=1e-12)
    # mass and volume do not change
    assert soft.volume == hard.volume and soft.volume_of(x) == pytest.approx(hard.volume_of(x))
    np.testing.assert_array_equal(soft.node_mass, hard.node_mass)


def test_springs_in_series() -> None:
    """A bar of four cells, stretched by less where it is stiffer."""
    body = bar(np.array([1.0, 4.0, 1.0, 4.0]))
    e = np.repeat([1.0, 0.25, 1.0, 0.25], 1) * 1e-4  # strains under the same stress
    heights = np.concatenate([[0.0], np.cumsum(e * 0.01)])
    z = body.rest[:, 2] - body.rest[:, 2].min()
    x = body.rest.copy()
    x[:, 2] += np.interp(z, np.linspace(0.0, 0.04, 5), heights)
    # without contraction the stress along z is alike in all cells: inner nodes are in balance
    body.lam = 0.0
    force = body.loads(x, np.zeros(0), 0.01).force
    inner = (z > 1e-6) & (z < 0.04 - 1e-6)
    ends = np.abs(force[z < 1e-6][:, 2].sum())
    assert ends > 0.0 and np.abs(force[inner, 2]).max() < 1e-6 * ends


def test_suckers_are_stiffer_than_the_arm() -> None:
    shape = tentacle(stiffness=40.0)
    factor = shape.stiffness["hex20"]
    assert set(factor) == {1.0, 40.0}
    assert np.count_nonzero(factor == 40.0) == 7 * 8
    low = shape.points[shape.cells["hex20"][factor == 40.0]][:, :, 2].mean()
    assert low < shape.points[shape.cells["hex20"][factor == 1.0]][:, :, 2].mean()


def test_wrong_numbers_are_refused() -> None:
    for wrong in (np.ones(3), np.array([1.0, 1.0, 0.0, 1.0])):
        with pytest.raises(MeshError, match="expected 4 numbers above 0"):
            bar(wrong)
    tets = soft_box(0.01, 0.01, 0.01, (1, 1, 1), "tet4")
    kind = next(iter(tets.cells))
    shape = replace(tets, stiffness={kind: np.ones(len(tets.cells[kind]))})
    with pytest.raises(LimpetError, match="a pressure that cells share"):
        Discretisation("bar", shape, Material(1e5, 0.49), Fem(element="iicr11"), 0.004, NONE)
