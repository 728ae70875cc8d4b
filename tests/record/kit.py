"""Read the files of a run folder."""

from __future__ import annotations

from pathlib import Path

from limpet.record.history import Row, read_rows


def read_history(path: Path) -> list[Row]:
    """The rows of a history.csv, which has no other lines."""
    rows, end = read_rows(path)
    assert end == path.stat().st_size
    return rows
