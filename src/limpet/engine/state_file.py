"""A state as a file: an npz archive of its arrays, with a tree of its records as JSON.

Numbers keep every bit. The tree names the classes of the records, and only those known here are
made from a file; nothing in it is run.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from limpet.cavity.gas.atmosphere import Gas
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.gas.limit import Seal
from limpet.cavity.gas.network import CavityFlow, HoseState
from limpet.cavity.gas.vacuum_line import Flow
from limpet.cavity.mesh import CavityMesh
from limpet.contact.contacts import Contacts
from limpet.dynamics.constraint_set import Control
from limpet.dynamics.warm_start import SolverMemory, WarmStart
from limpet.engine.state import State
from limpet.errors import LimpetError

FORMAT = "limpet state"
VERSION = 1
RECORDS = {
    record.__name__: record
    for record in (
        State, Control, SolverMemory, WarmStart, Contacts, AirLedger, Cavity, CavityMesh, Gas, Seal,
        HoseState, CavityFlow, Flow,
    )
}  # fmt: skip


def write(state: State, path: str | PathLike[str]) -> None:
    """Raises LimpetError where the file cannot be written."""
    arrays: dict[str, np.ndarray] = {}
    tree = {"format": FORMAT, "version": VERSION, "state": _encode(state, arrays)}
    arrays["tree"] = np.array(json.dumps(tree))
    try:
        with Path(path).open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as problem:
        raise LimpetError(f"state file '{path}': cannot be written ({problem.strerror})") from None


def read(path: str | PathLike[str]) -> State:
    """Raises LimpetError where the file is not a state of this format."""
    try:
        with np.load(Path(path), allow_pickle=False) as archive:
            arrays = dict(archive)
        tree = json.loads(str(arrays["tree"]))
        if tree["format"] != FORMAT:
            raise KeyError(tree["format"])
    except OSError as problem:
        raise LimpetError(f"state file '{path}': cannot be read ({problem})") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise LimpetError(f"state file '{path}': not a file that Simulation.save wrote") from None
    if tree["version"] != VERSION:
        raise LimpetError(
            f"state file '{path}': format version {tree['version']}, this Limpet reads {VERSION}"
        )
    state = _decode(tree["state"], arrays)
    assert isinstance(state, State)
    return state


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value):
        kept = {f.name: _encode(getattr(value, f.name), arrays) for f in fields(value)}
        return {"record": type(value).__name__, "fields": kept}
    if isinstance(value, Mapping):
        return {"map": [[key, _encode(v, arrays)] for key, v in value.items()]}
    if isinstance(value, tuple | list):
        return {"tuple": [_encode(v, arrays) for v in value]}
    return value


def _decode(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "map" in value:
        return {key: _decode(v, arrays) for key, v in value["map"]}
    if "tuple" in value:
        return tuple(_decode(v, arrays) for v in value["tuple"])
    kept = {key: _decode(v, arrays) for key, v in value["fields"].items()}
    return RECORDS[value["record"]](**kept)
