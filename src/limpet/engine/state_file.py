"""A state as a file: an npz archive of its arrays, with a tree of its records as JSON.

The file is whole at any moment: a process that is killed while it writes leaves the file before.
"""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from limpet.cavity.gas.atmosphere import Gas
from limpet.cavity.gas.cavity_flow import CavityFlow
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.gas.limit import Seal
from limpet.cavity.gas.network import NetworkState
from limpet.cavity.gas.vacuum_line import Flow
from limpet.cavity.mesh import CavityMesh
from limpet.contact.contacts import Contacts
from limpet.dynamics.constraint_set import Control
from limpet.dynamics.warm_start import SolverMemory, WarmStart
from limpet.engine.state import State
from limpet.errors import LimpetError
from limpet.storage.files import npz_bytes, write_whole
from limpet.storage.tree import decode, encode

FORMAT = "limpet state"
VERSION = 2
RECORDS = {
    record.__name__: record
    for record in (
        State, Control, SolverMemory, WarmStart, Contacts, AirLedger, Cavity, CavityMesh, Gas, Seal,
        NetworkState, CavityFlow, Flow,
    )
}  # fmt: skip


def write(state: State, path: str | PathLike[str]) -> None:
    """Raises StorageError where the file cannot be written."""
    arrays: dict[str, np.ndarray] = {}
    tree = {"format": FORMAT, "version": VERSION, "state": encode(state, arrays)}
    arrays["tree"] = np.array(json.dumps(tree))
    write_whole(Path(path), npz_bytes(arrays))


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
    state = decode(tree["state"], arrays, RECORDS)
    assert isinstance(state, State)
    return state
