"""An octopus arm falls on a can; some of its suckers seal, and they lift it."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.scenes.registry import load

from .runs import run


def test_some_suckers_seal_and_lift_the_can() -> None:
    """One run for all, as it takes its time."""
    fallen = run("tentacle", duration="2.6 s", h="20 ms")
    height = fallen.probes("can_z")
    assert height[:60].max() < height[0] + 1e-4  # until the root rises it lies on the ground
    assert height[-1] > height[0] + 0.02
    assert 1 <= len(fallen.reports[-1].cavities) < 7
    assert all(c.pressure < 101325.0 for c in fallen.reports[-1].cavities)
    assert all(r.converged for r in fallen.reports)
    # the can swings, so its weight is a mean
    force = np.mean([r.reactions["tentacle"][2] for r in fallen.reports[-20:]])
    assert force == pytest.approx((0.06 + 0.013) * 9.81, rel=0.05)
    assert max(r.air_error for r in fallen.reports) <= 1e-9
    assert max(r.momentum_residual for r in fallen.reports) <= 1e-6


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(LimpetError, match="muscle"):
        load("tentacle", {"muscle": 1.5})
    with pytest.raises(LimpetError, match="suckers"):
        load("tentacle", {"suckers": 0})
