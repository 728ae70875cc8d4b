"""40 small random worlds, each with the checks that its seed draws."""

import pytest

from limpet.studies.stress.examine import examine
from limpet.studies.stress.worlds import SMALL

# small worlds that take about a second or less
SEEDS = (
    6, 7, 8, 12, 17, 22, 23, 26, 27, 29, 30, 31, 32, 41, 42, 43, 44, 47, 48, 49, 52, 54, 59, 60, 61,
    65, 74, 75, 78, 80, 81, 82, 83, 84, 88, 91, 92, 95, 98, 99,
)  # fmt: skip


def test_there_are_forty() -> None:
    assert len(set(SEEDS)) == 40


@pytest.mark.parametrize("seed", SEEDS)
def test_invariants_hold(seed: int) -> None:
    outcome = examine(seed, size=SMALL)
    # how long a run takes depends on the machine
    assert [f for f in outcome.findings if f.name != "slow"] == []
    assert outcome.stopped == ""
    assert outcome.steps == outcome.planned
