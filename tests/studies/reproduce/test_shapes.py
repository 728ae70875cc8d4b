"""The study of shapes in small."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.studies.reproduce.shapes import WEIGHT, lift


def test_a_sucker_lifts_and_its_air_is_counted() -> None:
    result = lift(
        "shop", nodes=300, push_time="0.2 s", hold="0.05 s", speed="40 mm/s", duration="0.8 s"
    )
    assert result.lifted and result.converged
    assert 0.05 < result.expelled < 0.5
    assert result.force[-1] == pytest.approx(WEIGHT, rel=0.01)
    assert np.nanmin(result.pressure) < 95e3
