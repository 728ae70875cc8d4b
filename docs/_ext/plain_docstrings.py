"""Turn the docstrings of this project into reST with lists of parameters, results and errors.

Docstrings are plain text with `names` in backticks. Parameters and fields are described by the
comment beside them, or in parameters.toml; types come from the annotations, errors from the source.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import enum
import importlib
import inspect
import io
import re
import textwrap
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from raised import errors_of
from sphinx.application import Sphinx

import limpet
from limpet import errors as limpet_errors
from limpet import particles as particles
from limpet import shapes as shapes

# What is not said beside a parameter in the code: the meaning by object, by name, by type returned.
DESCRIBED = tomllib.loads((Path(__file__).parent / "parameters.toml").read_text(encoding="utf-8"))
# Records that a user constructs; of the others, which Limpet returns, nobody needs the call.
MADE_BY_USERS = {*limpet.__all__, *shapes.__all__, *particles.__all__} - {"State"}
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


@dataclasses.dataclass(frozen=True)
class Entry:
    """One parameter of a function, or field of a record."""

    name: str
    type: str
    text: str


def owner_of(name: str) -> type | None:
    """The class that a method belongs to, by its full name."""
    path, _, _ = name.rpartition(".")
    parts = path.split(".")
    for k in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            found: Any = importlib.import_module(".".join(parts[:k]))
            for part in parts[k:]:
                found = getattr(found, part, None)
            return found if inspect.isclass(found) else None
    return None


def text_of(name: str, entry: str, comment: str = "") -> str:
    """The meaning of one parameter: of this object in DESCRIBED, its comment, or of that name."""
    return str(DESCRIBED.get(name, {}).get(entry) or comment or DESCRIBED["any"].get(entry, ""))


def parameters(name: str, obj: Any) -> list[Entry]:
    """The parameters of a function, a method or a constructor; the fields of a record."""
    if inspect.isclass(obj) and dataclasses.is_dataclass(obj):
        comments: dict[str, str] = {}
        for base in reversed(obj.__mro__):
            if dataclasses.is_dataclass(base):
                comments |= comments_of(base)
        fields = [f for f in dataclasses.fields(obj) if not f.name.startswith("_")]
        typed = [(f.name, str(f.type)) for f in fields]
    else:
        function = obj.__init__ if inspect.isclass(obj) else obj
        if isinstance(obj, property) or not inspect.isroutine(function) or _is_plain(obj):
            return []
        comments = comments_of(function)
        given = inspect.signature(obj).parameters.values()
        typed = [(str(p).split(":")[0].split("=")[0], _shown(p.annotation)) for p in given]
        typed = [(n, t) for n, t in typed if n not in ("self", "cls")]
    return [Entry(n, t, text_of(name, n.lstrip("*"), comments.get(n, ""))) for n, t in typed]


def _is_plain(obj: Any) -> bool:
    """Whether it is a class that is not constructed with parameters of its own."""
    return inspect.isclass(obj) and (
        issubclass(obj, (enum.Enum, Exception)) or obj.__init__ is object.__init__
    )


def _shown(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    return annotation if isinstance(annotation, str) else str(annotation)


def returned(name: str, obj: Any) -> Entry | None:
    """What a function returns; None if that is nothing."""
    function = obj.fget if isinstance(obj, property) else obj
    if not inspect.isroutine(function):
        return None
    kind = _shown(inspect.signature(function).return_annotation)
    if kind in ("", "None"):
        return None
    default = inspect.getdoc(obj) if isinstance(obj, property) else DESCRIBED["return"].get(kind)
    return Entry("return", kind, DESCRIBED.get(name, {}).get("return") or default or "")


def raised(name: str, obj: Any) -> dict[str, list[str]]:
    """The errors that a call can raise, by their full names, with their messages."""
    owner = obj if inspect.isclass(obj) else owner_of(name)
    return {
        f"{error.__module__}.{error.__name__}": messages
        for error, messages in errors_of(obj, owner).items()
    }


def field_list(name: str, obj: Any) -> list[str]:
    """Parameters, Returns and Raises as reST."""
    made = not dataclasses.is_dataclass(obj) or obj.__name__ in MADE_BY_USERS
    what, kind = ("param", "type") if made else ("var", "vartype")
    lines = [""]
    for entry in parameters(name, obj):
        shown = SPECIAL.sub(r"\\\1", entry.name)
        lines += [f":{what} {shown}: {escaped(entry.text)}".rstrip()]
        lines += [f":{kind} {shown}: {entry.type}"] if entry.type else []
    back = returned(name, obj)
    if back is not None:
        lines += [f":returns: {escaped(' '.join(back.text.split()))}", f":rtype: {back.type}"]
    for error, messages in raised(name, obj).items() if made else ():
        cls = getattr(limpet_errors, error.rpartition(".")[2])
        lines += [f":raises {error}: {escaped((inspect.getdoc(cls) or '').splitlines()[0])}"]
        lines += [line for m in messages for line in ("", f"   * ``{' '.join(m.split())}``")]
    return lines


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in lines]
    record = inspect.isclass(obj) and dataclasses.is_dataclass(obj)
    if record and lines and lines[0].startswith(f"{obj.__name__}("):  # written by dataclass itself
        lines[:] = []
    if inspect.isclass(obj) or inspect.isroutine(obj) or isinstance(obj, property):
        if isinstance(obj, property):
            lines[:] = []
        lines += field_list(name, obj)


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
