"""One flat row per step: the content of history.csv, and the source of summary and plots."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from limpet.clock import PHASES
from limpet.errors import DivergedError
from limpet.report import SLIVER, CavityReport, ParticleReport, StepReport

Array = np.ndarray
CUP_PARTS = ("hold_force", "cavity_pressure")
Row = dict[str, float | int | None]  # None: no value, an empty cell


# SI units; the phases are in milliseconds. With several cavities, the pressure is the lowest one
# with its temperature; gas residual and seal gap (with its position) are the largest; the other
# values are sums. A sliver without air has no pressure. "reaction" is the force that holds the cups
# (soft bodies with a prescribed motion or an attachment), positive against gravity; in a world
# without cups it is that of all prescribed motions. Each cup has columns of its own.
# Stretch, inverted cells and energies are those of particle bodies.
COLUMNS = (
    "step", "time", "reaction", "cavities", "pressure", "volume", "air", "temperature", "vented",
    "leaked", "gap_flow", "seal_gap", "seal_x", "seal_y", "seal_z", "gas_residual", "air_error",
    "momentum_residual", "max_penetration", "rows", "contacts", "active_contacts", "residual",
    "relinearisation_residual", "converged", "iterations", "sweeps", "remeshed", "stretch",
    "inverted", "kinetic_energy", "elastic_energy", "gravity_work", "drive_work",
    *(f"ms_{phase}" for phase in PHASES),
)  # fmt: skip


def up_direction(gravity: Array) -> Array:
    """The unit vector against gravity, along which a pull is positive; z without gravity."""
    g = np.asarray(gravity, dtype=float)
    size = float(np.linalg.norm(g))
    return -g / size if size > 0.0 else np.array([0.0, 0.0, 1.0])


def unit_of_column(name: str) -> str:
    """Unit of a column beyond COLUMNS: m, Pa, m^3/s, "" (relative to rest) or "yes" (1 or 0)."""
    ends = {"_volume": "", "_vacuum": "Pa", "_flow": "m^3/s", "_sealed": "yes", "_present": "yes"}
    return next((unit for end, unit in ends.items() if name.endswith(end)), "m")


def cup_columns(cups: Iterable[str]) -> list[str]:
    """Columns of the soft bodies that are held: [N] against gravity, and the lowest [Pa]."""
    names = [cup.replace(" ", "_") for cup in cups]
    return [f"{name}_{part}" for name in names for part in CUP_PARTS]


def cups_of(columns: Iterable[str]) -> list[str]:
    """The cups that have columns, in column names."""
    known = list(columns)
    ends = [f"_{part}" for part in CUP_PARTS]
    names = [c.removesuffix(ends[0]) for c in known if c.endswith(ends[0])]
    return [name for name in names if name + ends[1] in known]


def vacuum_columns(bodies: Iterable[str]) -> list[str]:
    """Columns of the sensors of the vacuum lines, named by body: [Pa], [m^3/s], 0 or 1."""
    parts = ("vacuum", "flow", "sealed", "present")
    return [f"{body.replace(' ', '_')}_{part}" for body in bodies for part in parts]


def flatten(report: StepReport, up: Array) -> Row:
    """The row of one step: COLUMNS, then the probes, the vacuum lines and the cups.

    Raises DivergedError if a number is not finite.
    """
    cavities = report.cavities
    filled = [c for c in cavities if not c.air <= SLIVER]  # a NaN stays
    lowest = min(filled, key=lambda c: c.pressure, default=None)
    holding = [float(cup.force @ up) for cup in report.cups.values()]
    drives = [float(wrench[:3] @ up) for wrench in report.reactions.values()]
    # A cavity without any leak path has an infinite seal gap, which is not an error.
    leaky = [c for c in cavities if math.isfinite(c.seal_gap)]
    worst = max(leaky, key=lambda c: c.seal_gap, default=None)
    row: Row = {
        "step": report.step,
        "time": report.time,
        "reaction": sum(holding or drives),
        "cavities": len(cavities),
        "pressure": lowest.pressure if lowest else None,
        "volume": sum(c.volume for c in cavities) if cavities else None,
        "air": sum(c.air for c in cavities) if cavities else None,
        "temperature": lowest.temperature if lowest else None,
        "vented": sum(c.vented for c in cavities),
        "leaked": sum(c.leaked for c in cavities),
        "gap_flow": sum(c.gap_flow for c in cavities),
        "seal_gap": worst.seal_gap if worst else None,
        **_bottleneck(worst),
        "gas_residual": max((c.gas_residual for c in cavities), default=0.0),
        "air_error": report.air_error,
        "momentum_residual": report.momentum_residual,
        "max_penetration": report.max_penetration,
        "rows": report.rows,
        "contacts": report.contacts,
        "active_contacts": report.active_contacts,
        "residual": report.residual,
        "relinearisation_residual": report.relinearisation_residual,
        "converged": int(report.converged),
        "iterations": report.iterations,
        "sweeps": report.sweeps,
        "remeshed": int(report.remeshed),
        **_particles(report.particles),
    }
    for phase in PHASES:
        row[f"ms_{phase}"] = 1e3 * report.phases.get(phase, 0.0)
    row |= report.probes
    for name, line in report.vacuum_sensors.items():
        values = line.vacuum, line.flow, int(line.sealed), int(line.present)
        row |= dict(zip(vacuum_columns([name]), values))
    for (name, cup), force in zip(report.cups.items(), holding):
        row |= dict(zip(cup_columns([name]), (force, cup.pressure)))
    for name, value in row.items():
        if value is not None and not math.isfinite(value):
            raise DivergedError(f"{name} became {value} at step {report.step}")
    return {name: None if x is None else _plain(x) for name, x in row.items()}


def _particles(report: ParticleReport | None) -> dict[str, float | None]:
    """What is known of particle bodies; empty cells without any."""
    names = "stretch", "inverted", "kinetic_energy", "elastic_energy", "gravity_work", "drive_work"
    r = report
    values = r and (r.stretch, r.inverted, r.kinetic, r.elastic, r.fallen, r.work)
    return dict(zip(names, values or (None,) * len(names)))


def csv_line(row: Row) -> str:
    """One line of history.csv with all digits, so that the same numbers are read back."""
    return ",".join("" if x is None else repr(x) for x in row.values()) + "\n"


def read_rows(path: Path, last: float = math.inf) -> tuple[list[Row], int]:
    """The complete rows of a history.csv up to the step `last`, and where they end [byte]."""
    header, *lines = path.read_bytes().splitlines(keepends=True) or [b""]
    if not header.endswith(b"\n"):
        return [], 0
    names, rows, end = header.decode().strip().split(","), [], len(header)
    for line in lines:
        cells = line.decode(errors="replace").strip().split(",")
        if not line.endswith(b"\n") or len(cells) != len(names):
            break  # the process was killed while it wrote
        row = {name: _number(cell) for name, cell in zip(names, cells)}
        if (row["step"] or 0) > last:
            break
        rows.append(row)
        end += len(line)
    return rows, end


def _number(text: str) -> float | int | None:
    if not text:
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def column(rows: list[Row], name: str) -> Array:
    """One column as floats (n,), NaN where a cell is empty (a gap in a plotted line)."""
    return np.array([np.nan if (x := row[name]) is None else x for row in rows], dtype=float)


def _bottleneck(worst: CavityReport | None) -> dict[str, float | None]:
    """Position of the bottleneck of the seal that is nearest to opening."""
    known = worst is not None and np.isfinite(worst.bottleneck).all()
    position = worst.bottleneck if worst is not None and known else (None,) * 3
    return dict(zip(("seal_x", "seal_y", "seal_z"), position))


def _plain(value: float | int) -> float | int:
    """A Python number, because NumPy's are printed as ``np.float64(...)``."""
    return int(value) if isinstance(value, (int, np.integer)) else float(value)
