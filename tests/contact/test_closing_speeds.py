"""How fast the surfaces of two bodies can close."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.detect import closing_speeds


def test_bodies_that_fly_together_do_not_close() -> None:
    together = np.tile([3.0, 0.0, 1.0], (5, 1))
    assert closing_speeds([together, together.copy()], [(0, 1)]) == pytest.approx([0.0])


def test_head_on_they_close_with_the_sum() -> None:
    one, other = np.tile([2.0, 0.0, 0.0], (3, 1)), np.tile([-1.0, 0.0, 0.0], (4, 1))
    assert closing_speeds([one, other], [(0, 1)]) == pytest.approx([3.0])


def test_no_two_points_close_faster() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        a, b = rng.normal(size=(6, 3)) + rng.normal(size=3), rng.normal(size=(7, 3))
        (bound,) = closing_speeds([a, b], [(0, 1)])
        fastest = np.linalg.norm(a[:, None] - b, axis=2).max()
        assert fastest <= bound + 1e-12
        most = np.linalg.norm(a, axis=1).max() + np.linalg.norm(b, axis=1).max()
        assert bound <= most + 1e-12
