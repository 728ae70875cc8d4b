"""The stiffening rubber against CalculiX: a block pulled between smooth and bonded plates."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "rubber_block"


@pytest.fixture(scope="module")
def block():
    sys.path.insert(0, str(FOLDER))
    try:
        import calculix_block
    finally:
        sys.path.remove(str(FOLDER))
    return calculix_block


@pytest.fixture(scope="module")
def stored(block):
    return json.loads(block.STORED.read_text())["force_N"]


@pytest.mark.parametrize("element", [None, "hex20", "hex8", "tet10"])
@pytest.mark.parametrize("law", ["mooney-rivlin", "yeoh"])
def test_uniform_stress_is_that_of_calculix(block, stored, law, element):
    ours = [block.smooth_by_limpet(law, s, element) for s in block.STRETCHES]
    assert ours == pytest.approx(stored[law]["smooth"], rel=2e-6)


@pytest.mark.parametrize("law", ["mooney-rivlin", "yeoh"])
def test_a_bonded_block_pulls_as_that_of_calculix(block, stored, law):
    """The fine one of 8^3 cells; 4^3 of CalculiX are 0.7 and 0.8 % above it."""
    at = block.STRETCHES.index(1.5)
    (ours,) = block.by_limpet(law, 4, (1.5,))
    assert ours == pytest.approx(stored[law]["bonded, fine"][at], rel=0.01)


@pytest.mark.skipif(shutil.which("ccx") is None, reason="needs CalculiX")
@pytest.mark.parametrize("law", ["mooney-rivlin", "yeoh"])
def test_ccx_finds_the_stored_forces(block, stored, law):
    assert block.by_ccx(law, 1, False) == pytest.approx(stored[law]["smooth"], rel=1e-5)
