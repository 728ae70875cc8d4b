"""Boxes that were dropped stand as a stack, each on the weight above it."""

from __future__ import annotations

import numpy as np
import pytest

from .runs import GRAVITY, run


@pytest.fixture(scope="module")
def stack():
    return run("boxes", h="4 ms", duration="0.5 s", boxes=3)


def test_every_step_is_solved(stack) -> None:
    assert all(r.converged for r in stack.reports)
    assert max(r.momentum_residual for r in stack.reports) < 1e-9


def test_each_box_carries_what_is_above_it(stack) -> None:
    weights = 0.1 * GRAVITY * 0.9 ** (3 * np.arange(3))
    patches = {p.bodies: p for p in stack.reports[-1].patches}
    assert list(patches) == [("floor", "box 0"), ("box 0", "box 1"), ("box 1", "box 2")]
    for k, patch in enumerate(patches.values()):
        np.testing.assert_allclose(patch.force, [0.0, 0.0, -weights[k:].sum()], atol=2e-3)


def test_they_stand_still_where_they_fell(stack) -> None:
    heights = np.array([stack.probes(f"box{k}_z") for k in range(3)])
    assert np.ptp(heights[:, -20:], axis=1).max() < 1e-7
    lying = 0.03 * np.cumsum(0.9 ** np.arange(3)) - 0.015 * 0.9 ** np.arange(3)
    np.testing.assert_allclose(heights[:, -1], lying, atol=1e-4)
    assert (heights[:, -1] < lying).all()  # sunk in, by 10 to 40 um
    for k in range(3):
        for axis in "xy":
            assert abs(stack.probes(f"box{k}_{axis}")[-1]) < 1e-4
