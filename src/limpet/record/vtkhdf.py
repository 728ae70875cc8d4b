"""frames.vtkhdf: the run as a time series for ParaView.

The blocks are the bodies, the contacts, the cavities and, if there are pressure fields, their
contact surfaces (patches). The format is VTKHDF 2.3: a MultiBlockDataSet of temporal PolyData. The
arrays of a frame are appended to those of the frames before, and `Steps` has the offsets of each
frame. A body keeps its triangles, and its points while it does not move; contacts, cavities and
patches are written anew in every frame.

HDF5 works in memory, and the file is replaced as a whole: HDF5 ends the process with a segmentation
fault where a disk is full, and leaves a file that nobody can read where the process is killed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import h5py
import numpy as np

from limpet.report import SectionFrame
from limpet.storage.files import write_whole

Array = np.ndarray

TOPOLOGIES = ("Vertices", "Lines", "Polygons", "Strips")  # in the order of the columns in Steps
ROWS = 256  # of a chunk
MEMORY = 1 << 20  # [byte] by which the file in memory grows


class FrameWriter:
    """Appends frames; `write` makes the file, or replaces it."""

    def __init__(self, path: Path) -> None:
        self._path, self._written = path, False
        self._file = h5py.File(
            uuid4().hex,
            "w",
            driver="core",
            backing_store=False,
            block_size=MEMORY,
            track_order=True,
        )
        root = _typed(self._file.create_group("VTKHDF", track_order=True), "MultiBlockDataSet")
        self._root, self._common = root, _Common(root)
        self._assembly = root.create_group("Assembly", track_order=True)
        self._bodies: list[_Body] = []
        self._others: tuple[_Changing, ...] = ()  # contacts, cavities, patches if any

    def add(self, frame: SectionFrame) -> None:
        """Append a frame, which has the same bodies as all before."""
        if not self._others:
            self._begin(frame)
        contacts, cavities, *patches = self._others
        for part, (_, x, _) in zip(self._bodies, frame.bodies):
            part.append(x)
        dots = np.arange(len(frame.contacts))[:, None]
        contacts.append(frame.contacts, dots, frame.forces)
        points, triangles, pressure = _joined_cavities(frame)
        cavities.append(points, triangles, pressure)
        if patches and frame.patches is not None:
            x, values, fans = frame.patches
            patches[0].append(x, fans, values)
        self._common.next(frame.time)
        self._file.flush()  # places the chunks: the file does not depend on when it is written

        self._written = False

    def write(self) -> None:
        """Put all frames so far on the disk. Raises OSError, and keeps the file that was there."""
        write_whole(self._path, self._file.id.get_file_image())
        self._written = True

    def close(self) -> None:
        """Write what is not on the disk, and free the memory."""
        try:
            if not self._written:
                self.write()
        finally:
            self._file.close()

    def _begin(self, frame: SectionFrame) -> None:
        taken: list[str] = []
        for name, x, triangles in frame.bodies:
            taken.append(_block_name(name, taken))
            self._bodies.append(_Body(self._part(taken[-1]), self._common, x, triangles))
        contacts, cavities = self._part("contacts"), self._part("cavities")
        self._others = (
            _Changing(contacts, self._common, "Vertices", 1, "PointData/force"),
            _Changing(cavities, self._common, "Polygons", 3, "CellData/pressure"),
        )
        if frame.patches is not None:
            patches = self._part("patches")
            more = _Changing(patches, self._common, "Polygons", 3, "PointData/pressure")
            self._others = (*self._others, more)

    def _part(self, name: str) -> h5py.Group:
        group = _typed(self._root.create_group(name, track_order=True), "PolyData")
        group.attrs["Index"] = len(self._assembly)
        self._assembly[name] = h5py.SoftLink(group.name)
        return group


class _Column:
    """A growing array; written by the low-level API, ten times as fast as h5py's assignment."""

    def __init__(
        self, group: h5py.Group, name: str, shape: tuple[int, ...], kind: Any, fill: int = 0
    ) -> None:
        rows = (ROWS, *shape)
        self.data = group.create_dataset(
            name, (0, *shape), kind, maxshape=(None, *shape), chunks=rows, fillvalue=fill
        )
        self.kind, self.length = self.data.dtype, 0

    def append(self, rows: Array | list[int] | list[float]) -> int:
        """Append rows; returns the index of the first one."""
        values = np.ascontiguousarray(rows, dtype=self.kind)
        begin, count = self.length, len(values)
        if count:
            self.grow(count)
            space = self.data.id.get_space()
            zero = (0,) * (values.ndim - 1)
            space.select_hyperslab((begin, *zero), values.shape)
            self.data.id.write(h5py.h5s.create_simple(values.shape), space, values)
        return begin

    def grow(self, count: int = 1) -> None:
        """Append rows with the fill value."""
        self.length += count
        self.data.id.set_extent((self.length, *self.data.shape[1:]))


