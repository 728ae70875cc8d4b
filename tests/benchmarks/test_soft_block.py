"""The ball on a soft block that is timed next to MuJoCo: Limpet's side of it."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "soft_block"


@pytest.mark.parametrize("element", ["hex8", "tet4"])
def test_every_step_of_the_ball_on_the_block_converges(element: str) -> None:
    sys.path.insert(0, str(FOLDER))
    try:
        from block_and_ball import limpet_steps
    finally:
        sys.path.remove(str(FOLDER))
    steps = list(islice(limpet_steps(element), 30))
    assert all(converged for _, converged in steps)
