"""`limpet check`: the faults of a mesh file, and the file with those mended that can be, safely."""

from __future__ import annotations

from pathlib import Path

from limpet.errors import LimpetError, suggest
from limpet.meshing.cad import STEP
from limpet.meshing.export import SURFACES, write
from limpet.meshing.files import UNITS, read_surface
from limpet.meshing.repair import MeshReport, inspect, mended


def check_file(file: Path, unit: str | None = None, repair: Path | None = None) -> MeshReport:
    """The report on a file; with `repair`, on what is written there, in the unit of the file."""
    if unit is not None and unit not in UNITS:
        raise LimpetError(f"mesh file '{file}': unit = '{unit}'{suggest(unit, UNITS)}")
    step = file.suffix.lower() in STEP
    points, triangles = read_surface(file, None if step else "m")  # the numbers as they stand
    if step:
        points, unit = points / UNITS["mm"], "mm"
    if repair is None:
        return inspect(points, triangles, unit, soup=step or file.suffix.lower() == ".stl")
    if repair.suffix.lower() not in SURFACES:
        raise LimpetError(
            f"--repair {repair}: expected a name that ends in one of {', '.join(SURFACES)}"
        )
    points, triangles = mended(points, triangles)
    if len(triangles) == 0:
        raise LimpetError(f"mesh file '{file}': no triangle has any area; nothing to mend")
    write(repair, points, [("triangle", triangles)])
    return inspect(points, triangles, unit)
