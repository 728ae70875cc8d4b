"""P table 1, its first row alone: the ground scene by phase, in a few seconds."""

from __future__ import annotations

from limpet.record.table import Progress, Result
from limpet.studies.bench import table1


def run(progress: Progress) -> Result:
    """Time the ground scene with the paper's linear tets and with the default element."""
    return table1.compare(progress, (table1.GROUND,), "ground")
