"""A step as one flat row: what history.csv holds and what summary and plots are made from."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from limpet.clock import PHASES
from limpet.errors import DivergedError, LimpetError
from limpet.report import CavityReport, StepReport

Array = np.ndarray
Row = dict[str, float | int | None]  # None where there is nothing to say: an empty cell


# SI units, but for the phases, which are in milliseconds. With several cavities at once the
# pressure is the lowest, with the temperature there; the worst residual and seal gap (with its
# place) are kept, and the other figures are sums.
COLUMNS = (
    "step",
    "time",
    "reaction",
    "cavities",
    "pressure",
    "volume",
    "air",
    "temperature",
    "vented",
    "leaked",
    "seal_gap",
    "seal_x",
    "seal_y",
    "seal_z",
    "gas_residual",
    "air_error",
    "momentum_residual",
    "max_penetration",
    "rows",
    "contacts",
    "active_contacts",
    "residual",
    "converged",
    "iterations",
    "sweeps",
    "remeshed",
    *(f"ms_{phase}" for phase in PHASES),
)


def up_direction(gravity: Array) -> Array:
    """The unit vector against gravity: along it a pull is positive. z where there is no gravity."""
    g = np.asarray(gravity, dtype=float)
    size = float(np.linalg.norm(g))
    return -g / size if size > 0.0 else np.array([0.0, 0.0, 1.0])


def unit_of_column(name: str) -> str:
    """Of a column beyond COLUMNS: "m", "Pa", "m^3/s", "" (a share of rest) or "yes" (1 or 0)."""
    ends = {"_volume": "", "_vacuum": "Pa", "_flow": "m^3/s", "_sealed": "yes", "_present": "yes"}
    return next((unit for end, unit in ends.items() if name.endswith(end)), "m")


def vacuum_columns(bodies: Iterable[str]) -> list[str]:
    """What the sensor of each vacuum line says, by the body on it: [Pa], [m^3/s], 0 or 1."""
    parts = ("vacuum", "flow", "sealed", "present")
    return [f"{body.replace(' ', '_')}_{part}" for body in bodies for part in parts]


def flatten(report: StepReport, up: Array) -> Row:
    """The row of one step: COLUMNS, then what is watched, then the vacuum lines.

    A number that is not finite is a run that diverged.
    """
    cavities = report.cavities
    lowest = min(cavities, key=lambda c: c.pressure, default=None)
    # A cavity without any leak path has no gap to tell: infinite is not an error here.
    leaky = [c for c in cavities if math.isfinite(c.seal_gap)]
    worst = max(leaky, key=lambda c: c.seal_gap, default=None)
    row: Row = {
        "step": report.step,
        "time": report.time,
        "reaction": sum(float(wrench[:3] @ up) for wrench in report.reactions.values()),
        "cavities": len(cavities),
        "pressure": lowest.pressure if lowest else None,
        "volume": sum(c.volume for c in cavities) if cavities else None,
        "air": sum(c.air for c in cavities) if cavities else None,
        "temperature": lowest.temperature if lowest else None,
        "vented": sum(c.vented for c in cavities),
        "leaked": sum(c.leaked for c in cavities),
        "seal_gap": worst.seal_gap if worst else None,
        **_place(worst),
        "gas_residual": max((c.gas_residual for c in cavities), default=0.0),
        "air_error": report.air_error,
        "momentum_residual": report.momentum_residual,
        "max_penetration": report.max_penetration,
        "rows": report.rows,
        "contacts": report.contacts,
        "active_contacts": report.active_contacts,
        "residual": report.residual,
        "converged": int(report.converged),
        "iterations": report.iterations,
        "sweeps": report.sweeps,
        "remeshed": int(report.remeshed),
    }
    for phase in PHASES:
        row[f"ms_{phase}"] = 1e3 * report.phases.get(phase, 0.0)
    row |= report.probes
    for name, line in report.vacuum_sensors.items():
        values = line.vacuum, line.flow, int(line.sealed), int(line.present)
        row |= dict(zip(vacuum_columns([name]), values))
    for name, value in row.items():
        if value is not None and not math.isfinite(value):
            raise DivergedError(f"{name} became {value} at step {report.step}")
    return {name: None if x is None else _plain(x) for name, x in row.items()}


def csv_line(row: Row) -> str:
    """One line of history.csv, every digit kept, so that it reads back to the same numbers."""
    return ",".join("" if x is None else repr(x) for x in row.values()) + "\n"


def read_history(path: Path) -> list[Row]:
    """The rows of a history.csv."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                {name: _number(text) for name, text in line.items()}
                for line in csv.DictReader(file)
            ]
    except OSError as problem:
        raise LimpetError(f"history '{path}': cannot be read ({problem.strerror})") from None


def column(rows: list[Row], name: str) -> Array:
    """One column as floats (n,), nan where a cell is empty (for drawing: a gap in the line)."""
    return np.array([np.nan if (x := row[name]) is None else x for row in rows], dtype=float)


def _place(worst: CavityReport | None) -> dict[str, float | None]:
    """Where the seal that is nearest to opening is narrowest."""
    known = worst is not None and np.isfinite(worst.bottleneck).all()
    where = worst.bottleneck if worst is not None and known else (None,) * 3
    return dict(zip(("seal_x", "seal_y", "seal_z"), where))


def _plain(value: float | int) -> float | int:
    """A Python number: NumPy's print as ``np.float64(...)``."""
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


def _number(text: str) -> float | int | None:
    if not text:
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)
