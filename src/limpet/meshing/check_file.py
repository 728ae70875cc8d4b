"""`limpet check`: the defects of a mesh file, and a file in which the safe ones are repaired."""

from __future__ import annotations

from pathlib import Path

from limpet.errors import LimpetError, suggest
from limpet.meshing.cad import STEP
from limpet.meshing.export import SURFACES, write
from limpet.meshing.files import UNITS, read_surface
from limpet.meshing.repair import MeshReport, inspect, repaired


def check_file(file: Path, unit: str | None = None, repair: Path | None = None) -> MeshReport:
    """The report on a file; with `repair`, on the repaired file, in the unit of the original."""
    if unit is not None and unit not in UNITS:
        raise LimpetError(f"mesh file '{file}': unit = '{unit}'{suggest(unit, UNITS)}")
    step = file.suffix.lower() in STEP
    points, triangles = read_surface(file, None if step else "m")  # coordinates as in the file
    if step:
        points, unit = points / UNITS["mm"], "mm"
    if repair is None:
        return inspect(points, triangles, unit, soup=step or file.suffix.lower() == ".stl")
    if repair.suffix.lower() not in SURFACES:
        raise LimpetError(
            f"--repair {repair}: expected a name that ends in one of {', '.join(SURFACES)}"
        )
    points, triangles = repaired(points, triangles)
    if len(triangles) == 0:
        raise LimpetError(f"mesh file '{file}': all triangles have zero area; nothing to repair")
    write(repair, points, [("triangle", triangles)])
    return inspect(points, triangles, unit)
