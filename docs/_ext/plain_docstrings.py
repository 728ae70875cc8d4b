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
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(``.+?``|`[^`]+`)")
SPECIAL = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def escaped(line: str) -> str:
    """The line with what reST would read as markup made plain, but for code in backticks."""
    parts = CODE.split(line)
    return "".join(p if CODE.fullmatch(p) else SPECIAL.sub(r"\\\1", p) for p in parts)


def field_comments(record: type) -> dict[str, str]:
    """What the comment beside, or else above, each field of a dataclass says."""
    try:
        source = textwrap.dedent(inspect.getsource(record))
    except OSError:
        return {}
    lines = source.splitlines()
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    out = {}
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            last = node.end_lineno or node.lineno
            beside = [comments[k] for k in range(node.lineno, last + 1) if k in comments]
            above: list[str] = []
            k = node.lineno - 1
            while not beside and k in comments and lines[k - 1].lstrip().startswith("#"):
                above.insert(0, comments[k])
                k -= 1
            out[node.target.id] = " ".join(beside or above)
    return out


def _fields(record: type) -> list[str]:
    """A field list of a dataclass: what each field is, and its default."""
    comments: dict[str, str] = {}
    for base in reversed(record.__mro__):
        if dataclasses.is_dataclass(base):
            comments |= field_comments(base)
    lines = [""]
    for field in dataclasses.fields(record):
        if not field.name.startswith("_"):
            lines.append(f":param {field.name}: {escaped(comments.get(field.name, ''))}".rstrip())
            lines.append(f":type {field.name}: {field.type}")
    return lines


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]
    if inspect.isclass(obj) and dataclasses.is_dataclass(obj):
        if lines and lines[0].startswith(f"{obj.__name__}("):  # dataclass wrote it, nobody else
            lines[:] = []
        lines += _fields(obj)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
