"""Records as a tree for JSON and a list of arrays. Numbers keep every bit.

The tree names the classes of the records, and only those that the reader knows are made from a
file; nothing in it is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """`value` for JSON; its arrays are added to `arrays`."""
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value):
        kept = {f.name: encode(getattr(value, f.name), arrays) for f in fields(value)}
        return {"record": type(value).__name__, "fields": kept}
    if isinstance(value, Mapping):
        return {"map": [[key, encode(v, arrays)] for key, v in value.items()]}
    if isinstance(value, tuple | list):
        return {"tuple": [encode(v, arrays) for v in value]}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    return value


def decode(value: Any, arrays: Mapping[str, np.ndarray], records: Mapping[str, type]) -> Any:
    """What `encode` was given; `records` are the classes that may be made."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "map" in value:
        return {key: decode(v, arrays, records) for key, v in value["map"]}
    if "tuple" in value:
        return tuple(decode(v, arrays, records) for v in value["tuple"])
    if "set" in value:
        return frozenset(value["set"])
    kept = {key: decode(v, arrays, records) for key, v in value["fields"].items()}
    return records[value["record"]](**kept)
