"""Time of the queries of `limpet bench pressure-field`, Limpet and Drake in turns.

pip install drake==1.45.0
python benchmarks/pressure_field/timing.py

Both get the same meshes, fields and poses and one thread. Exit status 1 if a contact surface
differs; no time is judged.
"""

from __future__ import annotations

import sys

import numpy as np
from drake_pair import DrakePair, as_drake
from rich.console import Console

from limpet.pressure_field.surface import ContactSurface, contact_surface
from limpet.record.table import Cell, Result, Table
from limpet.studies.bench import pressure_field
from limpet.studies.bench.pressure_field import AT_ORIGIN, QueryRow

Array = np.ndarray

TOLERANCE = 1e-10  # of area and force, relative to Drake's
COLUMNS = (*pressure_field.COLUMNS, "Drake's polygons", "Drake [ms]", "speed-up", "same surface")
# Drake 1.45 as recorded before, polygons: ms
RECORDED = {
    "sphere-box": "71: 0.24, 151: 0.37, 422: 1.16, 1299: 4.1",
    "mug-box": "685: 2.7, 1917: 5.6, 7118: 51",
}


def main() -> int:
    rows = []
    for row in pressure_field.ROWS:
        print(f"{row.name}, {row.fineness}", file=sys.stderr)
        rows.append(time_pair(row))
    result = table(rows)
    result.tables[0].print(Console())
    return 0 if result.ok else 1


def time_pair(row: QueryRow) -> tuple[Cell, ...]:
    """One row of the table."""
    pair = DrakePair(*row.build())
    a, b = pair.body(0), pair.body(1)
    placed = pair.place(row.pose)
    limpet_ms, drake_ms = pressure_field.least_times(
        [
            lambda: contact_surface(a, row.pose, b, AT_ORIGIN),
            lambda: placed.ComputeContactSurfaces(pair.polygons),
        ]
    )
    surface, found = contact_surface(a, row.pose, b, AT_ORIGIN), pair.contact(row.pose)
    same = agree(as_drake(surface, a, b), *found)
    own = (row.name, row.fineness, len(a.cells), len(surface), limpet_ms)
    return (*own, found[0], drake_ms, drake_ms / limpet_ms, same)


def agree(surface: ContactSurface, polygons: int, area: float, force: Array) -> bool:
    """Whether a surface, without what Drake leaves out, has Drake's polygons, area and force."""
    own_area = np.linalg.norm(surface.area, axis=1).sum()
    difference = np.linalg.norm(surface.pressure @ surface.area - force)
    return bool(
        len(surface) == polygons
        and abs(own_area - area) <= TOLERANCE * area
        and difference <= TOLERANCE * np.linalg.norm(force)
    )


def table(rows: list[tuple[Cell, ...]]) -> Result:
    notes = (
        *pressure_field.notes(rows),
        *(f"Drake 1.45 as recorded, ms at polygons, {name}: {ms}" for name, ms in RECORDED.items()),
        "Drake has fewer polygons where it leaves out those that face away from a gradient",
        f"same surface: as many polygons without those, area and force within {TOLERANCE:g}",
    )
    title = "pressure-field: time of a query, in turns with Drake"
    return Result((Table(title, COLUMNS, tuple(rows), notes),), ok=all(r[-1] for r in rows))


if __name__ == "__main__":
    sys.exit(main())
