"""What a reader of a mesh file returns, and what it raises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

LONGEST = 64  # characters of a number


class FormatError(Exception):
    """The content of a file is not what its format says; the message says where."""


@dataclass(frozen=True)
class SurfaceData:
    """Points and triangles as they are in a file."""

    points: Array  # (n, 3) in the unit of the file
    triangles: Array  # (m, 3) int64, not checked against the number of points


def fans(counts: Array, corners: Array) -> Array:
    """(m, 3) polygons as fans of triangles; `corners` has counts[i] indices for polygon i."""
    if len(counts) == 0:
        return np.zeros((0, 3), np.int64)
    if counts.min() < 3:
        raise FormatError("a face has fewer than three corners")
    begin = np.cumsum(counts) - counts
    of = np.repeat(begin, counts - 2)
    within = np.arange(len(of)) - np.repeat(np.cumsum(counts - 2) - (counts - 2), counts - 2)
    return np.stack([corners[of], corners[of + within + 1], corners[of + within + 2]], axis=1)


def numbers(words: list[bytes], kind: type = float) -> Array:
    """Words as numbers; those that are none, or do not fit, are an error."""
    if max(map(len, words), default=0) > LONGEST:  # as much memory would be taken for each
        raise FormatError(f"a number has more than {LONGEST} characters")
    try:
        return np.array(words, dtype="S").astype(kind) if words else np.zeros(0, kind)
    except (ValueError, OverflowError):
        raise FormatError("a word is not a number that was expected there") from None
