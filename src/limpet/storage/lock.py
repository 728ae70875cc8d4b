"""A lock in a folder, which the system releases when its process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # not on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


class LockedError(Exception):
    """Another process holds the lock."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner  # "process 123", or "another process"


class FolderLock:
    """Held from its creation to `release`."""

    def __init__(self, folder: Path) -> None:
        """Raises LockedError, or OSError where the file cannot be made."""
        self._path = folder / LOCK
        while True:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(self._descriptor)
            except BlockingIOError:
                owner = _owner(self._path)
                os.close(self._descriptor)
                raise LockedError(owner) from None
            if self._is_current():
                break
            os.close(self._descriptor)  # its owner removed it in the meantime
        with contextlib.suppress(OSError):  # on a full disk the lock has no name in it
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False


def check_unlocked(folder: Path) -> None:
    """Raises LockedError where a process holds the lock; changes nothing."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return
    try:
        _lock(descriptor)
    except BlockingIOError:
        raise LockedError(_owner(folder / LOCK)) from None
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # some network drives have no locks
        return


def _owner(path: Path) -> str:
    try:
        number = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        number = ""
    return f"process {number}" if number.isdigit() else "another process"
