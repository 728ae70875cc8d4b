"""Results of bench and reproduce: tables (printed or as JSON) and figures (saved as files)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from limpet.errors import LimpetError, suggest

if TYPE_CHECKING:
    from rich.console import Console

Cell = str | float | int | bool | None
Progress = Callable[[float, float, str], None]  # done, total, description


@dataclass(frozen=True)
class Table:
    """Columns with units in their headings, rows of cells, and explanatory notes."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        rows = [dict(zip(self.columns, map(_json_cell, row), strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def print(self, console: Console) -> None:
        """Print the table, numbers right-aligned. Headings and text may wrap, numbers do not."""
        from rich.measure import Measurement
        from rich.table import Table as RichTable
        from rich.text import Text  # rich would take units in brackets for markup

        table = RichTable(title=Text(self.title, style="bold"), title_justify="left")
        for k, name in enumerate(self.columns):
            cells = [show_cell(row[k]) for row in self.rows]
            text = all(isinstance(row[k], str) for row in self.rows)
            words = " ".join([name, *cells]).split() if text else [*name.split(), *cells]
            least = max(map(len, words), default=1)
            table.add_column(Text(name), justify="left" if text else "right", min_width=least)
        for row in self.rows:
            table.add_row(*(Text(show_cell(cell)) for cell in row))
        wide = console.options.update(width=1000)
        needed = Measurement.get(console, wide, table)
        # lines in a file or pipe may have any length
        console.width = max(
            console.width, needed.minimum if console.is_terminal else needed.maximum
        )
        console.print(table)
        for note in self.notes:
            console.print(note, style="dim", markup=False, highlight=False)


@dataclass(frozen=True)
class Result:
    """Tables and figures of one study; `ok` is False if a claim does not hold."""

    tables: tuple[Table, ...]
    ok: bool = True
    figures: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)  # file -> writer

    def save(self, folder: Path) -> list[Path]:
        """Write result.json and the figures; returns the paths."""
        written = [folder / "result.json", *(folder / name for name in self.figures)]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written[0].write_text(json.dumps(self.as_dict(), indent=2, allow_nan=False) + "\n")
            for name, write in self.figures.items():
                write(folder / name)
        except OSError as problem:
            raise LimpetError(
                f"folder '{folder}': cannot be written to ({problem.strerror}); "
                "choose another with --out DIR"
            ) from None
        return written

    def as_dict(self) -> dict[str, object]:
        return {"ok": self.ok, "tables": [table.as_dict() for table in self.tables]}


@dataclass(frozen=True)
class Study:
    """A study that is run by name; its module defines ``run(progress) -> Result``.

    If it can be set, that is ``run(progress, settings, folder)``: what the user has set, and the
    output folder, where it may keep what it has finished.
    """

    module: str  # within limpet.studies
    summary: str
    can_be_set: bool = False

    def run(
        self, progress: Progress, settings: Mapping[str, object] | None = None,
        folder: Path | None = None,
    ) -> Result:  # fmt: skip
        import importlib

        if settings and not self.can_be_set:
            raise LimpetError(f"{next(iter(settings))}: this study has no settings; leave it out")
        call = importlib.import_module(f"limpet.studies.{self.module}").run
        result = call(progress, settings or {}, folder) if self.can_be_set else call(progress)
        assert isinstance(result, Result)
        return result


class Ticker:
    """Counts finished runs for the progress bar."""

    def __init__(self, progress: Progress, total: int, text: str) -> None:
        self.progress, self.total, self.text, self.done = progress, total, text, 0

    def __call__(self) -> None:
        self.done += 1
        self.progress(self.done, self.total, self.text)


def find_study(kind: str, studies: Mapping[str, Study], name: str) -> Study:
    """The study called `name`; an unknown name raises an error that suggests the nearest."""
    if name not in studies:
        raise LimpetError(f"{kind} '{name}': unknown study{suggest(name, studies)}")
    return studies[name]


def show_cell(cell: Cell) -> str:
    """A cell as text with four digits; the JSON keeps all."""
    if cell is None or cell != cell:  # NaN
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _json_cell(cell: Cell) -> Cell:
    """A plain Python value; NaN and infinity become null."""
    if isinstance(cell, (str, bool, int)) or cell is None:
        return cell
    number = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(number, float) and not math.isfinite(number) else number
