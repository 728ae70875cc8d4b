"""C figure 5: time of the sweeps over the number of constraints, cloth on a sphere."""

from __future__ import annotations

from functools import partial

from limpet.record.table import Progress, Result
from limpet.scenes.cloth import cloth_system
from limpet.studies.bench.constrained import PAPER_SWEEPS
from limpet.studies.bench.growth import GrowthStudy, measure

DIVISIONS = (14, 25, 36, 50, 70)  # C: 50

FIGURE = GrowthStudy(
    "fig5-c",
    "C figure 5: sweeps over constraints, cloth",
    (
        "C: 51 x 51 nodes, up to 20 492 constraints; collision about 45 % of the time; "
        "an iteration costs in proportion to the constraints (3.4 GHz i7); no figures",
    ),
    [(f"{n} x {n}", partial(cloth_system, n, settings=PAPER_SWEEPS)) for n in DIVISIONS],
)


def run(progress: Progress) -> Result:
    """Cloths of growing size, swept as C does: two sweeps and one solve a step."""
    return measure(FIGURE, progress)
