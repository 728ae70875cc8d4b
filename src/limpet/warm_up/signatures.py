"""The arguments that kernels are compiled for, as JSON, and the kernels themselves by name."""

from __future__ import annotations

import importlib
from typing import Any

from numba import types
from numba.core.dispatcher import Dispatcher

JSON = Any  # "float64", "float64[2,C]", {"package.Class": [...]}, {"tuple": [...]}


class UnknownTypeError(TypeError):
    """A type that has no name here."""


def encode(kind: types.Type) -> JSON:
    """The name of an argument's type."""
    if isinstance(kind, types.Array):
        constant = "" if kind.mutable else ",readonly"
        return f"{kind.dtype}[{kind.ndim},{kind.layout}{constant}]"
    if isinstance(kind, types.NamedTuple):
        record = kind.instance_class
        return {f"{record.__module__}.{record.__qualname__}": [encode(t) for t in kind.types]}
    if isinstance(kind, (types.Tuple, types.UniTuple)):
        return {"tuple": [encode(t) for t in kind.types]}
    if isinstance(kind, types.Omitted):
        return {"omitted": kind.value}
    if isinstance(kind, (types.Integer, types.Float, types.Boolean)) and not isinstance(
        kind, types.Literal
    ):
        return str(kind)
    raise UnknownTypeError(str(kind))


def decode(name: JSON) -> types.Type:
    """The type of a name."""
    if isinstance(name, dict):
        ((key, value),) = name.items()
        if key == "omitted":
            return types.Omitted(value)
        members = [decode(member) for member in value]
        if key == "tuple":
            return types.Tuple(members)
        return types.NamedTuple(members, named(key))
    kind, _, rest = name.partition("[")
    scalar = types.boolean if kind == "bool" else getattr(types, kind)
    if not rest:
        return scalar
    dimensions, layout, *constant = rest.rstrip("]").split(",")
    return types.Array(scalar, int(dimensions), layout, readonly=bool(constant))


def named(path: str) -> Any:
    """What `package.module.name` names."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def kernel_name(kernel: Dispatcher) -> str:
    return f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
