"""frames.journal of a run folder: what was recorded besides the history, as it came.

A record is its length, a checksum and the compressed content. The last one may be incomplete where
the process was killed: it is left out. The kinds of records:

    film     the header of the film at first, then its frames (frames.py)
    section  a frame of frames.vtkhdf and of plots/scene.png
    keys     the moments of plots/section.png up to here, when a state is saved
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from limpet.errors import LimpetError
from limpet.record.frame import AirFrame, Frame, FrameHeader, PatchFrame
from limpet.report import SectionFrame
from limpet.storage.files import AppendedFile
from limpet.storage.tree import decode, encode

Array = np.ndarray

FILE = "frames.journal"
RECORDS = {c.__name__: c for c in (Frame, FrameHeader, AirFrame, PatchFrame, SectionFrame)}
HEAD = struct.Struct("<II")  # length of the content, its checksum
COMPRESSION = 1  # fast
NO_TRIANGLES = np.zeros((0, 3), np.int32)


@dataclass(frozen=True)
class Record:
    kind: str
    step: int  # at which it was recorded
    content: Any
    end: int  # [byte] in the file


class Journal:
    """Appends records to the file."""

    def __init__(self, folder: Path, keep: int = 0) -> None:
        """Begin a journal, or continue one after its first `keep` bytes."""
        self._file = AppendedFile(folder / FILE, keep)

    def append(self, kind: str, step: int, content: Any) -> None:
        arrays: dict[str, Array] = {}
        tree = {"kind": kind, "step": step, "content": encode(content, arrays)}
        plain = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
        tree["arrays"] = [[name, a.dtype.str, a.shape] for name, a in plain.items()]
        text = json.dumps(tree).encode()
        parts = [struct.pack("<I", len(text)), text, *(a.tobytes() for a in plain.values())]
        data = zlib.compress(b"".join(parts), COMPRESSION)
        self._file.append(HEAD.pack(len(data), zlib.crc32(data)) + data)

    def close(self) -> None:
        self._file.close()


def read_journal(folder: Path) -> Iterator[Record]:
    """All complete records of a run folder; none if it has no journal."""
    path = folder / FILE
    if not path.is_file():
        return
    with path.open("rb") as file:
        end = 0
        while len(head := file.read(HEAD.size)) == HEAD.size:
            length, checksum = HEAD.unpack(head)
            data = file.read(length)
            if len(data) < length or zlib.crc32(data) != checksum:
                return
            end += HEAD.size + length
            yield _unpack(path, data, end)


def _unpack(path: Path, data: bytes, end: int) -> Record:
    try:
        content = zlib.decompress(data)
        (size,) = struct.unpack_from("<I", content)
        tree = json.loads(content[4 : 4 + size])
        arrays, at = {}, 4 + size
        for name, kind, shape in tree["arrays"]:
            a = np.frombuffer(content, kind, int(np.prod(shape)), at).reshape(shape)
            arrays[name], at = a, at + a.nbytes
        return Record(tree["kind"], tree["step"], decode(tree["content"], arrays, RECORDS), end)
    except (ValueError, KeyError, TypeError, struct.error, zlib.error):
        raise LimpetError(
            f"recording '{path}': is damaged or of another version; run the scene again"
        ) from None


def without_triangles(frame: SectionFrame) -> SectionFrame:
    """Bodies keep their triangles, so that those of the first frame are enough."""
    return replace(frame, bodies=[(name, x, NO_TRIANGLES) for name, x, _ in frame.bodies])


def with_triangles(frame: SectionFrame, first: SectionFrame) -> SectionFrame:
    triangles = [t for _, _, t in first.bodies]
    bodies = [(name, x, t) for (name, x, _), t in zip(frame.bodies, triangles)]
    return replace(frame, bodies=bodies)
