"""Files that are whole at any moment, whatever ends the process or fills the disk."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from limpet.errors import StorageError

UNFINISHED = ".part-"  # begins the name of a file that is not whole yet


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to; the file becomes `path` when it is whole, and vanishes on an error.

    Raises StorageError where it cannot be written.
    """
    unfinished = path.with_name(f"{UNFINISHED}{os.getpid()}-{path.name}")
    try:
        yield unfinished
        _to_disk(unfinished)
        os.replace(unfinished, path)
    except OSError as problem:
        raise _refused(path, problem) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file; a reader sees the old content or the new one."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path) as unfinished:
        unfinished.write_bytes(data)


def npz_bytes(arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> bytes:
    """An npz archive. It is made in memory: an archive that is stopped by a full disk complains
    again when Python collects it."""
    memory = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    save(memory, allow_pickle=False, **arrays)
    return memory.getvalue()


def remove_unfinished(folder: Path) -> None:
    """Remove what a process that was killed has left."""
    for path in folder.glob(f"{UNFINISHED}*"):
        path.unlink(missing_ok=True)


class AppendedFile:
    """A file that grows by whole records: one for which there is no space leaves no trace."""

    def __init__(self, path: Path, keep: int = 0) -> None:
        """Begin a file, or continue one after its first `keep` bytes."""
        self.path, self.size = path, keep
        try:
            self._file = path.open("r+b" if keep else "wb", buffering=0)
            self._cut()
        except OSError as problem:
            raise _refused(path, problem) from None

    def append(self, record: bytes) -> None:
        rest = memoryview(record)
        try:
            while rest:  # a disk that is nearly full takes a part before it refuses the rest
                rest = rest[self._file.write(rest) :]
        except BaseException as problem:
            with contextlib.suppress(OSError):
                self._cut()
            if isinstance(problem, OSError):
                raise _refused(self.path, problem) from None
            raise
        self.size += len(record)

    def close(self) -> None:
        self._file.close()

    def _cut(self) -> None:
        self._file.truncate(self.size)
        self._file.seek(self.size)


def _refused(path: Path, problem: OSError) -> StorageError:
    return StorageError(f"'{path}': cannot be written ({problem.strerror or problem})")


def _to_disk(path: Path) -> None:
    """Without this, a power failure may leave the new name with no content."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
