"""M's closed forms (eq 22-27, with the slips of docs/elements.md mended) against the kernels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.block import cell_block
from limpet.fem.elements.mixed import assemble_mixed, pressure_compliance

REST = np.array([[0.1, 0.0, 0.05], [1.2, 0.1, 0.0], [0.2, 0.9, 0.1], [0.3, 0.2, 1.1]])
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
SLOPE = np.linalg.inv(np.hstack([np.ones((4, 1)), REST]))[1:].T  # y_i^n = d alpha_n / d X_i
VOLUME = abs(np.linalg.det(REST[1:] - REST[0])) / 6.0


def g1(a, b):
    """Product of two linear Bernstein polynomials, integrated over the tetrahedron: V/10 of it."""
    return 1.0 if a == b else 0.5


def kernel_blocks(name):
    """(B (c, k, 3), C (c, c)) of one cell at rest."""
    element = ELEMENTS[name]
    corners = element.cell.nodes
    points = REST[0] + corners @ (REST[1:] - REST[0])
    block = cell_block(element, points, np.arange(len(points))[None])
    k, c = len(points), 4
    slots = np.arange((k + c) ** 2, dtype=np.int32).reshape(1, k + c, k + c)
    values = np.zeros(((k + c) ** 2, 3, 3))
    compliance = pressure_compliance(block, 1.0, 1.0, 0.0)
    assemble_mixed(
        block, points, np.zeros(c), np.arange(c, dtype=np.int32)[None], slots, 1.0, compliance,
        compliance, np.zeros((k, 3)), np.zeros(c), values,
    )  # fmt: skip
    b = values[slots[0, k:, :k], 0]
    lower = -values[slots[0, k:, k:], 0, 0]
    return b, lower + np.tril(lower, -1).T


def test_iicr11_is_eq_24_and_25():
    b, c = kernel_blocks("iicr11")
    expected = np.broadcast_to(VOLUME / 4.0 * SLOPE, (4, 4, 3))
    np.testing.assert_allclose(b, expected, rtol=1e-12)
    exact = [[VOLUME / 10.0 * g1(i, j) for j in range(4)] for i in range(4)]
    np.testing.assert_allclose(c, exact, rtol=1e-12)


def test_iicr21_is_eq_27_with_its_volume_and_its_trace():
    b, c = kernel_blocks("iicr21")
    nodes = [(n, n) for n in range(4)] + list(EDGES)  # the multi-index I as the two it counts
    expected = np.zeros((4, 10, 3))
    for a, (i, index) in product(range(4), enumerate(nodes)):
        for n in set(index):
            left = list(index)
            left.remove(n)
            # trace of eq 26, and B^1 of what is left of I
            expected[a, i] += VOLUME / 10.0 * g1(a, left[0]) * 2.0 * SLOPE[n]
    np.testing.assert_allclose(b, expected, rtol=1e-11, atol=1e-16)
    np.testing.assert_allclose(
        c, [[VOLUME / 10.0 * g1(i, j) for j in range(4)] for i in range(4)], rtol=1e-12
    )


@pytest.mark.parametrize("name", ["tet4", "tet10"])
def test_all_bernstein_masses_of_a_tetrahedron_are_equal(name):
    element = ELEMENTS[name]
    points = REST[0] + element.cell.nodes @ (REST[1:] - REST[0])
    block = cell_block(element, points, np.arange(len(points))[None])
    np.testing.assert_allclose(block.lumped, VOLUME / len(points), rtol=1e-12)
