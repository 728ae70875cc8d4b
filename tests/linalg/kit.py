"""What the tests of the factor share."""

from __future__ import annotations

import numpy as np

from limpet.linalg.half_solve import compliance, half_solve


def compliance_of(factor, start, nodes, weights, extra):
    """That of all points at once, and of every second one, which must be a part of it."""
    half = half_solve(factor, start, nodes, weights)
    points = np.arange(len(start) - 1)
    whole = compliance(factor, half, points, extra)
    some = points[::2]
    rows = (3 * some[:, None] + np.arange(3)).ravel()
    rows = np.concatenate([rows, 3 * len(points) + np.arange(len(extra))])
    np.testing.assert_array_equal(compliance(factor, half, some, extra), whole[np.ix_(rows, rows)])
    return whole
