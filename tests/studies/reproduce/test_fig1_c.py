"""Looks at how the sweeps converge: they leave no trace, and what they see falls."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.scenes.cloth import cloth_system
from limpet.scenes.jellies import jelly_system
from limpet.studies.reproduce.fig1_c import Convergence, sample_convergence, sample_run


def test_a_look_leaves_no_trace():
    plain, looked = cloth_system(10), cloth_system(10)
    for _ in range(8):
        plain.step()
        looked.step()
        assert len(sample_convergence(looked, 7)) == 7
    assert np.array_equal(plain.soft[0].x, looked.soft[0].x)


def test_jellies_converge_fastest_at_first():
    warm, cold = sample_run("jelly", jelly_system((3, 4)), lambda: None, steps=12, every=3)
    assert warm.rms.shape == (4, 20)
    for samples in (warm, cold):
        assert samples.falls and samples.largest == 1
        assert samples.early < samples.late < 1.0
    assert np.all(warm.typical < 0.5 * cold.typical)  # the last impulses are a good guess


def test_rates_are_those_of_a_geometric_series():
    samples = Convergence("any", "warm", np.array([[1.0, 0.5, 0.25, 0.2, 0.16]]))
    assert samples.early == pytest.approx(0.5) and samples.late == pytest.approx(0.8)
    assert samples.falls
    risen = Convergence("any", "warm", np.array([[1.0, 2.0, 1.0, 1.5, 1.0]]))
    assert risen.largest == 2 and not risen.falls
