"""``{limpet-help} run``: what a command says of itself, taken from the program when it is built."""

from __future__ import annotations

import inspect
from typing import Any

import typer.main
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from limpet.cli.commands import app as limpet


def commands() -> dict[str, Any]:
    """The commands of `limpet` by name."""
    return dict(typer.main.get_command(limpet).commands)  # type: ignore[attr-defined]


class CommandHelp(SphinxDirective):
    """Usage, purpose, arguments and options, examples of one command."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in commands():
            raise self.error(f"limpet has no command '{name}'; there are: {', '.join(commands())}")
        command = commands()[name]
        shown = [p for p in command.params if p.name != "help" and not p.hidden]
        arguments = [_arguments(p) for p in shown if p.param_type_name == "argument"]
        usage = " ".join(("limpet", name, *arguments, "[OPTIONS]"))
        purpose = inspect.cleandoc(command.help or "")
        examples = [line for line in (command.epilog or "").split("\n\n") if line][1:]
        return [
            nodes.paragraph(text=purpose),
            _code(usage, "text"),
            _table([(_arguments(p), _meaning(p)) for p in shown]),
            nodes.paragraph(text="Examples:"),
            _code("\n".join(examples), "sh"),
        ]


def _arguments(parameter: Any) -> str:
    """How it is given: SCENE, --h S, --plots / --no-plots."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    flags = " / ".join((*parameter.opts, *parameter.secondary_opts))
    return flags if parameter.is_flag else f"{flags} {parameter.metavar or parameter.name.upper()}"


def _meaning(parameter: Any) -> str:
    default = getattr(parameter, "default", None)
    told = default not in (None, (), [], "") and not getattr(parameter, "is_flag", False)
    return (parameter.help or "") + (f" Default: {default}." if told else "")


def _code(text: str, language: str) -> nodes.literal_block:
    block = nodes.literal_block(text, text)
    block["language"] = language
    return block


def _table(rows: list[tuple[str, str]]) -> nodes.table:
    body = nodes.tbody()
    for first, second in rows:
        row = nodes.row()
        row += nodes.entry("", nodes.paragraph("", "", nodes.literal(text=first)))
        row += nodes.entry("", nodes.paragraph(text=second))
        body += row
    group = nodes.tgroup(cols=2)
    group += [nodes.colspec(colwidth=38), nodes.colspec(colwidth=62)]
    group += body
    table = nodes.table()
    table += group
    return table


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("limpet-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
