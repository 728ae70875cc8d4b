"""PLY files, as text or binary: a header that names elements and their properties, then the rows.

Read are x, y, z of the vertices and the list of corners of the faces; other properties and elements
are skipped. No row is read before the rest of the file is long enough for it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from limpet.meshing.formats.surface_data import Array, FormatError, SurfaceData, fans, numbers

KINDS = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
    "float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2",
    "int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8",
}  # fmt: skip
CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
CORNERS = ("vertex_indices", "vertex_index")
MOST_LISTS = 2_000_000  # rows with lists, which are read one by one
LONGEST_HEADER = 65_536  # [byte]


@dataclass
class Property:
    name: str
    kind: str
    length: str | None = None  # kind of the length, of a list


@dataclass
class Element:
    name: str
    count: int
    properties: list[Property] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        return all(p.length is None for p in self.properties)


@dataclass
class Found:
    points: Array | None = None
    polygons: tuple[Array, Array] | None = None  # numbers of corners, all corners


def read(data: bytes) -> SurfaceData:
    order, elements, begin = _header(data)
    body = data[begin:]
    found = _text(body, elements) if order is None else _binary(body, elements, order)
    if found.points is None or found.polygons is None:
        raise FormatError("expected the elements vertex and face")
    return SurfaceData(found.points, fans(*found.polygons))


def _header(data: bytes) -> tuple[str | None, list[Element], int]:
    """ "<" or ">" for binary rows, None for text; the elements; where the rows begin."""
    end = data.find(b"end_header", 0, LONGEST_HEADER)
    after = data.find(b"\n", end, end + 80)
    if not data.startswith(b"ply") or end < 0 or after < 0:
        raise FormatError("expected a header from 'ply' to 'end_header'")
    elements: list[Element] = []
    order: str | None = ""
    for line in data[:end].decode("ascii", "replace").splitlines()[1:]:
        words = line.split()
        if not words or words[0] in ("comment", "obj_info"):
            continue
        if words[0] == "format" and len(words) > 1:
            orders = {"ascii": None, "binary_little_endian": "<", "binary_big_endian": ">"}
            order = orders.get(words[1], "")
        elif words[0] == "element" and len(words) == 3 and words[2].isdigit():
            if len(words[2]) > 9:
                raise FormatError(f"element {words[1]}: {words[2][:12]}... are too many")
            elements.append(Element(words[1], int(words[2])))
        elif words[0] == "property" and elements:
            elements[-1].properties.append(_property(words[1:]))
        else:
            raise FormatError(f"the line {line[:60]!r} of the header is not known")
    if order == "":
        raise FormatError("expected the format ascii, binary_little_endian or binary_big_endian")
    return order, elements, after + 1


def _property(words: list[str]) -> Property:
    if len(words) == 4 and words[0] == "list" and words[1] in KINDS and words[2] in KINDS:
        return Property(words[3], KINDS[words[2]], KINDS[words[1]])
    if len(words) == 2 and words[0] in KINDS:
        return Property(words[1], KINDS[words[0]])
    raise FormatError(f"the property {' '.join(words)[:60]!r} is not known")


def _text(body: bytes, elements: list[Element]) -> Found:
    rows = [words for line in body.splitlines() if (words := line.split())]
    if sum(e.count for e in elements) > len(rows):
        raise FormatError(f"its elements take more lines than the {len(rows)} that it has")
    found, at = Found(), 0
    for element in elements:
        own = rows[at : at + element.count]
        at += element.count
        if element.name == "vertex":
            place = _coordinates(element)
            if not element.plain or any(len(words) <= max(place) for words in own):
                raise FormatError("a vertex has too few numbers")
            flat = [words[k] for words in own for k in place]
            found.points = numbers(flat).reshape(-1, 3)
        elif element.name == "face":
            found.polygons = _text_faces(element, own)
    return found


def _text_faces(element: Element, rows: list[list[bytes]]) -> tuple[Array, Array]:
    counts: list[int] = []
    corners: list[bytes] = []
    for words in rows:
        at = 0
        for p in element.properties:
            count = 1
            if p.length is not None:
                if at >= len(words) or not words[at].isdigit() or len(words[at]) > 6:
                    raise FormatError("a face has no length of a list where one was expected")
                count, at = int(words[at]), at + 1
            if at + count > len(words):
                raise FormatError("a face has too few numbers")
            if p.name in CORNERS and p.length is not None:
                counts.append(count)
                corners += words[at : at + count]
            at += count
    return _polygons(counts, numbers(corners, np.int64), len(rows))


def _binary(body: bytes, elements: list[Element], order: str) -> Found:
    found, at = Found(), 0
    for element in elements:
        if element.plain:
            record = np.dtype([(f"p{k}", order + p.kind) for k, p in enumerate(element.properties)])
            if at + record.itemsize * element.count > len(body):
                raise FormatError(f"its rows of {element.name} take more bytes than it has")
            if element.name == "vertex":
                table = np.frombuffer(body, record, element.count, at)
                x = [table[f"p{k}"].astype(float) for k in _coordinates(element)]
                found.points = np.stack(x, axis=1)
            at += record.itemsize * element.count
        else:
            counts, corners, at = _binary_rows(body, element, order, at)
            if element.name == "face":
                found.polygons = _polygons(counts, np.array(corners, np.int64), element.count)
    return found


def _binary_rows(
    body: bytes, element: Element, order: str, at: int
) -> tuple[list[int], list[int], int]:
    """Lengths and content of the lists of corners, and where the rows end."""
    counts: list[int] = []
    corners: list[int] = []
    sizes = [(p, struct.Struct(order + CODES[p.length or "u1"])) for p in element.properties]
    if element.count > min(len(body), MOST_LISTS):
        raise FormatError(f"{element.count} rows of {element.name} are too many")
    try:
        for _ in range(element.count):
            for p, length in sizes:
                count = 1
                if p.length is not None:
                    count, at = int(length.unpack_from(body, at)[0]), at + length.size
                if not 0 <= count <= len(body) - at:
                    raise FormatError(f"a list of {element.name} has a length of {count}")
                if p.name in CORNERS and p.length is not None:
                    counts.append(count)
                    corners += struct.unpack_from(f"{order}{count}{CODES[p.kind]}", body, at)
                at += count * int(p.kind[1])
    except (struct.error, ValueError, OverflowError):
        raise FormatError(f"its rows of {element.name} take more bytes than it has") from None
    if at > len(body):
        raise FormatError(f"its rows of {element.name} take more bytes than it has")
    return counts, corners, at


def _polygons(counts: list[int], corners: Array, rows: int) -> tuple[Array, Array]:
    if len(counts) != rows:
        raise FormatError("expected one list vertex_indices for each face")
    return np.array(counts, np.int64), corners


def _coordinates(element: Element) -> list[int]:
    names = [p.name for p in element.properties]
    if any(axis not in names for axis in "xyz"):
        raise FormatError("expected the properties x, y and z of vertices")
    return [names.index(axis) for axis in "xyz"]
