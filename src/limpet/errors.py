"""Exceptions for wrong input: one line that names the field, the value and the fix."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from numbers import Real

LONGEST_LINE = 2000  # characters of a message
_LONG_WORD = re.compile(r"\S{300,}")


class UndeterminedForceWarning(UserWarning):
    """Bodies overlap whose motions are prescribed: point contact gives no force between them."""


class Notice(UserWarning):
    """Something a user should know, though nothing is wrong; the command line calls it a note."""


class LimpetError(Exception):
    """Wrong input. The message says what was given, what was expected and how to fix it.

    It is one line, whatever was given.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(str(message)))


class MissingPackageError(LimpetError):
    """Something that needs an optional package, which is not installed."""


class MeshError(LimpetError):
    """A mesh that cannot be simulated: open, inside-out, self-intersecting, empty, degenerate."""


class BudgetError(LimpetError):
    """No mesh has about as many nodes as were asked for."""


class DivergedError(LimpetError):
    """A run that diverged (NaN or Inf). The steps recorded before are kept."""


class OverlapError(DivergedError):
    """A step that ends with bodies deep in each other. The steps recorded before are kept."""


class StorageError(LimpetError):
    """A file that cannot be written: the disk is full or read-only. What was written is kept."""


def one_line(text: str) -> str:
    """`text` with control characters escaped and very long words cut."""
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: 10 * LONGEST_LINE])
    plain = _LONG_WORD.sub(lambda word: f"{word[0][:80]}...{word[0][-20:]}", plain)
    return plain if len(plain) <= LONGEST_LINE else f"{plain[:LONGEST_LINE]}..."


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message: ``; did you mean 'x'?``, or the list of known names."""
    names = sorted(known)
    near = difflib.get_close_matches(name[:100], names, n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else f"; expected one of: {', '.join(names)}"


def require_positive(field: str, value: float, unit: str = "", hint: str = "") -> float:
    """`value` if it is a finite number above zero, else a LimpetError that names `field`."""
    tail = f" ({hint})" if hint else ""
    if not isinstance(value, Real):
        raise LimpetError(
            f"{field} = {value!r}: expected a plain number in SI units{tail}; "
            "strings with units are for scene files and the command line"
        )
    if not 0.0 < float(value) < float("inf"):
        raise LimpetError(f"{field} = {value:g}{unit}: expected a finite number above 0{tail}")
    return float(value)
