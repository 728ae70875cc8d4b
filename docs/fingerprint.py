"""What code a picture was made by: a hash of the modules it needs, without comments and docstrings.

docs/images/made-by.json keeps it for every picture, so that only those are made anew whose code has
changed. It follows imports as they are written, from the modules that make the picture.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
# Lists of names alone: what they lead to is named by the picture itself.
LISTS = {
    "limpet",
    "limpet.scenes.registry",
    "limpet.studies.registry",
    "limpet.shapes",
}


def fingerprint(modules: Iterable[str], *told: object) -> str:
    """Of the modules, all they import from Limpet, and what else the picture is told."""
    left, seen = list(modules), set()
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left += _imports(module)
    text = "\n".join([*(_code(m) for m in sorted(seen - LISTS)), *map(repr, told)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _tree(module: str) -> ast.Module:
    path = SOURCE.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules of Limpet that it imports, wherever the line stands."""
    if module in LISTS:
        return ()
    found = set()
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {node.module} | {name for name in names if _is_module(name)}
    return tuple(name for name in found if name.split(".")[0] == "limpet" and _is_module(name))


def _is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def _code(module: str) -> str:
    """The module as a tree, without what only a reader sees."""
    tree = _tree(module)
    for node in ast.walk(tree):
        match getattr(node, "body", None):
            case [ast.Expr(ast.Constant(str())), *_] as body:
                del body[0]
    return f"{module}\n{ast.dump(tree)}"
