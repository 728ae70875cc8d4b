"""The program's commands are registered here; options that several of them have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def examples(*lines: str) -> str:
    """The examples at the end of a command's help."""
    return "\n\n".join(("Examples:", *lines))


app = typer.Typer(
    help="Simulation of suction cups: soft cups that seal, hold, slide, leak and let go.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Unit = Annotated[str | None, typer.Option(metavar="mm|cm|m|in", help="Unit of the file.")]
SceneArgument = Annotated[
    str, typer.Argument(metavar="SCENE|FILE.toml", help="Scene name (see limpet scenes) or file.")
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help='Set a parameter, e.g. young="2 MPa".'),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
