"""Docstrings of this project are plain text with `names` in backticks; autodoc wants reST.

Fields of records say what they are in the comment beside them. Both stand in one place, the code;
here they are turned into what autodoc shows.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

import limpet
from limpet import shapes as shapes

# Records that a user writes down; of the others, which Limpet hands out, no one needs the call.
MADE_BY_USERS = {*limpet.__all__, *shapes.__all__} - {"State"}
CODE = re.compile(r"(``.+?``|`[^`]+`)")
SPECIAL = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def escaped(line: str) -> str:
    """The line with what reST would read as markup made plain, but for code in backticks."""
    parts = CODE.split(line)
    return "".join(p if CODE.fullmatch(p) else SPECIAL.sub(r"\\\1", p) for p in parts)


def comments_of(thing: Any) -> dict[str, str]:
    """What the comment beside, or else above, each field of a record or parameter says."""
    try:
        source = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        return {}
    lines = source.splitlines()
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    out = {}
    for name, first, last in _places(ast.parse(source).body[0]):
        beside = [comments[k] for k in range(first, last + 1) if k in comments]
        above: list[str] = []
        k = first - 1
        while not beside and k in comments and lines[k - 1].lstrip().startswith("#"):
            above.insert(0, comments[k])
            k -= 1
        out[name] = " ".join(beside or above)
    return out


def _places(node: ast.stmt) -> Iterator[tuple[str, int, int]]:
    """The fields of a class, or the parameters of a function that have lines of their own."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                yield part.target.id, part.lineno, part.end_lineno or part.lineno
    elif isinstance(node, ast.FunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        lines = [a.lineno for a in arguments]
        for argument in arguments:
            if lines.count(argument.lineno) == 1 and argument.lineno > node.lineno:
                yield argument.arg, argument.lineno, argument.lineno


def _fields(record: type) -> list[str]:
    """A field list of a dataclass: what each field is, and its default."""
    comments: dict[str, str] = {}
    for base in reversed(record.__mro__):
        if dataclasses.is_dataclass(base):
            comments |= comments_of(base)
    lines, kind = [""], "param" if record.__name__ in MADE_BY_USERS else "var"
    for field in dataclasses.fields(record):
        if not field.name.startswith("_"):
            what = f":{kind} {field.name}: {escaped(comments.get(field.name, ''))}"
            type_of = "type" if kind == "param" else "vartype"
            lines += [what.rstrip(), f":{type_of} {field.name}: {field.type}"]
    return lines


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]
    if inspect.isclass(obj) and dataclasses.is_dataclass(obj):
        if lines and lines[0].startswith(f"{obj.__name__}("):  # dataclass wrote it, nobody else
            lines[:] = []
        lines += _fields(obj)
    elif inspect.isfunction(obj):
        told = {name: text for name, text in comments_of(obj).items() if text}
        lines += ["", *(f":param {name}: {escaped(text)}" for name, text in told.items())]


def _signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """Of a record its fields with their defaults alone: their types stand in the list below."""
    if not (inspect.isclass(obj) and dataclasses.is_dataclass(obj)) or signature is None:
        return None
    if obj.__name__ not in MADE_BY_USERS:
        return "", returned
    parts = []
    for field in dataclasses.fields(obj):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        parts.append(field.name if default is dataclasses.MISSING else f"{field.name}={default!r}")
    return f"({', '.join(parts)})", returned


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
