"""Looks at how the sweeps converge: they leave no trace, and what they see falls."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.scenes.draped import draped
from limpet.scenes.jellies import jellies
from limpet.studies.reproduce.fig1_c import Convergence, look, watch


def test_a_look_leaves_no_trace():
    plain, looked = draped(10), draped(10)
    for _ in range(8):
        plain.step()
        looked.step()
        assert len(look(looked, 7)) == 7
    assert np.array_equal(plain.soft[0].x, looked.soft[0].x)


def test_jellies_converge_fastest_at_first():
    warm, cold = watch("jelly", jellies((3, 4)), lambda: None, steps=12, every=3)
    assert warm.rms.shape == (4, 20)
    for seen in (warm, cold):
        assert seen.falls and seen.largest == 1
        assert seen.early < seen.late < 1.0
    assert np.all(warm.typical < 0.5 * cold.typical)  # the last impulses are a good guess


def test_rates_are_those_of_a_geometric_series():
    seen = Convergence("any", "warm", np.array([[1.0, 0.5, 0.25, 0.2, 0.16]]))
    assert seen.early == pytest.approx(0.5) and seen.late == pytest.approx(0.8)
    assert seen.falls
    risen = Convergence("any", "warm", np.array([[1.0, 2.0, 1.0, 1.5, 1.0]]))
    assert risen.largest == 2 and not risen.falls
