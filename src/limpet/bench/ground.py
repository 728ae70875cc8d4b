"""P table 1, its first row alone: the ground scene by phase, in a few seconds."""

from __future__ import annotations

from limpet.bench import table1
from limpet.record.table import Progress, Result


def run(progress: Progress) -> Result:
    """Time the ground scene with the paper's linear tets and with the default element."""
    return table1.compare(progress, (table1.GROUND,), "ground")
