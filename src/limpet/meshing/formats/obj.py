"""OBJ files: lines `v x y z` and `f a b c ...`; everything else is left out."""

from __future__ import annotations

import numpy as np

from limpet.meshing.formats.surface_data import FormatError, SurfaceData, fans, numbers


def read(data: bytes) -> SurfaceData:
    points: list[bytes] = []
    counts: list[int] = []
    corners: list[bytes] = []
    before: list[int] = []  # points above the line of each corner, for those counted backwards
    for number, line in enumerate(data.replace(b"\\\n", b" ").splitlines(), 1):
        words = line.split()
        if not words or words[0] not in (b"v", b"f"):
            continue
        if len(words) < 4:
            raise FormatError(f"line {number}: expected three or more words after {words[0]!r}")
        if words[0] == b"v":
            points += words[1:4]
        else:
            counts.append(len(words) - 1)
            corners += [word.split(b"/", 1)[0] for word in words[1:]]
            before += [len(points) // 3] * (len(words) - 1)
    index = numbers(corners, np.int64)
    if np.any(index == 0):
        raise FormatError("a face has the vertex 0; the first vertex is 1")
    index = np.where(index < 0, index + np.array(before, np.int64), index - 1)
    triangles = fans(np.array(counts, np.int64), index)
    return SurfaceData(numbers(points).reshape(-1, 3), triangles)
