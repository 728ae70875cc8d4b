"""OFF files: the numbers of vertices, faces and edges, then the vertices, then the faces."""

from __future__ import annotations

import numpy as np

from limpet.meshing.formats.surface_data import FormatError, SurfaceData, fans, numbers


def read(data: bytes) -> SurfaceData:
    lines = [line.split(b"#", 1)[0].split() for line in data.splitlines()]
    lines = [words for words in lines if words]
    if not lines or lines[0][0] != b"OFF":
        raise FormatError("the first word is not OFF")
    first = lines[0][1:] or (lines[1] if len(lines) > 1 else [])
    rows = lines[1 if lines[0][1:] else 2 :]
    if len(first) < 2 or not all(word.isdigit() and len(word) < 10 for word in first[:2]):
        raise FormatError("expected the numbers of vertices and faces")
    n, m = int(first[0]), int(first[1])
    if len(rows) < n + m:
        raise FormatError(f"{n} vertices and {m} faces take {n + m} lines, it has {len(rows)}")
    if any(len(words) < 3 for words in rows[:n]):
        raise FormatError("a vertex has fewer than three coordinates")
    points = numbers([word for words in rows[:n] for word in words[:3]]).reshape(-1, 3)
    counts = numbers([words[0] for words in rows[n : n + m]], np.int64)
    corners: list[bytes] = []
    for words, count in zip(rows[n : n + m], counts.tolist()):
        if not 3 <= count <= len(words) - 1:
            raise FormatError(f"a face says {count} corners and has {len(words) - 1} numbers")
        corners += words[1 : 1 + count]
    return SurfaceData(points, fans(counts, numbers(corners, np.int64)))
