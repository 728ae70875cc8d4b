"""Von Mises stress against what it is by hand."""

import numpy as np
import pytest

from limpet.fem.elements import ELEMENTS, neo_hookean
from limpet.fem.elements.block import cell_block
from limpet.fem.elements.corotational import POLAR, lame
from limpet.fem.elements.stress import von_mises
from limpet.geometry.rotation import rotation_matrix

YOUNG, POISSON = 2e6, 0.4
MU, LAM = lame(YOUNG, POISSON)
KINDS = ("tet4", "tet10", "hex8", "hex20")


def unit_cell(kind):
    element = ELEMENTS[kind]
    points = np.array(element.cell.nodes, dtype=float)
    return [cell_block(element, points, np.arange(len(points))[None])], points


@pytest.mark.parametrize("kind", KINDS)
def test_a_stretch_turned_anyhow(kind):
    blocks, points = unit_cell(kind)
    turn = rotation_matrix(np.array([1.0, 2.0, -1.0]), 1.1)
    stretch = np.diag([1.03, 0.99, 0.99])
    stress = von_mises(blocks, points @ (turn @ stretch).T, MU, LAM, POLAR, "corotational")
    # e = diag(a, b, b): the stress differs by 2 mu (a - b) between the axes
    assert stress == pytest.approx(2.0 * MU * 0.04, rel=1e-9)


def test_rubber_is_the_deviator_of_its_cauchy_stress():
    blocks, points = unit_cell("hex8")
    f = np.array([[1.4, 0.2, 0.0], [0.1, 0.8, -0.1], [0.0, 0.3, 1.1]])
    mu, lam, alpha = neo_hookean.moduli(MU, LAM)
    j = np.linalg.det(f)
    first = (
        mu * (1.0 - 1.0 / (1.0 + (f * f).sum())) * f + lam * (j - alpha) * j * np.linalg.inv(f).T
    )
    cauchy = first @ f.T / j
    deviator = cauchy - np.trace(cauchy) / 3.0 * np.eye(3)
    expected = np.sqrt(1.5 * (deviator**2).sum())
    stress = von_mises(blocks, points @ f.T, MU, LAM, POLAR, "neo-hookean")
    assert stress == pytest.approx(expected, rel=1e-9)


def test_nothing_at_rest():
    blocks, points = unit_cell("hex20")
    assert von_mises(blocks, points, MU, LAM, POLAR, "corotational").max() < 1e-6 * MU
