"""P table 1, its first row alone: the ground scene by phase, in a few seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from limpet.record.table import Progress, Result
from limpet.studies.bench import table1


def run(progress: Progress, settings: Mapping[str, object], folder: Path | None) -> Result:
    """Time the ground scene with the paper's linear tets and with the default element."""
    threads = table1.chosen_threads(settings)
    return table1.compare(progress, (table1.GROUND,), "ground", threads)