class _Common:
    """Arrays that several blocks share; stored once and linked under many names."""

    def __init__(self, root: h5py.Group) -> None:
        hidden = root.file.create_group("common")  # outside /VTKHDF, where VTK does not read
        self.time = _Column(hidden, "time", (), float)
        self.zero = _Column(hidden, "zero", (), np.int64)
        self.zeros = _Column(hidden, "zeros", (4,), np.int64)
        self.one = _Column(hidden, "one", (), np.int64, fill=1)
        self.frame = _Column(hidden, "frame", (), np.int64)
        self.none = _Column(hidden, "none", (), np.int64)
        self.counts: list[h5py.h5a.AttrID] = []
        self.zero.grow()
        # Not in the specification, but without it VTK 9.7 returns the first frame for every time.
        self.steps(root)

    def steps(self, part: h5py.Group) -> h5py.Group:
        steps = part.create_group("Steps")
        steps.attrs["NSteps"] = np.int64(0)
        self.counts.append(h5py.h5a.open(steps.id, b"NSteps"))
        steps["Values"], steps["NumberOfParts"] = self.time.data, self.one.data
        return steps

    def no_cells(self, part: h5py.Group, *kinds: str) -> None:
        for kind in kinds:
            cells = part.create_group(kind)
            for name in ("NumberOfCells", "NumberOfConnectivityIds", "Offsets"):
                cells[name] = self.zero.data
            cells["Connectivity"] = self.none.data

    def next(self, time: float) -> None:
        """Complete a frame: raise the number of steps."""
        self.frame.append([self.time.length])
        self.time.append([time])
        for column in (self.zero, self.zeros, self.one):
            column.grow()
        number = np.array(self.time.length)
        for count in self.counts:
            count.write(number)


class _Body:
    """A surface with constant triangles and moving points."""

    def __init__(self, part: h5py.Group, common: _Common, rest: Array, triangles: Array) -> None:
        m = len(triangles)
        common.no_cells(part, "Vertices", "Lines", "Strips")
        cells = part.create_group("Polygons")
        cells["NumberOfCells"], cells["NumberOfConnectivityIds"] = np.array([[m], [3 * m]])
        cells["Offsets"], cells["Connectivity"] = 3 * np.arange(m + 1), triangles.ravel()
        part["NumberOfPoints"] = np.array([len(rest)])
        self._points = _Column(part, "Points", (3,), float)
        self._moved = _Column(part, "PointData/displacement", (3,), np.float32)
        steps = common.steps(part)
        self._begin = _Column(steps, "PointOffsets", (), np.int64)
        steps["PointDataOffsets/displacement"] = self._begin.data
        steps["PartOffsets"] = common.zero.data
        steps["CellOffsets"] = steps["ConnectivityIdOffsets"] = common.zeros.data
        self._rest, self._last, self._offset = rest.copy(), np.zeros((0, 3)), 0

    def append(self, x: Array) -> None:
        if not np.array_equal(x, self._last):
            self._offset = self._points.append(x)
            self._moved.append(x - self._rest)
            self._last = x.copy()
        self._begin.append([self._offset])


class _Changing:
    """Points and cells that change in every frame, with one data array."""

    def __init__(
        self, part: h5py.Group, common: _Common, kind: str, corners: int, data: str
    ) -> None:
        common.no_cells(part, *(name for name in TOPOLOGIES if name != kind))
        where, name = data.split("/")
        vectors = name == "force"
        cells, steps = part.create_group(kind), common.steps(part)

        def column(group: h5py.Group, name: str, shape: tuple[int, ...] = ()) -> _Column:
            return _Column(group, name, shape, np.int64)

        self._points = _Column(part, "Points", (3,), float)
        self._data = _Column(part, data, (3,) if vectors else (), float)
        self._n_points = column(part, "NumberOfPoints")
        self._n_cells, self._n_ids = (
            column(cells, name) for name in ("NumberOfCells", "NumberOfConnectivityIds")
        )
        self._offsets, self._ids = column(cells, "Offsets"), column(cells, "Connectivity")
        steps["PartOffsets"] = common.frame.data
        self._begin_points = column(steps, "PointOffsets")
        self._begin_cells = column(steps, "CellOffsets", (4,))
        self._begin_ids = column(steps, "ConnectivityIdOffsets", (4,))
        self._begin_data = column(steps.create_group(f"{where}Offsets"), name)
        self._one = np.eye(4, dtype=np.int64)[TOPOLOGIES.index(kind)][None]  # its column in Steps
        self._corners, self._cells = corners, 0

    def append(self, x: Array, cells: Array, data: Array) -> None:
        self._n_points.append([len(x)])
        self._n_cells.append([len(cells)])
        self._n_ids.append([cells.size])
        self._offsets.append(self._corners * np.arange(len(cells) + 1))
        self._begin_points.append([self._points.append(x)])
        self._begin_ids.append(self._one * self._ids.append(cells.ravel()))
        self._begin_data.append([self._data.append(data)])
        self._begin_cells.append(self._one * self._cells)
        self._cells += len(cells)


def _typed(group: h5py.Group, kind: str) -> h5py.Group:
    group.attrs["Version"] = (2, 3)
    # VTK reads only strings of fixed length
    group.attrs.create("Type", np.bytes_(kind), dtype=h5py.string_dtype("ascii", len(kind)))
    return group


def _joined_cavities(frame: SectionFrame) -> tuple[Array, Array, Array]:
    """All cavities as one surface: points, triangles, pressure [Pa] of each triangle."""
    points, triangles, pressure = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], [np.zeros(0)]
    start = 0
    for x, t, p in frame.cavities:
        points.append(x)
        triangles.append(t + start)
        pressure.append(np.full(len(t), p))
        start += len(x)
    return np.concatenate(points), np.concatenate(triangles), np.concatenate(pressure)


def _block_name(name: str, taken: list[str]) -> str:
    """A unique block name that VTK accepts."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-.") else "_" for c in name)
    if not (plain[:1].isalpha() or plain[:1] == "_"):
        plain = f"_{plain}"
    known = {"contacts", "cavities", "patches", "Assembly", "Steps", *taken}
    more = (f"{plain}_{k}" for k in range(2, len(known) + 3))
    return next(name for name in (plain, *more) if name not in known)
