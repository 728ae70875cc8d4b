"""Find the errors that a function can raise by reading its source and that of what it calls.

A call is followed where the name leads to a function or class of this package: a global name, a
method of the same object, or a method of an attribute that the constructor sets to a known class.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from limpet.errors import LimpetError, require_positive

PACKAGE = "limpet"
DEPTH = 6  # of calls that are followed


def errors_of(obj: Any, owner: type | None = None) -> dict[type[LimpetError], list[str]]:
    """Each error that `obj` can raise, with the messages of its own body and direct calls."""
    found: dict[type[LimpetError], list[str]] = {}
    seen: set[Any] = set()
    level = [(function, owner) for function in _entry_points(obj)]
    for depth in range(DEPTH):
        following: list[tuple[Any, type | None]] = []
        for function, cls in level:
            if function in seen:
                continue
            seen.add(function)
            for error, message in _raises(function):
                messages = found.setdefault(error, [])
                if depth < 2 and message and message not in messages:
                    messages.append(message)
            following += _calls(function, cls)
        level = following
    return found


def _entry_points(obj: Any) -> Iterator[Callable[..., Any]]:
    """The functions that a call of `obj` executes: of a class those that construct it."""
    if isinstance(obj, property):
        obj = obj.fget
    if inspect.isclass(obj):
        for name in ("__init__", "__post_init__"):
            method = getattr(obj, name, None)
            if inspect.isfunction(method) and "<string>" not in method.__code__.co_filename:
                yield method
        return
    obj = inspect.unwrap(getattr(obj, "__func__", obj))
    if inspect.isfunction(obj):
        yield obj


@functools.cache
def _tree(function: Callable[..., Any]) -> ast.AST:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def _names(function: Callable[..., Any]) -> dict[str, Any]:
    """What names mean inside the function: its module's, and its own imports."""
    names = dict(function.__globals__)
    for node in ast.walk(_tree(function)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            module = importlib.import_module(str(node.module))
            names |= {a.asname or a.name: getattr(module, a.name, None) for a in node.names}
    return names


def _raises(function: Callable[..., Any]) -> Iterator[tuple[type[LimpetError], str]]:
    """The errors that stand in the function's body, each with its message."""
    names = _names(function)
    for node in ast.walk(_tree(function)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            error = _resolve(node.exc.func, names, None)
            if inspect.isclass(error) and issubclass(error, LimpetError):
                yield error, _message(node.exc.args[0]) if node.exc.args else ""
        elif isinstance(node, ast.Call) and _resolve(node.func, names, None) is require_positive:
            yield LimpetError, f"{_message(node.args[0])} = …: expected a finite number above 0"


def _message(node: ast.expr) -> str:
    """The text of a message, with dots for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_message(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _message(node.left) + _message(node.right)
    return "…"


def _calls(
    function: Callable[..., Any], cls: type | None
) -> Iterator[tuple[Callable[..., Any], type | None]]:
    names = _names(function)
    for node in ast.walk(_tree(function)):
        if isinstance(node, ast.Call):
            called = _resolve(node.func, names, cls)
            if called is None or called is require_positive:
                continue
            if inspect.isclass(called) and not node.args and not node.keywords:
                continue  # with its defaults, which are right
            if getattr(called, "__module__", "").startswith(PACKAGE):
                of_self = isinstance(node.func, ast.Attribute) and _is_self(node.func.value)
                owner = cls if of_self else called if inspect.isclass(called) else None
                if isinstance(node.func, ast.Attribute) and not of_self:
                    owner = owner or _type_of(node.func.value, names, cls)
                yield from ((f, owner) for f in _entry_points(called))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _resolve(node: ast.expr, names: dict[str, Any], cls: type | None) -> Any:
    """The function or class that an expression names, or None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    if _is_self(node.value) and cls is not None:
        return getattr(cls, node.attr, None)
    owner = _type_of(node.value, names, cls)
    if owner is not None:
        return getattr(owner, node.attr, None)
    base = _resolve(node.value, names, cls)
    known = inspect.ismodule(base) or inspect.isclass(base)
    return getattr(base, node.attr, None) if known else None


def _type_of(node: ast.expr, names: dict[str, Any], cls: type | None) -> type | None:
    """The class of `self.attribute`, where the constructor or a property of the class says it."""
    if not (isinstance(node, ast.Attribute) and _is_self(node.value) and cls is not None):
        return None
    return _attributes(cls).get(node.attr)


@functools.cache
def _attributes(cls: type) -> dict[str, type]:
    """Attribute -> class, from annotations and `self.attribute = Class(...)` in the methods."""
    out: dict[str, type] = {}
    for base in reversed(cls.__mro__):
        module = vars(sys.modules[base.__module__])
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if inspect.isclass(known := module.get(str(annotation))):
                out[name] = known
        for method in vars(base).values():
            if not inspect.isfunction(method):
                continue
            for node in ast.walk(_tree(method)):
                if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
                    continue
                made = _resolve(node.value.func, _names(method), None)
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and inspect.isclass(made):
                        out[target.attr] = made
    return out
