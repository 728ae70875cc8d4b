"""The kernels of the sparse factor against plain NumPy, for all remainders of three and six."""

import numpy as np
import pytest

from limpet.compiled import njit
from limpet.linalg import panel_kernels as kernels

SIZES = [(1, 1), (2, 9), (3, 3), (5, 20), (6, 17), (7, 8), (13, 40), (21, 33)]


@njit
def run(panel, sign, product, y, rows):
    bad = kernels.factor_panel(panel, sign)
    kernels.minus_square(panel, sign, product)
    ones, w = np.ones(len(panel)), len(panel)
    kernels.solve_rows(panel, y, 0, 0, y.shape[1], ones)
    kernels.send_rows(panel, y, 0, 0, y.shape[1], rows, 0, ones)
    kernels.subtract_square(y, 0, w, -sign, 0, y.shape[1], product)
    return bad


@pytest.mark.parametrize("signs", ["plus", "mixed"])
@pytest.mark.parametrize("w, h", SIZES)
def test_a_panel_and_what_it_sends_on(w, h, signs):
    rng = np.random.default_rng(w + h)
    l = np.tril(rng.normal(size=(h, w)), -1) + np.eye(h, w) * rng.uniform(2.0, 3.0, w)
    sign = np.where((rng.random(w) < 0.4) & (signs == "mixed"), -1.0, 1.0)
    a = (l * sign) @ l.T
    panel, m = a[:, :w].T.copy(), 1 + h // 2
    y, rows = rng.normal(size=(h + 3, m)), np.arange(h, dtype=np.int32)
    rows[w:] += 3  # not next to its own
    expected = y.copy()
    expected[:w] = np.linalg.solve(l[:w], y[:w])
    expected[rows[w:]] -= l[w:] @ expected[:w]
    square = np.zeros((h, h))
    assert run(panel, sign, square, y, rows) == -1
    np.testing.assert_allclose(np.triu(panel), np.triu(l.T), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-9)
    below = np.zeros((h, h))
    below[w:, w:] = -(l[w:] * sign) @ l[w:].T
    below[:m, :m] += (expected[:w].T * sign) @ expected[:w]
    np.testing.assert_allclose(np.triu(square), np.triu(below), rtol=1e-9, atol=1e-9)


def test_a_pivot_of_the_wrong_sign_is_found():
    a = np.diag([1.0, 2.0, -3.0, 4.0])
    assert kernels.factor_panel(a.copy(), np.ones(4)) == 2
    assert kernels.factor_panel(a.copy(), np.array([1.0, 1.0, -1.0, 1.0])) == -1
