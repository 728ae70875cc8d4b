"""`limpet cups`: the catalogue of cups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from limpet.cli.app import Json, app, examples


@app.command(
    epilog=examples(
        "limpet cups", 'limpet cups bellows-1.5 --diameter "40 mm" --out pictures',
        "limpet cups flat --stiffness --rubber NBR --shore 55",
    )
)  # fmt: skip
def cups(
    name: Annotated[
        str | None, typer.Argument(metavar="[CUP]", help="Cup; all if omitted.")
    ] = None,
    diameter: Annotated[str, typer.Option(help="Diameter of the lip, 5 to 100 mm.")] = "30 mm",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a picture of each section and mesh.")
    ] = None,
    stiffness: Annotated[
        bool, typer.Option("--stiffness", help="Compute the stiffness by a short push.")
    ] = False,
    rubber: Annotated[str, typer.Option(help="Rubber, for the stiffness.")] = "silicone",
    shore: Annotated[float | None, typer.Option(help="Its Shore A hardness.")] = None,
    as_json: Json = False,
) -> None:
    """List the cups of the catalogue: height, air volume, stroke, nodes and stiffness."""
    from dataclasses import asdict

    from pydantic import TypeAdapter, ValidationError

    from limpet.cli.console import progress_bar
    from limpet.errors import LimpetError
    from limpet.fem.rubbers import rubber as rubber_of
    from limpet.record.cup_table import cup_row, draw_section, table_lines
    from limpet.shapes.catalogue import DESIGNS, design
    from limpet.units import Length

    try:
        size = TypeAdapter(Length).validate_python(diameter)
    except ValidationError:
        raise LimpetError(f"diameter = '{diameter}': expected a length as \"30 mm\"") from None
    made = rubber_of(rubber, shore=shore) if stiffness else None
    chosen = list(DESIGNS.values()) if name is None else [design(name)]
    rows, written = [], []
    with progress_bar("meshing") as progress:
        for k, each in enumerate(chosen):
            progress(k, len(chosen), each.name)
            rows.append(cup_row(each, size, made))
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                written.append(out / f"{each.name}.png")
                draw_section(each.section(size).mesh, each.name, written[-1])
    if as_json:
        print(json.dumps({"cups": [asdict(row) for row in rows]}, indent=2, allow_nan=False))
        return
    print("\n".join(table_lines(rows)))
    print("Proportions, in diameters:")
    for row in rows:
        print(f"  {row.name}: {row.summary}")
    for file in written:
        print(file)
