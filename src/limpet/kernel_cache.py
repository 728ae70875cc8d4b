"""Where compiled kernels are kept: in the user's cache, by what they were compiled from.

Numba by itself keeps them beside the source, by the text of their own file. So every clone and
every installation compiles again, a kernel is stale after a change in one that it calls, and two
processes that compile one kernel for different arguments at the same time may exchange them. Here
an entry is a file of its own, named by the digest of the source, of all of Limpet that it imports,
of the arguments and of the processor.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numba
from numba.core import caching, config, dispatcher
from numba.misc.appdirs import AppDirs

ROOT = Path(__file__).parent
SUFFIX = ".kernel"
KEPT = 30 * 24 * 3600.0  # [s] entries that were not used for so long are deleted

# at the start of a line: what is imported for type checkers, or in functions, is not compiled in
_IMPORT = re.compile(r"^from (limpet[\w.]*) import (\([^)]*\)|[^\n]*)|^import (limpet[\w.]*)", re.M)


def folder() -> Path:
    """NUMBA_CACHE_DIR if it is set, else the user's cache folder."""
    named = config.CACHE_DIR  # type: ignore[attr-defined]
    return Path(named or AppDirs(appname="limpet", appauthor=False).user_cache_dir)


@cache
def source_digest(file: Path) -> str:
    """Of a file of Limpet and of all that it imports of Limpet."""
    every = hashlib.sha256()
    for path in sorted(_closure(file)):
        every.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return every.hexdigest()


def _closure(file: Path) -> set[Path]:
    found, todo = {file}, [file]
    while todo:
        for path in _imports(todo.pop()):
            if path not in found:
                found.add(path)
                todo.append(path)
    return found


@cache
def _imports(file: Path) -> frozenset[Path]:
    """The files that a file imports, names that are modules included."""
    modules: set[str] = set()
    for package, names, module in _IMPORT.findall(file.read_text(encoding="utf-8")):
        modules.add(package or module)
        modules |= {f"{package}.{name}" for name in re.findall(r"\w+", names)}
    return frozenset(path for name in modules for path in _files(name))


def _files(module: str) -> Iterator[Path]:
    place = ROOT.parent.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        # the package itself imports everything, and kernels nothing of it
        if path != ROOT / "__init__.py" and path.is_file():
            yield path


class _Locator(caching._CacheLocator):
    """Names the entries of one function."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file, self._line = py_file, py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return source_digest(Path(self._py_file))

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None  # numba's own places
        return locator


class _Entries:
    """What numba calls a cache file: load and save by key, here one file for each."""

    def __init__(self, path: str, name: str, stamp: str) -> None:
        self.folder, self.name, self.stamp = Path(path), name, stamp

    def file(self, key: Any) -> Path:
        text = repr((numba.__version__, self.stamp, key))
        return self.folder / f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:24]}{SUFFIX}"

    def load(self, key: Any) -> Any:
        file = self.file(key)
        try:
            data = pickle.loads(file.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        with suppress(OSError):
            os.utime(file)
        return data

    def save(self, key: Any, data: Any) -> None:
        file = self.file(key)
        part = file.with_name(f"{uuid4().hex}.part")
        try:
            part.write_bytes(caching.dumps(data))
            part.replace(file)
        except OSError:  # a full disk: it is compiled again next time
            with suppress(OSError):
                part.unlink()
        _prune(self.folder)

    def flush(self) -> None:
        for file in self.folder.glob(f"{self.name}-*{SUFFIX}"):
            file.unlink(missing_ok=True)


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator, *caching.CacheImpl._locator_classes]  # noqa: RUF012


class KernelCache(caching.FunctionCache):
    """The cache of one function of Limpet."""

    _impl_class = _Implementation

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        locator = self._impl.locator
        if isinstance(locator, _Locator):
            self._cache_file = _Entries(  # type: ignore[assignment]
                self._cache_path, self._impl.filename_base, locator.get_source_stamp()
            )

    def has(self, arguments: tuple[Any, ...], codegen: Any) -> bool:
        """Whether the function is compiled for such arguments."""
        entries: Any = self._cache_file
        return (
            isinstance(entries, _Entries)
            and entries.file(self._index_key(arguments, codegen)).is_file()
        )


def _cache_of(py_func: Any) -> caching.FunctionCache:
    own = Path(py_func.__code__.co_filename).is_relative_to(ROOT)
    return KernelCache(py_func) if own else caching.FunctionCache(py_func)


def install() -> None:
    """Keep the kernels of this package here; all others stay where numba keeps them."""
    dispatcher.FunctionCache = _cache_of  # type: ignore[attr-defined]


@cache
def _prune(place: Path) -> None:
    """Delete what was not used for long; once a process."""
    old = time.time() - KEPT
    for file in place.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            if file.stat().st_mtime < old:
                file.unlink()
