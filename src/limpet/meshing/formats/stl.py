"""STL files, as text or binary: triangles with their own corners."""

from __future__ import annotations

import numpy as np

from limpet.meshing.formats.surface_data import Array, FormatError, SurfaceData, numbers

HEAD, RECORD = 84, 50  # [byte]
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])


def is_text(head: bytes) -> bool:
    """By the first bytes; exporters begin binary files with "solid", too, but with zeros in it."""
    return head.lstrip()[:5].lower() == b"solid" and b"\0" not in head


def read(data: bytes) -> SurfaceData:
    corners = _text(data) if is_text(data[:HEAD]) else _binary(data)
    return SurfaceData(corners, np.arange(len(corners)).reshape(-1, 3))


def _binary(data: bytes) -> Array:
    count = int.from_bytes(data[80:HEAD], "little")
    if len(data) < HEAD + RECORD * count:
        raise FormatError(f"{count} triangles take {HEAD + RECORD * count} bytes")
    table = np.frombuffer(data, TRIANGLE, count, HEAD)
    return table["corners"].reshape(-1, 3).astype(float)


def _text(data: bytes) -> Array:
    words = data.split()
    at = [i for i, word in enumerate(words) if word == b"vertex"]
    if len(at) % 3 or words.count(b"facet") != len(at) // 3:
        raise FormatError("expected three lines 'vertex x y z' in every facet")
    found = [words[i + 1 : i + 4] for i in at]
    if found and len(found[-1]) < 3:
        raise FormatError("the last vertex is incomplete")
    return numbers([word for three in found for word in three]).reshape(-1, 3)
