"""C figure 6: time of the sweeps over the number of constraints, jellies with bar and dish."""

from __future__ import annotations

from functools import partial

from limpet.record.table import Progress, Result
from limpet.scenes.jellies import jelly_system
from limpet.studies.bench.growth import GrowthStudy, measure

DIVISIONS = ((2, 3), (3, 4), (4, 5), (5, 6), (6, 8))  # across, along; the last has C's nodes

FIGURE = GrowthStudy(
    "fig6-c",
    "C figure 6: sweeps over constraints, jellies",
    (
        "C: 1720 nodes, up to 7595 constraints; bodies 43 %, collision 32 %, sweeps 24 % of a "
        "step of 6 ms, 14 ms at worst (3.4 GHz i7)",
    ),
    [(f"{a} x {b}", partial(jelly_system, (a, b))) for a, b in DIVISIONS],
)


def run(progress: Progress) -> Result:
    """Jellies of growing size as the scene sweeps them: two sweeps, three solves per step."""
    return measure(FIGURE, progress)
