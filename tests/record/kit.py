"""Read the files of a run folder."""

from __future__ import annotations

import csv
from pathlib import Path

from limpet.record.history import Row


def read_history(path: Path) -> list[Row]:
    """The rows of a history.csv."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: _number(v) for k, v in line.items()} for line in csv.DictReader(file)]


def _number(text: str) -> float | int | None:
    if not text:
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)
