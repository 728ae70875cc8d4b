"""The printed report of `limpet check`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limpet.meshing.files import UNITS
from limpet.meshing.repair import MeshReport


def print_report(console: Console, file: Path, report: MeshReport, repaired: Path | None) -> None:
    """Print the properties of a mesh, then one line per fault with its fix."""
    unit = report.unit or "?"
    power = lambda k: f"{unit}^{k}" if report.unit else f"(unit)^{k}"  # noqa: E731
    size = " x ".join(f"{value:.4g}" for value in report.size)
    scale = UNITS.get(unit)
    metres = f" = {' x '.join(f'{v * scale:.4g}' for v in report.size)} m" if scale else ""
    closed = report.volume is not None
    inside = f"{report.volume:.5g} {power(3)}" if closed else "none, the mesh is not closed"
    lines = {
        "file": str(repaired or file),
        "vertices": f"{report.vertices}, {report.vertices - report.doubled} different",
        "triangles": str(report.triangles),
        "parts": str(report.parts),
        "size": f"{size} {unit if report.unit else '(unit unknown)'}{metres}",
        "area": f"{report.area:.5g} {power(2)}",
        "volume": inside,
    }
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in lines.items():
        table.add_row(name, Text(value, overflow="fold"))
    console.print(table)
    for note in report.notes:
        console.print(f"note: {note}", soft_wrap=True)
    if not report.faults:
        console.print("no fault found")
        return
    faults = Table(box=None, pad_edge=False, title_justify="left")
    for name in ("fault", "found", "fix"):
        faults.add_column(name)
    for fault in report.faults:
        fix = f"{fault.fix} (--repair OUT does this)" if fault.mendable else fault.fix
        faults.add_row(fault.name, Text(fault.found), Text(fix))
    console.print()
    console.print(faults)
